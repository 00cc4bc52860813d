/* The locations that steps may name: known, listened to, forgotten. */

static PyObject *open_word; /* the attribute of an input's record that has the times at which it is open */

static int read_kind(PyObject *pieces, Kind *kind, int places, int target_places);

static int read_ways(Kernel *self, PyObject *ways, Location *location, int source_places)
{
    location->ways = PyMem_Calloc((size_t)PyTuple_GET_SIZE(ways) + 1, sizeof(Arc));
    location->kinds = PyMem_Calloc((size_t)PyTuple_GET_SIZE(ways) + 1, sizeof(Kind));
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
    for (int way = 0; way < location->way_count; way++) PyMem_Free(location->kinds[way].pieces);
    PyMem_Free(location->ways);
    PyMem_Free(location->kinds);
    location->ways = NULL;
    location->kinds = NULL;
    location->way_count = 0;
    Py_CLEAR(location->counts);
    Py_CLEAR(location->input);
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

/* know(name, counts, is_node, source, target, source_places, (is_row, total), limits, ways, input) */
static PyObject *kernel_know(Kernel *self, PyObject *arguments)
{
    PyObject *name, *counts, *limits, *ways, *input;
    int is_node, is_row, total, source_places;
    Location location;
    memset(&location, 0, sizeof location);
    if (!PyArg_ParseTuple(arguments, "UO!piii(pp)O!O!O", &name, &PyDict_Type, &counts, &is_node, &location.source,
                          &location.target, &source_places, &is_row, &total, &PyTuple_Type, &limits, &PyTuple_Type, &ways, &input))
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
    location.input = input == Py_None ? NULL : Py_NewRef(input);
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
