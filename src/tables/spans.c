/* spans.c: finds overlapping ranges by hashing. The class c of a range is the smallest, from 6 on, whose 2^c bytes hold
 * it. The range is hashed by the cell of 2^c bytes in which it begins.
 *
 * A range of class c touches at most its own cell and the next one, so the members of class c that overlap [lo, hi)
 * begin in the cells (lo >> c) - 1 .. (hi - 1) >> c. There are few classes. A query much longer than a class's cell
 * walks the class's list instead if that is shorter.
 *
 *      heads[hash(space, class, cell)] -> node <-> node        chains by cell
 *      class_head[class]               -> node <-> node        all of a class
 *
 * Clearing changes the stamp: heads and nodes written before are then recognised as old, so nothing is erased. An
 * interval tree was considered: O(log n) with rebalancing on each miss, compared with a handful of stores here. */
#include "tables/spans.h"

#include <errno.h>
#include <string.h>

#include "base/random.h"

enum { NONE = UINT32_MAX, SMALLEST_CLASS = 6 };

struct spans_node {
    uint64_t lo, hi, stamp;
    uint32_t space, bucket;
    uint32_t prev, next;             /* in the chain */
    uint32_t class_prev, class_next; /* in the class */
};

struct head {
    uint64_t stamp;
    uint32_t first;
};

static struct spans_node *node_at(const struct spans *s, uint32_t id) {
    return (struct spans_node *)s->nodes.base + id;
}

static struct head *head_at(const struct spans *s, uint32_t bucket) {
    return (struct head *)s->heads.base + bucket;
}

static unsigned class_of(uint64_t length) {
    unsigned bits = length <= 1 ? 0 : 64u - (unsigned)__builtin_clzll(length - 1);
    return bits < SMALLEST_CLASS ? SMALLEST_CLASS : bits >= SPANS_CLASSES ? SPANS_CLASSES - 1 : bits;
}

static uint32_t spans_bucket_of(const struct spans *s, uint32_t space, unsigned class, uint64_t cell) {
    uint64_t hash = random_mix(cell * 0x9e3779b97f4a7c15u + ((uint64_t)space << 6) + class);
    return (uint32_t)(hash & (s->buckets - 1));
}

static uint32_t bucket_first(const struct spans *s, uint32_t bucket) {
    const struct head *h = head_at(s, bucket);
    return h->stamp == s->stamp ? h->first : NONE;
}

static uint32_t spans_buckets_for(uint32_t members) {
    uint32_t n = 16;
    while (n < members && n < 1u << 30)
        n *= 2;
    return n;
}

int spans_open(struct spans *s, uint32_t members, struct memory_budget *budget) {
    memset(s, 0, sizeof *s);
    s->buckets = spans_buckets_for(members);
    s->stamp = 1; /* fresh memory holds stamp 0 */
    int err = memory_open(&s->nodes, (members ? members : 1) * sizeof(struct spans_node), budget);
    if (err)
        return err;
    err = memory_open(&s->heads, s->buckets * sizeof(struct head), budget);
    if (err) {
        memory_close(&s->nodes);
        return err;
    }
    spans_clear(s);
    return 0;
}

void spans_close(struct spans *s) {
    memory_close(&s->nodes);
    memory_close(&s->heads);
}

void spans_clear(struct spans *s) {
    s->stamp++;
    s->count = 0;
    s->classes = 0;
    memset(s->class_count, 0, sizeof s->class_count);
    memset(s->class_head, 0xff, sizeof s->class_head);
}

static void spans_chain_in(struct spans *s, uint32_t id) {
    struct spans_node *n = node_at(s, id);
    unsigned class = class_of(n->hi - n->lo);
    n->bucket = spans_bucket_of(s, n->space, class, n->lo >> class);
    n->prev = NONE;
    n->next = bucket_first(s, n->bucket);
    if (n->next != NONE)
        node_at(s, n->next)->prev = id;
    *head_at(s, n->bucket) = (struct head){.stamp = s->stamp, .first = id};
}

static void class_in(struct spans *s, uint32_t id) {
    struct spans_node *n = node_at(s, id);
    unsigned class = class_of(n->hi - n->lo);
    n->class_prev = NONE;
    n->class_next = s->class_head[class];
    if (n->class_next != NONE)
        node_at(s, n->class_next)->class_prev = id;
    s->class_head[class] = id;
    s->class_count[class]++;
    s->classes |= (uint64_t)1 << class;
}

void spans_add(struct spans *s, uint32_t id, uint32_t space, uint64_t lo, uint64_t hi) {
    struct spans_node *n = node_at(s, id);
    *n = (struct spans_node){.lo = lo, .hi = hi, .stamp = s->stamp, .space = space};
    spans_chain_in(s, id);
    class_in(s, id);
    s->count++;
}

