/* Treaps: outstanding times with their counts, waiters with their numbers. */

typedef struct Node {
    struct Node *left, *right;
    uint64_t priority;
    number payload; /* a count, or the number of a waiter */
    number lowest;  /* the least second coordinate here and below; used for pairs */
    number row[];
} Node;

static inline void refresh(Node *node, int places)
{
    if (places < 2) return;
    number lowest = node->row[1];
    if (node->left && node->left->lowest < lowest) lowest = node->left->lowest;
    if (node->right && node->right->lowest < lowest) lowest = node->right->lowest;
    node->lowest = lowest;
}

/* `tie` orders equal rows: waiters are many at one row, outstanding times are not and have the tie 0. */
static inline int before(const number *row, number tie, const Node *node, int places, int tied)
{
    int order = compare(row, node->row, places);
    if (order) return order;
    if (!tied || tie == node->payload) return 0;
    return tie < node->payload ? -1 : 1;
}

static void split(Node *node, const number *row, number tie, int places, int tied, Node **left, Node **right)
{
    if (!node) {
        *left = *right = NULL;
    } else if (before(row, tie, node, places, tied) > 0) {
        split(node->right, row, tie, places, tied, &node->right, right);
        *left = node;
        refresh(node, places);
    } else {
        split(node->left, row, tie, places, tied, left, &node->left);
        *right = node;
        refresh(node, places);
    }
}

static Node *merge(Node *left, Node *right, int places)
{
    if (!left) return right;
    if (!right) return left;
    if (left->priority > right->priority) {
        left->right = merge(left->right, right, places);
        refresh(left, places);
        return left;
    }
    right->left = merge(left, right->left, places);
    refresh(right, places);
    return right;
}

static Node *insert_node(Node *root, Node *node, number tie, int places, int tied)
{
    if (!root || node->priority > root->priority) {
        split(root, node->row, tie, places, tied, &node->left, &node->right);
        refresh(node, places);
        return node;
    }
    if (before(node->row, tie, root, places, tied) < 0)
        root->left = insert_node(root->left, node, tie, places, tied);
    else
        root->right = insert_node(root->right, node, tie, places, tied);
    refresh(root, places);
    return root;
}

static Node *erase_node(Node *root, const number *row, number tie, int places, int tied)
{
    int order = before(row, tie, root, places, tied);
    if (!order) {
        Node *rest = merge(root->left, root->right, places);
        PyMem_Free(root);
        return rest;
    }
    if (order < 0)
        root->left = erase_node(root->left, row, tie, places, tied);
    else
        root->right = erase_node(root->right, row, tie, places, tied);
    refresh(root, places);
    return root;
}

static Node *find_node(Node *root, const number *row, int places)
{
    while (root) {
        int order = compare(row, root->row, places);
        if (!order) return root;
        root = order < 0 ? root->left : root->right;
    }
    return NULL;
}

/* The first pair with x >= start and y < below (every y where below is UNBOUNDED). */
static Node *first_pair(Node *root, number start, number below)
{
    if (!root || (below != UNBOUNDED && root->lowest >= below)) return NULL;
    if (root->row[0] < start) return first_pair(root->right, start, below);
    Node *found = first_pair(root->left, start, below);
    if (found) return found;
    if (below == UNBOUNDED || root->row[1] < below) return root;
    return first_pair(root->right, start, below);
}

static void free_nodes(Node *root)
{
    if (!root) return;
    free_nodes(root->left);
    free_nodes(root->right);
    PyMem_Free(root);
}
