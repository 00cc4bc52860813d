/* Bytes as plain data: the twin of progress/runtime/durable/encoding/reading.py.
 *
 * Nothing is allocated for what is only announced: lists, dicts and sets grow as their parts are read, and the parts of a
 * tuple wait on `stack` until all are there, so that nobody sees one that is not whole. */

typedef struct {
    PyObject **items; /* one reference to each */
    Py_ssize_t count, room;
} Pile;

typedef struct {
    Input in;
    PyObject *kinds; /* makes values of other kinds */
    Pile objects; /* by their numbers */
    Pile stack;
} Reader;

static PyObject *read_value(Reader *self, int depth);

static int pile_add(Pile *self, PyObject *item)
{
    if (grow((void **)&self->items, &self->room, self->count + 1, sizeof(PyObject *))) {
        PyErr_NoMemory();
        return -1;
    }
    self->items[self->count++] = Py_NewRef(item);
    return 0;
}

static void pile_free(Pile *self)
{
    while (self->count) Py_DECREF(self->items[--self->count]);
    PyMem_Free(self->items);
}

static PyObject *read_again(Reader *self)
{
    const unsigned char *bytes = take(&self->in, 4);
    if (!bytes) return NULL;
    Py_ssize_t number = (Py_ssize_t)load(bytes, 4);
    if (number >= self->objects.count) return not_read(&self->in, "it refers to what is not there");
    return Py_NewRef(self->objects.items[number]);
}

static PyObject *read_tuple(Reader *self, int depth)
{
    Py_ssize_t size = read_size(&self->in, 1), base = self->stack.count;
    if (size <= 0) return size ? NULL : PyTuple_New(0);
    for (Py_ssize_t index = 0; index < size; index++) {
        PyObject *item = read_value(self, depth);
        int failed = !item || pile_add(&self->stack, item);
        Py_XDECREF(item);
        if (failed) return NULL;
    }
    PyObject *found = PyTuple_New(size);
    if (!found) return NULL;
    self->stack.count = base;
    memcpy(&PyTuple_GET_ITEM(found, 0), self->stack.items + base, (size_t)size * sizeof(PyObject *));
    return found;
}

static int fill_list(Reader *self, PyObject *found, int depth)
{
    Py_ssize_t size = read_size(&self->in, 1);
    for (Py_ssize_t index = 0; index < size; index++) {
        PyObject *item = read_value(self, depth);
        int failed = !item || PyList_Append(found, item);
        Py_XDECREF(item);
        if (failed) return -1;
    }
    return size < 0 ? -1 : 0;
}

/* What is hashed is measured before. */
static PyObject *read_key(Reader *self, int depth)
{
    PyObject *key = read_value(self, depth);
    if (!key || is_simple(key)) return key;
    Measure left = {self->in.form, NULL, self->in.form->largest_key};
    if (!measure(&left, key, 0)) return key;
    Py_DECREF(key);
    return NULL;
}

static int fill_dict(Reader *self, PyObject *found, int depth)
{
    Py_ssize_t size = read_size(&self->in, 2);
    for (Py_ssize_t number = 0; number < size; number++) {
        PyObject *key = read_key(self, depth), *value = key ? read_value(self, depth) : NULL;
        int failed = !value || PyDict_SetItem(found, key, value);
        Py_XDECREF(key);
        Py_XDECREF(value);
        if (failed) return -1;
        if (PyDict_GET_SIZE(found) != number + 1) {
            not_read(&self->in, "a key is there twice");
            return -1;
        }
    }
    return size < 0 ? -1 : 0;
}

static int fill_set(Reader *self, PyObject *found, int depth)
{
    Py_ssize_t size = read_size(&self->in, 1);
    for (Py_ssize_t number = 0; number < size; number++) {
        PyObject *item = read_key(self, depth);
        int failed = !item || PySet_Add(found, item);
        Py_XDECREF(item);
        if (failed) return -1;
        if (PySet_GET_SIZE(found) != number + 1) {
            not_read(&self->in, "an element is there twice");
            return -1;
        }
    }
    return size < 0 ? -1 : 0;
}

/* What gets its number before it is filled. */
static PyObject *filled(Reader *self, PyObject *empty, int (*fill)(Reader *, PyObject *, int), int depth)
{
    if (empty && !pile_add(&self->objects, empty) && !fill(self, empty, depth)) return empty;
    Py_XDECREF(empty);
    return NULL;
}

/* What gets its number when it is whole. */
static PyObject *numbered(Reader *self, PyObject *whole)
{
    if (whole && !pile_add(&self->objects, whole)) return whole;
    Py_XDECREF(whole);
    return NULL;
}

static PyObject *read_frozenset(Reader *self, int depth)
{
    PyObject *items = PySet_New(NULL);
    PyObject *found = items && !fill_set(self, items, depth) ? PyFrozenSet_New(items) : NULL;
    Py_XDECREF(items);
    return found;
}

static PyObject *read_bytearray(Reader *self)
{
    Py_ssize_t size = read_size(&self->in, 1);
    return size < 0 ? NULL : PyByteArray_FromStringAndSize((const char *)take(&self->in, size), size);
}

