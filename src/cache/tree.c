/* tree.c: an AVL tree of free regions, ordered by (size, start), so that one descent finds the best fit and ties go
 * to the lower address. The nodes are the descriptors themselves.
 *
 * An update descends from the root, records the links on its way, and returns along them until a height no longer
 * changes. Links are addresses inside the pool, which stay valid because nothing here moves the pool.
 *
 * A list per size class was considered: constant time, but not best fit, and fragmentation costs hits. */
#include "cache/tree.h"

#include <errno.h>

enum { MOST_LEVELS = 48 }; /* 1.44 log2 of 2^32 descriptors */

static uint32_t height(const struct cache_entry *pool, uint32_t id) {
    return id ? pool[id].height : 0;
}

static void tree_update_height(struct cache_entry *pool, uint32_t id) {
    uint32_t left = height(pool, pool[id].child[0]), right = height(pool, pool[id].child[1]);
    pool[id].height = (left > right ? left : right) + 1;
}

static uint32_t rotate_right(struct cache_entry *pool, uint32_t id) {
    uint32_t top = pool[id].child[0];
    pool[id].child[0] = pool[top].child[1];
    pool[top].child[1] = id;
    tree_update_height(pool, id);
    tree_update_height(pool, top);
    return top;
}

static uint32_t rotate_left(struct cache_entry *pool, uint32_t id) {
    uint32_t top = pool[id].child[1];
    pool[id].child[1] = pool[top].child[0];
    pool[top].child[0] = id;
    tree_update_height(pool, id);
    tree_update_height(pool, top);
    return top;
}

/* Rebalances one node whose subtrees are ordered and differ by at most two levels; returns the node that takes its
 * place. */
static uint32_t balance(struct cache_entry *pool, uint32_t id) {
    struct cache_entry *e = &pool[id];
    uint32_t left = height(pool, e->child[0]), right = height(pool, e->child[1]);
    if (left > right + 1) {
        if (height(pool, pool[e->child[0]].child[0]) < height(pool, pool[e->child[0]].child[1]))
            e->child[0] = rotate_left(pool, e->child[0]);
        return rotate_right(pool, id);
    }
    if (right > left + 1) {
        if (height(pool, pool[e->child[1]].child[1]) < height(pool, pool[e->child[1]].child[0]))
            e->child[1] = rotate_right(pool, e->child[1]);
        return rotate_left(pool, id);
    }
    e->height = (left > right ? left : right) + 1;
    return id;
}

/* links[0 ... depth - 1] name nodes. */
static void climb(struct cache_entry *pool, uint32_t **links, unsigned depth) {
    while (depth--) {
        uint32_t id = *links[depth], before = pool[id].height;
        *links[depth] = id = balance(pool, id);
        if (pool[id].height == before)
            return;
    }
}

/* Compared as one number, without a branch, because the direction of a descent cannot be predicted. */
static unsigned __int128 rank(const struct cache_entry *e) {
    return (unsigned __int128)e->room << 64 | e->start;
}

/* Records the links from the root to the one that names id, or would; that last one is links[depth]. */
static unsigned descend(struct cache *c, uint32_t id, uint32_t **links) {
    unsigned __int128 own = rank(&c->pool[id]);
    unsigned depth = 0;
    links[0] = &c->root;
    while (*links[depth] && *links[depth] != id) {
        struct cache_entry *e = &c->pool[*links[depth]];
        links[++depth] = &e->child[own > rank(e)];
    }
    return depth;
}

void tree_insert(struct cache *c, uint32_t id) {
    uint32_t *links[MOST_LEVELS + 2];
    unsigned depth = descend(c, id, links);
    c->pool[id].child[0] = c->pool[id].child[1] = NOTHING;
    c->pool[id].height = 1;
    *links[depth] = id;
    c->regions++;
    if (c->pool[id].room > c->largest)
        c->largest = c->pool[id].room;
    climb(c->pool, links, depth);
}

void tree_remove(struct cache *c, uint32_t id) {
    struct cache_entry *pool = c->pool, *e = &pool[id];
    uint32_t *links[MOST_LEVELS + 2];
    unsigned here = descend(c, id, links), depth = here;
    c->regions--;
    if (!e->child[0] || !e->child[1]) {
        *links[here] = e->child[0] ? e->child[0] : e->child[1];
        climb(pool, links, here);
        return;
    }
    /* Its successor takes its place. */
    links[++depth] = &e->child[1];
    while (pool[*links[depth]].child[0]) {
        uint32_t *next = &pool[*links[depth]].child[0];
        links[++depth] = next;
    }
    uint32_t heir = *links[depth];
    *links[depth] = pool[heir].child[1];
    pool[heir].child[0] = e->child[0];
    pool[heir].child[1] = e->child[1];
    pool[heir].height = e->height;
    *links[here] = heir;
    links[here + 1] = &pool[heir].child[1];
    climb(pool, links, depth);
}

uint32_t tree_fit(struct cache *c, uint64_t room) {
    uint32_t best = NOTHING;
    if (room > c->largest)
        return NOTHING;
    for (uint32_t id = c->root; id;) {
        const struct cache_entry *e = &c->pool[id];
        best = e->room >= room ? id : best;
        id = e->child[e->room < room];
    }
    if (!best)
        c->largest = room - 1;
    return best;
}

/* Counts a subtree whose members must lie between two others; -1 if it is broken. Recursion is as deep as the tree. */
static int64_t tree_count(const struct cache *c, uint32_t id, const struct cache_entry *low,
                          const struct cache_entry *high) {
    if (!id)
        return 0;
    const struct cache_entry *e = &c->pool[id];
    uint32_t left = height(c->pool, e->child[0]), right = height(c->pool, e->child[1]);
    uint32_t more = left > right ? left : right, less = left + right - more;
    if (e->kind != KIND_REGION || e->height != more + 1 || more - less > 1)
        return -1;
    if ((low && !(rank(low) < rank(e))) || (high && !(rank(e) < rank(high))))
        return -1;
    int64_t before = tree_count(c, e->child[0], low, e), after = tree_count(c, e->child[1], e, high);
    return before < 0 || after < 0 ? -1 : before + after + 1;
}

int tree_check(const struct cache *c) {
    for (uint32_t id = c->root; id; id = c->pool[id].child[1])
        if (c->pool[id].room > c->largest)
            return -EINVAL;
    return tree_count(c, c->root, NULL, NULL) == (int64_t)c->regions ? 0 : -EINVAL;
}
