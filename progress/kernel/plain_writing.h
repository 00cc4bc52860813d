/* Plain data as bytes: the twin of progress/runtime/durable/encoding/writing.py.
 *
 * Code of strangers runs where a value of another kind says what it is made of, where a key of another kind is measured,
 * and where the elements of a set that are neither all whole numbers nor all texts are put in order. It may alter what
 * is being written. So whatever is looked at is held by a reference, lists are asked for their length at each step, and
 * dicts are watched as their iterators do. */

typedef struct {
    Output out;
    PyObject *parts;   /* of a value of another kind: its name, what it is made of, whether it may hold itself */
    PyObject *ordered; /* of a set and how deep its elements are: these in the order in which they are written */
    PyObject *sets;    /* gets all sets, or None */
    Objects objects;
} Writer;

static int write_value(Writer *self, PyObject *value, int depth);

/* What is not plain gets one step more of the way to it: a key, or the place in what holds it. Always -1. */
static int lead_there(const Writer *self, PyObject *key, Py_ssize_t place)
{
    PyObject *error = PyErr_GetRaisedException();
    if (!PyErr_GivenExceptionMatches(error, self->out.form->not_plain)) {
        PyErr_SetRaisedException(error);
        return -1;
    }
    PyObject *const *words = self->out.form->words;
    PyObject *way = PyObject_GetAttr(error, words[WAY]);
    PyObject *step = key ? Py_NewRef(key) : PyLong_FromSsize_t(place);
    PyObject *added = way && step ? PyObject_CallMethodOneArg(way, words[APPEND], step) : NULL;
    if (added)
        PyErr_SetRaisedException(error);
    else
        Py_DECREF(error);
    Py_XDECREF(way);
    Py_XDECREF(step);
    Py_XDECREF(added);
    return -1;
}

static int check_key(Writer *self, PyObject *key)
{
    if (is_simple(key)) return 0;
    Measure left = {self->out.form, &self->objects, self->out.form->largest_key};
    if (!measure(&left, key, 0)) return 0;
    if (!PyErr_ExceptionMatches(self->out.form->not_read) && !PyErr_ExceptionMatches(PyExc_RecursionError)) return -1;
    PyErr_Clear();
    PyErr_SetString(self->out.form->not_plain, "a key is too large");
    return -1;
}

/* A tuple or a list, and each that is in it. */
static int write_items(Writer *self, char letter, PyObject *items, int depth, int are_keys)
{
    if (write_size(&self->out, letter, PySequence_Fast_GET_SIZE(items))) return -1;
    for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(items); index++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(items, index));
        int failed = (are_keys && check_key(self, item)) || write_value(self, item, depth);
        Py_DECREF(item);
        if (failed) return lead_there(self, NULL, index);
    }
    return 0;
}

static int write_dict(Writer *self, PyObject *value, int depth)
{
    Py_ssize_t size = PyDict_GET_SIZE(value), left = size, place = 0;
    if (number_object(&self->objects, value) || write_size(&self->out, '{', size)) return -1;
    for (;;) {
        PyObject *key, *each;
        if (PyDict_GET_SIZE(value) != size) {
            PyErr_SetString(PyExc_RuntimeError, "dictionary changed size during iteration");
            return -1;
        }
        if (!PyDict_Next(value, &place, &key, &each)) return 0;
        if (left-- == 0) {
            PyErr_SetString(PyExc_RuntimeError, "dictionary keys changed during iteration");
            return -1;
        }
        Py_INCREF(key);
        Py_INCREF(each);
        int failed = check_key(self, key) || write_value(self, key, depth) || write_value(self, each, depth);
        if (failed) lead_there(self, key, 0);
        Py_DECREF(key);
        Py_DECREF(each);
        if (failed) return -1;
    }
}

static int are_all(PyObject *items, PyTypeObject *kind)
{
    for (Py_ssize_t index = 0; index < PyList_GET_SIZE(items); index++)
        if (!Py_IS_TYPE(PyList_GET_ITEM(items, index), kind)) return 0;
    return 1;
}

