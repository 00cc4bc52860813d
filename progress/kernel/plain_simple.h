/* What holds nothing, numbers, texts and `bytes`, written and read. */

#define FIRST_ROOM 128

typedef struct {
    const PlainData *form;
    PyObject *content; /* `bytes`, longer than what is written */
    unsigned char *next, *end;
} Output;

typedef struct {
    const PlainData *form;
    const unsigned char *next, *end;
} Input;

static inline void store(unsigned char *to, uint64_t value, int bytes)
{
    for (int place = 0; place < bytes; place++) to[place] = (unsigned char)(value >> (8 * place));
}

static inline uint64_t load(const unsigned char *from, int bytes)
{
    uint64_t value = 0;
    for (int place = 0; place < bytes; place++) value |= (uint64_t)from[place] << (8 * place);
    return value;
}

/* The bits of a whole number without its sign; -1: an error. */
static Py_ssize_t bits_of(const PlainData *form, PyObject *value)
{
    PyObject *bits = PyObject_CallMethodNoArgs(value, form->words[BIT_LENGTH]);
    Py_ssize_t found = bits ? PyLong_AsSsize_t(bits) : -1;
    Py_XDECREF(bits);
    return found;
}

static int output_begin(Output *self)
{
    self->content = PyBytes_FromStringAndSize(NULL, FIRST_ROOM);
    if (!self->content) return -1;
    self->next = (unsigned char *)PyBytes_AS_STRING(self->content);
    self->end = self->next + FIRST_ROOM;
    return 0;
}

/* What was written, as long as it is. */
static PyObject *output_end(Output *self)
{
    PyObject *content = self->content;
    self->content = NULL;
    _PyBytes_Resize(&content, self->next - (unsigned char *)PyBytes_AS_STRING(content));
    return content;
}

/* So many more bytes are going to be written. */
static int make_room(Output *self, Py_ssize_t more)
{
    if (more <= self->end - self->next) return 0;
    Py_ssize_t written = self->next - (unsigned char *)PyBytes_AS_STRING(self->content);
    if (more > PY_SSIZE_T_MAX / 2 - written) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t room = written + more + (written + more) / 2;
    if (_PyBytes_Resize(&self->content, room)) return -1;
    self->next = (unsigned char *)PyBytes_AS_STRING(self->content) + written;
    self->end = (unsigned char *)PyBytes_AS_STRING(self->content) + room;
    return 0;
}

static int write_letter(Output *self, char letter)
{
    if (make_room(self, 1)) return -1;
    *self->next++ = (unsigned char)letter;
    return 0;
}

/* A letter and a count or a number of an object. */
static int write_size(Output *self, char letter, Py_ssize_t size)
{
    if (size > self->form->most) {
        PyErr_Format(self->form->not_plain, "it has %zd parts, and %lld is the most", size, (long long)self->form->most);
        return -1;
    }
    if (make_room(self, 5)) return -1;
    *self->next++ = (unsigned char)letter;
    store(self->next, (uint64_t)size, 4);
    self->next += 4;
    return 0;
}

static int write_bytes(Output *self, char letter, const char *bytes, Py_ssize_t size)
{
    if (write_size(self, letter, size) || make_room(self, size)) return -1;
    memcpy(self->next, bytes, (size_t)size);
    self->next += size;
    return 0;
}

static int write_short(Output *self, char letter, const char *bytes, unsigned char size)
{
    if (make_room(self, 2 + size)) return -1;
    *self->next++ = (unsigned char)letter;
    *self->next++ = size;
    memcpy(self->next, bytes, size);
    self->next += size;
    return 0;
}

static int write_text(Output *self, PyObject *value)
{
    if (PyUnicode_IS_COMPACT_ASCII(value))
        return write_bytes(self, 's', (const char *)PyUnicode_1BYTE_DATA(value), PyUnicode_GET_LENGTH(value));
    PyObject *text = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
    if (!text) return -1;
    int failed = write_bytes(self, 's', PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text));
    Py_DECREF(text);
    return failed;
}

