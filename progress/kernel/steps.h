/* The usual step, judged and taken here: it consumes and delivers what is there, and adds what follows from that or
 * comes in where an input is open; an input that is open at one time moves up to another, or is closed. All else is
 * answered with None, nothing having happened, and the caller judges it by the definitions. A step that delivers and
 * requests nothing and is news to nobody is answered with False: the caller has nothing left to do. */

#define MOST_ITEMS 64

typedef struct {
    const Location *location;
    PyObject *time;
    number row[MOST_PLACES];
    number change, before;
    char is_open; /* a time from which an input is open, not a message */
} Item;

static int read_strictly(const Location *location, PyObject *time, number *row)
{
    int places = location->places;
    if (location->is_row && (!PyTuple_CheckExact(time) || PyTuple_GET_SIZE(time) != places)) return -1;
    for (int place = 0; place < places; place++) {
        PyObject *item = location->is_row ? PyTuple_GET_ITEM(time, place) : time;
        int overflow;
        if (!PyLong_CheckExact(item)) return -1;
        row[place] = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow || row[place] < location->low[place] || row[place] > location->high[place]) return -1;
    }
    return 0;
}

/* The time from which an input is open, if it is one time: 1, and 0 where it is closed. */
static int read_open(const Location *location, PyObject **time, number *row)
{
    PyObject *open = PyObject_GetAttr(location->input, open_word);
    int found = open && PyTuple_CheckExact(open) && PyTuple_GET_SIZE(open) < 2 ? (int)PyTuple_GET_SIZE(open) : -1;
    if (found == 1 && read_strictly(location, PyTuple_GET_ITEM(open, 0), row)) found = -1;
    *time = found == 1 ? Py_NewRef(PyTuple_GET_ITEM(open, 0)) : NULL;
    Py_XDECREF(open);
    return found;
}

static const Location *known(Kernel *self, PyObject *name, int is_node)
{
    if (!PyUnicode_CheckExact(name)) return NULL;
    PyObject *number_of = PyDict_GetItemWithError(self->names, name);
    if (!number_of) {
        PyErr_Clear();
        return NULL;
    }
    const Location *location = &self->locations[PyLong_AsLong(number_of)];
    return location->counts && location->is_node == is_node ? location : NULL;
}

static int is_before(const Location *location, const number *one, const number *other)
{
    return location->total ? compare(one, other, location->places) <= 0 : at_or_below(one, other, location->places);
}

/* Whether something that this step consumes or delivers leads to the row, or is at or below it at the same node; of an
 * input, whether it is open at the row. */
static int follows(Kernel *self, const Item *items, int count, const Item *item)
{
    const Location *location = item->location;
    if (location->input) {
        PyObject *time;
        number row[MOST_PLACES];
        int is_open = read_open(location, &time, row) == 1;
        Py_XDECREF(time);
        return is_open && is_before(location, row, item->row);
    }
    number results[MOST_PIECES * MOST_PLACES];
    for (int index = 0; index < count; index++) {
        const Item *event = &items[index];
        if (event->change >= 0 || event->location->target < 0 || event->location->target != location->source) continue;
        const number *result = event->row;
        int found = 1, places = location->places;
        if (!location->is_node) {
            if (!location->way_count) return 0;
            found = images(self, location->ways, event->row, event->location->places, places, results);
            result = results;
        }
        for (int number_of = 0; number_of < found; number_of++, result += places)
            if (is_before(location, result, item->row)) return 1;
    }
    return 0;
}

/* Takes in the items of a list, after the `count` that are there; each holds its time. -1 where one is not usual. */
static int read_items(Kernel *self, PyObject *list, int kind, Item *items, int *count)
{
    int is_list = PyList_CheckExact(list);
    if (!is_list && !PyTuple_CheckExact(list)) return -1;
    for (Py_ssize_t index = 0; index < (is_list ? PyList_GET_SIZE(list) : PyTuple_GET_SIZE(list)); index++) {
        PyObject *entry = is_list ? PyList_GET_ITEM(list, index) : PyTuple_GET_ITEM(list, index);
        if (*count == MOST_ITEMS || !PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != (kind ? 2 : 3)) return -1;
        Item *item = &items[*count];
        const Location *location = known(self, PyTuple_GET_ITEM(entry, 0), kind != 0);
        if (!location) return -1;
        item->location = location;
        item->is_open = 0;
        item->time = PyTuple_GET_ITEM(entry, 1);
        if (read_strictly(location, item->time, item->row)) return -1;
        int overflow = 0;
        if (kind == 0) {
            PyObject *change = PyTuple_GET_ITEM(entry, 2);
            if (!PyLong_CheckExact(change)) return -1;
            item->change = PyLong_AsLongLongAndOverflow(change, &overflow);
            if (overflow) return -1;
        }
        Py_INCREF(item->time);
        ++*count;
        PyObject *there = PyDict_GetItemWithError(location->counts, item->time);
        if (!there && PyErr_Occurred()) return -1;
        if (kind == 0) {
            if (!item->change || item->change > INT_MAX || item->change < -INT_MAX) return -1;
            if (there && !PyLong_CheckExact(there)) return -1;
            item->before = there ? PyLong_AsLongLongAndOverflow(there, &overflow) : 0;
            if (overflow || item->before > LARGEST || item->before < 0 || item->before + item->change < 0) return -1;
        } else if (kind == 1) { /* delivered: it must be pending and eligible */
            if (there != Py_None) return -1;
            item->change = -1;
            item->before = 1;
        } else { /* requested: it must be new */
            if (there) return -1;
            item->change = 1;
            item->before = 0;
        }
        for (const Item *other = items; other < item; other++)
            if (other->location == location && !compare(other->row, item->row, location->places)) return -1;
    }
    return 0;
}

