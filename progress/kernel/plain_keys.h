/* Measuring keys: `check_key` of progress/runtime/durable/encoding/form.py. A key is hashed with everything that it holds, each
 * as often as it holds it. */

typedef struct {
    const PlainData *form;
    Objects *objects; /* of who writes, who has to know before code of strangers runs; or NULL */
    int64_t left;     /* so many parts may follow */
} Measure;

static int measure(Measure *self, PyObject *key, int depth);

static int measure_each(Measure *self, PyObject *parts, int depth)
{
    PyObject *iterator = PyObject_GetIter(parts), *part;
    if (!iterator) return -1;
    int failed = 0;
    while (!failed && (part = PyIter_Next(iterator))) {
        failed = measure(self, part, depth);
        Py_DECREF(part);
    }
    Py_DECREF(iterator);
    return failed || PyErr_Occurred() ? -1 : 0;
}

static int measure(Measure *self, PyObject *key, int depth)
{
    if (--self->left < 0 || depth > self->form->deepest) {
        PyErr_SetString(self->form->not_read, "a key is too large");
        return -1;
    }
    if (is_simple(key)) return 0;
    if (PyTuple_CheckExact(key)) {
        for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(key); index++)
            if (measure(self, PyTuple_GET_ITEM(key, index), depth + 1)) return -1;
        return 0;
    }
    if (PyFrozenSet_CheckExact(key)) return measure_each(self, key, depth + 1);
    if (self->objects && let_strangers_in(self->objects)) return -1;
    PyObject *parts = PyObject_CallOneArg(self->form->hashed, key);
    if (!parts) return -1;
    int failed = measure_each(self, parts, depth + 1);
    Py_DECREF(parts);
    return failed;
}
