/* cache.c: the life cycle of an entry, from the miss that reserves it to the eviction, write or invalidation that
 * ends it.
 *
 *      key -> index (index.c) -> descriptor (entry.h) -> region of the storage (storage.c, tree.c)
 *                                      |
 *                       victim.c, cache_write.c, adapt.c, admission.c
 *
 * Invalidating everything is one increment of the generation. If no entry is PENDING, pool and storage are then reset
 * to one free region, which also takes constant time. Otherwise the entries of older generations, `stale`, keep their
 * storage until an insert finds no space: before it evicts anything, it examines the next few descriptors, cyclically
 * around the pool, and frees the stale ones. A list of stale entries would have to be maintained by every insert and
 * hit. */
#include "cache/cache.h"

#include <errno.h>

#include "cache/adapt.h"
#include "cache/admission.h"
#include "cache/index.h"
#include "cache/storage.h"
#include "cache/victim.h"
#include "cache/cache_write.h"

enum { SWEEP = 256 }; /* descriptors that an insert without space examines for stale entries */

void cache_config_from(struct cache_config *config, const struct settings *s) {
    *config = (struct cache_config){
        .index_slots = s->index_size,
        .storage_bytes = s->cache_size,
        .score = (enum score)s->score,
        .sample = (unsigned)s->sample,
        .path = (unsigned)s->path,
        .evictions = (unsigned)s->evictions,
        .admission = s->admission,
        .heated = s->heater_index,
        .adaptive = s->adapt,
        .adapt_interval = s->adapt_interval,
        .conflict_threshold = s->conflict_threshold,
        .index_increase = s->index_increase,
        .sparse_threshold = s->sparse_threshold,
        .index_decrease = s->index_decrease,
        .capacity_threshold = s->capacity_threshold,
        .memory_increase = s->memory_increase,
        .stable_threshold = s->stable_threshold,
        .free_threshold = s->free_threshold,
        .memory_decrease = s->memory_decrease,
        .seed = s->seed ? s->seed : clock_ns() ^ (uint64_t)(uintptr_t)config,
    };
}

/* Opens index, pool and storage as requested, or halves both sizes until they fit the budget. */
static int open_parts(struct cache *c, uint32_t slots, uint64_t bytes) {
    int err;
    for (;;) {
        err = index_open(c, slots);
        if (!err) {
            err = storage_open(c, bytes, slots);
            if (!err)
                return 0;
            index_close(c);
        }
        if (err != -EDQUOT || bytes / 2 < 4096)
            return err;
        bytes = bytes / 2 / CACHE_LINE * CACHE_LINE;
        slots = slots / 2 < FEWEST_SLOTS ? FEWEST_SLOTS : slots / 2;
    }
}

/* For hearth top; the callers count hits. */
static void entry_show(const struct cache *c) {
    static const struct live_field fields[] = {LIVE_FIELD(entries, struct cache, cached),
                                               LIVE_FIELD(entries, struct cache, pending),
                                               LIVE_FIELD(index_slots, struct cache, slot_count),
                                               LIVE_FIELD(storage_bytes, struct cache, storage_bytes),
                                               LIVE_FIELD(used_bytes, struct cache, used_bytes),
                                               LIVE_FIELD(evictions, struct cache, count.evictions),
                                               LIVE_FIELD(invalidations, struct cache, count.invalidations)};
    live_show(c, fields, sizeof fields / sizeof *fields);
}

int cache_open(const struct cache_config *config, struct cache **cache) {
    struct memory self;
    int err = memory_open_shown(&self, sizeof(struct cache), config->budget);
    if (err)
        return err;
    struct cache *c = self.base;
    c->self = self;
    c->config = *config;
    random_seed(&c->random, config->seed);
    for (unsigned i = 0; i < 4; i++)
        c->factors[i] = random_next(&c->random) | 1;
    c->generation = 1;
    c->ready = 3;
    adapt_start(c);
    uint64_t slots = config->index_slots;
    slots = slots < FEWEST_SLOTS ? FEWEST_SLOTS : slots > MOST_SLOTS ? MOST_SLOTS : slots;
    uint64_t bytes = config->storage_bytes / CACHE_LINE * CACHE_LINE;
    err = open_parts(c, (uint32_t)slots, bytes < LEAST_STORAGE ? LEAST_STORAGE : bytes);
    if (err) {
        memory_close(&self);
        return err;
    }
    entry_show(c);
    *cache = c;
    return 0;
}

void cache_close(struct cache *c) {
    struct memory self = c->self;
    live_hide(c);
    write_close(c);
    storage_close(c);
    index_close(c);
    memory_close(&self);
}

uint32_t cache_peek(const struct cache *c, uint32_t target, uint64_t disp) {
    uint32_t id = index_find(c, hash_key(c->factors, target, disp), target, disp);
    return id ? id : CACHE_NONE;
}

uint32_t cache_lookup(struct cache *c, uint32_t target, uint64_t disp) {
    c->clock++;
    c->slow_lookups++;
    return cache_peek(c, target, disp);
}

/* index_find again, with the state and the length in the same test. */
const void *cache_find(struct cache *c, uint32_t target, uint64_t disp, uint64_t bytes) {
    if (UNLIKELY(c->admission.sampled) && !cache_admits(c, target, disp))
        return NULL;
    struct hash h = hash_key(c->factors, target, disp);
#pragma GCC unroll 4
    for (unsigned way = 0; way < WAYS; way++) {
        const struct cache_slot *s = &c->slots[hash_slot(h, way, c->slot_count)];
        if (s->tag != h.tag)
            continue;
        struct cache_entry *e = &c->pool[s->id];
        if (LIKELY(e->disp == disp && e->target == target && e->stamp == c->ready && e->run >= bytes)) {
            e->last = ++c->clock;
            c->get_bytes += bytes;
            return c->storage + e->offset;
        }
    }
    return NULL;
}

