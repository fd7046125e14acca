/* entry.h: the data structures of a cache, internal to this folder.
 *
 * One pool of descriptors, referred to by number, describes every byte of the storage: entries and free regions
 * alike, all in one ring in address order that begins and ends at descriptor 0:
 *
 *      ring        0 <-> entry <-> free <-> entry <-> entry <-> free <-> 0
 *      storage     |     list,data |......| data  |   data    |......|
 *
 * Descriptors are named by number, not by pointer, and bytes by offset, because pool and storage move when they grow.
 * A descriptor is two cache lines: the first holds all that a hit and the choice of a victim read. */
#ifndef HEARTH_CACHE_ENTRY_H
#define HEARTH_CACHE_ENTRY_H

#include "base/compiler.h"
#include "base/memory.h"
#include "base/random.h"
#include "cache/cache.h"
#include "tables/shape.h"
#include "tables/spans.h"

enum { NOTHING = 0, NO_SLOT = UINT32_MAX, MISSED = 1024 };

enum kind {
    KIND_UNUSED = CACHE_FREE,
    KIND_PENDING = CACHE_PENDING,
    KIND_CACHED = CACHE_CACHED,
    KIND_REGION, /* free storage */
    KIND_SENTINEL
};

/* The stamp tells with one comparison whether lookups may find an entry: generation * 2, + 1 once CACHED, 0 if they
 * never may (invalid, or not an entry). Generations begin at 1, so that fresh memory matches none. */
struct cache_entry {
    uint64_t disp;
    uint64_t stamp;
    uint64_t last;     /* time of the last access */
    uint64_t run;      /* bytes from the start that are contiguous at the target */
    uint64_t offset;   /* of the data in the storage */
    uint64_t adjacent; /* free bytes on both sides */
    uint32_t target;
    uint32_t slot; /* its slot in the index; valid only if that slot names this entry */
    uint32_t mark; /* the last search for an insertion path that visited this entry */
    float weight;  /* weight given by its owner, > 0; 0 if none: see victim.c */

    uint64_t start, room; /* the region: list of blocks, if any, then data */
    uint64_t bytes;       /* of data */
    uint32_t prev, next;  /* in the ring; next also links unused descriptors */
    uint16_t kind;
    uint16_t has_list;
    union {
        uint32_t owner;  /* of an entry: the caller's number */
        uint32_t height; /* of a free region, in the tree */
    };
    union {
        struct {
            uint64_t blocks, block_bytes;
            int64_t stride;
        };                 /* of an entry */
        uint32_t child[2]; /* in the tree, of a free region: smaller, larger */
    };
};

_Static_assert(sizeof(struct cache_entry) == 2 * CACHE_LINE, "a descriptor is two cache lines");

/* Empty if id is NOTHING, or if the entry of that number is not (or no longer) in this slot: see index.c. */
struct cache_slot {
    uint32_t id;
    uint32_t tag; /* further bits of the key's hash, so that wrong entries are seldom read */
};

/* The key that cache_find looked up last without success, so that the insert after it need not look again. */
struct cache_missed {
    uint64_t disp;
    uint64_t placed; /* entries until then: if there are more, one of them may have this key */
    uint64_t a, b;   /* struct hash */
    uint32_t tag;
    uint32_t target;
    bool absent; /* there was no entry under this key */
};

/* State of the decisions about one of the two sizes; see adapt.c. */
struct tendency {
    unsigned patience, streak; /* consecutive intervals that must ask to shrink; that did so far */
    unsigned rest, penalty;    /* intervals until growth is tried again; the same after the next failure */
    bool shrunk;               /* the last change was a reduction */
    uint64_t short_at;         /* inserts that this size was too small for, up to the last change */
    uint64_t repeats_at;       /* repeated misses up to the last change */
};

/* Sampled admission: see admission.c. */
struct sampled_admission {
    bool sampled;
    uint64_t reuses, misses, losses; /* reuses so far; misses since the last one; entries lost until it */
    uint64_t patience;               /* consecutive misses after which admission is sampled */
};

struct cache {
    /* Read by a hit. */
    struct cache_slot *slots;
    struct cache_entry *pool;
    char *storage;
    uint64_t factors[4]; /* of the hash */
    uint64_t ready;      /* stamp of the CACHED entries of this generation */
    uint32_t slot_count;
    struct sampled_admission admission;
    /* Written by a hit. */
    uint64_t clock;     /* gets so far */
    uint64_t get_bytes; /* bytes requested by them */
    struct cache_missed missed_last;

    uint64_t generation;
    uint64_t storage_bytes, used_bytes;
    uint64_t largest;                    /* upper bound of the largest free region */
    uint32_t capacity, used, unused_ids; /* descriptors: all, ever used, list of released ones */
    uint32_t root, regions;              /* tree of the free regions, and their number */
    uint32_t cached, pending, stale; /* entries: CACHED; PENDING of any generation; CACHED of an older one */
    uint32_t cursor;                 /* where the search for stale entries continues */
    uint32_t walk;                   /* number of the last search for an insertion path */
    bool tracking;                   /* spans holds all entries that lookups can find */
    struct spans spans;
    struct random random;
    struct cache_config config;

    uint64_t slow_lookups, touches, inserts, placed;
    uint64_t crowded, starved; /* inserts for which the index was too small; the storage */
    uint64_t repeats;          /* misses of keys that were missed before, recently */
    uint64_t distances;        /* inserts between the two misses, summed up over all repeats */
    float weight;              /* of the next entry */
    uint64_t weights;          /* number of weights given so far, */
    double weight_sum;         /* and their sum */
    struct cache_stats count;  /* events; cache_stats fills in the sizes */

    struct tendency index_size, storage_size;
    struct cache_stats before; /* counts at the last decision about the sizes */
    uint64_t crowded_before, starved_before, reuses_before, repeats_before, distances_before;
    struct missed {
        uint32_t tag;    /* of a key */
        uint32_t at;     /* number of the insert */
    } missed[2][MISSED]; /* to detect repeated misses */

    struct memory self, slot_memory, pool_memory, storage_memory;
};

static inline bool is_entry(const struct cache_entry *e) {
    return e->kind == KIND_PENDING || e->kind == KIND_CACHED;
}

/* Whether lookups may find it. */
static inline bool is_current(const struct cache *c, const struct cache_entry *e) {
    return (e->stamp | 1) == c->ready;
}

static inline struct shape shape_of(const struct cache *c, const struct cache_entry *e) {
    return (struct shape){.bytes = e->bytes,
                          .blocks = e->blocks,
                          .block_bytes = e->block_bytes,
                          .stride = e->stride,
                          .list = e->has_list ? (const struct shape_block *)(c->storage + e->start) : NULL};
}

/* Hits, and misses that a larger cache would have turned into hits: see adapt.c. */
static inline uint64_t reuses(const struct cache *c) {
    return c->clock - c->slow_lookups + c->touches + c->repeats;
}

/* Frees an entry in any state, and removes it from all structures. */
void cache_release(struct cache *c, uint32_t id);

#endif
