/* rma.h: internal interfaces of one-sided communication: gets in flight, writes, completion, progress. */
#ifndef HEARTH_MPI_RMA_H
#define HEARTH_MPI_RMA_H

#include "mpi/core/acquire.h"
#include "mpi/rma/window.h"

/* ---- acquire.c ---- */

/* Call before the window's cache is used: invalidates entries older than the last acquire. Requires the lock. */
static inline void acquire_catch_up(struct window *w) {
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
bool noop_is_get(MPI_Count count, MPI_Datatype type);

/* ---- inflight.c: gets in flight ---- */

enum op_kind {
    OP_FILL,    /* its data fills a reserved entry */
    OP_JOIN,    /* its data, or the first part of it, comes from another get in flight */
    OP_EXTEND,  /* first part copied from the cache; the rest is in flight and will extend the entry */
    OP_REQUEST, /* as OP_FILL, but completed by its request */
    OP_RECHECK, /* its data is compared with the cached data */
    OP_AHEAD,   /* read-ahead: not requested by the program; Hearth owns the buffer */
    OP_PLAIN,   /* a get with a request that the cache does not track */
    OP_QUIET    /* a request whose completion is no sync event: of a hit, of a send; has no window */
};

struct op {
    enum op_kind kind;
    bool listed;  /* in its target's list */
    bool watched; /* its buffer is checked by inflight_disturb */
    bool spoiled; /* invalid: its buffer may hold other data */
    bool news;    /* a hit that was fetched instead: the result may be newer than anything cached */
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
extern HIDDEN uint64_t inflight_buffers;

struct op *inflight_at(uint32_t id);

/* Adds an operation to its target's list and starts to watch its buffer. Returns NO_OP if memory ran out. Takes
 * ownership of here.owned. */
uint32_t inflight_add(const struct op *op);
/* Adds an OP_QUIET, which is in no list. */
uint32_t inflight_add_quiet(void);
void inflight_remove(uint32_t id);
/* Removes it from its target's list and drops its entry. The operation itself stays until it is removed. */
void inflight_orphan(uint32_t id);

/* The window is being freed: the data is neither cached nor copied to joined gets. */
void inflight_abandon(uint32_t id);

/* Number of the next operation; all lower numbers have been issued. */
extern HIDDEN uint64_t inflight_issued;

/* Call before this part of the program's memory is written. Overlapping gets in flight become invalid and are not
 * cached. Returns whether there were any. */
bool inflight_disturb(char *buffer, const struct shape *shape);

/* Marks the operation invalid after a failed call: its buffer contents are unknown. */
void inflight_distrust(uint32_t id);

/* The same for a buffer that a bypassing call writes. Takes the lock. */
void inflight_disturb_typed(void *buffer, MPI_Count count, MPI_Datatype type);

/* Operation `op` copies its data from `source` when that completes. */
void inflight_join(uint32_t op, uint32_t source);

/* The data of this operation has arrived: copies it to the joined gets, caches it if `keep`, removes the operation. */
void inflight_complete(uint32_t id, bool keep);

/* ---- get.c ---- */

/* MPI_Get_accumulate with MPI_NO_OP, as a get. */
int get_noop(const void *nothing, int ncount, MPI_Datatype ntype, void *result, int rcount,
             MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win);
/* Issues a get of these bytes. Returns an MPI error code. */
int fetch(struct window *w, int target, uint64_t address, const struct shape *there, void *buffer,
          const struct shape *here);
/* Counts a get that was passed to MPI. */
static inline void get_issued(struct window *w, struct target *t, uint64_t bytes) {
    t->last_get = inflight_issued++;
    t->alone++;
    w->bytes_fetched += bytes;
    window_mark_busy(w, t);
}

/* ---- past.c ---- */

/* Call when a type is freed: MPI may reuse its handle for another type. */
void past_forget_type(MPI_Datatype type);

/* ---- write.c ---- */

/* Drops the entries that this write overlaps, from the cache of every aliasing window. */
void write_drop(struct window *w, int target, const struct write *write);
/* All writes to this target are complete there: drops overlapping entries that were inserted in the meantime. */
void write_completed(struct window *w, struct target *t);
extern HIDDEN uint64_t write_inserts; /* entries inserted into any cache so far */

/* ---- ahead.c: read-ahead; requires the lock; only if the window reads ahead ---- */

/* A get of these bytes missed and was issued. alone: its cost is being measured, so no further get may be issued. */
void ahead_missed(struct window *w, struct target *t, uint64_t address, uint64_t bytes, bool alone);
/* A get of these bytes hit. */
void ahead_hit(struct window *w, struct target *t, uint64_t address, uint64_t bytes);
/* The data of a read-ahead has arrived. */
void ahead_arrived(const struct op *op);
/* The read-ahead is over, whether its data was kept or not. */
void ahead_ended(const struct op *op);

/* ---- request.c ---- */

extern HIDDEN _Atomic uint64_t request_count; /* incomplete operations with a request */
void request_track(uint32_t op, MPI_Request request);
/* The completion of this request is no sync event: it carries no information from another process. Requires the lock. */
void request_is_quiet(MPI_Request request);

/* ---- score.c: scores that the program assigns to entries ---- */

/* Applies the info key clampi_score, if present. */
void score_from_info(struct window *w, MPI_Info info);
/* NULL removes the function. Weights from the previous function are forgotten. */
void score_set(struct window *w, CLAMPI_Score *score, void *arg);
/* Calls the window's score function for the entry that is inserted next. Requires the lock. */
void score_entry_slowly(struct window *w, int target, uint64_t address, uint64_t bytes);
static inline void score_entry(struct window *w, int target, uint64_t address, uint64_t bytes) {
    if (UNLIKELY(w->score != NULL))
        score_entry_slowly(w, target, address, bytes);
}

/* ---- progress.c ---- */

/* Called with the first window, and in MPI_Finalize. */
void progress_start(void);
void progress_stop(void);
/* MPI was called since the last poll. */
extern HIDDEN _Atomic bool progress_fresh;
static inline void progress_note(void) {
    atomic_store_explicit(&progress_fresh, true, memory_order_relaxed);
}
/* Calls MPI if it was not called for a while, so that a rank served from its cache still serves its peers. */
extern HIDDEN _Atomic int32_t progress_left;
void progress_poll_slowly(void);
static inline void progress_poll(void) {
    int32_t left = atomic_load_explicit(&progress_left, memory_order_relaxed) - 1;
    atomic_store_explicit(&progress_left, left, memory_order_relaxed);
    if (UNLIKELY(left <= 0)) /* below 0: another thread is setting the counter, or both threads decremented
                                it */
        progress_poll_slowly();
}

/* ---- report.c ---- */

/* Keeps the counters of a window that is being freed, for the report. */
void report_window(const struct window *w, const char *name);

#endif
