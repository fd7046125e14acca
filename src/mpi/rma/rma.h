/* rma.h: internal interfaces of one-sided communication: gets in flight, writes, completion, progress. */
#ifndef HEARTH_MPI_RMA_H
#define HEARTH_MPI_RMA_H

#include "mpi/core/acquire.h"
#include "mpi/rma/window/window.h"

/* ---- acquire.c ---- */

/* Call before the window's cache is used: invalidates entries older than the last acquire. Requires the lock. */
static inline void rma_acquire_catch_up(struct window *w) {
    if (w->mode != MODE_ACQUIRE)
        return;
    uint64_t now = atomic_load_explicit(&acquire_generation, memory_order_acquire);
    if (LIKELY(w->acquired == now))
        return;
    w->acquired = now;
    if (w->cache)
        cache_invalidate(w->cache);
}

/* ---- noop.c ---- */

/* Whether MPI_Get_accumulate with MPI_NO_OP on these elements counts as a get. */
bool rma_noop_is_get(MPI_Count count, MPI_Datatype type);

/* ---- inflight.c: gets in flight ---- */

enum rma_op_kind {
    OP_FILL,    /* its data fills a reserved entry */
    OP_JOIN,    /* its data, or the first part of it, comes from another get in flight */
    OP_EXTEND,  /* first part copied from the cache; the rest is in flight and will extend the entry */
    OP_REQUEST, /* as OP_FILL, but completed by its request */
    OP_RECHECK, /* its data is compared with the cached data */
    OP_AHEAD,   /* read-ahead: not requested by the program; Hearth owns the buffer */
    OP_BYPASS,  /* a get with a request that the cache does not track */
    OP_NONSYNC  /* a request whose completion is no sync event: of a hit, of a send; has no window */
};

struct op {
    enum rma_op_kind kind;
    bool listed;      /* in its target's list */
    bool watched;     /* its buffer is checked by rma_inflight_overlap */
    bool invalid;     /* invalid: its buffer may hold other data */
    bool revalidates; /* a hit that was fetched instead: the result may be newer than anything cached */
    struct window *window;
    int target;
    uint32_t prev, next; /* in the target's list */
    uint32_t entry;      /* reserved in the cache, or CACHE_NONE */
    uint32_t source;     /* OP_JOIN: the get that fetches the data */
    uint32_t first_join, next_join;
    uint64_t sequence;   /* order of issue */
    uint64_t generation; /* generation of the cache when issued */
    uint64_t drops;      /* drops of the window when issued */
    uint64_t acquired;   /* acquire generation of the process when issued */
    uint64_t address;    /* at the target */
    uint64_t block;      /* OP_AHEAD: bytes of each entry to be created */
    uint64_t bytes;      /* OP_JOIN: bytes that come from the source; otherwise all */
    char *buffer;        /* first byte of the program's buffer */
    struct layout here;  /* layout of the buffer */
    struct shape there;  /* OP_JOIN: shape of the data at the target; the list is a copy */
    void *cached;        /* OP_RECHECK: the cached data, packed */
    uint32_t filled;     /* OP_RECHECK: number of calls made when the entry was filled */
    MPI_Request request;
    uint32_t next_request; /* chain in the request table; also the free list */
};

/* Number of operations with a watched buffer. */
extern HIDDEN uint64_t rma_inflight_buffers;

struct op *rma_inflight_at(uint32_t id);

/* Adds an operation to its target's list and starts to watch its buffer. Returns NO_OP if memory ran out. Takes
 * ownership of here.owned. */
uint32_t rma_inflight_add(const struct op *op);
/* Adds an OP_NONSYNC, which is in no list. */
uint32_t rma_inflight_add_nonsync(void);
void rma_inflight_remove(uint32_t id);
/* Removes it from its target's list and drops its entry. The operation itself stays until it is removed. */
void rma_inflight_orphan(uint32_t id);

/* The window is being freed: the data is neither cached nor copied to joined gets. */
void rma_inflight_abandon(uint32_t id);

