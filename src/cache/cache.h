/* cache.h: a cache of variable-size entries for data that lies elsewhere. No MPI here.
 *
 * An entry holds the bytes of one access, packed, under (target, displacement of its first byte). It is
 *
 *      PENDING   reserved: its data is on the way; never a victim
 *      CACHED    filled
 *
 * Life of an entry:   cache_insert -> PENDING -> copy to cache_data() -> cache_settle -> CACHED -> evicted,
 * dropped
 *
 * A pending entry that is overlapped by a write, or whose generation is no longer the cache's, is `doomed`:
 * it is not found any more, and cache_settle frees it instead of keeping it. It stays valid for its owner
 * until cache_settle or cache_drop.
 *
 * Pointers to entries are valid until the next call that may resize or evict (insert, extend, adapt,
 * invalidate); to hold an entry for longer keep its id. PENDING entries keep their id until settled or
 * dropped. The data may move likewise. Not thread-safe: the caller locks. */
#ifndef HEARTH_CACHE_H
#define HEARTH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct cache;

enum cache_part { CACHE_INDEX, CACHE_STORAGE };

typedef void cache_resized(void *arg, enum cache_part part, uint64_t from, uint64_t to);

/* Where the numbers come from: settings, see settings.def for their meaning. */
struct cache_config {
    uint64_t index_slots;
    uint64_t storage_bytes;
    struct memory_budget *budget; /* all memory of the cache is taken from it; may be NULL */
    enum score score;
    unsigned sample, path, evictions;
    uint64_t doze; /* misses in a row after which most are not kept; 0: never */
    bool heated;   /* the index is registered with the heater */
    bool adaptive;
    uint64_t adapt_interval;
    double conflict_threshold, index_increase, sparse_threshold, index_decrease;
    double capacity_threshold, memory_increase, stable_threshold, free_threshold, memory_decrease;
    uint64_t seed;
    cache_resized *resized; /* is told, with its argument, of every change of a size; may be NULL */
    void *resized_arg;
};

void cache_config_from(struct cache_config *config, const struct settings *settings);

/* What became of an access that was not a hit. */
enum cache_outcome { CACHE_DIRECT, CACHE_CONFLICTING, CACHE_CAPACITY, CACHE_FAILING };

struct cache_stats {
    uint64_t lookups;
    uint64_t full_hits, partial_hits, pending_hits;  /* counted by cache_find and cache_touch */
    uint64_t direct, conflicting, capacity, failing; /* outcomes of cache_insert */
    uint64_t invalidations, dropped, adjustments;    /* dropped: entries dropped by writes */
    uint64_t evictions, visited, nonempty; /* index slots visited by evictions; of these not empty */
    uint64_t index_grown, index_shrunk, storage_grown, storage_shrunk;
    uint64_t entries, index_slots; /* now; entries are live ones, pending or cached */
    uint64_t storage_bytes, used_bytes, free_regions, metadata_bytes;
};

enum cache_state { CACHE_FREE, CACHE_PENDING, CACHE_CACHED };

/* 0, or an error of memory_open (-ENOMEM, -EDQUOT). If the budget does not cover index and storage, the
 * largest half, quarter, ... of both that fits is taken, down to 4 KiB of storage. */
int cache_open(const struct cache_config *config, struct cache **cache);
void cache_close(struct cache *cache);

enum { CACHE_NONE = UINT32_MAX };

/* The entry under this key, or CACHE_NONE. Also counts one access: time, for the temporal score, goes by
 * lookups. */
uint32_t cache_lookup(struct cache *cache, uint32_t target, uint64_t disp);

/* The same without counting an access. */
uint32_t cache_peek(const struct cache *cache, uint32_t target, uint64_t disp);

/* The hot part of a full hit on a contiguous access that cache_wants: the data of a CACHED entry under this
 * key whose first `bytes` bytes are contiguous, or NULL. Counts the access and the hit only if it is one. */
const void *cache_find(struct cache *cache, uint32_t target, uint64_t disp, uint64_t bytes);

enum cache_state cache_state_of(const struct cache *cache, uint32_t entry);
uint64_t cache_bytes_of(const struct cache *cache, uint32_t entry);
void *cache_data(struct cache *cache, uint32_t entry);

/* A number that the caller keeps with a PENDING entry (which get will fill it); 0 after cache_insert. */
void cache_set_owner(struct cache *cache, uint32_t entry, uint32_t owner);
uint32_t cache_owner_of(const struct cache *cache, uint32_t entry);

/* How much of the access this entry holds, in packed bytes from the start: shape->bytes for a full hit, less
 * for a partial one (only if both are contiguous), 0 if the layouts differ. */
uint64_t cache_covers(const struct cache *cache, uint32_t entry, const struct shape *shape);

/* Notes a hit on the entry, of this many bytes asked for: full, partial or pending as the entry's state says.
 */
void cache_touch(struct cache *cache, uint32_t entry, uint64_t bytes);

/* Whether this access is worth a lookup and an entry. False only for some keys, while nothing is reused. */
bool cache_wants(struct cache *cache, uint32_t target, uint64_t disp);

