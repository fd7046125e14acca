/* walk.c: computes the force on one body. The walk starts at the root. A cell whose side divided by its
 * distance is less than theta counts as one point; others are opened, and the children follow in the order of
 * their octants. A cell that holds the body itself is always opened, so that nothing attracts itself. Bodies in
 * the same smallest cell count as being at one position: with softening, their force on each other is zero, and
 * only a potential remains.
 *
 * The order of the sums is that of the tree, which does not depend on ranks, and the location of a node changes
 * no number: results are bitwise equal for any cache and any number of ranks. */
#include "bh.h"

#include <math.h>
#include <string.h>

/* A node still to be visited. */
struct place {
    uint64_t cell; /* a 1, and three bits per level */
    uint32_t index;
    int owner; /* -1: the top */
    int level;
};

enum { MOST_PLACES = 8 * (BH_LEVELS + 1) };

static bool is_leaf(const struct bh_node *n) {
    uint64_t pairs[4];
    memcpy(pairs, n->child, sizeof pairs);
    return !(pairs[0] | pairs[1] | pairs[2] | pairs[3]);
}

static const struct bh_node *look_at(struct bh_fetch *f, const struct place *p, int *owner_below) {
    *owner_below = p->owner;
    if (p->owner == f->rank)
        return &f->tree->window.nodes[p->index];
    if (p->owner >= 0)
        return bh_fetch(f, p->owner, p->index);
    *owner_below = f->tree->top[p->index].owner;
    return &f->tree->top[p->index].node;
}

static int push_children(struct place *stack, int count, const struct bh_node *n, struct place from,
                         int owner) {
    for (unsigned k = 8; k-- > 0;) /* the first octant on top */
        if (n->child[k])
            stack[count++] = (struct place){
                .cell = from.cell << 3 | k, .index = n->child[k], .owner = owner, .level = from.level + 1};
    return count;
}

static void attract(const struct bh_node *n, const double *away, double distance2, double softening,
                    struct bh_body *b) {
    double inverse = 1 / sqrt(distance2 + softening * softening);
    double pull = n->mass * inverse * inverse * inverse;
    for (int k = 0; k < 3; k++)
        b->a[k] += pull * away[k];
    b->potential -= n->mass * inverse;
}

/* Whether the node is finished: it counts as a point for this body. Nodes of the last level have no children,
 * except in a tree that a stale cache has corrupted, where one might lead back to itself. */
static bool take(const struct bh_fetch *f, const struct bh_node *n, const struct place *p,
                 struct bh_body *b) {
    bool leaf = is_leaf(n) || p->level == BH_LEVELS;
    bool own = p->cell == (b->key >> 3 * (BH_LEVELS - p->level) | (uint64_t)1 << 3 * p->level);
    if (own) {
        if (leaf)
            b->potential -= (n->mass - b->mass) / f->softening;
        return leaf;
    }
    double away[3], distance2 = 0;
    for (int k = 0; k < 3; k++) {
        away[k] = n->centre[k] - b->x[k];
        distance2 += away[k] * away[k];
    }
    if (!leaf && f->side2[p->level] >= f->theta2 * distance2)
        return false;
    attract(n, away, distance2, f->softening, b);
    return true;
}

void bh_walk(struct bh_fetch *f, struct bh_body *body) {
    struct place stack[MOST_PLACES];
    int count = 0;
    memset(body->a, 0, sizeof body->a);
    body->potential = 0;
    body->cost = 0;
    stack[count++] = (struct place){.cell = 1, .owner = -1};
    while (count) {
        struct place p = stack[--count];
        int owner_below;
        const struct bh_node *n = look_at(f, &p, &owner_below);
        body->cost++;
        if (!take(f, n, &p, body))
            count = push_children(stack, count, n, p, owner_below);
    }
}