static PyObject *read_made(Reader *self, int depth)
{
    PyObject *name = read_name(&self->in), *made_of = name ? read_value(self, depth) : NULL;
    PyObject *arguments[] = {self->kinds, name, made_of};
    PyObject *found = made_of ? PyObject_VectorcallMethod(self->in.form->words[MADE], arguments, 3, NULL) : NULL;
    Py_XDECREF(name);
    Py_XDECREF(made_of);
    return found;
}

static int fill_begun(Reader *self, PyObject *fill, int depth)
{
    PyObject *made_of = read_value(self, depth), *nothing = made_of ? PyObject_CallOneArg(fill, made_of) : NULL;
    Py_XDECREF(made_of);
    Py_XDECREF(nothing);
    return nothing ? 0 : -1;
}

static PyObject *read_begun(Reader *self, int depth)
{
    PyObject *name = read_name(&self->in), *found = NULL;
    PyObject *begun = name ? PyObject_CallMethodOneArg(self->kinds, self->in.form->words[BEGUN], name) : NULL;
    if (begun && (!PyTuple_Check(begun) || PyTuple_GET_SIZE(begun) != 2))
        PyErr_SetString(PyExc_TypeError, "what is begun is a value and what fills it");
    else if (begun && !pile_add(&self->objects, PyTuple_GET_ITEM(begun, 0))
             && !fill_begun(self, PyTuple_GET_ITEM(begun, 1), depth))
        found = Py_NewRef(PyTuple_GET_ITEM(begun, 0));
    Py_XDECREF(name);
    Py_XDECREF(begun);
    return found;
}

static PyObject *read_object(Reader *self, unsigned char letter, int depth)
{
    PyObject *found;
    switch (letter) {
    case '(':
        found = read_tuple(self, depth);
        return found && PyTuple_GET_SIZE(found) ? numbered(self, found) : found;
    case '[': return filled(self, PyList_New(0), fill_list, depth);
    case '{': return filled(self, PyDict_New(), fill_dict, depth);
    case '<': return filled(self, PySet_New(NULL), fill_set, depth);
    case '>': return numbered(self, read_frozenset(self, depth));
    case 'Y': return numbered(self, read_bytearray(self));
    case 'o': return numbered(self, read_made(self, depth));
    case 'O': return read_begun(self, depth);
    default: return not_read(&self->in, "it begins with no known letter");
    }
}

static PyObject *read_value(Reader *self, int depth)
{
    const unsigned char *letter = take(&self->in, 1), *bytes;
    Py_ssize_t size;
    if (!letter) return NULL;
    switch (*letter) {
    case 's': return read_text(&self->in, read_size(&self->in, 1));
    case 'j': return (bytes = take(&self->in, 1)) ? PyLong_FromLong((signed char)*bytes) : NULL;
    case 'i': return read_whole(&self->in);
    case 'f': return (bytes = take(&self->in, 8)) ? PyFloat_FromDouble(PyFloat_Unpack8((const char *)bytes, 1)) : NULL;
    case 'N': return Py_NewRef(Py_None);
    case 'T': return Py_NewRef(Py_True);
    case 'F': return Py_NewRef(Py_False);
    case 'y':
        size = read_size(&self->in, 1);
        return size < 0 ? NULL : PyBytes_FromStringAndSize((const char *)take(&self->in, size), size);
    case 'I': return read_large(&self->in);
    case 'r': return read_again(self);
    }
    if (depth >= self->in.form->deepest) return not_read(&self->in, "it is nested too deeply");
    if (Py_EnterRecursiveCall(" while plain data is read")) return NULL;
    PyObject *found = read_object(self, *letter, depth + 1);
    Py_LeaveRecursiveCall();
    return found;
}

/* Whatever else was raised, a list as a key, a text that is not UTF-8, says why it was not read. */
static void say_not_read(const PlainData *form)
{
    if (PyErr_ExceptionMatches(form->not_read) || !PyErr_ExceptionMatches(PyExc_Exception)) return;
    PyObject *cause = PyErr_GetRaisedException(), *why = PyObject_Str(cause);
    PyObject *error = why ? PyObject_CallOneArg(form->not_read, why) : NULL;
    if (error) {
        PyException_SetContext(error, Py_NewRef(cause));
        PyException_SetCause(error, Py_NewRef(cause));
        PyErr_SetRaisedException(error);
    }
    Py_DECREF(cause);
    Py_XDECREF(why);
}

/* decoded(content, kinds) */
static PyObject *plain_decoded(PlainData *form, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "decoded takes bytes, and what makes values of other kinds");
        return NULL;
    }
    const unsigned char *content = (const unsigned char *)PyBytes_AS_STRING(arguments[0]);
    Reader self = {.in = {form, content, content + PyBytes_GET_SIZE(arguments[0])}, .kinds = arguments[1]};
    PyObject *found = read_value(&self, 0);
    if (!found)
        say_not_read(form);
    else if (self.in.next != self.in.end) {
        Py_CLEAR(found);
        not_read(&self.in, "something follows the end");
    }
    pile_free(&self.stack);
    pile_free(&self.objects);
    return found;
}
