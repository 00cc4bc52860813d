/* Making a kernel from lists, and taking it apart. */

static void kernel_dealloc(Kernel *self)
{
    for (int index = 0; index < self->count; index++) {
        Vertex *vertex = &self->vertices[index];
        rows_free(&vertex->frontier);
        rows_free(&vertex->doubted);
        rows_free(&vertex->coming);
        rows_free(&vertex->lost);
        rows_free(&vertex->won);
        rows_free(&vertex->left);
        rows_free(&vertex->came);
        free_nodes(vertex->outstanding);
        free_nodes(vertex->waiters);
        PyMem_Free(vertex->leaving);
        PyMem_Free(vertex->entering);
    }
    for (int index = 0; index < self->kind_count; index++) PyMem_Free(self->kinds[index].pieces);
    PyMem_Free(self->kinds);
    for (Py_ssize_t index = 0; index < self->location_count; index++) forget_location(&self->locations[index]);
    PyMem_Free(self->locations);
    Py_XDECREF(self->names);
    PyMem_Free(self->vertices);
    PyMem_Free(self->arcs);
    PyMem_Free(self->member_start);
    PyMem_Free(self->members);
    PyMem_Free(self->queue);
    PyMem_Free(self->is_queued);
    PyMem_Free(self->marked);
    PyMem_Free(self->events);
    PyMem_Free(self->touched);
    PyMem_Free(self->moved);
    PyMem_Free(self->woken);
    PyTypeObject *type = Py_TYPE(self);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

/* A piece is a pair: limits (place, low, high) and moves (added, floor); None is what is absent. */
static int read_piece(PyObject *item, Piece *piece, int places, int target_places)
{
    PyObject *box, *moves;
    if (!PyArg_ParseTuple(item, "O!O!", &PyTuple_Type, &box, &PyTuple_Type, &moves)) return -1;
    for (int place = 0; place < MOST_PLACES; place++) {
        piece->added[place] = piece->floor[place] = NONE;
        piece->low[place] = INT64_MIN;
        piece->high[place] = INT64_MAX;
    }
    piece->boxed = PyTuple_GET_SIZE(box) > 0;
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(box); index++) {
        int place;
        PyObject *low, *high;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(box, index), "iOO", &place, &low, &high)) return -1;
        if (place < 0 || place >= places) {
            PyErr_SetString(PyExc_ValueError, "a limit has no place");
            return -1;
        }
        if (read_limit(low, INT64_MIN, &piece->low[place]) || read_limit(high, INT64_MAX, &piece->high[place])) return -1;
    }
    if (PyTuple_GET_SIZE(moves) != target_places) {
        PyErr_SetString(PyExc_ValueError, "a piece has a move for each place of its target");
        return -1;
    }
    for (int place = 0; place < target_places; place++) {
        PyObject *added, *floor;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(moves, place), "OO", &added, &floor)) return -1;
        if (read_limit(added, NONE, &piece->added[place]) || read_limit(floor, NONE, &piece->floor[place])) return -1;
        if ((added == Py_None && floor == Py_None) || (added != Py_None && place >= places)) {
            PyErr_SetString(PyExc_ValueError, "a move has nothing to move");
            return -1;
        }
    }
    return 0;
}

static int read_kind(PyObject *pieces, Kind *kind, int places, int target_places)
{
    Py_ssize_t room = PyTuple_GET_SIZE(pieces);
    if (room > MOST_PIECES || places < 1 || places > MOST_PLACES || target_places < 1 || target_places > MOST_PLACES) {
        PyErr_SetString(PyExc_ValueError, "a summary has too many pieces or places");
        return -1;
    }
    kind->pieces = PyMem_Calloc((size_t)room + 1, sizeof(Piece));
    if (!kind->pieces) {
        PyErr_NoMemory();
        return -1;
    }
    kind->places = places;
    kind->target_places = target_places;
    for (Py_ssize_t index = 0; index < room; index++, kind->count++)
        if (read_piece(PyTuple_GET_ITEM(pieces, index), &kind->pieces[index], places, target_places)) return -1;
    kind->shifts = room == 1 && !kind->pieces[0].boxed && places == target_places;
    for (int place = 0; place < target_places && kind->shifts; place++)
        kind->shifts = kind->pieces[0].added[place] != NONE && kind->pieces[0].floor[place] == NONE;
    return 0;
}

