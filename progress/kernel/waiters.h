/* Waiters: releasing those that a frontier covers no more. */

static int note_woken(Kernel *self, Vertex *vertex, const Node *node)
{
    if (grow((void **)&self->woken, &self->woken_room, self->woken_count + 1, sizeof(number))) {
        self->failed = 1;
        return -1;
    }
    self->woken[self->woken_count++] = node->payload;
    vertex->waiting--;
    return 0;
}

static void wake(Kernel *self, Vertex *vertex, const Node *node)
{
    if (note_woken(self, vertex, node)) return;
    number row[MOST_PLACES];
    memcpy(row, node->row, (size_t)vertex->places * sizeof(number));
    vertex->waiters = erase_node(vertex->waiters, row, node->payload, vertex->places, 1);
}

/* Wake all here and below that are not covered; the rest. */
static Node *wake_uncovered(Kernel *self, Vertex *vertex, Node *node)
{
    if (!node || self->failed) return node;
    self->examined++;
    spend(self, 10 + (uint64_t)vertex->frontier.count);
    node->left = wake_uncovered(self, vertex, node->left);
    int goes = !covers(vertex, node->row);
    if (goes && note_woken(self, vertex, node)) goes = 0;
    node->right = wake_uncovered(self, vertex, node->right);
    if (goes) {
        Node *rest = merge(node->left, node->right, vertex->places);
        PyMem_Free(node);
        return rest;
    }
    refresh(node, vertex->places);
    return node;
}

static void release(Kernel *self, Vertex *vertex, const Rows *lost)
{
    if (vertex->total) {
        while (vertex->waiters) {
            Node *least = vertex->waiters;
            while (least->left) least = least->left;
            if (self->failed || covers(vertex, least->row)) return;
            wake(self, vertex, least);
        }
        return;
    }
    if (vertex->places != 2) {
        vertex->waiters = wake_uncovered(self, vertex, vertex->waiters);
        return;
    }
    Regions regions = regions_of(vertex, lost);
    while (regions.below > regions.lowest || regions.below == UNBOUNDED) {
        int has_end = regions.place < vertex->frontier.count;
        number end = has_end ? vertex->frontier.data[2 * regions.place] : 0;
        Node *found = first_pair(vertex->waiters, regions.start, regions.below);
        while (found && !self->failed && !(has_end && found->row[0] >= end)) {
            regions.start = found->row[0];
            wake(self, vertex, found);
            found = first_pair(vertex->waiters, regions.start, regions.below);
        }
        if (!has_end || self->failed) return;
        regions.start = end;
        regions.below = vertex->frontier.data[2 * regions.place + 1];
        regions.place++;
    }
}
