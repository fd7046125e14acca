/* cache.h: a cache of variable-size entries for remote data. No MPI here.
 *
 * An entry holds the bytes of one access, packed, under (target, displacement of its first byte). It is
 *
 *      PENDING   reserved: its data is in flight; never a victim
 *      CACHED    filled
 *
 * Life cycle: cache_insert -> PENDING -> copy to cache_data() -> cache_settle -> CACHED -> evicted or dropped
 *
 * A PENDING entry that a write overlaps, or whose generation is no longer the cache's, is invalid: lookups no longer
 * find it, and cache_settle frees it instead of keeping it. It stays usable for its owner until cache_settle or
 * cache_drop.
 *
 * Pointers to entries are valid until the next call that may resize or evict (insert, extend, adapt, invalidate). To
 * refer to an entry for longer, keep its id. PENDING entries keep their id until settled or dropped. The data may
 * move likewise. Not thread-safe: the caller locks. */
#ifndef HEARTH_CACHE_H
#define HEARTH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/settings.h"
#include "tables/shape.h"

struct cache;

enum cache_part { CACHE_INDEX, CACHE_STORAGE };

typedef void cache_resized(void *arg, enum cache_part part, uint64_t from, uint64_t to);

/* The parameters, of which users set some: settings.def explains these. */
struct cache_config {
    uint64_t index_slots;
    uint64_t storage_bytes;
    struct memory_budget *budget; /* provides all memory of the cache; may be NULL */
    enum score score;
    unsigned sample;    /* index slots examined to choose a victim */
    unsigned path;      /* maximal length of a cuckoo path in the index */
    unsigned evictions; /* maximal evictions for one get */
    uint64_t admission; /* consecutive misses after which admission is sampled; 0: never */
    bool heated;        /* the index is registered with the heater */
    bool adaptive;
    uint64_t adapt_interval;   /* gets between two resizing decisions */
    double conflict_threshold; /* share of gets without a slot in the index, above which it grows */
    double capacity_threshold; /* share of gets without space in the storage, above which it grows */
    double sparse_threshold;   /* ratio of occupied to visited slots, below which the index shrinks */
    double stable_threshold;   /* hit ratio above which the working set counts as stable */
    double free_threshold;     /* free share of the storage above which it then shrinks */
    double index_increase, index_decrease, memory_increase, memory_decrease; /* least factors, divisors */
    uint64_t seed;
    cache_resized *resized; /* called, with resized_arg, after every change of a size; may be NULL */
    void *resized_arg;
};

void cache_config_from(struct cache_config *config, const struct settings *settings);

/* The outcome of inserting an access that missed. */
enum cache_outcome { CACHE_DIRECT, CACHE_CONFLICTING, CACHE_CAPACITY, CACHE_FAILING };

struct cache_stats {
    uint64_t lookups;
    uint64_t full_hits, partial_hits, pending_hits;  /* counted by cache_find and cache_touch */
    uint64_t direct, conflicting, capacity, failing; /* outcomes of cache_insert */
    uint64_t invalidations, dropped, adjustments;    /* dropped: entries dropped by writes */
    uint64_t evictions, visited, nonempty; /* index slots visited by evictions; of these, not empty */
    uint64_t index_grown, index_shrunk, storage_grown, storage_shrunk;
    uint64_t entries, index_slots; /* current; entries counts pending and cached ones */
    uint64_t storage_bytes, used_bytes, free_regions, metadata_bytes;
};

enum cache_state { CACHE_FREE, CACHE_PENDING, CACHE_CACHED };

/* Returns 0, or an error of memory_open (-ENOMEM, -EDQUOT). If the budget does not cover index and storage, the
 * largest half, quarter, ... of both that fits is used, down to 4 KiB of storage. */
int cache_open(const struct cache_config *config, struct cache **cache);
void cache_close(struct cache *cache);

enum { CACHE_NONE = UINT32_MAX };

/* The entry under this key, or CACHE_NONE. Also counts one access: the temporal score measures time in lookups. */
uint32_t cache_lookup(struct cache *cache, uint32_t target, uint64_t disp);

/* The same without counting an access. */
uint32_t cache_peek(const struct cache *cache, uint32_t target, uint64_t disp);

/* The fast path of a full hit on a contiguous access: the data of a CACHED entry under this key whose first `bytes`
 * bytes are contiguous. NULL if there is none, or if cache_admits refuses the key. Counts an access and a hit if it
 * returns data, else nothing. */
