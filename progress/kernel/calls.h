/* What Python calls: times read and written, updates, questions. */

static PyObject *too_much_work; /* the exception of this module */

static int failed(Kernel *self)
{
    if (!self->failed) return 0;
    if (self->failed == 2)
        PyErr_SetString(PyExc_OverflowError, "a number is too large for the kernel");
    else if (self->failed == 3)
        PyErr_SetString(too_much_work, "the update does more work than it may");
    else
        PyErr_NoMemory();
    return -1;
}

/* What changes the kernel, or reads it piece by piece, begins with this. */
static int closed(Kernel *self)
{
    if (!self->busy) return failed(self);
    PyErr_SetString(PyExc_RuntimeError, "the kernel is in the middle of something");
    return -1;
}

static int read_number(PyObject *item, number *result, int is_bound)
{
    int overflow = 0;
    if (PyLong_Check(item)) {
        long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (value == -1 && !overflow && PyErr_Occurred()) return -1;
        if (overflow || value > LARGEST || value < -LARGEST) {
            if (!is_bound) {
                PyErr_SetString(PyExc_OverflowError, "a number is too large for the kernel");
                return -1;
            }
            value = overflow > 0 || value > 0 ? UNBOUNDED : -UNBOUNDED;
        }
        *result = value;
        return 0;
    }
    if (is_bound && PyFloat_CheckExact(item) && Py_IS_INFINITY(PyFloat_AS_DOUBLE(item))) {
        *result = PyFloat_AS_DOUBLE(item) > 0 ? UNBOUNDED : -UNBOUNDED;
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "a whole number is needed here");
    return -1;
}

static int read_limit(PyObject *item, number absent, number *result)
{
    if (item == Py_None) {
        *result = absent;
        return 0;
    }
    return read_number(item, result, 0);
}

static int read_row(Kernel *self, int number_of, PyObject *time, number *row, int is_bound)
{
    const Vertex *vertex = &self->vertices[number_of];
    if (!vertex->is_row) return read_number(time, row, is_bound);
    if (!PyTuple_Check(time) || PyTuple_GET_SIZE(time) != vertex->places) {
        PyErr_SetString(PyExc_TypeError, "a time is not a row of the length that its vertex has");
        return -1;
    }
    for (int place = 0; place < vertex->places; place++)
        if (read_number(PyTuple_GET_ITEM(time, place), row + place, is_bound)) return -1;
    return 0;
}

static PyObject *write_row(const Vertex *vertex, const number *row)
{
    if (!vertex->is_row) return PyLong_FromLongLong(row[0]);
    PyObject *time = PyTuple_New(vertex->places);
    if (!time) return NULL;
    for (int place = 0; place < vertex->places; place++) {
        PyObject *item = PyLong_FromLongLong(row[place]);
        if (!item) {
            Py_DECREF(time);
            return NULL;
        }
        PyTuple_SET_ITEM(time, place, item);
    }
    return time;
}

static int read_vertex(Kernel *self, PyObject *item, int *number_of)
{
    number value;
    if (failed(self) || read_number(item, &value, 0)) return -1;
    if (value < 0 || value >= self->count) {
        PyErr_SetString(PyExc_IndexError, "there is no such vertex");
        return -1;
    }
    *number_of = (int)value;
    return 0;
}

static PyObject *woken_list(Kernel *self)
{
    self->busy++;
    PyObject *woken = PyList_New(self->woken_count);
    for (Py_ssize_t index = 0; woken && index < self->woken_count; index++) {
        PyObject *waiter = PyLong_FromLongLong(self->woken[index]);
        if (waiter)
            PyList_SET_ITEM(woken, index, waiter);
        else
            Py_CLEAR(woken);
    }
    self->busy--;
    return woken;
}

static PyObject *kernel_update(Kernel *self, PyObject *changes)
{
    PyObject *items = PySequence_Fast(changes, "changes are a sequence");
    if (!items) return NULL;
    if (closed(self)) goto broken;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    PyObject **each = PySequence_Fast_ITEMS(items);
    self->woken_count = 0;
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *item = each[index];
        int number_of;
        number row[MOST_PLACES];
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) != 3) {
            PyErr_SetString(PyExc_TypeError, "a change is a vertex, a time and a number");
            goto broken;
        }
        if (read_vertex(self, PyTuple_GET_ITEM(item, 0), &number_of)) goto broken;
        if (read_row(self, number_of, PyTuple_GET_ITEM(item, 1), row, 0)) goto broken;
        number change;
        if (read_number(PyTuple_GET_ITEM(item, 2), &change, 0)) goto broken;
        change_count(self, number_of, row, change);
    }
    Py_DECREF(items);
    propagate(self);
    if (failed(self)) return NULL;
    return woken_list(self);
