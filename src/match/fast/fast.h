/* fast.h: the state of MATCH_FAST. See fast.c for arrays, bins.c for bins. */
#ifndef HEARTH_MATCH_FAST_H
#define HEARTH_MATCH_FAST_H

#include "base/memory.h"
#include "match/engine/engine.h"
#include "match/engine/match_pool.h"

struct fast_link { /* in a chain: numbers of entries, POOL_NONE for none */
    uint32_t next, prev;
};

struct fast_entry { /* half a cache line; does not move while it is queued */
    void *item;
    uint64_t who; /* with `context`, its key */
    uint32_t context;
    uint32_t order; /* in the arrays: its slot; in bins: its sequence number */
    union {
        struct fast_link link; /* in bins */
        uint32_t number;       /* in the arrays: its own number in the pool */
    };
};

enum { FAST_NODES = 4, FAST_LANES = 64, FAST_SLOTS = FAST_NODES * FAST_LANES };

/* Node n consists of the slots 64 n to 64 n + 63, and word n of the bitmaps. A slot that is not live is a hole. */
struct fast_arrays {
    uint16_t tail;  /* the slot behind the last live one; FAST_SLOTS in bins */
    uint16_t first; /* the first node that has a live slot; 0 if there is none */
    bool wild;      /* bits of the next two may be set */
    uint64_t any_source[FAST_NODES], any_tag[FAST_NODES]; /* wildcards of live receives */
    uint64_t live[FAST_NODES];
    _Alignas(64) uint8_t tags[FAST_SLOTS]; /* fingerprints */
    uint8_t sources[FAST_SLOTS];
    struct fast_entry *entries[FAST_SLOTS];
};

/* The kinds of keys under which the bins hold entries. The low two bits name the parts that are omitted from the key. */
enum fast_kind {
    KIND_EXACT,
    KIND_ANY_SOURCE,
    KIND_ANY_TAG,
    KIND_ANY_BOTH,
    KIND_CONTEXT = 7 /* as KIND_ANY_BOTH, for receives whatever their wildcards */
};

enum { BIN_KEYS = 7, BIN_LEVELS = 22, BINS_AT_FIRST = 128 };

struct fast_bin {              /* a cache line */
    uint32_t count;            /* keys in it: the first ones */
    uint32_t passed;           /* keys whose probe sequence passed this bin because it was full */
    uint32_t hashes[BIN_KEYS]; /* the low three bits are the kind */
    uint32_t firsts[BIN_KEYS]; /* of their chains */
};

struct fast_bins {
    struct fast_bin *bins;
    uint32_t mask;         /* number of bins - 1 */
    uint32_t keys;         /* in all bins */
    unsigned shift, level; /* hash >> shift is the home bin of a key; index of the table in use */
    uint32_t sequence;     /* of the next entry */
    uint32_t own[4];       /* receives by kind */
    uint8_t extra;         /* additional kinds under which every entry can be found: bit 1 << kind */
    uint8_t asked;         /* of these, the ones used since the bins are in use */
    struct memory tables[BIN_LEVELS];
};

struct fast_queue {
    struct match_pool pool; /* of entries; the side holds their links in extra chains */
    const uint32_t *count;  /* of its entries */
    uint32_t *looked;       /* engine->looked */
    struct supply *supply;
    bool posted; /* which of the two queues */
    bool binned; /* all entries are in the bins, and none in the arrays */
    struct fast_arrays arrays;
    struct fast_bins bins;
};

/* A receive that was posted while both queues were empty. */
struct fast_alone {
    struct key key;
    void *receive;
    bool is_queued;  /* it is the only receive; `posted` has none */
    uint32_t number; /* otherwise: of the last one that was moved to `posted` */
};

struct fast {
    struct fast_alone alone;
    struct fast_queue posted, unexpected;
};

/* Its handle. There is one of them at a time: as long as it is queued, also in `posted`, no other is alone. */
static const uint64_t FAST_ALONE = UINT64_MAX;

static inline struct fast *fast_of(const struct match *e) {
    return (struct fast *)(uintptr_t)e->state;
}

extern const struct structure fast_structure;
#if defined(__x86_64__)
extern const struct structure fast_avx2_structure;
#endif

enum { FAST_EXTRA_LINKS = 3 }; /* per entry: of KIND_ANY_SOURCE, _TAG, and _BOTH or KIND_CONTEXT */

static inline struct fast_entry *fast_entry_at(const struct fast_queue *q, uint32_t number) {
    return (struct fast_entry *)pool_at(&q->pool, number, sizeof(struct fast_entry));
}

static inline struct key fast_key(const struct fast_entry *entry) {
    return (struct key){entry->who, entry->context};
}

static inline enum fast_kind fast_kind_of(struct key key) {
    return (enum fast_kind)(key_any_source(key) | key_any_tag(key) << 1);
}

#endif
