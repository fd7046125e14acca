/* whatif.c: estimates how many gets a cache that keeps everything would have served.
 *
 * The table holds keys, not data, and only those of the sample (sample.c). A table of fixed size thus represents any
 * number of keys. All accesses are counted; the sample only estimates how many of them were the first of their key. A
 * few very frequent keys, in the sample or not, therefore cause no error.
 *
 *      slots       | key, bytes, epoch |    |    | key, bytes, epoch | ...     linear probing; key 0 is empty
 *
 * An access would have been served if its key was seen before with at least as many bytes; within an epoch, if also
 * in the same epoch. After a write, the next access to a key that begins at the write's first byte counts as a first
 * one. Other overlaps are ignored: this is an estimate. */
#include "cache/sample.h"

#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"

enum { SLOTS = 2 * SAMPLE_MOST };

struct tag {
    uint64_t key;
    uint32_t bytes : 31, written : 1; /* written: since its last access */
    uint32_t epoch;
};

struct cache_whatif {
    uint64_t mask; /* of the keys in the table: behind that of the sample until the next access */
    uint32_t used;
    uint64_t first, first_within; /* accesses that are the first of their key, overall or in an epoch */
    uint64_t bytes;
    struct memory self;
    struct tag slots[SLOTS], scratch[SAMPLE_MOST];
};

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
    uint32_t i = sample_slot(key) % SLOTS;
    while (e->slots[i].key && e->slots[i].key != key)
        i = (i + 1) % SLOTS;
    return &e->slots[i];
}

static void whatif_drop_others(struct cache_whatif *e, uint64_t mask) {
    uint32_t kept = 0;
    e->mask = mask;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (e->slots[i].key && !(e->slots[i].key & mask))
            e->scratch[kept++] = e->slots[i];
    memset(e->slots, 0, sizeof e->slots);
    for (uint32_t i = 0; i < kept; i++)
        *whatif_find(e, e->scratch[i].key) = e->scratch[i];
    e->used = kept;
}

void cache_whatif_get(struct cache_whatif *e, struct cache_sample *s, uint64_t key, uint64_t bytes,
                      uint64_t epoch) {
    uint64_t weight = sample_weight(s);
    if (UNLIKELY(e->mask != s->keys_mask))
        whatif_drop_others(e, s->keys_mask);
    struct tag *t = whatif_find(e, key);
    uint32_t size = bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX;
    bool again = t->key && t->bytes >= size && !t->written;
    e->first += again ? 0 : weight;
    e->first_within += again && t->epoch == (uint32_t)epoch ? 0 : weight;
    if (t->bytes < size) {
        e->bytes += (s->keys_mask + 1) * (size - t->bytes);
        t->bytes = size;
    }
    t->epoch = (uint32_t)epoch;
    t->written = 0;
    e->used += !t->key;
    t->key = key;
    while (UNLIKELY(e->used == SAMPLE_MOST)) {
        sample_halve(s);
        whatif_drop_others(e, s->keys_mask);
    }
    s->keys = e->used;
}

void cache_whatif_write(struct cache_whatif *e, uint32_t target, uint64_t disp) {
    uint64_t key = cache_sample_key(target, disp);
    if (!(key & e->mask))
        whatif_find(e, key)->written = 1;
}

static uint64_t whatif_kept(uint64_t gets, uint64_t first, double scale) {
    uint64_t missed = (uint64_t)((double)first * scale + 0.5);
    return gets > missed ? gets - missed : 0;
}

void cache_whatif_read(const struct cache_whatif *e, const struct cache_sample *s,
                       struct cache_whatif_counts *out) {
    uint64_t gets = cache_sample_gets(s);
    double scale = sample_scale(s);
    *out = (struct cache_whatif_counts){.gets = gets,
                                        .kept = whatif_kept(gets, e->first, scale),
                                        .kept_within = whatif_kept(gets, e->first_within, scale),
                                        .bytes = e->bytes};
}
