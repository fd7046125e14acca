/* entry.c: the life cycle of an entry, from the miss that reserves it to the eviction or write that ends it.
 *
 * An insert without space first examines the next few descriptors, cyclically around the pool, and frees those of older
 * generations; only then does it evict. A list of stale entries would have to be maintained by every insert and hit. */
#include "cache/entry.h"

#include <errno.h>

#include "base/log.h"
#include "cache/adapt.h"
#include "cache/admission.h"
#include "cache/cache_write.h"
#include "cache/storage.h"
#include "cache/victim.h"

enum { SWEEP = 256 }; /* descriptors that an insert without space examines for stale entries */

void cache_release(struct cache *c, uint32_t id) {
    const struct cache_entry *e = &c->pool[id];
    ASSERT(id != NOTHING && id < c->used);
    ASSERT(is_entry(e));
    ASSERT(e->kind == KIND_PENDING ? c->pending > 0 : is_current(c, e) ? c->cached > 0 : c->stale > 0);
    if (e->kind == KIND_PENDING)
        c->pending--;
    else if (is_current(c, e))
        c->cached--;
    else
        c->stale--;
    index_erase(c, id);
    write_forget(c, id);
    storage_give(c, id);
}

static void entry_evict(struct cache *c, uint32_t id) {
    c->count.evictions++;
    cache_release(c, id);
}

/* Frees the stale entries among the next few descriptors. */
static void sweep(struct cache *c) {
    for (unsigned i = 0; i < SWEEP && c->stale; i++) {
        c->cursor = c->cursor + 1 < c->used ? c->cursor + 1 : 1;
        const struct cache_entry *e = &c->pool[c->cursor];
        if (e->kind == KIND_CACHED && !is_current(c, e))
            cache_release(c, c->cursor);
    }
}

/* Allocates a region of this size where there is none: frees stale entries, and evicts up to *evictions others. */
static uint32_t entry_take(struct cache *c, uint64_t room, uint32_t spare, unsigned *evictions) {
    uint32_t id = NOTHING;
    if (c->stale) {
        sweep(c);
        id = storage_take(c, room);
    }
    while (!id && *evictions) {
        uint32_t victim = victim_sample(c, spare);
        if (!victim)
            break;
        entry_evict(c, victim);
        --*evictions;
        id = storage_take(c, room);
    }
    return id;
}

static uint64_t list_room(const struct shape *s) {
    return s->list ? round_up(s->blocks * sizeof *s->list, CACHE_LINE) : 0;
}

/* Storage for the access: list and data each begin on a cache line. Exceeds the storage if the access cannot fit. */
static uint64_t entry_room_for(const struct cache *c, const struct shape *s) {
    if (s->bytes > c->storage_bytes || s->blocks > c->storage_bytes)
        return UINT64_MAX;
    return list_room(s) + round_up(s->bytes, CACHE_LINE);
}

static void entry_fill(struct cache *c, uint32_t id, uint32_t target, uint64_t disp, const struct shape *s) {
    struct cache_entry *e = &c->pool[id];
    ASSERT(e->kind == KIND_PENDING && e->room >= list_room(s) + s->bytes);
    ASSERT(e->start + e->room <= c->storage_bytes);
    ASSERT(e->start % CACHE_LINE == 0);
    e->disp = disp;
    e->target = target;
    e->stamp = c->generation * 2;
    e->last = c->clock;
    e->mark = c->walk;
    e->weight = c->weight;
    e->slot = NO_SLOT;
    e->kind = KIND_PENDING;
    e->owner = 0;
    e->bytes = s->bytes;
    e->blocks = s->blocks;
    e->block_bytes = s->block_bytes;
    e->stride = s->stride;
    e->has_list = s->list != NULL;
    e->offset = e->start + list_room(s);
    if (s->list)
        memcpy(c->storage + e->start, s->list, s->blocks * sizeof *s->list);
    e->run = shape_block_at(s, 0).bytes;
    c->pending++;
}

/* Removes a CACHED entry under this key; false if there is a PENDING one. */
static bool entry_replace(struct cache *c, struct hash h, uint32_t target, uint64_t disp) {
    if (LIKELY(index_lacks(c, target, disp)))
        return true;
    uint32_t id = index_find(c, h, target, disp);
    if (id && c->pool[id].kind == KIND_PENDING)
        return false;
    if (id)
        cache_release(c, id);
    return true;
}

/* All slots of the key are taken: frees one by moving entries along a path to an empty slot, or by evicting one on the path. NO_SLOT: none
 * may be evicted. */
static __attribute__((noinline)) uint32_t entry_free_slot(struct cache *c, struct hash h,
                                                          unsigned *evictions) {
    uint32_t slots[c->config.path + 1];
    struct route route = {.slots = slots};
    index_route(c, h, &route);
    if (!route.open) {
        uint32_t victim = *evictions ? victim_on_route(c, &route) : NOTHING;
        c->crowded++;
        if (!victim)
            return NO_SLOT;
        entry_evict(c, victim);
        --*evictions;
    }
    index_shift(c, &route);
    return slots[0];
}

