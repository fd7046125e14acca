/* tree.c: builds this rank's part of the octree in its window.
 *
 * There is one octree for all bodies of all ranks, and it does not depend on the number of ranks: a cell is
 * divided until it holds one body or has the smallest size. A cell whose bodies are all on this rank, while its
 * parent holds others too, is a branch: it and all nodes below it are in this rank's window, and top.c joins
 * the branches of all ranks. The nearest keys of the neighbouring ranks suffice to find the branches.
 *
 *      keys   ... [ prev ] | own own own own own own | [ next ] ...
 *                  ------------------|                              a cell with prev in it: divided
 *                           |--------|-------|-------|              branches
 *                                                 ---------------   a cell with next in it: divided
 *
 * Bodies are sorted by key, so a cell is a contiguous range of bodies and its children are consecutive. Nodes
 * are numbered parents first, children in order, so that nodes near in space are mostly near in memory. The
 * layout "scattered" shuffles these numbers, which resembles a program that allocates nodes from a heap while
 * it inserts bodies in no particular order. */
#include "bh.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    struct bh_tree *tree;
    const struct bh_bodies *bodies;
    uint64_t prev, next; /* nearest keys of other ranks; none: all bits set, which no key has */
    uint64_t stride;     /* of node numbers in memory; 1: in order */
    bool failed;
};

/* Keys of the cell at this level: those that agree in all but the last 3 * (BH_LEVELS - level) bits. */
static unsigned bits_below(int level) {
    return 3 * (unsigned)(BH_LEVELS - level);
}

static bool is_in(uint64_t key, uint64_t cell, int level) {
    return key != UINT64_MAX && (key >> bits_below(level) | (uint64_t)1 << 3 * level) == cell;
}

