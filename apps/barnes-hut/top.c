/* top.c: the top of the octree, which is replicated on every rank: all cells with bodies of more than one rank,
 * and below them the branches, which are copies of nodes in their owners' windows. It has some hundred nodes.
 * The nodes that every body visits first therefore cost no get, and the walk begins at the global root. */
#include "bh.h"

#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "no memory for the top of the tree: use fewer ranks per node";

struct gathering {
    struct bh_branch *all;
    int *counts, *starts;
    int total;
};

static int gather(struct gathering *g, const struct bh_tree *t, const struct bh_bodies *b) {
    MPI_Datatype type;
    int mine = (int)t->branch_count; /* at most some hundred, see tree.c */
    g->counts = malloc((size_t)b->ranks * sizeof *g->counts);
    g->starts = malloc((size_t)b->ranks * sizeof *g->starts);
    int code = app_agree(g->counts && g->starts ? APP_OK : APP_BAD_INPUT, no_memory);
    if (code)
        return code;
    MPI_Allgather(&mine, 1, MPI_INT, g->counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < b->ranks; r++) {
        g->starts[r] = g->total;
        g->total += g->counts[r];
    }
    g->all = malloc(((size_t)g->total + 1) * sizeof *g->all);
    code = app_agree(g->all ? APP_OK : APP_BAD_INPUT, no_memory);
    if (code)
        return code;
    MPI_Type_contiguous(sizeof *g->all, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Allgatherv(t->branches, mine, type, g->all, g->counts, g->starts, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    return APP_OK;
}

static void release(struct gathering *g) {
    free(g->all);
    free(g->counts);
    free(g->starts);
}

static int level_of(uint64_t cell) {
    return (63 - __builtin_clzll(cell)) / 3;
}

/* Walks from the root down to the branch's position and creates missing cells. There is room for all. */
static void insert(struct bh_tree *t, const struct bh_branch *branch, int owner) {
    uint64_t at = 0;
    for (int level = level_of(branch->cell) - 1; level >= 0; level--) {
        uint32_t *child = &t->top[at].node.child[branch->cell >> 3 * level & 7];
        if (!*child) {
            *child = (uint32_t)t->top_count;
            t->top[t->top_count++] = (struct bh_top_node){.owner = -1};
        }
        at = *child;
    }
    t->top[at] = (struct bh_top_node){.node = branch->node, .owner = owner};
}

/* In the order of the octants, as in tree.c, so that the sums do not depend on the borders between ranks. */
static void combine(struct bh_tree *t, uint32_t index) {
    struct bh_top_node *n = &t->top[index];
    if (n->owner >= 0)
        return;
    for (int k = 0; k < 8; k++)
        if (n->node.child[k]) {
            combine(t, n->node.child[k]);
            bh_combine(&n->node, &t->top[n->node.child[k]].node);
        }
    bh_combine_end(&n->node);
}

static int build(struct bh_tree *t, const struct gathering *g, int ranks) {
    free(t->top);
    t->top_count = 0;
    t->top = malloc(((size_t)g->total * BH_LEVELS + 1) * sizeof *t->top);
    if (!t->top)
        return APP_BAD_INPUT;
    if (g->total)
        t->top[t->top_count++] = (struct bh_top_node){.owner = -1};
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < g->counts[r]; i++)
            insert(t, &g->all[g->starts[r] + i], r);
    if (g->total)
        combine(t, 0);
    return APP_OK;
}

int bh_top_exchange(struct bh_tree *t, const struct bh_bodies *b) {
    struct gathering g = {0};
    int code = gather(&g, t, b);
    if (!code)
        code = app_agree(build(t, &g, b->ranks), no_memory);
    release(&g);
    return code;
}

void bh_tree_close(struct bh_tree *t) {
    bh_window_close(&t->window);
    free(t->top);
    free(t->branches);
    t->top = NULL;
    t->branches = NULL;
}