/* Reserves an entry for an access of this shape whose get was issued at `generation`. A CACHED entry under
 * the same key is replaced; a PENDING one is not, and the insert fails. The list of an irregular shape is
 * copied into the storage, before the data. *entry is set unless the outcome is CACHE_FAILING. */
enum cache_outcome cache_insert(struct cache *cache, uint32_t target, uint64_t disp,
                                const struct shape *shape, uint64_t generation, uint32_t *entry);

/* What the entry of the next cache_insert is worth to its owner, > 0 and finite: a factor of its score,
 * against the mean of the weights given so far, so that their unit does not matter. An entry without one
 * counts as the mean. A newcomer takes part in the choice of the victim: where all others are worth more, the
 * insert fails. Without weights a newcomer never loses, since nothing is younger. */
void cache_set_weight(struct cache *cache, double weight);

/* The weights to come are of another kind: no entry has one any more, and their mean starts anew. Walks all
 * entries. */
void cache_forget_weights(struct cache *cache);

/* The data is in place. Returns true if the entry is now CACHED, false if it was doomed and is gone. */
bool cache_settle(struct cache *cache, uint32_t entry);

/* Gives up an entry in any state. */
void cache_drop(struct cache *cache, uint32_t entry);

/* Makes room for `bytes` in a CACHED contiguous entry of less, keeping its data: 0, or -ENOSPC with nothing
 * changed. May evict as cache_insert does. The caller fills the tail at once. */
int cache_extend(struct cache *cache, uint32_t entry, uint64_t bytes);

/* Forgets everything: constant time. PENDING entries stay with their owners, doomed. */
void cache_invalidate(struct cache *cache);
uint64_t cache_generation(const struct cache *cache);

/* Drops every CACHED entry that shares a byte with this access, and dooms the PENDING ones. Returns how many.
 */
uint64_t cache_write(struct cache *cache, uint32_t target, uint64_t disp, const struct shape *shape);

/* Dooms an entry whose data will not be what it should. */
void cache_doom(struct cache *cache, uint32_t entry);

/* Resizes index and storage if the interval is over and the ratios say so; entries survive. Called by
 * cache_insert; offered for callers that have just completed a batch. */
void cache_adapt(struct cache *cache);

void cache_stats(const struct cache *cache, struct cache_stats *stats);

/* 0 if all invariants hold, else -EINVAL after a log line that names the broken one. Walks everything. */
int cache_check(const struct cache *cache);

/* ---- what a cache would have served: for advice, without keeping any data ---- */

struct cache_estimate;

/* All of these are estimates, from a sample of the keys. */
struct cache_foresight {
    uint64_t gets;        /* seen */
    uint64_t kept;        /* of these, served if everything were kept for ever, */
    uint64_t kept_within; /* or as long as the epoch is the same */
    uint64_t bytes;       /* that all distinct accesses take together */
};

/* 0, or an error of memory_open. Takes some 100 KB of the budget, whatever it is told. */
int cache_estimate_open(struct memory_budget *budget, struct cache_estimate **estimate);
void cache_estimate_close(struct cache_estimate *estimate);

/* An access, in an epoch of the caller's counting; an own write that begins here. */
void cache_estimate_get(struct cache_estimate *estimate, uint32_t target, uint64_t disp, uint64_t bytes,
                        uint64_t epoch);
/* The same for an access whose size is not known yet: true if that was all, since its key is not in the sample. */
bool cache_estimate_skips(struct cache_estimate *estimate, uint32_t target, uint64_t disp);
void cache_estimate_write(struct cache_estimate *estimate, uint32_t target, uint64_t disp);

void cache_estimate_read(const struct cache_estimate *estimate, struct cache_foresight *foresight);

/* ---- what a cache of another size would have served: from how far apart the accesses to a key are ---- */

struct cache_reuse;

enum { CACHE_REUSE_STEPS = 256 };

struct cache_reuse_curve {
    uint64_t gets;  /* seen */
    uint64_t share; /* one key in so many was followed, at the end */
    uint64_t bytes; /* that all distinct accesses take together; an estimate as all below */
    uint64_t
        hits[CACHE_REUSE_STEPS]; /* gets that a cache serves from this size on, and from no smaller one */
};

/* 0, or an error of memory_open. Takes some 250 KB of the budget, whatever it is told. */
int cache_reuse_open(struct memory_budget *budget, struct cache_reuse **reuse);
void cache_reuse_close(struct cache_reuse *reuse);

/* An access, in an epoch of the caller's counting: what was asked for in another one would not be there in any cache. */
void cache_reuse_get(struct cache_reuse *reuse, uint32_t target, uint64_t disp, uint64_t bytes,
                     uint64_t epoch);
/* An own write that begins here. */
void cache_reuse_write(struct cache_reuse *reuse, uint32_t target, uint64_t disp);

void cache_reuse_read(const struct cache_reuse *reuse, struct cache_reuse_curve *curve);
/* The size of a step, in bytes. */
uint64_t cache_reuse_size(unsigned step);

#endif