/* The end of the bodies from `begin` on that are in the octant; the level is that of the octant. */
static uint64_t end_of_octant(const struct bh_bodies *b, uint64_t begin, uint64_t end, int level,
                              unsigned octant) {
    while (begin < end) {
        uint64_t middle = begin + (end - begin) / 2;
        if ((b->list[middle].key >> bits_below(level) & 7) <= octant)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static uint64_t count_nodes(const struct bh_bodies *b, uint64_t begin, uint64_t end, int level) {
    uint64_t nodes = 1;
    if (end - begin == 1 || level == BH_LEVELS)
        return 1;
    for (unsigned octant = 0; octant < 8 && begin < end; octant++) {
        uint64_t next = end_of_octant(b, begin, end, level + 1, octant);
        if (next > begin)
            nodes += count_nodes(b, begin, next, level + 1);
        begin = next;
    }
    return nodes;
}

void bh_combine(struct bh_node *parent, const struct bh_node *child) {
    for (int k = 0; k < 3; k++)
        parent->centre[k] += child->mass * child->centre[k];
    parent->mass += child->mass;
}

void bh_combine_end(struct bh_node *parent) {
    for (int k = 0; k < 3; k++)
        parent->centre[k] /= parent->mass;
}

static uint32_t next_node(struct builder *b) {
    struct bh_window *w = &b->tree->window;
    uint64_t number = w->used++;
    return (uint32_t)(1 + number * b->stride % (w->room - 1));
}

static void fill_leaf(struct bh_node *leaf, const struct bh_body *bodies, uint64_t count) {
    if (count == 1) { /* exactly at its position */
        memcpy(leaf->centre, bodies->x, sizeof leaf->centre);
        leaf->mass = bodies->mass;
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct bh_node body = {.centre = {bodies[i].x[0], bodies[i].x[1], bodies[i].x[2]},
                               .mass = bodies[i].mass};
        bh_combine(leaf, &body);
    }
    bh_combine_end(leaf);
}

static uint32_t build_cell(struct builder *b, uint64_t begin, uint64_t end, int level) {
    uint32_t index = next_node(b);
    struct bh_node node = {0};
    if (end - begin == 1 || level == BH_LEVELS) {
        fill_leaf(&node, b->bodies->list + begin, end - begin);
        b->tree->window.nodes[index] = node;
        return index;
    }
    for (unsigned octant = 0; octant < 8 && begin < end; octant++) {
        uint64_t next = end_of_octant(b->bodies, begin, end, level + 1, octant);
        if (next > begin) {
            node.child[octant] = build_cell(b, begin, next, level + 1);
            bh_combine(&node, &b->tree->window.nodes[node.child[octant]]);
        }
        begin = next;
    }
    bh_combine_end(&node);
    b->tree->window.nodes[index] = node;
    return index;
}

static void add_branch(struct builder *b, const struct bh_node *node, uint64_t cell) {
    struct bh_tree *t = b->tree;
    if (t->branch_count == t->branch_room) {
        uint64_t room = 2 * t->branch_room + 64;
        struct bh_branch *branches = realloc(t->branches, room * sizeof *branches);
        if (!branches) {
            b->failed = true;
            return;
        }
        t->branches = branches;
        t->branch_room = room;
    }
    t->branches[t->branch_count++] = (struct bh_branch){.node = *node, .cell = cell};
}

/* Finds the branches among the bodies begin .. end, which are those of this rank in the cell. A smallest cell
 * is never shared, because equal keys are on one rank. Without `build` the nodes are only counted. */
static uint64_t find_branches(struct builder *b, uint64_t begin, uint64_t end, uint64_t cell, int level,
                              bool build) {
    uint64_t nodes = 0;
    if (!is_in(b->prev, cell, level) && !is_in(b->next, cell, level)) {
        if (!build)
            return count_nodes(b->bodies, begin, end, level);
        add_branch(b, &b->tree->window.nodes[build_cell(b, begin, end, level)], cell);
        return 0;
    }
    for (unsigned octant = 0; octant < 8 && begin < end; octant++) {
        uint64_t next = end_of_octant(b->bodies, begin, end, level + 1, octant);
        if (next > begin)
            nodes += find_branches(b, begin, next, cell << 3 | octant, level + 1, build);
        begin = next;
    }
    return nodes;
}

/* Gathers the first and last key of every rank, and finds the nearest ones to this rank's. */
static int find_neighbours(struct builder *b) {
    const struct bh_bodies *bodies = b->bodies;
    uint64_t mine[2] = {UINT64_MAX, UINT64_MAX};
    uint64_t *all = malloc(2 * (size_t)bodies->ranks * sizeof *all);
    int code = app_agree(all ? APP_OK : APP_BAD_INPUT, "no memory to compare the ranks' bodies");
    if (!code) {
        if (bodies->count) {
            mine[0] = bodies->list[0].key;
            mine[1] = bodies->list[bodies->count - 1].key;
        }
        MPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
        b->prev = b->next = UINT64_MAX;
        for (int r = bodies->rank - 1; r >= 0 && b->prev == UINT64_MAX; r--)
            b->prev = all[2 * r + 1];
        for (int r = bodies->rank + 1; r < bodies->ranks && b->next == UINT64_MAX; r++)
            b->next = all[2 * r];
    }
    free(all);
    return code;
}

/* A stride that visits all slots before it returns to the first. */
static uint64_t choose_stride(uint64_t places) {
    uint64_t stride = (uint64_t)(0.618 * (double)places) | 1;
    for (;; stride++) {
        uint64_t a = stride, b = places;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return stride;
    }
}

int bh_tree_build(struct bh_tree *t, const struct bh_bodies *bodies, int layout) {
    struct builder b = {.tree = t, .bodies = bodies, .stride = 1};
    uint64_t count = bodies->count;
    int code = find_neighbours(&b);
    if (!code)
        code = bh_window_grow(&t->window, bodies, count ? find_branches(&b, 0, count, 1, 0, false) : 0);
    if (code)
        return code;
    if (layout == BH_SCATTERED)
        b.stride = choose_stride(t->window.room - 1);
    t->window.used = t->branch_count = 0;
    bh_window_begin_writing(&t->window, bodies->rank);
    if (count)
        find_branches(&b, 0, count, 1, 0, true);
    bh_window_end_writing(&t->window, bodies->rank);
    return app_agree(b.failed ? APP_BAD_INPUT : APP_OK, "no memory for the branches of the tree");
}