/* Number of the next operation; all lower numbers have been issued. */
extern HIDDEN uint64_t rma_inflight_issued;

/* Call before this part of the program's memory is written. Overlapping gets in flight become invalid and are not
 * cached. Returns whether there were any. */
bool rma_inflight_overlap(char *buffer, const struct shape *shape);

/* Marks the operation invalid after a failed call: its buffer contents are unknown. */
void rma_inflight_invalidate(uint32_t id);

/* The same for a buffer that a bypassing call writes. Takes the lock. */
void rma_inflight_overlap_typed(void *buffer, MPI_Count count, MPI_Datatype type);

/* Operation `op` copies its data from `source` when that completes. */
void rma_inflight_join(uint32_t op, uint32_t source);

/* The data of this operation has arrived: copies it to the joined gets, caches it if `keep`, removes the operation. */
void rma_inflight_complete(uint32_t id, bool keep);

/* ---- write.c ---- */

/* Drops the entries that this write overlaps, from the cache of every aliasing window. */
void rma_write_drop(struct window *w, int target, const struct write *write);
/* All writes to this target are complete there: drops overlapping entries that were inserted in the meantime. */
void rma_write_completed(struct window *w, struct rma_target *t);
extern HIDDEN uint64_t rma_write_inserts; /* entries inserted into any cache so far */

/* ---- rma_ahead.c: read-ahead; requires the lock; only if the window reads ahead ---- */

/* A get of these bytes missed and was issued. alone: its cost is being measured, so no further get may be issued. */
void rma_ahead_missed(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes, bool alone);
/* A get of these bytes hit. */
void rma_ahead_hit(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes);
/* The data of a read-ahead has arrived. */
void rma_ahead_arrived(const struct op *op);
/* The read-ahead is over, whether its data was kept or not. */
void rma_ahead_ended(const struct op *op);

/* ---- rma_request.c ---- */

extern HIDDEN _Atomic uint64_t rma_request_count; /* incomplete operations with a request */
void rma_request_track(uint32_t op, MPI_Request request);
/* The completion of this request is no sync event: it carries no information from another process. Requires the lock. */
void rma_request_mark_nonsync(MPI_Request request);

/* ---- score.c: scores that the program assigns to entries ---- */

/* Applies the info key clampi_score, if present. */
void rma_score_from_info(struct window *w, MPI_Info info);
/* NULL removes the function. Weights from the previous function are forgotten. */
void rma_score_set(struct window *w, CLAMPI_Score *score, void *arg);
/* Calls the window's score function for the entry that is inserted next. Requires the lock. */
void rma_score_entry_slow(struct window *w, int target, uint64_t address, uint64_t bytes);
static inline void rma_score_entry(struct window *w, int target, uint64_t address, uint64_t bytes) {
    if (UNLIKELY(w->score != NULL))
        rma_score_entry_slow(w, target, address, bytes);
}

/* ---- rma_progress.c ---- */

/* Called with the first window, and in MPI_Finalize. */
void rma_progress_start(void);
void rma_progress_stop(void);
/* MPI was called since the last poll. */
extern HIDDEN _Atomic bool rma_progress_fresh;
static inline void rma_progress_note(void) {
    atomic_store_explicit(&rma_progress_fresh, true, memory_order_relaxed);
}
/* Calls MPI if it was not called for a while, so that a rank served from its cache still serves its peers. */
extern HIDDEN _Atomic int32_t rma_progress_left;
void rma_progress_poll_slow(void);
static inline void rma_progress_poll(void) {
    int32_t left = atomic_load_explicit(&rma_progress_left, memory_order_relaxed) - 1;
    atomic_store_explicit(&rma_progress_left, left, memory_order_relaxed);
    if (UNLIKELY(left <= 0)) /* below 0: another thread is setting the counter, or both threads decremented
                                it */
        rma_progress_poll_slow();
}

/* ---- report.c ---- */

/* Keeps the counters of a window that is being freed, for the report. */
void report_window(const struct window *w, const char *name);

#endif