enum cache_state cache_state_of(const struct cache *c, uint32_t id) {
    return is_entry(&c->pool[id]) ? (enum cache_state)c->pool[id].kind : CACHE_FREE;
}

uint64_t cache_bytes_of(const struct cache *c, uint32_t id) {
    return c->pool[id].bytes;
}

void *cache_data(struct cache *c, uint32_t id) {
    return c->storage + c->pool[id].offset;
}

void cache_set_owner(struct cache *c, uint32_t id, uint32_t owner) {
    c->pool[id].owner = owner;
}

uint32_t cache_owner_of(const struct cache *c, uint32_t id) {
    return c->pool[id].owner;
}

uint64_t cache_covers(const struct cache *c, uint32_t id, const struct shape *shape) {
    const struct cache_entry *e = &c->pool[id];
    if (e->blocks <= 1 && shape_is_contiguous(shape))
        return shape->bytes < e->bytes ? shape->bytes : e->bytes;
    struct shape whole = shape_of(c, e);
    return shape_is_prefix(shape, &whole) ? shape->bytes : 0;
}

void cache_touch(struct cache *c, uint32_t id, uint64_t bytes) {
    struct cache_entry *e = &c->pool[id];
    e->last = c->clock;
    c->get_bytes += bytes;
    c->touches++;
    if (e->kind == KIND_PENDING)
        c->count.pending_hits++;
    else if (bytes <= e->bytes)
        c->count.full_hits++;
    else
        c->count.partial_hits++;
}

void cache_release(struct cache *c, uint32_t id) {
    const struct cache_entry *e = &c->pool[id];
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

/* Allocates a region of this size, after up to *evictions evictions if needed. */
static uint32_t entry_take(struct cache *c, uint64_t room, uint32_t spare, unsigned *evictions) {
    uint32_t id = storage_take(c, room);
    if (!id && c->stale) {
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
    uint32_t id = index_find(c, h, target, disp);
    if (id && c->pool[id].kind == KIND_PENDING)
        return false;
    if (id)
        cache_release(c, id);
    return true;
}

/* The path comes first: if it costs an entry, that entry's storage may serve. Such an access counts as conflicting
 * even if the storage costs another entry: with more storage it would still be. */
static enum cache_outcome entry_reserve(struct cache *c, uint32_t target, uint64_t disp,
                                        const struct shape *shape, uint32_t *entry) {
    struct hash h = hash_key(c->factors, target, disp);
    uint32_t slots[c->config.path + 1];
    struct route route = {.slots = slots};
    unsigned evictions = c->config.evictions;
    uint64_t room = entry_room_for(c, shape);
    if (!entry_replace(c, h, target, disp))
        return CACHE_FAILING;
    adapt_note_miss(c, h);
    if (!admission_fits(c, room)) {
        c->starved++;
        return CACHE_FAILING;
    }
    index_route(c, h, &route);
    if (!route.open) {
        uint32_t victim = evictions ? victim_on_route(c, &route) : NOTHING;
        c->crowded++;
        if (!victim)
            return CACHE_FAILING;
        entry_evict(c, victim);
        evictions--;
    }
    unsigned left = evictions;
    uint32_t id = entry_take(c, room, NOTHING, &left);
    if (!id || left < evictions)
        c->starved++;
    if (!id)
        return CACHE_FAILING;
    entry_fill(c, id, target, disp, shape);
    index_place(c, &route, id, h.tag);
    write_note(c, id);
    *entry = id;
    return !route.open ? CACHE_CONFLICTING : left < evictions ? CACHE_CAPACITY : CACHE_DIRECT;
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
    uint64_t *counts[] = {&c->count.direct, &c->count.conflicting, &c->count.capacity, &c->count.failing};
    ++*counts[outcome];
    return outcome;
}

bool cache_settle(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    if (!is_current(c, e)) {
        cache_release(c, id);
        return false;
    }
    e->kind = KIND_CACHED;
    e->stamp = c->ready;
    c->pending--;
    c->cached++;
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
    uint32_t other = entry_take(c, room, id, &evictions);
    if (!other)
        return storage_stretch(c, id, room); /* an evicted entry may have been adjacent */
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
    write_note(c, id);
    return 0;
}

void cache_invalidate(struct cache *c) {
    c->count.invalidations++;
    c->generation++;
    c->ready = c->generation * 2 + 1;
    c->stale += c->cached;
    c->cached = 0;
    write_forget_all(c);
    if (c->pending || !c->used_bytes)
        return;
    c->stale = 0;
    storage_reset(c);
}

uint64_t cache_generation(const struct cache *c) {
    return c->generation;
}

void cache_stats(const struct cache *c, struct cache_stats *stats) {
    *stats = c->count;
    stats->lookups = c->clock;
    stats->full_hits += c->clock - c->slow_lookups; /* those of cache_find */
    stats->entries = (uint64_t)c->cached + c->pending;
    stats->index_slots = c->slot_count;
    stats->storage_bytes = c->storage_bytes;
    stats->used_bytes = c->used_bytes;
    stats->free_regions = c->regions;
    stats->metadata_bytes = c->self.bytes + c->slot_memory.bytes + c->pool_memory.bytes;
    if (c->tracking)
        stats->metadata_bytes += c->spans.nodes.bytes + c->spans.heads.bytes;
}
