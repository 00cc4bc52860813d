/* The types of values: what progress/runtime/awaiting.py asks of all results of a function, one comparison each. */

static PyObject *kinds_of(PyObject *Py_UNUSED(module), PyObject *values)
{
    if (!PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "the values are no list");
        return NULL;
    }
    PyObject *kinds = PySet_New(NULL);
    if (!kinds) return NULL;
    PyTypeObject *last = NULL;
    /* Types are hashed by address and compared by identity, unless a metaclass says otherwise: then code of others runs,
     * which may change the list; its size is read anew for each value. */
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); i++) {
        PyTypeObject *kind = Py_TYPE(PyList_GET_ITEM(values, i));
        if (kind == last) continue;
        last = kind;
        Py_INCREF(kind);
        int added = PySet_Add(kinds, (PyObject *)kind);
        Py_DECREF(kind);
        if (added < 0) {
            Py_DECREF(kinds);
            return NULL;
        }
    }
    return kinds;
}