const void *cache_find(struct cache *cache, uint32_t target, uint64_t disp, uint64_t bytes);

/* After cache_find found nothing: whether there is no entry at all under this key. Then counts the access, as cache_lookup does. False:
 * there may be one, and nothing is counted. */
bool cache_lacks(struct cache *cache, uint32_t target, uint64_t disp);

enum cache_state cache_state_of(const struct cache *cache, uint32_t entry);
uint64_t cache_bytes_of(const struct cache *cache, uint32_t entry);
void *cache_data(struct cache *cache, uint32_t entry);

/* A number that the caller stores with a PENDING entry (the get that will fill it); 0 after cache_insert. */
void cache_set_owner(struct cache *cache, uint32_t entry, uint32_t owner);
uint32_t cache_owner_of(const struct cache *cache, uint32_t entry);

/* How much of the access this entry holds, in packed bytes from the start: shape->bytes for a full hit, less for a
 * partial one (only if both are contiguous), 0 if the layouts differ. */
uint64_t cache_covers(const struct cache *cache, uint32_t entry, const struct shape *shape);

/* Counts a hit on the entry, for a request of this many bytes: full, partial or pending, depending on the entry. */
void cache_touch(struct cache *cache, uint32_t entry, uint64_t bytes);

/* Admission: whether this access gets a lookup and an entry. False only for some keys, while nothing is reused. */
bool cache_admits(struct cache *cache, uint32_t target, uint64_t disp);

/* Reserves an entry for an access of this shape whose get was issued at `generation`. A CACHED entry under the same
 * key is replaced; a PENDING one is not, and the insert fails. The list of an irregular shape is copied into the
 * storage, before the data. *entry is set unless the outcome is CACHE_FAILING. */
enum cache_outcome cache_insert(struct cache *cache, uint32_t target, uint64_t disp,
                                const struct shape *shape, uint64_t generation, uint32_t *entry);

/* The weight of the next cache_insert's entry, > 0 and finite: a factor of its score, relative to the mean of the
 * weights given so far, so that their unit does not matter. An entry without one counts as the mean. The new entry
 * competes in the choice of the victim: if all others have a higher score, the insert fails. Without weights a new
 * entry never loses, because it is the youngest. */
void cache_set_weight(struct cache *cache, double weight);

/* Call when the meaning of weights changes: removes the weights of all entries, and restarts their mean. Walks all
 * entries. */
void cache_forget_weights(struct cache *cache);

/* The data is in place. Returns true if the entry is now CACHED, false if it was invalid and has been freed. */
bool cache_settle(struct cache *cache, uint32_t entry);

/* Releases an entry in any state. */
void cache_drop(struct cache *cache, uint32_t entry);

/* Enlarges a CACHED contiguous entry to `bytes`, keeping its data. Returns 0, or -ENOSPC with the entry unchanged. May
 * evict other entries, as cache_insert does. The caller must fill the new part immediately. */
int cache_extend(struct cache *cache, uint32_t entry, uint64_t bytes);

/* Invalidates all entries, in constant time. PENDING entries stay with their owners, marked invalid. */
void cache_invalidate(struct cache *cache);
uint64_t cache_generation(const struct cache *cache);

/* Drops every CACHED entry that overlaps this access, and invalidates the PENDING ones. Returns how many. */
uint64_t cache_write(struct cache *cache, uint32_t target, uint64_t disp, const struct shape *shape);

/* Invalidates an entry whose data will not be correct; releases it if it is not PENDING. */
void cache_invalidate_pending(struct cache *cache, uint32_t entry);

/* Resizes index and storage if the counts since the last decision demand it: see adapt.c. Entries survive. cache_insert
 * calls it; callers may call it after a batch. */
void cache_adapt(struct cache *cache);

void cache_stats(const struct cache *cache, struct cache_stats *stats);

/* Returns 0 if all invariants hold, else -EINVAL after a log line that names the broken one. Walks everything. */
int cache_check(const struct cache *cache);

/* ---- the sample of accesses that the analyses below follow: see sample.c ---- */

/* The first two are all that an access reads which is not followed. */
struct cache_sample {
    uint64_t
        mask; /* keys whose hash is 0 in these bits are followed; UINT64_MAX in a pause, and without analyses */
    uint64_t left;         /* accesses until the burst or pause is over */
    uint64_t span, before; /* its length; the accesses before it */
    uint64_t covered;      /* accesses that the bursts before it represent */
    uint64_t keys_mask;    /* the mask in bursts */
    uint32_t stretch;      /* accesses that one of a burst represents */
    uint32_t keys;         /* in the tables of the analyses */
    uint32_t keys_before;  /* when the burst began */
    uint32_t keys_looked;  /* at the last cache_sample_look */
};

