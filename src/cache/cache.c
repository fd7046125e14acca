/* cache.c: opens a cache, looks entries up, and invalidates all of them.
 *
 *      key -> index (index.c) -> descriptor (entry.h) -> region of the storage (storage.c, tree.c)
 *                                      |
 *                       entry.c, victim.c, cache_write.c, adapt.c, admission.c
 *
 * Invalidating everything is one increment of the generation. If no entry is PENDING, pool and storage are then reset
 * to one free region, which also takes constant time. Otherwise the entries of older generations, `stale`, keep their
 * storage until an insert finds no space (entry.c). */
#include "cache/cache.h"

#include <errno.h>

#include "base/clock.h"
#include "base/random.h"
#include "cache/adapt.h"
#include "cache/admission.h"
#include "cache/index.h"
#include "cache/storage.h"
#include "cache/cache_write.h"
#include "observe/live.h"

void cache_config_from(struct cache_config *config, const struct settings *s) {
    *config = (struct cache_config){
        .index_slots = s->index_size,
        .storage_bytes = s->cache_size,
        .score = (enum score)s->score,
        .sample = 16,
        .path = 32,
        .evictions = 1,
        .admission = s->admission,
        .heated = s->heater_index,
        .adaptive = s->adapt,
        .adapt_interval = s->adapt_interval,
        .conflict_threshold = 0.01,
        .index_increase = 2,
        .sparse_threshold = 0.1,
        .index_decrease = 2,
        .capacity_threshold = 0.02,
        .memory_increase = 2,
        .stable_threshold = 0.9,
        .free_threshold = 0.6,
        .memory_decrease = 2,
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
    int err = live_memory_open(&self, sizeof(struct cache), config->budget);
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
        live_memory_close(&self);
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
    live_memory_close(&self);
}

uint32_t cache_peek(const struct cache *c, uint32_t target, uint64_t disp) {
    uint32_t id = index_find(c, hash_again(c, target, disp), target, disp);
    return id ? id : CACHE_NONE;
}

uint32_t cache_lookup(struct cache *c, uint32_t target, uint64_t disp) {
    c->clock++;
    c->slow_lookups++;
    return cache_peek(c, target, disp);
}

/* As index_find, with the state and the length in the same test. */
const void *cache_find(struct cache *c, uint32_t target, uint64_t disp, uint64_t bytes) {
    if (UNLIKELY(c->admission.sampled) && !cache_admits(c, target, disp))
        return NULL;
    struct hash h = hash_key(c->factors, target, disp);
    bool absent = true;
#pragma GCC unroll 4
    for (unsigned way = 0; way < WAYS; way++) {
        const struct cache_slot *s = &c->slots[hash_slot(h, way, c->slot_count)];
        if (LIKELY(s->tag != h.tag))
            continue;
        absent = false;
        struct cache_entry *e = &c->pool[s->id];
        if (LIKELY(e->disp == disp && e->target == target && e->stamp == c->ready && e->run >= bytes)) {
            e->last = ++c->clock;
            c->get_bytes += bytes;
            return c->storage + e->offset;
        }
    }
    c->missed_last = (struct cache_missed){disp, c->placed, h.a, h.b, h.tag, target, absent};
    return NULL;
}

bool cache_lacks(struct cache *c, uint32_t target, uint64_t disp) {
    if (!index_lacks(c, target, disp))
        return false;
    c->clock++;
    c->slow_lookups++;
    return true;
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