broken:
    Py_DECREF(items);
    return NULL;
}

/* What was there before is there again: however much work that is, it was done once. */
static PyObject *kernel_rebuild(Kernel *self, PyObject *changes)
{
    self->unlimited = 1;
    PyObject *woken = kernel_update(self, changes);
    self->unlimited = 0;
    return woken;
}

static PyObject *kernel_wait(Kernel *self, PyObject *const *arguments, Py_ssize_t count)
{
    int number_of;
    number until[MOST_PLACES];
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "wait takes a vertex, a time and a waiter");
        return NULL;
    }
    if (closed(self) || read_vertex(self, arguments[0], &number_of)) return NULL;
    Vertex *vertex = &self->vertices[number_of];
    if (read_row(self, number_of, arguments[1], until, 1)) return NULL;
    number waiter;
    if (read_number(arguments[2], &waiter, 0)) return NULL;
    self->examined++;
    if (!covers(vertex, until)) Py_RETURN_FALSE;
    Node *node = PyMem_Malloc(sizeof(Node) + (size_t)vertex->places * sizeof(number));
    if (!node) return PyErr_NoMemory();
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    node->priority = self->random >> 16;
    node->payload = waiter;
    memcpy(node->row, until, (size_t)vertex->places * sizeof(number));
    vertex->waiters = insert_node(vertex->waiters, node, waiter, vertex->places, 1);
    vertex->waiting++;
    Py_RETURN_TRUE;
}

static PyObject *kernel_covers(Kernel *self, PyObject *const *arguments, Py_ssize_t count)
{
    int number_of;
    number until[MOST_PLACES];
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "covers takes a vertex and a time");
        return NULL;
    }
    if (read_vertex(self, arguments[0], &number_of)) return NULL;
    if (read_row(self, number_of, arguments[1], until, 1)) return NULL;
    return PyBool_FromLong(covers(&self->vertices[number_of], until));
}

static PyObject *write_rows(Kernel *self, const Vertex *vertex, const Rows *rows)
{
    self->busy++;
    PyObject *times = PyList_New(rows->count);
    for (Py_ssize_t index = 0; times && index < rows->count; index++) {
        PyObject *time = write_row(vertex, rows->data + index * vertex->places);
        if (time)
            PyList_SET_ITEM(times, index, time);
        else
            Py_CLEAR(times);
    }
    self->busy--;
    return times;
}

static PyObject *kernel_times(Kernel *self, PyObject *item)
{
    int number_of;
    if (read_vertex(self, item, &number_of)) return NULL;
    return write_rows(self, &self->vertices[number_of], &self->vertices[number_of].frontier);
}

static PyObject *kernel_watch(Kernel *self, PyObject *item)
{
    int number_of;
    if (read_vertex(self, item, &number_of)) return NULL;
    self->vertices[number_of].watched = 1;
    Py_RETURN_NONE;
}

static PyObject *write_move(Kernel *self, const Vertex *vertex)
{
    if (vertex->moved != 1) return Py_NewRef(Py_None);
    PyObject *left = write_rows(self, vertex, &vertex->left), *came = write_rows(self, vertex, &vertex->came);
    PyObject *move = left && came ? PyTuple_Pack(2, left, came) : NULL;
    Py_XDECREF(left);
    Py_XDECREF(came);
    return move;
}

static PyObject *kernel_take_moved(Kernel *self, PyObject *Py_UNUSED(none))
{
    if (closed(self)) return NULL;
    self->busy++;
    PyObject *taken = PyDict_New();
    for (Py_ssize_t index = 0; taken && index < self->moved_count; index++) {
        PyObject *key = PyLong_FromLong(self->moved[index]);
        PyObject *move = write_move(self, &self->vertices[self->moved[index]]);
        if (!key || !move || PyDict_SetItem(taken, key, move)) Py_CLEAR(taken);
        Py_XDECREF(key);
        Py_XDECREF(move);
    }
    self->busy--;
    if (!taken) return NULL;
    for (Py_ssize_t index = 0; index < self->moved_count; index++) self->vertices[self->moved[index]].moved = 0;
    self->moved_count = 0;
    return taken;
}