void spans_remove(struct spans *s, uint32_t id) {
    struct spans_node *n = node_at(s, id);
    unsigned class = class_of(n->hi - n->lo);
    if (n->next != NONE)
        node_at(s, n->next)->prev = n->prev;
    if (n->prev != NONE)
        node_at(s, n->prev)->next = n->next;
    else
        head_at(s, n->bucket)->first = n->next;
    if (n->class_next != NONE)
        node_at(s, n->class_next)->class_prev = n->class_prev;
    if (n->class_prev != NONE)
        node_at(s, n->class_prev)->class_next = n->class_next;
    else
        s->class_head[class] = n->class_next;
    n->stamp = 0;
    if (!--s->class_count[class])
        s->classes &= ~((uint64_t)1 << class);
    s->count--;
}

bool spans_has(const struct spans *s, uint32_t id) {
    return node_at(s, id)->stamp == s->stamp;
}

/* More buckets need new chains; the lists by class contain all members. */
static void rechain(struct spans *s) {
    for (unsigned class = 0; class < SPANS_CLASSES; class ++)
        for (uint32_t id = s->class_head[class]; id != NONE; id = node_at(s, id)->class_next)
            spans_chain_in(s, id);
}

int spans_resize(struct spans *s, uint32_t members) {
    uint32_t buckets = spans_buckets_for(members);
    struct memory heads = {0};
    int err = memory_resize(&s->nodes, (members ? members : 1) * sizeof(struct spans_node));
    if (err || buckets == s->buckets)
        return err;
    err = memory_open(&heads, buckets * sizeof(struct head), s->heads.budget);
    if (err)
        return buckets < s->buckets ? 0 : err; /* more buckets than members do no harm */
    memory_close(&s->heads);
    s->heads = heads;
    s->buckets = buckets;
    rechain(s);
    return 0;
}

struct query {
    uint32_t space;
    uint64_t lo, hi;
    spans_visit *visit;
    void *arg;
};

static void offer(struct spans *s, const struct query *q, uint32_t id) {
    const struct spans_node *n = node_at(s, id);
    if (n->space == q->space && n->lo < q->hi && q->lo < n->hi)
        q->visit(q->arg, id);
}

static void walk_class(struct spans *s, unsigned class, const struct query *q) {
    for (uint32_t id = s->class_head[class], next; id != NONE; id = next) {
        next = node_at(s, id)->class_next;
        offer(s, q, id);
    }
}

static void walk_cell(struct spans *s, unsigned class, uint64_t cell, const struct query *q) {
    for (uint32_t id = bucket_first(s, spans_bucket_of(s, q->space, class, cell)), next; id != NONE;
         id = next) {
        const struct spans_node *n = node_at(s, id);
        next = n->next;
        /* Cells may share a bucket: each member is visited only in its own cell. */
        if (class_of(n->hi - n->lo) == class && n->lo >> class == cell)
            offer(s, q, id);
    }
}

void spans_overlapping(struct spans *s, uint32_t space, uint64_t lo, uint64_t hi, spans_visit *visit,
                       void *arg) {
    struct query q = {.space = space, .lo = lo, .hi = hi, .visit = visit, .arg = arg};
    if (lo >= hi || !s->count)
        return;
    for (unsigned class = SMALLEST_CLASS; class < SPANS_CLASSES; class ++) {
        if (!s->class_count[class])
            continue;
        uint64_t first = lo >> class, last = (hi - 1) >> class;
        first -= first > 0;
        if (last - first >= s->class_count[class]) {
            walk_class(s, class, &q);
            continue;
        }
        for (uint64_t cell = first; cell <= last; cell++)
            walk_cell(s, class, cell, &q);
    }
}

int spans_check(const struct spans *s) {
    uint32_t total = 0;
    for (unsigned class = 0; class < SPANS_CLASSES; class ++) {
        uint32_t n = 0;
        for (uint32_t id = s->class_head[class], prev = NONE; id != NONE;
             prev = id, id = node_at(s, id)->class_next) {
            const struct spans_node *node = node_at(s, id);
            if (node->stamp != s->stamp || node->class_prev != prev || class_of(node->hi - node->lo) != class)
                return -EINVAL;
            if (node->prev == NONE ? bucket_first(s, node->bucket) != id : node_at(s, node->prev)->next != id)
                return -EINVAL;
            n++;
        }
        if (n != s->class_count[class] || !n != !(s->classes >> class & 1))
            return -EINVAL;
        total += n;
    }
    return total == s->count ? 0 : -EINVAL;
}
