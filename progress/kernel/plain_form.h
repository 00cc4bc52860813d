/* Plain data: what its writer and its reader share. The form is that of progress/runtime/durable/encoding/form.py, whose numbers
 * and errors a `PlainData` is made with; progress/runtime/durable/encoding/writing.py and reading.py are the twins. */

/* Names that are looked up: each is one object, since Python remembers look-ups by it. */
enum { APPEND, BEGUN, BIT_LENGTH, FROM_BYTES, LITTLE, MADE, MODULE, NAME, QUALNAME, TO_BYTES, WAY, WORDS };
static const char *const words[WORDS] = {"append", "begun", "bit_length", "from_bytes", "little", "made", "__module__",
                                         "__name__", "__qualname__", "to_bytes", "way"};

/* How data becomes bytes and is read again. It does not change once it is made. */
typedef struct {
    PyObject_HEAD
    PyObject *not_plain, *not_read; /* the errors of writing and of reading */
    PyObject *hashed;               /* of a key of any other kind: what is hashed with it */
    int deepest;                    /* what holds what holds what */
    int64_t largest_key;            /* parts of a key, each as often as it is in it */
    int64_t most;                   /* parts of one object, and objects */
    PyObject *words[WORDS];
    PyObject *is_signed; /* the name of an argument */
} PlainData;

#define MOST_DEEP 1000 /* levels that the stack of any thread has room for */

#if PY_VERSION_HEX < 0x030C0000
static PyObject *PyErr_GetRaisedException(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error && trace) PyException_SetTraceback(error, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return error;
}

static void PyErr_SetRaisedException(PyObject *error)
{
    PyErr_Restore(Py_NewRef(Py_TYPE(error)), error, PyException_GetTraceback(error));
}
#endif

/* Numbers, texts, `bytes`, None: what has no number of its own, and holds nothing. No subclass of these is. */
static inline int is_simple(PyObject *value)
{
    PyTypeObject *kind = Py_TYPE(value);
    return kind == &PyUnicode_Type || kind == &PyLong_Type || kind == &PyFloat_Type || kind == &PyBool_Type
           || kind == &PyBytes_Type || value == Py_None;
}

static int plain_traverse(PlainData *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->not_plain);
    Py_VISIT(self->not_read);
    Py_VISIT(self->hashed);
    return 0;
}

static int plain_clear(PlainData *self)
{
    Py_CLEAR(self->not_plain);
    Py_CLEAR(self->not_read);
    Py_CLEAR(self->hashed);
    return 0;
}

static void plain_dealloc(PlainData *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    plain_clear(self);
    for (int word = 0; word < WORDS; word++) Py_XDECREF(self->words[word]);
    Py_XDECREF(self->is_signed);
    type->tp_free(self);
    Py_DECREF(type);
}

/* PlainData(not_plain, not_read, hashed, deepest, largest_key, most) */
static PyObject *plain_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"not_plain", "not_read", "hashed", "deepest", "largest_key", "most", NULL};
    PyObject *not_plain, *not_read, *hashed;
    int deepest;
    long long largest_key, most;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOiLL", names, &not_plain, &not_read, &hashed, &deepest,
                                     &largest_key, &most))
        return NULL;
    if (!PyExceptionClass_Check(not_plain) || !PyExceptionClass_Check(not_read) || !PyCallable_Check(hashed)) {
        PyErr_SetString(PyExc_TypeError, "plain data has two errors, and says what is hashed with a key");
        return NULL;
    }
    if (deepest < 1 || deepest > MOST_DEEP || largest_key < 1 || most < 1 || most > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "plain data has limits that counts of four bytes and the stack can keep");
        return NULL;
    }
    PlainData *self = (PlainData *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->not_plain = Py_NewRef(not_plain);
    self->not_read = Py_NewRef(not_read);
    self->hashed = Py_NewRef(hashed);
    self->deepest = deepest;
    self->largest_key = largest_key;
    self->most = most;
    int whole = (self->is_signed = Py_BuildValue("(s)", "signed")) != NULL;
    for (int word = 0; word < WORDS; word++)
        if (!(self->words[word] = PyUnicode_InternFromString(words[word]))) whole = 0;
    if (whole) return (PyObject *)self;
    Py_DECREF(self);
    return NULL;
}