static int read_kinds(Kernel *self, PyObject *kinds)
{
    self->kinds = PyMem_Calloc((size_t)PyTuple_GET_SIZE(kinds) + 1, sizeof(Kind));
    if (!self->kinds) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(kinds); index++) {
        int places, target_places;
        PyObject *pieces;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(kinds, index), "iiO!", &places, &target_places, &PyTuple_Type, &pieces))
            return -1;
        self->kind_count++;
        if (read_kind(pieces, &self->kinds[index], places, target_places)) return -1;
    }
    return 0;
}

static int read_small(PyObject *list, Py_ssize_t index, int limit, int *result)
{
    number value;
    if (read_number(PyTuple_GET_ITEM(list, index), &value, 0)) return -1;
    if (value < -1 || value >= limit) {
        PyErr_SetString(PyExc_ValueError, "a number of a vertex or of a kind is out of range");
        return -1;
    }
    *result = (int)value;
    return 0;
}

/* Arcs as three lists side by side; one that has no source, no target or no kind (-1) is left out. */
static int read_arcs(Kernel *self, PyObject *sources, PyObject *targets, PyObject *kinds)
{
    Py_ssize_t count = PyTuple_GET_SIZE(sources);
    if (PyTuple_GET_SIZE(targets) != count || PyTuple_GET_SIZE(kinds) != count || count > INT_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "the lists of arcs have different lengths, or too many of them");
        return -1;
    }
    self->arcs = PyMem_Calloc((size_t)count + 1, sizeof(Arc));
    if (!self->arcs) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        Arc *arc = &self->arcs[self->arc_count];
        int kind;
        if (read_small(sources, index, self->count, &arc->source) || read_small(targets, index, self->count, &arc->target)
            || read_small(kinds, index, self->kind_count, &kind))
            return -1;
        if (arc->source < 0 || arc->target < 0 || kind < 0) continue;
        arc->kind = &self->kinds[kind];
        if (arc->kind->places != self->vertices[arc->source].places
            || arc->kind->target_places != self->vertices[arc->target].places) {
            PyErr_SetString(PyExc_ValueError, "a kind of arc does not fit the vertices of an arc");
            return -1;
        }
        if (self->vertices[arc->source].rank > self->vertices[arc->target].rank) {
            PyErr_SetString(PyExc_ValueError, "an arc leads to a lower rank");
            return -1;
        }
        self->arc_count++;
    }
    return 0;
}

static int connect(Kernel *self)
{
    for (int pass = 0; pass < 2; pass++) {
        for (int index = 0; index < self->arc_count; index++) {
            Vertex *source = &self->vertices[self->arcs[index].source], *target = &self->vertices[self->arcs[index].target];
            if (pass) {
                source->leaving[source->leaving_count] = index;
                target->entering[target->entering_count] = index;
            }
            source->leaving_count++;
            target->entering_count++;
        }
        for (int index = 0; index < self->count && !pass; index++) {
            Vertex *vertex = &self->vertices[index];
            vertex->leaving = PyMem_Malloc((size_t)(vertex->leaving_count + 1) * sizeof(int));
            vertex->entering = PyMem_Malloc((size_t)(vertex->entering_count + 1) * sizeof(int));
            if (!vertex->leaving || !vertex->entering) return -1;
            vertex->leaving_count = vertex->entering_count = 0;
        }
    }
    self->member_start = PyMem_Calloc((size_t)self->ranks + 2, sizeof(int));
    self->members = PyMem_Malloc((size_t)(self->count + 1) * sizeof(int));
    self->is_queued = PyMem_Calloc((size_t)self->ranks + 1, 1);
    self->marked = PyMem_Malloc(((size_t)self->ranks + 1) * sizeof(int));
    if (!self->member_start || !self->members || !self->is_queued || !self->marked) return -1;
    for (int rank = 0; rank < self->ranks; rank++) self->marked[rank] = -1;
    for (int index = 0; index < self->count; index++) self->member_start[self->vertices[index].rank + 2]++;
    for (int rank = 2; rank < self->ranks + 2; rank++) self->member_start[rank] += self->member_start[rank - 1];
    for (int index = 0; index < self->count; index++)
        self->members[self->member_start[self->vertices[index].rank + 1]++] = index;
    for (int rank = 0; rank < self->ranks; rank++) {
        int from = self->member_start[rank], to = self->member_start[rank + 1];
        for (int index = from; index < to && to - from > 1; index++) self->vertices[self->members[index]].unit = 1;
    }
    return 0;
}