static int add_open(const Location *location, PyObject *time, const number *row, number change, Item *items, int *count)
{
    if (*count == MOST_ITEMS) {
        Py_DECREF(time);
        return -1;
    }
    Item *item = &items[(*count)++];
    *item = (Item){.location = location, .time = time, .change = change, .before = change < 0, .is_open = 1};
    memcpy(item->row, row, (size_t)location->places * sizeof(number));
    return 0;
}

/* Takes in inputs that move up from one time to another, or are closed; -1 where one does something else. */
static int read_inputs(Kernel *self, PyObject *inputs, Item *items, int *count)
{
    if (inputs == Py_None) return 0;
    if (!PyDict_CheckExact(inputs)) return -1;
    PyObject *name, *times, *before;
    Py_ssize_t place = 0;
    while (PyDict_Next(inputs, &place, &name, &times)) {
        const Location *location = known(self, name, 0);
        int is_list = PyList_CheckExact(times);
        if (!location || !location->input || (!is_list && !PyTuple_CheckExact(times))) return -1;
        Py_ssize_t given = is_list ? PyList_GET_SIZE(times) : PyTuple_GET_SIZE(times);
        PyObject *now = !given ? NULL : is_list ? PyList_GET_ITEM(times, 0) : PyTuple_GET_ITEM(times, 0);
        number was[MOST_PLACES], is[MOST_PLACES];
        if (given > 1 || (now && read_strictly(location, now, is))) return -1;
        int is_open = read_open(location, &before, was);
        if (is_open < 0 || (now && (!is_open || !is_before(location, was, is)))) {
            Py_XDECREF(before);
            return -1;
        }
        if (before && add_open(location, before, was, -1, items, count)) return -1;
        if (now && add_open(location, Py_NewRef(now), is, 1, items, count)) return -1;
    }
    return 0;
}

static PyObject *not_usual(void)
{
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *take_step(Kernel *self, PyObject *const *arguments, Item *items, int *held)
{
    if (read_items(self, arguments[0], 0, items, held)) return not_usual();
    int calls = -*held;
    for (int kind = 1; kind < 3; kind++)
        if (read_items(self, arguments[kind], kind, items, held)) return not_usual();
    calls += *held;
    if (read_inputs(self, arguments[3], items, held)) return not_usual();
    int count = *held, usual = count > 0;
    for (int index = 0; index < count && usual; index++)
        if (items[index].change > 0 && !items[index].before && !items[index].is_open) usual = follows(self, items, count, &items[index]);
    if (self->failed) usual = self->failed = 0; /* only some image was too large so far */
    if (!usual) return not_usual();
    self->woken_count = 0;
    self->news = 0;
    number results[MOST_PIECES * MOST_PLACES];
    for (int index = 0; index < count; index++) {
        const Item *item = &items[index];
        const Location *location = item->location;
        self->news |= location->listened;
        if (!location->is_node) {
            if (location->target >= 0) change_count(self, location->target, item->row, item->change);
            continue;
        }
        for (int way = 0; way < location->way_count; way++) {
            const Arc *arc = &location->ways[way];
            int places = self->vertices[arc->target].places;
            int found = images(self, arc, item->row, location->places, places, results);
            for (int result = 0; result < found; result++)
                change_count(self, arc->target, results + result * places, item->change);
        }
    }
    propagate(self);
    if (failed(self)) return NULL;
    for (int index = 0; index < count; index++) {
        const Item *item = &items[index];
        const Location *location = item->location;
        int broken;
        if (item->is_open) {
            PyObject *open = item->change > 0 ? PyTuple_Pack(1, item->time) : PyTuple_New(0);
            broken = !open || PyObject_SetAttr(location->input, open_word, open);
            Py_XDECREF(open);
        } else if (location->is_node) {
            broken = item->change < 0 ? PyDict_DelItem(location->counts, item->time)
                                      : PyDict_SetItem(location->counts, item->time, Py_None);
        } else if (item->before + item->change) {
            PyObject *queued = PyLong_FromLongLong(item->before + item->change);
            broken = !queued || PyDict_SetItem(location->counts, item->time, queued);
            Py_XDECREF(queued);
        } else {
            broken = PyDict_DelItem(location->counts, item->time);
        }
        if (broken) return NULL;
        int one_entry = location->is_node || item->is_open;
        self->entries += one_entry ? item->change : !item->before - !(item->before + item->change);
    }
    int quiet = !self->news && !self->moved_count && !self->woken_count && !calls;
    return quiet ? Py_NewRef(Py_False) : woken_list(self);
}

static PyObject *kernel_step(Kernel *self, PyObject *const *arguments, Py_ssize_t argument_count)
{
    if (argument_count != 4) {
        PyErr_SetString(PyExc_TypeError, "step takes messages, deliveries, requests and inputs");
        return NULL;
    }
    if (closed(self)) return NULL;
    Item items[MOST_ITEMS];
    int held = 0;
    self->busy++;
    PyObject *answer = take_step(self, arguments, items, &held);
    self->busy--;
    while (held) Py_DECREF(items[--held].time);
    return answer;
}
