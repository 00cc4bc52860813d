/* Which objects have been written, and the number of each.
 *
 * The number of an object is its place in `list`. Where an object is met, `known` finds its number by its address: all
 * that are in the list, and -1 for those that are being written and get their number afterwards.
 *
 * An object that nothing holds but the place where it was met is not met again, and most are such; so they stay out of
 * the table. That is so as long as no code runs but this. Before any other may run, everything is put into the table,
 * and from then on so is each object: `let_strangers_in`. */

#define UNKNOWN (-2)
#define OPEN (-1)
#ifdef Py_GIL_DISABLED
#define ONE_PLACE (-1) /* counts of references are not exact there: all may be met again */
#else
#define ONE_PLACE 2 /* references: that of the place, and that of who writes */
#endif

typedef struct {
    PyObject *value; /* NULL: nothing is here */
    int64_t number;
} Known;

/* What is being written around what is being written. */
typedef struct Opened {
    PyObject *value;
    struct Opened *around;
} Opened;

typedef struct {
    const PlainData *form;
    PyObject **list; /* one reference to each */
    Py_ssize_t count, room;
    Known *known; /* by address, linear probing */
    size_t known_count, known_room; /* a power of two, or nothing yet */
    Opened *opened;
    int strangers; /* whether other code may have run */
} Objects;

/* Where an object is in the table, or where it would be. */
static inline Known *known_place(Known *known, size_t room, PyObject *value)
{
    size_t place = (size_t)((uint64_t)(uintptr_t)value * 0x9E3779B97F4A7C15u >> 20) & (room - 1);
    while (known[place].value && known[place].value != value) place = (place + 1) & (room - 1);
    return &known[place];
}

static int known_grow(Objects *self)
{
    size_t room = self->known_room ? self->known_room * 4 : 64;
    Known *known = room <= PY_SSIZE_T_MAX / sizeof(Known) ? PyMem_Calloc(room, sizeof(Known)) : NULL;
    if (!known) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t place = 0; place < self->known_room; place++)
        if (self->known[place].value) *known_place(known, room, self->known[place].value) = self->known[place];
    PyMem_Free(self->known);
    self->known = known;
    self->known_room = room;
    return 0;
}

static int know(Objects *self, PyObject *value, int64_t number)
{
    if (self->known_count * 3 >= self->known_room * 2 && known_grow(self)) return -1;
    Known *found = known_place(self->known, self->known_room, value);
    if (!found->value) self->known_count++;
    found->value = value;
    found->number = number;
    return 0;
}

static inline int is_met_again(const Objects *self, PyObject *value)
{
    return self->strangers || Py_REFCNT(value) > ONE_PLACE;
}

/* The number of an object that has been met, or UNKNOWN. Who asks holds a reference besides the place of the object. */
static inline int64_t number_of_object(const Objects *self, PyObject *value)
{
    if (!self->known_room || !is_met_again(self, value)) return UNKNOWN;
    const Known *found = known_place(self->known, self->known_room, value);
    return found->value ? found->number : UNKNOWN;
}

/* Code of strangers may run from here on: whatever has a number may be met again. */
static int let_strangers_in(Objects *self)
{
    if (self->strangers) return 0;
    for (Py_ssize_t number = 0; number < self->count; number++)
        if (know(self, self->list[number], number)) return -1;
    for (Opened *each = self->opened; each; each = each->around)
        if (know(self, each->value, OPEN)) return -1;
    self->strangers = 1;
    return 0;
}

/* An object gets its number; -1: there is none left, or no memory. */
static int number_object(Objects *self, PyObject *value)
{
    if (self->count > self->form->most) {
        PyErr_Format(self->form->not_plain, "it has %zd parts, and %lld is the most", self->count,
                     (long long)self->form->most);
        return -1;
    }
    if (grow((void **)&self->list, &self->room, self->count + 1, sizeof(PyObject *))) {
        PyErr_NoMemory();
        return -1;
    }
    if (is_met_again(self, value) && know(self, value, self->count)) return -1;
    self->list[self->count++] = Py_NewRef(value);
    return 0;
}

/* An object gets its number after what it holds, which it cannot be itself. */
static int open_object(Objects *self, PyObject *value, Opened *opened)
{
    opened->value = value;
    opened->around = self->opened;
    self->opened = opened;
    return is_met_again(self, value) ? know(self, value, OPEN) : 0;
}

static int close_object(Objects *self, Opened *opened)
{
    self->opened = opened->around;
    return number_object(self, opened->value);
}

static void objects_free(Objects *self)
{
    for (Py_ssize_t number = 0; number < self->count; number++) Py_DECREF(self->list[number]);
    PyMem_Free(self->list);
    PyMem_Free(self->known);
}
