/* Putting vertices and components right in rank order, as progress/engines/eager.py does. */

static void moved(Kernel *self, int number_of, int within)
{
    Vertex *vertex = &self->vertices[number_of];
    if (vertex->lost.count && vertex->waiting) release(self, vertex, &vertex->lost);
    if (vertex->watched && vertex->moved) {
        vertex->moved = 2; /* twice since somebody asked: only that it moved is known */
    } else if (vertex->watched) {
        vertex->moved = 1;
        vertex->left.count = vertex->came.count = 0;
        for (Py_ssize_t time = 0; time < vertex->lost.count; time++)
            if (rows_append(&vertex->left, vertex->lost.data + time * vertex->places, vertex->places)) self->failed = 1;
        for (Py_ssize_t time = 0; time < vertex->won.count; time++)
            if (rows_append(&vertex->came, vertex->won.data + time * vertex->places, vertex->places)) self->failed = 1;
        if (grow((void **)&self->moved, &self->moved_room, self->moved_count + 1, sizeof(int))) {
            self->failed = 1;
            return;
        }
        self->moved[self->moved_count++] = number_of;
    }
    number results[MOST_PIECES * MOST_PLACES];
    for (int index = 0; index < vertex->leaving_count; index++) {
        const Arc *arc = &self->arcs[vertex->leaving[index]];
        Vertex *target = &self->vertices[arc->target];
        if (target->rank == within) continue;
        push_vertex(self, arc->target);
        if (target->total && !target->unit) continue; /* it asks its predecessors */
        for (int side = 0; side < 2; side++) {
            const Rows *times = side ? &vertex->won : &vertex->lost;
            Rows *goal = side ? &target->coming : &target->doubted;
            spend(self, 10 * (uint64_t)times->count);
            for (Py_ssize_t time = 0; time < times->count; time++) {
                int found = images(self, arc, times->data + time * vertex->places, vertex->places, target->places, results);
                for (int result = 0; result < found; result++)
                    if (rows_append(goal, results + result * target->places, target->places)) self->failed = 1;
            }
        }
    }
}

/* Put a vertex on no cycle right, where the frontier is one time. */
static void settle_total(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    int places = vertex->places, any = 0;
    number now[MOST_PLACES], results[MOST_PIECES * MOST_PLACES];
    if (vertex->outstanding) {
        const Node *least = vertex->outstanding;
        while (least->left) least = least->left;
        memcpy(now, least->row, (size_t)places * sizeof(number));
        any = 1;
    }
    for (int index = 0; index < vertex->entering_count; index++) {
        const Arc *arc = &self->arcs[vertex->entering[index]];
        const Vertex *source = &self->vertices[arc->source];
        spend(self, 10 * (uint64_t)source->frontier.count);
        for (Py_ssize_t time = 0; time < source->frontier.count; time++) {
            int found = images(self, arc, source->frontier.data + time * source->places, source->places, places, results);
            for (int result = 0; result < found; result++)
                if (!any || compare(results + result * places, now, places) < 0) {
                    memcpy(now, results + result * places, (size_t)places * sizeof(number));
                    any = 1;
                }
        }
    }
    Rows *frontier = &vertex->frontier;
    if (any == (frontier->count > 0) && (!any || !compare(frontier->data, now, places))) return;
    if (frontier->count && rows_append(&vertex->lost, frontier->data, places)) self->failed = 1;
    frontier->count = 0;
    if (any && (rows_append(frontier, now, places) || rows_append(&vertex->won, now, places))) self->failed = 1;
    moved(self, number_of, -1);
}

/* Insert what may have come, unless it went again in the same update. */
static void take_in(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    int places = vertex->places;
    for (Py_ssize_t time = 0; time < vertex->coming.count && !self->failed; time++) {
        const number *row = vertex->coming.data + time * places;
        if (time < vertex->own && !find_node(vertex->outstanding, row, places)) continue;
        if (insert(self, vertex, row)) come(self, number_of, row);
    }
    vertex->coming.count = vertex->own = 0;
}

#define FEW 8