/* The elements of a set, in an order that depends on nothing but them. */
static PyObject *in_order(Writer *self, PyObject *value, int depth)
{
    PyObject *items = PySequence_List(value);
    if (!items || PyList_GET_SIZE(items) < 2) return items;
    if (are_all(items, &PyLong_Type) || are_all(items, &PyUnicode_Type)) {
        if (!PyList_Sort(items)) return items;
        Py_DECREF(items);
        return NULL;
    }
    Py_DECREF(items);
    if (let_strangers_in(&self->objects)) return NULL;
    items = PyObject_CallFunction(self->ordered, "Oi", value, depth);
    if (!items || PyList_CheckExact(items)) return items;
    Py_DECREF(items);
    PyErr_SetString(PyExc_TypeError, "the elements of a set in order are a list");
    return NULL;
}

static int write_elements(Writer *self, char letter, PyObject *value, int depth)
{
    PyObject *items = in_order(self, value, depth);
    if (!items) return -1;
    int failed = write_items(self, letter, items, depth, 1);
    Py_DECREF(items);
    return failed;
}

static int write_set(Writer *self, PyObject *value, int depth)
{
    if (number_object(&self->objects, value) || write_elements(self, '<', value, depth)) return -1;
    return self->sets == Py_None ? 0 : PyList_Append(self->sets, value);
}

/* There is but one empty tuple, and it has no number. */
static int write_tuple(Writer *self, PyObject *value, int depth)
{
    if (!PyTuple_GET_SIZE(value)) return write_size(&self->out, '(', 0);
    Opened opened;
    if (open_object(&self->objects, value, &opened) || write_items(self, '(', value, depth, 0)) return -1;
    return close_object(&self->objects, &opened);
}

static int write_frozenset(Writer *self, PyObject *value, int depth)
{
    Opened opened;
    if (open_object(&self->objects, value, &opened) || write_elements(self, '>', value, depth)) return -1;
    if (close_object(&self->objects, &opened)) return -1;
    return self->sets == Py_None ? 0 : PyList_Append(self->sets, value);
}

/* "a value of the class " and its name; NULL: an error. */
static PyObject *class_of(const PlainData *form, PyObject *value)
{
    PyObject *kind = (PyObject *)Py_TYPE(value), *found = NULL;
    PyObject *name = PyObject_GetAttr(kind, form->words[QUALNAME]), *module = PyObject_GetAttr(kind, form->words[MODULE]);
    if (name && module) {
        int is_builtin = PyUnicode_Check(module) && !PyUnicode_CompareWithASCIIString(module, "builtins");
        found = is_builtin ? PyUnicode_FromFormat("a value of the class %S", name)
                           : PyUnicode_FromFormat("a value of the class %S.%S", module, name);
    }
    Py_XDECREF(name);
    Py_XDECREF(module);
    return found;
}

static int refuse_class(const Writer *self, PyObject *value, const char *why)
{
    PyObject *kind = class_of(self->out.form, value);
    if (kind) PyErr_Format(self->out.form->not_plain, why, kind);
    Py_XDECREF(kind);
    return -1;
}

/* The name of a value of another kind, with a letter that says whether it may hold itself. */
static int write_name(Writer *self, PyObject *value, PyObject *name, char letter)
{
    PyObject *text = PyUnicode_AsEncodedString(name, "utf-8", "surrogatepass");
    if (!text) return -1;
    Py_ssize_t size = PyBytes_GET_SIZE(text);
    int failed = size > 255 ? refuse_class(self, value, "%U has a name of more than 255 bytes")
                            : write_short(&self->out, letter, PyBytes_AS_STRING(text), (unsigned char)size);
    Py_DECREF(text);
    return failed;
}

static int write_made_of(Writer *self, PyObject *value, PyObject *found, int depth)
{
    if (!PyTuple_Check(found) || PyTuple_GET_SIZE(found) != 3 || !PyUnicode_Check(PyTuple_GET_ITEM(found, 0))) {
        PyErr_SetString(PyExc_TypeError, "a value has a name, what it is made of, and whether it may hold itself");
        return -1;
    }
    PyObject *name = PyTuple_GET_ITEM(found, 0), *made_of = PyTuple_GET_ITEM(found, 1);
    int may_hold_itself = PyObject_IsTrue(PyTuple_GET_ITEM(found, 2));
    if (may_hold_itself < 0 || write_name(self, value, name, may_hold_itself ? 'O' : 'o')) return -1;
    if (may_hold_itself) return number_object(&self->objects, value) ? -1 : write_value(self, made_of, depth);
    Opened opened;
    if (open_object(&self->objects, value, &opened) || write_value(self, made_of, depth)) return -1;
    return close_object(&self->objects, &opened);
}