/* Begins with a burst that follows all keys, or ends for good. */
void cache_sample_open(struct cache_sample *s);
void cache_sample_close(struct cache_sample *s);

/* The hash of a key: never 0. One multiplication, as each access of a burst computes it. */
static inline uint64_t cache_sample_key(uint32_t target, uint64_t disp) {
    uint64_t product = (disp ^ (uint64_t)target << 48) * 0x9e3779b97f4a7c15u;
    return (product ^ product >> 32) | 1ull << 63;
}

/* Counts an access. Returns whether more is to be done: cache_sample_turn if none is left, and the analyses for a key of the sample. */
static inline bool cache_sample_takes(struct cache_sample *s, uint32_t target, uint64_t disp) {
    if (UNLIKELY(!--s->left))
        return true;
    return s->mask != UINT64_MAX && UNLIKELY(!(cache_sample_key(target, disp) & s->mask));
}

/* Call when none is left: the next burst or pause begins. is_dear: following takes more time than it may. */
void cache_sample_turn(struct cache_sample *s, bool is_dear);
/* Call after every so many accesses that are followed: halves the keys of a burst that is dear, if there are enough for that or many of
 * them are new. */
enum { CACHE_SAMPLE_LOOK = 64 };
void cache_sample_look(struct cache_sample *s, bool is_dear);

/* All accesses. */
uint64_t cache_sample_gets(const struct cache_sample *s);

/* ---- what-if analysis of modes: how many gets a cache would have served; keeps no data ---- */

struct cache_whatif;

/* All of these are estimates from a sample of the keys. */
struct cache_whatif_counts {
    uint64_t gets;        /* accesses seen */
    uint64_t kept;        /* of these, hits if all data were kept forever */
    uint64_t kept_within; /* of these, hits if all data were kept until their epoch ends */
    uint64_t bytes;       /* total size of all distinct accesses */
};

/* Returns 0, or an error of memory_open. Takes some 100 KB of the budget, independent of the number of keys. */
int cache_whatif_open(struct memory_budget *budget, struct cache_whatif **estimate);
void cache_whatif_close(struct cache_whatif *estimate);

/* Records an access to a key of the sample, in an epoch counted by the caller. */
void cache_whatif_get(struct cache_whatif *estimate, struct cache_sample *s, uint64_t key, uint64_t bytes,
                      uint64_t epoch);
/* Records an own write that begins here. */
void cache_whatif_write(struct cache_whatif *estimate, uint32_t target, uint64_t disp);

void cache_whatif_read(const struct cache_whatif *estimate, const struct cache_sample *s,
                       struct cache_whatif_counts *whatif);

/* ---- what-if analysis of cache sizes, from reuse distances ---- */

struct cache_reuse;

enum { CACHE_REUSE_STEPS = 256 };

struct cache_reuse_curve {
    uint64_t gets;  /* accesses seen */
    uint64_t share; /* one key in this many was tracked, at the end */
    uint64_t bytes; /* total size of all distinct accesses; an estimate, as all below */
    /* hits[i]: gets that a cache of cache_reuse_size(i) bytes serves, and a cache of the step below does not. */
    uint64_t hits[CACHE_REUSE_STEPS];
};

/* Returns 0, or an error of memory_open. Takes some 250 KB of the budget, independent of the number of keys. */
int cache_reuse_open(struct memory_budget *budget, struct cache_reuse **reuse);
void cache_reuse_close(struct cache_reuse *reuse);

/* Records an access to a key of the sample, in an epoch counted by the caller: no cache would hold data from another
 * epoch. */
void cache_reuse_get(struct cache_reuse *reuse, struct cache_sample *s, uint64_t key, uint64_t bytes,
                     uint64_t epoch);
/* Records an own write that begins here. */
void cache_reuse_write(struct cache_reuse *reuse, uint32_t target, uint64_t disp);

void cache_reuse_read(const struct cache_reuse *reuse, const struct cache_sample *s,
                      struct cache_reuse_curve *curve);
/* The size of a step, in bytes. */
uint64_t cache_reuse_size(unsigned step);

#endif
