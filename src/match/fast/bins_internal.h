/* bins_internal.h: keys, bins and links, shared by bins*.c. bins.c explains them. */
#ifndef HEARTH_MATCH_BINS_INTERNAL_H
#define HEARTH_MATCH_BINS_INTERNAL_H

#include "base/compiler.h"
#include "match/fast/bins.h"
#include "match/fast/fingerprint.h"

/* Bits of a hash. USED keeps it from being 0, which marks an empty slot. */
enum { KIND_BITS = 7, USED = 8, LOW_BITS = 15 };

_Static_assert(sizeof(struct fast_bin) == CACHE_LINE, "a search mostly takes one");

/* ---- keys ---- */

HOT uint64_t mask_of(enum fast_kind kind) {
    return (kind & KIND_ANY_SOURCE ? 0 : (uint64_t)UINT32_MAX << 32) | (kind & KIND_ANY_TAG ? 0 : UINT32_MAX);
}

HOT bool same_under(struct key a, struct key b, enum fast_kind kind) {
    return a.context == b.context && !((a.who ^ b.who) & mask_of(kind));
}

HOT uint32_t hash_under(struct key key, enum fast_kind kind) {
    const uint64_t factor = 0xff51afd7ed558ccdu;
    uint64_t x = ((key.who | ~mask_of(kind)) + key.context * factor) * factor;
    x = (x ^ x >> 32) * factor;
    return ((uint32_t)(x >> 32) & ~(uint32_t)LOW_BITS) | USED | kind;
}

static inline enum fast_kind kind_in(uint32_t hash) {
    return (enum fast_kind)(hash & KIND_BITS);
}

/* Whether the queue maintains this kind as an extra one; otherwise entries are under it by their own keys. */
static inline bool is_extra(const struct fast_queue *q, enum fast_kind kind) {
    return q->bins.extra >> kind & 1;
}

/* ---- bins ---- */

/* The position of a key in the bins. */
struct place {
    uint32_t bin, index;
    uint32_t first; /* of its chain */
};

/* Returns the first entry of the key's chain, or NULL. */
HOT struct fast_entry *find_key(const struct fast_queue *q, struct key key, enum fast_kind kind,
                                uint32_t hash, struct place *place) {
    const struct fast_bins *b = &q->bins;
    for (uint32_t i = hash >> b->shift;; i = (i + 1) & b->mask) {
        const struct fast_bin *bin = &b->bins[i];
        for (uint64_t some = fingerprint_words(bin->hashes, hash); some; some &= some - 1) {
            uint32_t index = (uint32_t)__builtin_ctzll(some) / 8, first = bin->firsts[index];
            struct fast_entry *entry = fast_entry_at(q, first);
            if (LIKELY(same_under(fast_key(entry), key, kind))) {
                *place = (struct place){i, index, first};
                return entry;
            }
        }
        if (LIKELY(!bin->passed))
            return NULL;
    }
}

HOT void insert_key(struct fast_bins *b, uint32_t hash, uint32_t first) {
    uint32_t i = hash >> b->shift;
    for (; UNLIKELY(b->bins[i].count == BIN_KEYS); i = (i + 1) & b->mask)
        b->bins[i].passed++;
    struct fast_bin *bin = &b->bins[i];
    uint32_t index = bin->count++;
    bin->hashes[index] = hash;
    bin->firsts[index] = first;
    b->keys++;
}

/* The last key of the bin takes its place. */
HOT void erase_key(struct fast_bins *b, struct place place) {
    struct fast_bin *bin = &b->bins[place.bin];
    uint32_t home = bin->hashes[place.index] >> b->shift, last = --bin->count;
    bin->hashes[place.index] = bin->hashes[last];
    bin->firsts[place.index] = bin->firsts[last];
    bin->hashes[last] = 0;
    for (; UNLIKELY(home != place.bin); home = (home + 1) & b->mask)
        b->bins[home].passed--;
    b->keys--;
}

HOT struct fast_entry *find_first(struct fast_queue *q, struct key key, enum fast_kind kind,
                                  struct place *place) {
    struct fast_entry *entry = find_key(q, key, kind, hash_under(key, kind), place);
    *q->looked += entry != NULL;
    return entry;
}

/* ---- chains ---- */

/* The link of an entry in its own chain, or in that of an extra kind. */
HOT struct fast_link *link_at(const struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    if (!extra)
        return &fast_entry_at(q, number)->link;
    struct fast_link *links = pool_side(&q->pool, number, FAST_EXTRA_LINKS * sizeof(struct fast_link));
    return &links[(kind & KIND_ANY_BOTH) - 1];
}

/* Appends an entry to the chain of its key, or removes it. bins.c has these for all kinds, not inlined. */
int bins_chain_append(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra);
void bins_chain_remove(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra);

/* ---- bins_extra.c ---- */

/* Sorts all entries by sequence number, linked by the links of this kind, which must be unused. Returns the first. */
uint32_t bins_sort(const struct fast_queue *q, enum fast_kind kind, bool extra);

/* Finds the first entry of a key under an extra kind, which is created if necessary. */
struct fast_entry *bins_extra_find(struct fast_queue *q, struct key key, enum fast_kind kind,
                                   uint32_t *number);
/* Maintain all extra kinds when an entry comes or goes. */
void bins_extra_append(struct fast_queue *q, uint32_t number);
void bins_extra_remove(struct fast_queue *q, uint32_t number);
void bins_extra_drop_all(struct fast_queue *q);

#endif