/* Put a vertex on no cycle right by moving what its predecessors have, where that is little; whether it was. */
static int settle_few(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    int places = vertex->places, count = 0;
    size_t size = (size_t)places * sizeof(number);
    const Node *own = vertex->outstanding;
    if (vertex->entering_count > 2 || vertex->frontier.count > 2 || (own && (own->left || own->right))) return 0;
    number kept[FEW * MOST_PLACES];
    if (own) memcpy(kept + places * count++, own->row, size);
    for (int index = 0; index < vertex->entering_count; index++) {
        const Arc *arc = &self->arcs[vertex->entering[index]];
        const Vertex *source = &self->vertices[arc->source];
        if (!arc->kind->shifts || source->frontier.count > 2) return 0;
        for (Py_ssize_t time = 0; time < source->frontier.count; time++) {
            number result[MOST_PLACES];
            images(self, arc, source->frontier.data + time * source->places, source->places, places, result);
            int place = 0, covered = 0;
            for (int other = 0; other < count && !covered; other++)
                covered = at_or_below(kept + other * places, result, places);
            if (covered) continue;
            for (int other = 0; other < count; other++)
                if (!at_or_below(result, kept + other * places, places))
                    memmove(kept + places * place++, kept + other * places, size);
            for (count = place; place && compare(result, kept + (place - 1) * places, places) < 0; place--)
                memcpy(kept + place * places, kept + (place - 1) * places, size);
            memcpy(kept + place * places, result, size);
            count++;
        }
    }
    Rows *frontier = &vertex->frontier;
    for (Py_ssize_t time = 0; time < frontier->count; time++) {
        const number *row = frontier->data + time * places;
        int still = 0;
        for (int other = 0; other < count && !still; other++) still = !compare(row, kept + other * places, places);
        if (!still && rows_append(&vertex->lost, row, places)) self->failed = 1;
    }
    for (int other = 0; other < count; other++)
        if (!holds(vertex, kept + other * places) && rows_append(&vertex->won, kept + other * places, places))
            self->failed = 1;
    if (!vertex->lost.count && !vertex->won.count) return 1;
    frontier->count = 0;
    if (rows_reserve(frontier, count, places)) {
        self->failed = 1;
        return 1;
    }
    memcpy(frontier->data, kept, (size_t)count * size);
    frontier->count = count;
    moved(self, number_of, -1);
    return 1;
}

static void settle(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    int places = vertex->places;
    self->visits++;
    vertex->lost.count = vertex->won.count = 0;
    if (vertex->total) {
        settle_total(self, number_of);
    } else if (!settle_few(self, number_of)) {
        for (Py_ssize_t time = 0; time < vertex->doubted.count && !self->failed; time++) {
            spend(self, 10 + (uint64_t)vertex->frontier.count / 4);
            const number *row = vertex->doubted.data + time * places;
            if (holds(vertex, row) && !supported(self, vertex, row)) {
                discard(vertex, row);
                if (rows_append(&vertex->lost, row, places)) self->failed = 1;
            }
        }
        take_in(self, number_of);
        if (vertex->lost.count) {
            refill(self, number_of, &vertex->lost);
            for (int index = 0; index < vertex->entering_count; index++)
                pull(self, &self->arcs[vertex->entering[index]], &vertex->lost);
        }
        if (vertex->lost.count || vertex->won.count) {
            Py_ssize_t kept = 0;
            for (Py_ssize_t time = 0; time < vertex->won.count; time++) {
                number *row = vertex->won.data + time * places;
                if (holds(vertex, row)) memmove(vertex->won.data + places * kept++, row, (size_t)places * sizeof(number));
            }
            vertex->won.count = kept;
            moved(self, number_of, -1);
        }
    }
    vertex->doubted.count = vertex->coming.count = vertex->own = 0;
}

static int compare_places; /* for qsort, which knows no context; the interpreter's lock is held */

static int compare_rows(const void *one, const void *other)
{
    return compare(one, other, compare_places);
}

