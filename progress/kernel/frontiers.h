/* Frontiers: what they cover, what supports their times, what comes when times are lost. */

/* The place of the first row of the frontier that is not before `row`. */
static Py_ssize_t lower_place(const Vertex *vertex, const number *row)
{
    Py_ssize_t low = 0, high = vertex->frontier.count;
    int places = vertex->places;
    if (high == 1) return compare(vertex->frontier.data, row, places) < 0;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (compare(vertex->frontier.data + middle * places, row, places) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int holds(const Vertex *vertex, const number *row)
{
    Py_ssize_t place = lower_place(vertex, row);
    return place < vertex->frontier.count
        && !compare(vertex->frontier.data + place * vertex->places, row, vertex->places);
}

static inline int at_or_below(const number *one, const number *other, int places)
{
    for (int place = 0; place < places; place++)
        if (one[place] > other[place]) return 0;
    return 1;
}

/* The last stair that is not to the right of x; -1 where there is none. */
static Py_ssize_t stair_at(const Vertex *vertex, number x)
{
    Py_ssize_t low = 0, high = vertex->frontier.count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (vertex->frontier.data[2 * middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static int covers(const Vertex *vertex, const number *until)
{
    Py_ssize_t count = vertex->frontier.count;
    const number *data = vertex->frontier.data;
    int places = vertex->places;
    if (!count) return 0;
    if (count == 1 && !vertex->total) return at_or_below(data, until, places);
    if (vertex->total) return compare(data, until, places) <= 0;
    if (places == 2) {
        Py_ssize_t place = stair_at(vertex, until[0]);
        return place >= 0 && data[2 * place + 1] <= until[1];
    }
    for (Py_ssize_t place = 0; place < count; place++)
        if (at_or_below(data + place * places, until, places)) return 1;
    return 0;
}

static int insert(Kernel *self, Vertex *vertex, const number *row)
{
    Py_ssize_t width = vertex->total ? 1 : vertex->places == 2 ? vertex->frontier.count / 4 : vertex->frontier.count;
    spend(self, 10 + (uint64_t)width);
    if (covers(vertex, row)) return 0;
    Rows *frontier = &vertex->frontier;
    int places = vertex->places;
    size_t size = (size_t)places * sizeof(number);
    if (vertex->total) frontier->count = 0;
    Py_ssize_t start = lower_place(vertex, row), end = start;
    if (places == 2 && !vertex->total) {
        while (end < frontier->count && frontier->data[2 * end + 1] >= row[1]) end++;
    } else if (!vertex->total) {
        Py_ssize_t kept = start;
        for (Py_ssize_t place = start; place < frontier->count; place++) {
            number *other = frontier->data + place * places;
            if (!at_or_below(row, other, places)) {
                memmove(frontier->data + kept * places, other, size);
                kept++;
            }
        }
        frontier->count = kept;
    }
    if (rows_reserve(frontier, 1, places)) {
        self->failed = 1;
        return 0;
    }
    number *at = frontier->data + start * places;
    memmove(at + places, frontier->data + end * places, (size_t)(frontier->count - end) * size);
    memcpy(at, row, size);
    frontier->count += 1 - (end - start);
    return 1;
}

static void discard(Vertex *vertex, const number *row)
{
    Py_ssize_t place = lower_place(vertex, row);
    int places = vertex->places;
    number *at = vertex->frontier.data + place * places;
    memmove(at, at + places, (size_t)(vertex->frontier.count - place - 1) * (size_t)places * sizeof(number));
    vertex->frontier.count--;
}

/* What an arc makes of a row; results one after the other. */
static int images(Kernel *self, const Arc *arc, const number *row, int places, int target_places, number *results)
{
    int found = 0;
    if (arc->kind->shifts) {
        const number *added = arc->kind->pieces[0].added;
        for (int place = 0; place < places; place++) {
            results[place] = row[place] + added[place];
            if (results[place] > LARGEST || results[place] < -LARGEST) self->failed = 2;
        }
        return 1;
    }
    for (int index = 0; index < arc->kind->count; index++) {
        const Piece *piece = &arc->kind->pieces[index];
        if (piece->boxed) {
            int inside = 1;
            for (int place = 0; place < places && inside; place++)
                inside = row[place] >= piece->low[place] && row[place] <= piece->high[place];
            if (!inside) continue;
        }
        number *result = results + found * target_places;
        for (int place = 0; place < target_places; place++) {
            number moved = piece->floor[place];
            if (piece->added[place] != NONE) {
                number sum = row[place] + piece->added[place];
                if (moved == NONE || sum > moved) moved = sum;
            }
            if (moved > LARGEST || moved < -LARGEST) self->failed = 2;
            result[place] = moved;
        }
        found++;
    }
    return found;
}

#define MOST_PIECES 64

static int supports(Kernel *self, const Arc *arc, const number *row)
{
    const Vertex *source = &self->vertices[arc->source];
    int places = source->places, target_places = self->vertices[arc->target].places;
    if (arc->kind->shifts) {
        number start[MOST_PLACES] = {0};
        for (int place = 0; place < places; place++) start[place] = row[place] - arc->kind->pieces[0].added[place];
        return holds(source, start);
    }
    number results[MOST_PIECES * MOST_PLACES];
    for (Py_ssize_t time = 0; time < source->frontier.count; time++) {
        int found = images(self, arc, source->frontier.data + time * places, places, target_places, results);
        spend(self, 4 + (uint64_t)found);
        for (int index = 0; index < found; index++)
            if (!compare(results + index * target_places, row, target_places)) return 1;
    }
    return 0;
}

static int supported(Kernel *self, const Vertex *vertex, const number *row)
{
    if (find_node(vertex->outstanding, row, vertex->places)) return 1;
    for (int index = 0; index < vertex->entering_count; index++)
        if (supports(self, &self->arcs[vertex->entering[index]], row)) return 1;
    return 0;
}

static void touch(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    if (vertex->touched) return;
    vertex->touched = 1;
    if (grow((void **)&self->touched, &self->touched_room, self->touched_count + 1, sizeof(int))) {
        self->failed = 1;
        return;
    }
    self->touched[self->touched_count++] = number_of;
}

/* A time has come to a vertex: note it for those who follow. */
static void come(Kernel *self, int number_of, const number *row)
{
    Vertex *vertex = &self->vertices[number_of];
    if (rows_append(&vertex->won, row, vertex->places)) self->failed = 1;
    if (vertex->unit) {
        touch(self, number_of);
        push_event(self, number_of, row);
    }
}

static void insert_all(Kernel *self, int number_of, const Node *node)
{
    Vertex *vertex = &self->vertices[number_of];
    if (!node || self->failed) return;
    insert_all(self, number_of, node->left);
    if (insert(self, vertex, node->row)) come(self, number_of, node->row);
    insert_all(self, number_of, node->right);
}

/* Where the stairs that were lost do not cover any more: [start, end) in x, below `below` in y. */
typedef struct {
    number start, below, lowest;
    Py_ssize_t place;
} Regions;

static Regions regions_of(const Vertex *vertex, const Rows *lost)
{
    Regions regions;
    regions.start = lost->data[0];
    regions.lowest = lost->data[1];
    for (Py_ssize_t index = 1; index < lost->count; index++) {
        if (lost->data[2 * index] < regions.start) regions.start = lost->data[2 * index];
        if (lost->data[2 * index + 1] < regions.lowest) regions.lowest = lost->data[2 * index + 1];
    }
    Py_ssize_t place = stair_at(vertex, regions.start);
    regions.below = place >= 0 ? vertex->frontier.data[2 * place + 1] : UNBOUNDED;
    regions.place = place + 1;
    return regions;
}

/* Insert the outstanding times that only `lost` covered. */
static void refill(Kernel *self, int number_of, const Rows *lost)
{
    Vertex *vertex = &self->vertices[number_of];
    if (!vertex->outstanding) return;
    if (vertex->total) {
        const Node *least = vertex->outstanding;
        while (least->left) least = least->left;
        if (insert(self, vertex, least->row)) come(self, number_of, least->row);
        return;
    }
    if (vertex->places != 2) {
        insert_all(self, number_of, vertex->outstanding);
        return;
    }
    Regions regions = regions_of(vertex, lost);
    number start = regions.start, below = regions.below;
    while ((below == UNBOUNDED || below > regions.lowest) && !self->failed) {
        spend(self, 10);
        /* What is inserted becomes a stair itself, so the walk goes on from there. */
        Node *found = first_pair(vertex->outstanding, start, below);
        Py_ssize_t place = stair_at(vertex, start) + 1;
        int has_end = place < vertex->frontier.count;
        number end = has_end ? vertex->frontier.data[2 * place] : 0;
        if (found && !(has_end && found->row[0] >= end)) {
            if (insert(self, vertex, found->row)) come(self, number_of, found->row);
            start = found->row[0];
            below = found->row[1];
        } else if (!has_end) {
            return;
        } else {
            start = end;
            below = vertex->frontier.data[2 * place + 1];
        }
    }
}

/* Insert the images of a source's frontier, among them all that lie at or above one of `lost`. */
static void pull(Kernel *self, const Arc *arc, const Rows *lost)
{
    const Vertex *source = &self->vertices[arc->source];
    Vertex *target = &self->vertices[arc->target];
    int places = source->places, target_places = target->places;
    Py_ssize_t from = 0, to = source->frontier.count;
    number results[MOST_PIECES * MOST_PLACES];
    if (arc->kind->shifts && places == 2 && !source->total && !target->total) {
        number left = INT64_MAX, bottom = INT64_MAX;
        for (Py_ssize_t index = 0; index < lost->count; index++) {
            if (lost->data[2 * index] < left) left = lost->data[2 * index];
            if (lost->data[2 * index + 1] < bottom) bottom = lost->data[2 * index + 1];
        }
        left -= arc->kind->pieces[0].added[0];
        bottom -= arc->kind->pieces[0].added[1];
        from = stair_at(source, left - 1) + 1;
        Py_ssize_t low = from, high = to;
        while (low < high) {
            Py_ssize_t middle = (low + high) / 2;
            if (source->frontier.data[2 * middle + 1] >= bottom)
                low = middle + 1;
            else
                high = middle;
        }
        to = low;
    }
    for (Py_ssize_t time = from; time < to && !self->failed; time++) {
        int found = images(self, arc, source->frontier.data + time * places, places, target_places, results);
        for (int index = 0; index < found; index++)
            if (insert(self, target, results + index * target_places))
                come(self, arc->target, results + index * target_places);
    }
}