/* The slot comes first: if it requires an eviction, the evicted entry's storage may suffice. Such an access counts as conflicting even if
 * the storage requires another eviction: more storage would not avoid the conflict. */
static enum cache_outcome entry_reserve(struct cache *c, uint32_t target, uint64_t disp,
                                        const struct shape *shape, uint32_t *entry) {
    struct hash h = hash_again(c, target, disp);
    unsigned evictions = c->config.evictions, left = evictions;
    uint64_t room = entry_room_for(c, shape);
    if (!entry_replace(c, h, target, disp))
        return CACHE_FAILING;
    adapt_note_miss(c, h);
    if (!admission_fits(c, room)) {
        c->starved++;
        return CACHE_FAILING;
    }
    uint32_t slot = index_vacancy(c, h);
    if (UNLIKELY(slot == NO_SLOT) && (slot = entry_free_slot(c, h, &left)) == NO_SLOT)
        return CACHE_FAILING;
    bool conflicting = left < evictions;
    uint32_t id = storage_take(c, room);
    if (UNLIKELY(!id)) {
        evictions = left;
        id = entry_take(c, room, NOTHING, &left);
        c->starved += !id || left < evictions;
        if (!id)
            return CACHE_FAILING;
    }
    entry_fill(c, id, target, disp, shape);
    ASSERT(slot < c->slot_count && !index_occupant(c, slot));
    index_occupy(c, slot, id, h.tag);
    write_note(c, id);
    c->placed++;
    *entry = id;
    return UNLIKELY(conflicting)        ? CACHE_CONFLICTING
           : UNLIKELY(left < evictions) ? CACHE_CAPACITY
                                        : CACHE_DIRECT;
}

static uint64_t *outcome_count(struct cache *c, enum cache_outcome outcome) {
    switch (outcome) {
    case CACHE_DIRECT:
        return &c->count.direct;
    case CACHE_CONFLICTING:
        return &c->count.conflicting;
    case CACHE_CAPACITY:
        return &c->count.capacity;
    default:
        return &c->count.failing;
    }
}

enum cache_outcome cache_insert(struct cache *c, uint32_t target, uint64_t disp, const struct shape *shape,
                                uint64_t generation, uint32_t *entry) {
    enum cache_outcome outcome = CACHE_FAILING;
    cache_adapt(c);
    admission_note(c);
    c->inserts++;
    c->get_bytes += shape->bytes;
    if (admission_is_current(c, shape, generation))
        outcome = entry_reserve(c, target, disp, shape, entry);
    c->weight = 0;
    ++*outcome_count(c, outcome);
    return outcome;
}

bool cache_settle(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    ASSERT(e->kind == KIND_PENDING && c->pending > 0);
    if (!is_current(c, e)) {
        cache_release(c, id);
        return false;
    }
    e->kind = KIND_CACHED;
    e->stamp = c->ready;
    c->pending--;
    c->cached++;
    ASSERT(c->cached + c->pending + c->stale < c->used);
    return true;
}

void cache_drop(struct cache *c, uint32_t id) {
    cache_release(c, id);
}

void cache_invalidate_pending(struct cache *c, uint32_t id) {
    if (c->pool[id].kind != KIND_PENDING) {
        cache_release(c, id);
        return;
    }
    index_erase(c, id);
    write_forget(c, id);
    c->pool[id].stamp = 0;
}

/* Moves an entry to a larger region elsewhere. Its number stays. */
static int entry_move(struct cache *c, uint32_t id, uint64_t room) {
    unsigned evictions = c->config.evictions;
    uint32_t other = storage_take(c, room);
    if (!other)
        other = entry_take(c, room, id, &evictions);
    if (!other)
        return storage_stretch(c, id, room); /* an evicted entry may have been adjacent */
    ASSERT(other != id && c->pool[other].room >= c->pool[id].bytes);
    ASSERT(!c->pool[id].has_list);
    memcpy(c->storage + c->pool[other].start, c->storage + c->pool[id].start, c->pool[id].bytes);
    storage_exchange(c, id, other);
    storage_give(c, other);
    c->pool[id].offset = c->pool[id].start;
    return 0;
}

int cache_extend(struct cache *c, uint32_t id, uint64_t bytes) {
    if (bytes <= c->pool[id].bytes)
        return 0;
    if (bytes > c->storage_bytes)
        return -ENOSPC;
    uint64_t room = round_up(bytes, CACHE_LINE);
    if (storage_stretch(c, id, room) && entry_move(c, id, room))
        return -ENOSPC;
    struct cache_entry *e = &c->pool[id];
    e->bytes = e->run = e->block_bytes = bytes;
    ASSERT(e->offset == e->start && e->room >= bytes);
    ASSERT(is_entry(e));
    write_note(c, id);
    return 0;
}