static int write_other(Writer *self, PyObject *value, int depth)
{
    if (let_strangers_in(&self->objects)) return -1;
    PyObject *found = PyObject_CallOneArg(self->parts, value);
    if (!found) return -1;
    int failed = found == Py_None ? refuse_class(self, value, "%U is not plain data")
                                  : write_made_of(self, value, found, depth);
    Py_DECREF(found);
    return failed;
}

/* What has a number, for the first time. */
static int write_object(Writer *self, PyObject *value, int depth)
{
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyTuple_Type) return write_tuple(self, value, depth);
    if (kind == &PyList_Type)
        return number_object(&self->objects, value) ? -1 : write_items(self, '[', value, depth, 0);
    if (kind == &PyDict_Type) return write_dict(self, value, depth);
    if (kind == &PySet_Type) return write_set(self, value, depth);
    if (kind == &PyFrozenSet_Type) return write_frozenset(self, value, depth);
    if (kind == &PyByteArray_Type)
        return number_object(&self->objects, value)
                   ? -1
                   : write_bytes(&self->out, 'Y', PyByteArray_AS_STRING(value), PyByteArray_GET_SIZE(value));
    return write_other(self, value, depth);
}

/* Who calls it holds a reference to the value besides that of the place where it is. */
static int write_value(Writer *self, PyObject *value, int depth)
{
    PyTypeObject *kind = Py_TYPE(value);
    if (kind == &PyUnicode_Type) return write_text(&self->out, value);
    if (kind == &PyLong_Type) return write_whole(&self->out, value);
    if (kind == &PyFloat_Type) return write_real(&self->out, PyFloat_AS_DOUBLE(value));
    if (value == Py_None) return write_letter(&self->out, 'N');
    if (kind == &PyBool_Type) return write_letter(&self->out, value == Py_True ? 'T' : 'F');
    if (kind == &PyBytes_Type) return write_bytes(&self->out, 'y', PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value));
    int64_t number = number_of_object(&self->objects, value);
    if (number >= 0) return write_size(&self->out, 'r', (Py_ssize_t)number);
    if (number == OPEN) {
        PyObject *name = PyObject_GetAttr((PyObject *)kind, self->out.form->words[NAME]);
        if (name) PyErr_Format(self->out.form->not_plain, "a %S holds itself", name);
        Py_XDECREF(name);
        return -1;
    }
    if (depth >= self->out.form->deepest) {
        PyErr_Format(self->out.form->not_plain, "it is nested more than %d deep", self->out.form->deepest);
        return -1;
    }
    if (Py_EnterRecursiveCall(" while plain data is written")) return -1;
    int failed = write_object(self, value, depth + 1);
    Py_LeaveRecursiveCall();
    return failed;
}

/* encoded(value, parts, ordered, sets, depth) */
static PyObject *plain_encoded(PlainData *form, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || (arguments[3] != Py_None && !PyList_Check(arguments[3]))) {
        PyErr_SetString(PyExc_TypeError,
                        "encoded takes a value, what others are made of, who orders sets, a list of them, and a depth");
        return NULL;
    }
    long depth = PyLong_AsLong(arguments[4]);
    if (depth == -1 && PyErr_Occurred()) return NULL;
    if (depth < 0 || depth > form->deepest) {
        PyErr_SetString(PyExc_ValueError, "nothing is so deep in plain data");
        return NULL;
    }
    Writer self = {.out.form = form, .objects.form = form, .parts = arguments[1]};
    self.ordered = arguments[2];
    self.sets = arguments[3];
    if (output_begin(&self.out)) return NULL;
    PyObject *value = Py_NewRef(arguments[0]), *content = NULL;
    if (!write_value(&self, value, (int)depth)) content = output_end(&self.out);
    Py_XDECREF(self.out.content);
    Py_DECREF(value);
    objects_free(&self.objects);
    return content;
}
