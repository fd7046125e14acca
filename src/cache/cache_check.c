/* cache_check.c: verifies the invariants of a cache, by a walk through all of it. */
#include <errno.h>

#include "base/compiler.h"
#include "base/log.h"
#include "cache/index.h"
#include "cache/tree.h"
#include "cache/cache_write.h"
#include "tables/shape.h"
#include "tables/spans.h"

struct tally {
    uint64_t used_bytes;
    uint32_t cached, pending, stale, regions, current, linked;
};

static int check_broken(const char *what, uint32_t id) {
    log_error("cache: broken invariant: %s, at descriptor %u", what, id);
    return -EINVAL;
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return check_broken(#condition, id);                                                             \
    } while (0)

static uint64_t free_adjacent(const struct cache *c, uint32_t id) {
    return c->pool[id].kind == KIND_REGION ? c->pool[id].room : 0;
}

static int check_findable(const struct cache *c, uint32_t id) {
    const struct cache_entry *e = &c->pool[id];
    struct hash h = hash_key(c->factors, e->target, e->disp);
    bool own_slot = false;
    CHECK(e->slot < c->slot_count);
    CHECK(c->slots[e->slot].id == id);
    CHECK(c->slots[e->slot].tag == h.tag);
    for (unsigned way = 0; way < WAYS; way++)
        own_slot |= hash_slot(h, way, c->slot_count) == e->slot;
    CHECK(own_slot);
    CHECK(index_find(c, h, e->target, e->disp) == id);
    CHECK(!c->tracking || spans_has(&c->spans, id));
    return 0;
}

static int check_entry(const struct cache *c, uint32_t id, struct tally *t) {
    const struct cache_entry *e = &c->pool[id];
    struct shape shape = shape_of(c, e);
    CHECK(e->adjacent == free_adjacent(c, e->prev) + free_adjacent(c, e->next));
    CHECK(e->bytes > 0 && e->offset >= e->start && e->offset + e->bytes <= e->start + e->room);
    CHECK(e->offset % CACHE_LINE == 0);
    CHECK(e->run == shape_block_at(&shape, 0).bytes && e->run <= e->bytes);
    CHECK(e->last <= c->clock);
    t->used_bytes += e->room;
    if (e->kind == KIND_PENDING)
        t->pending++;
    else if (e->stamp == c->ready)
        t->cached++;
    else
        t->stale++;
    if (is_current(c, e)) {
        CHECK((e->stamp & 1) == (e->kind == KIND_CACHED));
        t->current++;
        return check_findable(c, id);
    }
    CHECK(e->stamp < c->ready - 1);
    CHECK(!c->tracking || !spans_has(&c->spans, id));
    return 0;
}

static int check_region(const struct cache *c, uint32_t id, struct tally *t) {
    const struct cache_entry *e = &c->pool[id];
    CHECK(e->stamp == 0 && e->slot == NO_SLOT);
    CHECK(e->room > 0);
    CHECK(c->pool[e->prev].kind != KIND_REGION);
    t->regions++;
    return 0;
}

static int check_ring(const struct cache *c, struct tally *t) {
    uint64_t reached = 0;
    uint32_t id = 0;
    CHECK(c->pool[0].kind == KIND_SENTINEL && c->pool[0].stamp == 0);
    while ((id = c->pool[id].next)) {
        const struct cache_entry *e = &c->pool[id];
        CHECK(id < c->used && t->linked++ < c->used);
        CHECK(e->start == reached);
        CHECK(e->start % CACHE_LINE == 0 && e->room % CACHE_LINE == 0);
        CHECK(c->pool[e->prev].next == id && c->pool[e->next].prev == id);
        CHECK(is_entry(e) || e->kind == KIND_REGION);
        int err = is_entry(e) ? check_entry(c, id, t) : check_region(c, id, t);
        if (err)
            return err;
        reached += e->room;
    }
    CHECK(reached == c->storage_bytes);
    return 0;
}

static int check_unused(const struct cache *c, uint32_t linked) {
    uint32_t id = c->unused_ids, count = 0;
    for (; id && count < c->used; id = c->pool[id].next, count++)
        CHECK(c->pool[id].kind == KIND_UNUSED && c->pool[id].stamp == 0);
    CHECK(linked + count + 1 == c->used);
    CHECK(c->used <= c->capacity);
    return 0;
}

static int check_index(const struct cache *c, uint32_t current) {
    uint32_t id = 0, occupied = 0;
    for (uint32_t slot = 0; slot < c->slot_count; slot++)
        occupied += index_occupant(c, slot) != NOTHING;
    CHECK(occupied == current);
    return 0;
}

int cache_check(const struct cache *c) {
    struct tally t = {0};
    uint32_t id = 0;
    int err = check_ring(c, &t);
    if (!err)
        err = check_unused(c, t.linked);
    if (!err)
        err = check_index(c, t.current);
    if (err)
        return err;
    CHECK(c->storage_bytes <= c->storage_memory.bytes);
    CHECK(c->used_bytes == t.used_bytes);
    CHECK(c->cached == t.cached && c->pending == t.pending && c->stale == t.stale);
    CHECK(c->regions == t.regions);
    CHECK(c->ready == c->generation * 2 + 1);
    CHECK(tree_check(c) == 0);
    CHECK(!c->tracking || (c->spans.count == t.current && spans_check(&c->spans) == 0));
    return 0;
}