/* `first.method(second, "little", signed=True)` */
static PyObject *call_signed(const PlainData *form, int method, PyObject *first, PyObject *second)
{
    PyObject *arguments[] = {first, second, form->words[LITTLE], Py_True};
    return PyObject_VectorcallMethod(form->words[method], arguments, 3, form->is_signed);
}

static int write_large(Output *self, PyObject *value)
{
    Py_ssize_t bits = bits_of(self->form, value);
    PyObject *size = bits < 0 ? NULL : PyLong_FromSsize_t(bits / 8 + 1);
    PyObject *bytes = size ? call_signed(self->form, TO_BYTES, value, size) : NULL;
    int failed = bytes ? write_bytes(self, 'I', PyBytes_AS_STRING(bytes), PyBytes_GET_SIZE(bytes)) : -1;
    Py_XDECREF(size);
    Py_XDECREF(bytes);
    return failed;
}

static int write_whole(Output *self, PyObject *value)
{
    int is_large;
    long long found = PyLong_AsLongLongAndOverflow(value, &is_large);
    if (is_large) return write_large(self, value);
    int size = found >= -128 && found < 128 ? 1 : 8;
    if (make_room(self, 1 + size)) return -1;
    *self->next++ = size == 1 ? 'j' : 'i';
    store(self->next, (uint64_t)found, size);
    self->next += size;
    return 0;
}

static int write_real(Output *self, double value)
{
    if (make_room(self, 9)) return -1;
    *self->next++ = 'f';
    if (PyFloat_Pack8(value, (char *)self->next, 1)) return -1;
    self->next += 8;
    return 0;
}

static PyObject *not_read(const Input *self, const char *why)
{
    PyErr_SetString(self->form->not_read, why);
    return NULL;
}

/* So many bytes; NULL where there are fewer. */
static const unsigned char *take(Input *self, Py_ssize_t size)
{
    if (size > self->end - self->next) {
        not_read(self, "it ends too early");
        return NULL;
    }
    const unsigned char *begin = self->next;
    self->next += size;
    return begin;
}

/* How many follow, each of at least so many bytes; -1: more than there can be. */
static Py_ssize_t read_size(Input *self, int least)
{
    const unsigned char *bytes = take(self, 4);
    if (!bytes) return -1;
    uint64_t size = load(bytes, 4);
    if (size * (uint64_t)least <= (uint64_t)(self->end - self->next)) return (Py_ssize_t)size;
    not_read(self, "it ends too early");
    return -1;
}

static PyObject *read_text(Input *self, Py_ssize_t size)
{
    const unsigned char *bytes = size < 0 ? NULL : take(self, size);
    return bytes ? PyUnicode_DecodeUTF8((const char *)bytes, size, "surrogatepass") : NULL;
}

static PyObject *read_name(Input *self)
{
    const unsigned char *size = take(self, 1);
    return size ? read_text(self, *size) : NULL;
}

static PyObject *read_whole(Input *self)
{
    const unsigned char *bytes = take(self, 8);
    if (!bytes) return NULL;
    int64_t number = (int64_t)load(bytes, 8);
    if (number >= -128 && number < 128) return not_read(self, "a number is longer than it has to be");
    return PyLong_FromLongLong(number);
}

static PyObject *read_large(Input *self)
{
    Py_ssize_t size = read_size(self, 1);
    if (size < 0) return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)take(self, size), size);
    PyObject *number = bytes ? call_signed(self->form, FROM_BYTES, (PyObject *)&PyLong_Type, bytes) : NULL;
    Py_XDECREF(bytes);
    if (!number) return NULL;
    int is_large;
    PyLong_AsLongLongAndOverflow(number, &is_large);
    Py_ssize_t bits = bits_of(self->form, number);
    if (bits >= 0 && is_large && size == bits / 8 + 1) return number;
    Py_DECREF(number);
    return bits < 0 ? NULL : not_read(self, "a number is longer than it has to be");
}
