/* Vertices, arcs, and what waits to be put right. */

typedef struct {
    number added[MOST_PLACES]; /* NONE: a constant, the floor */
    number floor[MOST_PLACES]; /* NONE: no floor */
    number low[MOST_PLACES], high[MOST_PLACES];
    int boxed;
} Piece;

/* What an arc does to times; many arcs do the same. */
typedef struct {
    Piece *pieces;
    int count;
    int places, target_places;
    int shifts; /* one piece that only adds */
} Kind;

typedef struct {
    int source, target;
    const Kind *kind;
} Arc;

typedef struct {
    int places;
    char is_row;  /* times are tuples, not numbers */
    char total;   /* rows are compared lexicographically, or there is one place */
    char watched, moved, unit;
    int rank;
    Rows frontier;
    Node *outstanding, *waiters;
    Py_ssize_t waiting;
    Rows doubted, coming; /* times that may have lost their support; that may have come */
    Py_ssize_t own;       /* so many of those that may have come, the first ones, were outstanding here */
    Rows lost, won;       /* what left the frontier and what came in this update */
    Rows left, came;      /* of a watched vertex, the same until somebody asks */
    int *leaving, *entering;
    int leaving_count, entering_count;
    char touched;
    char marked; /* it is among those of its unit that have something doubted or coming */
    int next_marked;
} Vertex;

typedef struct {
    int places, vertex;
    uint64_t turn;
    number row[MOST_PLACES]; /* at the end: only the places in use are copied */
} Event;

/* An edge or a node as steps name it; `counts` is the ledger's own dictionary of messages or of requests. */
typedef struct {
    PyObject *counts;
    PyObject *input; /* of an input, the ledger's own record, whose `open` is a tuple of times; else NULL */
    int places;
    char is_row, total, is_node;
    char listened; /* somebody wants to know when what lies here changes */
    int source, target; /* of an edge; -1 where there is none. Of a node: the node, twice */
    Arc *ways; /* an edge: what its source does to times; a node: where its requests are outstanding */
    Kind *kinds; /* of its ways */
    int way_count;
    number low[MOST_PLACES], high[MOST_PLACES];
} Location;

typedef struct {
    PyObject_HEAD
    PyObject *names; /* the number of each known location */
    Location *locations;
    Py_ssize_t location_count, location_room;
    Vertex *vertices;
    int count;
    Kind *kinds;
    int kind_count;
    Arc *arcs;
    int arc_count;
    int *member_start, *members; /* vertices by rank */
    int ranks;
    int *marked; /* by rank: the first marked vertex of a unit, -1 where there is none */
    int *queue; /* a heap of ranks, each once */
    char *is_queued;
    Py_ssize_t queued, queue_room;
    Event *events;
    Py_ssize_t event_count, event_room;
    int *touched;
    Py_ssize_t touched_count, touched_room;
    int *moved;
    Py_ssize_t moved_count, moved_room;
    number *woken;
    Py_ssize_t woken_count, woken_room;
    uint64_t random, turn;
    unsigned long long visits, examined;
    char news; /* whether the last usual step changed what lies at a location that is listened to */
    long long entries; /* how many entries usual steps have made in ledgers, less those that they have removed */
    uint64_t left;    /* of the work that an update may do, in steps of some nanoseconds */
    uint64_t changes; /* that the update began with */
    char unlimited;
    int failed; /* 1: out of memory, 2: a number too large, 3: too much work */
    int busy;   /* code of strangers may run in between (a finalizer, say), and finds the door locked */
} Kernel;

/* An update does so much work, and more for large graphs and for many changes; a second or so. */
#define MOST_WORK 200000000u
#define WORK_A_PLACE 1000u
#define WORK_A_CHANGE 20000u

static inline void spend(Kernel *self, uint64_t work)
{
    if (work <= self->left)
        self->left -= work;
    else if (!self->unlimited && !self->failed)
        self->failed = 3;
}

static int grow(void **data, Py_ssize_t *room, Py_ssize_t needed, size_t size)
{
    if (needed <= *room) return 0;
    Py_ssize_t larger = *room ? *room * 2 : 16;
    if (larger < needed) larger = needed;
    void *moved = PyMem_Realloc(*data, (size_t)larger * size);
    if (!moved) return -1;
    *data = moved;
    *room = larger;
    return 0;
}

static void push_rank(Kernel *self, int rank)
{
    if (self->is_queued[rank]) return;
    self->is_queued[rank] = 1;
    if (grow((void **)&self->queue, &self->queue_room, self->queued + 1, sizeof(int))) {
        self->failed = 1;
        return;
    }
    int *queue = self->queue;
    Py_ssize_t place = self->queued++;
    while (place > 0) {
        Py_ssize_t parent = (place - 1) / 2;
        if (queue[parent] <= rank) break;
        queue[place] = queue[parent];
        place = parent;
    }
    queue[place] = rank;
}

/* A vertex has something doubted or coming: put it right in its turn. */
static inline void push_vertex(Kernel *self, int number_of)
{
    Vertex *vertex = &self->vertices[number_of];
    if (vertex->unit && !vertex->marked) {
        vertex->marked = 1;
        vertex->next_marked = self->marked[vertex->rank];
        self->marked[vertex->rank] = number_of;
    }
    push_rank(self, vertex->rank);
}

static int pop_rank(Kernel *self)
{
    int *queue = self->queue, first = queue[0], last = queue[--self->queued];
    Py_ssize_t place = 0, count = self->queued;
    for (;;) {
        Py_ssize_t child = 2 * place + 1;
        if (child >= count) break;
        if (child + 1 < count && queue[child + 1] < queue[child]) child++;
        if (queue[child] >= last) break;
        queue[place] = queue[child];
        place = child;
    }
    if (count) queue[place] = last;
    self->is_queued[first] = 0;
    return first;
}

static inline int earlier(const Event *one, const Event *other)
{
    int places = one->places < other->places ? one->places : other->places;
    int order = compare(one->row, other->row, places);
    return order ? order < 0 : one->turn < other->turn;
}

static inline void copy_event(Event *to, const Event *from)
{
    memcpy(to, from, offsetof(Event, row));
    for (int place = 0; place < from->places; place++) to->row[place] = from->row[place];
}

static void push_event(Kernel *self, int vertex, const number *row)
{
    if (grow((void **)&self->events, &self->event_room, self->event_count + 1, sizeof(Event))) {
        self->failed = 1;
        return;
    }
    Event event;
    event.vertex = vertex;
    event.places = self->vertices[vertex].places;
    event.turn = self->turn++;
    for (int place = 0; place < event.places; place++) event.row[place] = row[place];
    Py_ssize_t place = self->event_count++;
    while (place > 0) {
        Py_ssize_t parent = (place - 1) / 2;
        if (!earlier(&event, &self->events[parent])) break;
        copy_event(&self->events[place], &self->events[parent]);
        place = parent;
    }
    copy_event(&self->events[place], &event);
}

static void pop_event(Kernel *self, Event *first)
{
    copy_event(first, &self->events[0]);
    Py_ssize_t place = 0, count = --self->event_count;
    if (!count) return;
    const Event *last = &self->events[count];
    for (;;) {
        Py_ssize_t child = 2 * place + 1;
        if (child >= count) break;
        if (child + 1 < count && earlier(&self->events[child + 1], &self->events[child])) child++;
        if (!earlier(&self->events[child], last)) break;
        copy_event(&self->events[place], &self->events[child]);
        place = child;
    }
    copy_event(&self->events[place], last);
}
