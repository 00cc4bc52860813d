/* The usual step, judged and taken here: it consumes and delivers what is there, and adds what follows from that. All
 * else is answered with None, nothing having happened, and the caller judges it by the definitions. */

#define MOST_ITEMS 64

typedef struct {
    const Location *location;
    PyObject *time;
    number row[MOST_PLACES];
    number change, before;
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

/* Whether something that this step consumes or delivers leads to the row, or is at or below it at the same node. */
static int follows(Kernel *self, const Item *items, int count, const Item *item)
{
    const Location *location = item->location;
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
            if (location->total ? compare(result, item->row, places) <= 0 : at_or_below(result, item->row, places))
                return 1;
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

static PyObject *not_usual(void)
{
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *take_step(Kernel *self, PyObject *const *arguments, Item *items, int *held)
{
    for (int kind = 0; kind < 3; kind++)
        if (read_items(self, arguments[kind], kind, items, held)) return not_usual();
    int count = *held, usual = 1;
    for (int index = 0; index < count && usual; index++)
        if (items[index].change > 0 && !items[index].before) usual = follows(self, items, count, &items[index]);
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
        if (location->is_node) {
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
        self->entries += location->is_node ? item->change : !item->before - !(item->before + item->change);
    }
    return woken_list(self);
}

static PyObject *kernel_step(Kernel *self, PyObject *const *arguments, Py_ssize_t argument_count)
{
    if (argument_count != 3) {
        PyErr_SetString(PyExc_TypeError, "step takes messages, deliveries and requests");
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

static int read_kind(PyObject *pieces, Kind *kind, int places, int target_places);

static int read_ways(Kernel *self, PyObject *ways, Location *location, int source_places)
{
    location->ways = PyMem_RawCalloc((size_t)PyTuple_GET_SIZE(ways) + 1, sizeof(Arc));
    location->kinds = PyMem_RawCalloc((size_t)PyTuple_GET_SIZE(ways) + 1, sizeof(Kind));
    if (!location->ways || !location->kinds) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(ways); index++) {
        Arc *arc = &location->ways[index];
        PyObject *pieces;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(ways, index), "iO!", &arc->target, &PyTuple_Type, &pieces)) return -1;
        if (arc->target >= self->count || (location->is_node && arc->target < 0)) {
            PyErr_SetString(PyExc_ValueError, "a way leads to no vertex");
            return -1;
        }
        int target_places = arc->target < 0 ? location->places : self->vertices[arc->target].places;
        location->way_count++;
        arc->kind = &location->kinds[index];
        if (read_kind(pieces, &location->kinds[index], source_places, target_places)) return -1;
    }
    return 0;
}

static void forget_location(Location *location)
{
    for (int way = 0; way < location->way_count; way++) PyMem_RawFree(location->kinds[way].pieces);
    PyMem_RawFree(location->ways);
    PyMem_RawFree(location->kinds);
    location->ways = NULL;
    location->kinds = NULL;
    location->way_count = 0;
    Py_CLEAR(location->counts);
}

/* The end of a domain; one further out than the kernel counts is as good as none. */
static int read_end(PyObject *item, number absent, number *result)
{
    *result = absent;
    if (item == Py_None) return 0;
    if (read_number(item, result, 1)) return -1;
    if (*result > LARGEST) *result = LARGEST;
    if (*result < -LARGEST) *result = -LARGEST;
    return 0;
}

/* know(name, counts, is_node, source, target, source_places, (is_row, total), limits, ways) */
static PyObject *kernel_know(Kernel *self, PyObject *arguments)
{
    PyObject *name, *counts, *limits, *ways;
    int is_node, is_row, total, source_places;
    Location location;
    memset(&location, 0, sizeof location);
    if (!PyArg_ParseTuple(arguments, "UO!piii(pp)O!O!", &name, &PyDict_Type, &counts, &is_node, &location.source,
                          &location.target, &source_places, &is_row, &total, &PyTuple_Type, &limits, &PyTuple_Type, &ways))
        return NULL;
    if (closed(self)) return NULL;
    if (!PyUnicode_CheckExact(name) || PyTuple_GET_SIZE(limits) < 1 || PyTuple_GET_SIZE(limits) > MOST_PLACES) {
        PyErr_SetString(PyExc_ValueError, "a location has no plain name, or too many places");
        return NULL;
    }
    location.places = (int)PyTuple_GET_SIZE(limits);
    if (location.target >= self->count || (is_node && source_places != location.places)
        || (location.target >= 0 && self->vertices[location.target].places != location.places)) {
        PyErr_SetString(PyExc_ValueError, "a location leads to no vertex, or to one with other places");
        return NULL;
    }
    location.is_node = (char)is_node;
    location.is_row = (char)is_row;
    location.total = (char)total;
    for (int place = 0; place < location.places; place++) {
        PyObject *low, *high;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(limits, place), "OO", &low, &high)
            || read_end(low, -LARGEST, &location.low[place]) || read_end(high, LARGEST, &location.high[place]))
            return NULL;
    }
    if (read_ways(self, ways, &location, source_places)
        || grow((void **)&self->locations, &self->location_room, self->location_count + 1, sizeof(Location))) {
        forget_location(&location);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    PyObject *number_of = PyLong_FromSsize_t(self->location_count);
    if (!number_of || PyDict_SetItem(self->names, name, number_of)) {
        Py_XDECREF(number_of);
        forget_location(&location);
        return NULL;
    }
    Py_DECREF(number_of);
    location.counts = Py_NewRef(counts);
    self->locations[self->location_count++] = location;
    Py_RETURN_NONE;
}

/* listen(name, wanted): note from now on when a usual step changes what lies at a location, or no more. */
static PyObject *kernel_listen(Kernel *self, PyObject *arguments)
{
    PyObject *name;
    int wanted;
    if (!PyArg_ParseTuple(arguments, "Up", &name, &wanted)) return NULL;
    if (closed(self)) return NULL;
    PyObject *number_of = PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(self->names, name) : NULL;
    if (number_of) self->locations[PyLong_AsSsize_t(number_of)].listened = (char)wanted;
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *kernel_forget(Kernel *self, PyObject *name)
{
    if (closed(self)) return NULL;
    PyObject *number_of = PyUnicode_CheckExact(name) ? PyDict_GetItemWithError(self->names, name) : NULL;
    if (number_of) {
        Py_ssize_t place = PyLong_AsSsize_t(number_of);
        if (PyDict_DelItem(self->names, name)) return NULL;
        forget_location(&self->locations[place]);
    }
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}