/* Kernel(forms, form_of, ranks, kinds, sources, targets, kind_of): a form is (places, is_row, total), a kind (places,
 * target_places, pieces); form_of and ranks are by vertex, sources, targets and kind_of by arc. */
static PyObject *make(PyTypeObject *type, PyObject *forms, PyObject *form_of, PyObject *ranks, PyObject *kinds,
                      PyObject *sources, PyObject *targets, PyObject *kind_of)
{
    Py_ssize_t count = PyTuple_GET_SIZE(form_of);
    if (count != PyTuple_GET_SIZE(ranks) || count > INT_MAX / 2 || PyTuple_GET_SIZE(forms) > INT_MAX / 2
        || PyTuple_GET_SIZE(kinds) > INT_MAX / 2) {
        PyErr_SetString(PyExc_ValueError, "every vertex has a form and a rank, and there are not too many");
        return NULL;
    }
    Kernel *self = (Kernel *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->random = 88172645463325252u;
    self->names = PyDict_New();
    self->vertices = PyMem_Calloc((size_t)count + 1, sizeof(Vertex));
    if (!self->vertices || !self->names) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->count = (int)count;
    for (int index = 0; index < self->count; index++) {
        Vertex *vertex = &self->vertices[index];
        int form, is_row, total;
        if (read_small(form_of, index, (int)PyTuple_GET_SIZE(forms), &form)
            || read_small(ranks, index, self->count, &vertex->rank))
            goto broken;
        if (form < 0 || vertex->rank < 0) {
            PyErr_SetString(PyExc_ValueError, "a vertex has no form or no rank");
            goto broken;
        }
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(forms, form), "ipp", &vertex->places, &is_row, &total)) goto broken;
        if (vertex->places < 1 || vertex->places > MOST_PLACES) {
            PyErr_SetString(PyExc_ValueError, "a vertex has too many places");
            goto broken;
        }
        vertex->is_row = (char)is_row;
        vertex->total = (char)(total || vertex->places == 1);
        if (vertex->rank + 1 > self->ranks) self->ranks = vertex->rank + 1;
    }
    if (read_kinds(self, kinds) || read_arcs(self, sources, targets, kind_of)) goto broken;
    if (connect(self)) {
        PyErr_NoMemory();
        goto broken;
    }
    return (PyObject *)self;
broken:
    Py_DECREF(self);
    return NULL;
}

/* Lists may change while they are read, by code that turns something into a number; tuples do not. */
static PyObject *kernel_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"forms", "form_of", "ranks", "kinds", "sources", "targets", "kind_of", NULL};
    PyObject *lists[7], *tuples[7], *made = NULL;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!O!O!O!O!O!", names, &PyList_Type, &lists[0],
                                     &PyList_Type, &lists[1], &PyList_Type, &lists[2], &PyList_Type, &lists[3],
                                     &PyList_Type, &lists[4], &PyList_Type, &lists[5], &PyList_Type, &lists[6]))
        return NULL;
    int whole = 1;
    for (int each = 0; each < 7; each++)
        if (!(tuples[each] = PyList_AsTuple(lists[each]))) whole = 0;
    if (whole) made = make(type, tuples[0], tuples[1], tuples[2], tuples[3], tuples[4], tuples[5], tuples[6]);
    for (int each = 0; each < 7; each++) Py_XDECREF(tuples[each]);
    return made;
}
