/* whatif.c: estimates how many gets a cache that keeps everything would have served.
 *
 * The table holds keys, not data, and only keys whose hash is 0 in the bits of `mask`. While there are few keys these
 * are all of them. When there are too many (sample.h), the mask grows by one bit and half of the keys are dropped. A table of
 * fixed size thus represents any number of keys, each key in it mask + 1 of them. All accesses are counted; the sample
 * only estimates how many of them were the first of their key. A few very frequent keys, in the sample or not,
 * therefore cause no error.
 *
 *      slots       | key, bytes, epoch |    |    | key, bytes, epoch | ...     linear probing; key 0 is empty
 *
 * An access would have been served if its key was seen before with at least as many bytes; within an epoch, if also
 * in the same epoch. After a write, the next access to a key that begins at the write's first byte counts as a first
 * one. Other overlaps are ignored: this is an estimate. */
#include "cache/sample.h"

#include <stddef.h>
#include <string.h>

enum { SLOTS = 2 * SAMPLE_MOST };

struct tag {
    uint64_t key;
    uint32_t bytes : 31, written : 1; /* written: since its last access */
    uint32_t epoch;
};

struct cache_whatif {
    struct cache_sample sample; /* first: see cache.h */
    uint32_t used;
    uint64_t seen;                /* accesses to keys of the sample since it was halved */
    uint64_t first, first_within; /* accesses that are the first of their key, overall or in an epoch */
    uint64_t bytes;
    struct memory self;
    struct tag slots[SLOTS], scratch[SAMPLE_MOST];
};

_Static_assert(offsetof(struct cache_whatif, sample) == 0, "cache_whatif_sample");

int cache_whatif_open(struct memory_budget *budget, struct cache_whatif **out) {
    struct memory self;
    int err = memory_open(&self, sizeof **out, budget);
    if (err)
        return err;
    *out = self.base;
    (*out)->self = self;
    return 0;
}

void cache_whatif_close(struct cache_whatif *e) {
    struct memory self = e->self;
    memory_close(&self);
}

/* The key's slot, or the empty one where it belongs. */
static struct tag *whatif_find(struct cache_whatif *e, uint64_t key) {
    uint32_t i = (uint32_t)(key >> 40) % SLOTS;
    while (e->slots[i].key && e->slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &e->slots[i];
}

static void whatif_halve(struct cache_whatif *e) {
    uint32_t kept = 0;
    e->sample.mask = 2 * e->sample.mask + 1;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (e->slots[i].key && !(e->slots[i].key & e->sample.mask))
            e->scratch[kept++] = e->slots[i];
    memset(e->slots, 0, sizeof e->slots);
    for (uint32_t i = 0; i < kept; i++)
        *whatif_find(e, e->scratch[i].key) = e->scratch[i];
    e->used = kept;
    e->seen = 0;
}

void cache_whatif_get(struct cache_whatif *e, uint64_t key, uint64_t bytes, uint64_t epoch) {
    uint64_t weight = e->sample.mask + 1;
    struct tag *t = whatif_find(e, key);
    uint32_t size = bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
    bool again = t->key && t->bytes >= size && !t->written;
    e->first += again ? 0 : weight;
    e->first_within += again && t->epoch == (uint32_t)epoch ? 0 : weight;
    if (t->bytes < size) {
        e->bytes += weight * (size - t->bytes);
        t->bytes = size;
    }
    t->epoch = (uint32_t)epoch;
    t->written = 0;
    e->used += !t->key;
    t->key = key;
    e->seen++;
    if (UNLIKELY(sample_is_large(e->used, e->seen)))
        whatif_halve(e);
}

void cache_whatif_write(struct cache_whatif *e, uint32_t target, uint64_t disp) {
    uint64_t key = cache_sample_key(target, disp);
    if (!(key & e->sample.mask))
        whatif_find(e, key)->written = 1;
}

void cache_whatif_read(const struct cache_whatif *e, struct cache_whatif_counts *out) {
    uint64_t gets = e->sample.gets;
    *out = (struct cache_whatif_counts){.gets = gets,
                                        .kept = gets > e->first ? gets - e->first : 0,
                                        .kept_within = gets > e->first_within ? gets - e->first_within : 0,
                                        .bytes = e->bytes};
}