static int among(const Rows *sorted, const number *row, int places)
{
    Py_ssize_t low = 0, high = sorted->count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        int order = compare(sorted->data + middle * places, row, places);
        if (!order) return 1;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Put a component right in which every closed walk advances. */
static void settle_unit(Kernel *self, int rank)
{
    number results[MOST_PIECES * MOST_PLACES];
    int first = self->marked[rank];
    self->marked[rank] = -1;
    self->touched_count = 0;
    for (int number_of = first; number_of >= 0; number_of = self->vertices[number_of].next_marked) {
        Vertex *vertex = &self->vertices[number_of];
        for (Py_ssize_t time = 0; time < vertex->doubted.count; time++)
            push_event(self, number_of, vertex->doubted.data + time * vertex->places);
        vertex->doubted.count = 0;
        vertex->marked = 0;
    }
    while (self->event_count && !self->failed) {
        Event event;
        pop_event(self, &event);
        Vertex *vertex = &self->vertices[event.vertex];
        self->visits++;
        spend(self, 50 + (uint64_t)vertex->frontier.count / 4);
        if (!holds(vertex, event.row) || supported(self, vertex, event.row)) continue;
        discard(vertex, event.row);
        touch(self, event.vertex);
        if (rows_append(&vertex->lost, event.row, vertex->places)) self->failed = 1;
        for (int index = 0; index < vertex->leaving_count; index++) {
            const Arc *arc = &self->arcs[vertex->leaving[index]];
            Vertex *target = &self->vertices[arc->target];
            if (target->rank != rank) continue;
            int found = images(self, arc, event.row, vertex->places, target->places, results);
            for (int result = 0; result < found; result++)
                if (holds(target, results + result * target->places))
                    push_event(self, arc->target, results + result * target->places);
        }
    }
    for (int number_of = first; number_of >= 0; number_of = self->vertices[number_of].next_marked)
        take_in(self, number_of);
    Py_ssize_t suffering = self->touched_count;
    for (Py_ssize_t index = 0; index < suffering; index++) {
        int number_of = self->touched[index];
        Vertex *vertex = &self->vertices[number_of];
        if (!vertex->lost.count) continue;
        refill(self, number_of, &vertex->lost);
        for (int arc = 0; arc < vertex->entering_count; arc++)
            pull(self, &self->arcs[vertex->entering[arc]], &vertex->lost);
    }
    while (self->event_count && !self->failed) {
        Event event;
        pop_event(self, &event);
        Vertex *vertex = &self->vertices[event.vertex];
        spend(self, 50);
        if (!holds(vertex, event.row)) continue;
        self->visits++;
        for (int index = 0; index < vertex->leaving_count; index++) {
            const Arc *arc = &self->arcs[vertex->leaving[index]];
            Vertex *target = &self->vertices[arc->target];
            if (target->rank != rank) continue;
            int found = images(self, arc, event.row, vertex->places, target->places, results);
            for (int result = 0; result < found; result++)
                if (insert(self, target, results + result * target->places))
                    come(self, arc->target, results + result * target->places);
        }
    }
    for (Py_ssize_t index = 0; index < self->touched_count; index++) {
        int number_of = self->touched[index];
        Vertex *vertex = &self->vertices[number_of];
        int places = vertex->places;
        size_t size = (size_t)places * sizeof(number);
        vertex->touched = 0;
        compare_places = places;
        if (vertex->lost.count > 1) qsort(vertex->lost.data, (size_t)vertex->lost.count, size, compare_rows);
        Py_ssize_t kept = 0;
        for (Py_ssize_t time = 0; time < vertex->won.count; time++) {
            number *row = vertex->won.data + time * places;
            if (holds(vertex, row) && !among(&vertex->lost, row, places))
                memmove(vertex->won.data + places * kept++, row, size);
        }
        vertex->won.count = kept;
        kept = 0;
        for (Py_ssize_t time = 0; time < vertex->lost.count; time++) {
            number *row = vertex->lost.data + time * places;
            if (!holds(vertex, row)) memmove(vertex->lost.data + places * kept++, row, size);
        }
        vertex->lost.count = kept;
        if (vertex->lost.count || vertex->won.count) moved(self, number_of, rank);
        vertex->lost.count = vertex->won.count = 0;
    }
    self->touched_count = 0;
}

static void propagate(Kernel *self)
{
    uint64_t places = (uint64_t)self->count + (uint64_t)self->arc_count;
    self->left = MOST_WORK + WORK_A_PLACE * places + WORK_A_CHANGE * self->changes;
    self->changes = 0;
    while (self->queued && !self->failed) {
        int rank = pop_rank(self);
        int first = self->member_start[rank];
        if (self->member_start[rank + 1] - first == 1)
            settle(self, self->members[first]);
        else
            settle_unit(self, rank);
    }
}

/* Change how often a time is outstanding, by at most LARGEST; what that calls into question waits in the queue. */
static void change_count(Kernel *self, int number_of, const number *row, number change)
{
    Vertex *vertex = &self->vertices[number_of];
    int places = vertex->places;
    self->changes++;
    Node *node = find_node(vertex->outstanding, row, places);
    if (node) {
        number count = node->payload + change; /* both have 62 bits */
        if (count > LARGEST || count < -LARGEST) self->failed = 2;
        node->payload = count;
        if (count || self->failed) return;
        vertex->outstanding = erase_node(vertex->outstanding, row, 0, places, 0);
        if (rows_append(&vertex->doubted, row, places)) self->failed = 1;
    } else {
        if (!change) return;
        node = PyMem_Malloc(sizeof(Node) + (size_t)places * sizeof(number));
        if (!node) {
            self->failed = 1;
            return;
        }
        self->random = self->random * 6364136223846793005u + 1442695040888963407u;
        node->priority = self->random >> 16;
        node->payload = change;
        memcpy(node->row, row, (size_t)places * sizeof(number));
        vertex->outstanding = insert_node(vertex->outstanding, node, 0, places, 0);
        if (rows_append(&vertex->coming, row, places)) self->failed = 1;
        vertex->own = vertex->coming.count;
    }
    push_vertex(self, number_of);
}
