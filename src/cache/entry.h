/* entry.h: the parts of a cache, shared by the files of this folder and seen by no other.
 *
 * One pool of descriptors, named by number, describes every byte of the storage: entries and free regions
 * alike, all in one ring in address order that begins and ends at descriptor 0:
 *
 *      ring        0 <-> entry <-> free <-> entry <-> entry <-> free <-> 0
 *      storage     |     list,data |......| data  |   data    |......|
 *
 * Numbers, not pointers, name descriptors, and offsets name bytes: pool and storage move when they grow. A
 * descriptor is two cache lines: the first is all that a hit and the choice of a victim read. */
#ifndef HEARTH_CACHE_ENTRY_H
#define HEARTH_CACHE_ENTRY_H

#include "cache/cache.h"

enum { NOTHING = 0, NO_SLOT = UINT32_MAX, MISSED = 1024 };

enum kind {
    KIND_UNUSED = CACHE_FREE,
    KIND_PENDING = CACHE_PENDING,
    KIND_CACHED = CACHE_CACHED,
    KIND_REGION, /* free storage */
    KIND_SENTINEL
};

/* The stamp says at a glance whether an entry may be found: generation * 2, + 1 once CACHED, 0 if it never
 * may (doomed, not an entry). Generations begin at 1, so that fresh memory matches none. */
struct entry {
    uint64_t disp;
    uint64_t stamp;
    uint64_t last;     /* when it was last asked for */
    uint64_t run;      /* bytes from the start that are contiguous at the target */
    uint64_t offset;   /* of the data in the storage */
    uint64_t adjacent; /* free bytes on both sides */
    uint32_t target;
    uint32_t slot; /* where the index has it; counts only if that slot names this entry */
    uint32_t mark; /* the last search for an insertion path that went through here */
    float weight;  /* what its owner said that it is worth, > 0; 0 if nothing: see victim.c */

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

_Static_assert(sizeof(struct entry) == 2 * CACHE_LINE, "a descriptor is two cache lines");

/* Empty if id is NOTHING, or if the entry of that number is not here (any more): see index.c. */
struct slot {
    uint32_t id;
    uint32_t tag; /* more bits of the key's hash, so that a wrong entry is seldom touched */
};

/* How eager one of the two sizes is to change; see adapt.c. */
struct tendency {
    unsigned patience, streak; /* intervals that must ask for less in a row; that did */
    unsigned rest, penalty;    /* intervals left before growing is tried again; and after the next failure */
    bool shrunk;               /* the last change */
};

/* See doze.c. */
struct doze {
    bool asleep;
    uint64_t reuses, misses, losses; /* all so far; misses since the last one; entries lost before it */
    uint64_t patience;               /* misses in a row after which it falls asleep */
};

struct cache {
    /* What a hit reads. */
    struct slot *slots;
    struct entry *pool;
    char *storage;
    uint64_t factors[4]; /* of the hash */
    uint64_t ready;      /* stamp of what is CACHED in this generation */
    uint32_t slot_count;
    struct doze doze;
    /* What a hit writes. */
    uint64_t clock;     /* gets so far */
    uint64_t get_bytes; /* asked for by them */

    uint64_t generation;
    uint64_t storage_bytes, used_bytes;
    uint64_t largest;                    /* no free region is larger; there may be none as large */
    uint32_t capacity, used, unused_ids; /* descriptors: all, ever given out, list of those given back */
    uint32_t root, regions;              /* tree of the free regions, and their number */
    uint32_t cached, pending, stale;     /* entries: of this generation; of any; CACHED of an older one */
    uint32_t cursor;                     /* where the search for stale entries goes on */
    uint32_t walk;                       /* number of the last search for an insertion path */
    bool tracking;                       /* spans holds all that can be found */
    struct spans spans;
    struct random random;
    struct cache_config config;

    uint64_t slow_lookups, touches, inserts;
    uint64_t crowded, starved; /* inserts for which the index, or the storage, was too small */
    uint64_t repeats;          /* of keys that had been missed before, lately */
    float weight;              /* of the entry that comes next */
    uint64_t weights;          /* how many were given so far, */
    double weight_sum;         /* and these together */
    struct cache_stats count;  /* events; sizes are filled in by cache_stats */

    struct tendency index_size, storage_size;
    struct cache_stats before; /* counts at the last decision about the sizes */
    uint64_t crowded_before, starved_before, reuses_before;
    uint32_t missed[2][MISSED]; /* tags of keys, to see that one is missed again */

    struct memory self, slot_memory, pool_memory, storage_memory;
};

static inline bool is_entry(const struct entry *e) {
    return e->kind == KIND_PENDING || e->kind == KIND_CACHED;
}

/* Whether lookups may find it. */
static inline bool is_current(const struct cache *c, const struct entry *e) {
    return (e->stamp | 1) == c->ready;
}

static inline struct shape shape_of(const struct cache *c, const struct entry *e) {
    return (struct shape){.bytes = e->bytes,
                          .blocks = e->blocks,
                          .block_bytes = e->block_bytes,
                          .stride = e->stride,
                          .list = e->has_list ? (const struct shape_block *)(c->storage + e->start) : NULL};
}

/* Hits, and misses that a larger cache would have made hits: see adapt.c. */
static inline uint64_t reuses(const struct cache *c) {
    return c->clock - c->slow_lookups + c->touches + c->repeats;
}

/* Frees an entry in any state, and all that is known of it. */
void cache_release(struct cache *c, uint32_t id);

#endif
