/* rma.h: the parts of one-sided communication, between the hooks: gets in flight, writes, completion,
 * progress. */
#ifndef HEARTH_MPI_RMA_H
#define HEARTH_MPI_RMA_H

#include "mpi/acquire.h"
#include "mpi/rma/window.h"

/* ---- acquire.c ---- */

/* Before the window's cache is used: forgets what is older than the last acquire. Under the lock. */
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

/* Whether MPI_Get_accumulate with MPI_NO_OP of these elements is meant as a get. */
bool noop_is_get(MPI_Count count, MPI_Datatype type);

/* ---- inflight.c: gets whose data is on the way ---- */

enum op_kind {
    OP_FILL,    /* its data fills a reserved entry */
    OP_JOIN,    /* its data, or the head of it, is that of another get in flight */
    OP_EXTEND,  /* its head came from the cache, its tail is on the way and will extend the entry */
    OP_REQUEST, /* as OP_FILL, but completed by its request */
    OP_RECHECK, /* its data is compared with what the cache holds */
    OP_AHEAD,   /* nobody asked for its data yet; the buffer is ours */
    OP_PLAIN,   /* a get with a request, of no interest to the cache */
    OP_QUIET    /* only a request whose completion brings no news: of a hit, of a send; no window */
};

struct op {
    enum op_kind kind;
    bool listed;  /* in its target's list */
    bool watched; /* its buffer is known to inflight_disturb */
    bool spoiled; /* its buffer does not hold what it should */
    bool news;    /* a hit that was fetched instead: what comes may be newer than all that is cached */
    struct window *window;
    int target;
    uint32_t prev, next; /* in the target's list */
    uint32_t entry;      /* reserved in the cache, or CACHE_NONE */
    uint32_t source;     /* OP_JOIN: the get that brings the data */
    uint32_t first_join, next_join;
    uint64_t sequence;   /* order of issue */
    uint64_t generation; /* of the cache when issued */
    uint64_t drops;      /* of the window when issued */
    uint64_t acquired;   /* acquires of the process when issued */
    uint64_t address;    /* at the target */
    uint64_t block;      /* OP_AHEAD: bytes of each of the entries to be made */
    uint64_t bytes;      /* OP_JOIN: how many come from the source; else all */
    char *buffer;        /* first byte of the program's buffer */
    struct layout here;  /* of the buffer */
    struct shape there;  /* OP_JOIN: of the data at the target, list copied */
    void *cached;        /* OP_RECHECK: what the cache held, packed */
    uint32_t filled;     /* OP_RECHECK: calls made when that was filled */
    MPI_Request request;
    uint32_t next_request; /* chain in the table of requests; also of free operations */
};

/* Number of operations whose buffers are being filled. */
extern HIDDEN uint64_t inflight_buffers;

struct op *inflight_at(uint32_t id);

/* A new operation, in the target's list, its buffer known to inflight_disturb; NO_OP if memory ran out. Takes
 * over here.owned. */
uint32_t inflight_add(const struct op *op);
/* An OP_QUIET; it is in no list. */
uint32_t inflight_add_quiet(void);
void inflight_remove(uint32_t id);
/* Takes it out of its target's list, and gives up its entry; it stays until removed. */
void inflight_orphan(uint32_t id);

/* The window is gone: neither kept nor served. */
void inflight_abandon(uint32_t id);

/* The number of the next operation; those below it have been issued. */
extern HIDDEN uint64_t inflight_issued;

/* Somebody is about to write into this part of the program's memory. Gets in flight to it are not cached.
 * Returns whether there were any. */
bool inflight_disturb(char *buffer, const struct shape *shape);

/* Its buffer may hold anything: it is not kept. */
void inflight_distrust(uint32_t id);

/* The same for what a call that bypasses the cache writes. Takes the lock. */
void inflight_disturb_typed(void *buffer, MPI_Count count, MPI_Datatype type);

/* Lets `op` take its data from `source` when that arrives. */
void inflight_join(uint32_t op, uint32_t source);

/* The data of this operation has arrived: serves who joined it, keeps it in the cache if `keep`, removes it.
 */
void inflight_complete(uint32_t id, bool keep);

/* ---- get.c ---- */

/* MPI_Get_accumulate with MPI_NO_OP, as a get. */
int get_noop(const void *nothing, int ncount, MPI_Datatype ntype, void *result, int rcount,
             MPI_Datatype rtype, int target, MPI_Aint disp, int tcount, MPI_Datatype ttype, MPI_Win win);
/* Issues a get of these bytes: an MPI error code. */
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

/* The type is freed: its handle may come back as another. */
void past_forget_type(MPI_Datatype type);

/* ---- write.c ---- */

/* Drops from every cache over that memory what this write touches. */
void write_drop(struct window *w, int target, const struct write *write);
/* The writes to this target are complete there: drops again what was inserted meanwhile. */
void write_completed(struct window *w, struct target *t);
extern HIDDEN uint64_t write_inserts; /* entries inserted into any cache so far */

/* ---- ahead.c: under the lock; only if the window reads ahead ---- */

/* A get of these bytes missed, and was issued. alone: its cost is being measured, and nothing may be added to it. */
void ahead_missed(struct window *w, struct target *t, uint64_t address, uint64_t bytes, bool alone);
/* It was a hit. */
void ahead_hit(struct window *w, struct target *t, uint64_t address, uint64_t bytes);
/* What was read ahead is there. */
void ahead_arrived(const struct op *op);
/* It is over, whatever became of it. */
void ahead_ended(const struct op *op);

/* ---- request.c ---- */

extern HIDDEN _Atomic uint64_t request_count; /* operations with a request, not complete */
void request_track(uint32_t op, MPI_Request request);
/* The completion of this request will bring no news from another process. Under the lock. */
void request_is_quiet(MPI_Request request);

/* ---- score.c: what an entry is worth to the program ---- */

/* The info key clampi_score, if it is there. */
void score_from_info(struct window *w, MPI_Info info);
/* NULL: no function. What the old one said is forgotten. */
void score_set(struct window *w, CLAMPI_Score *score, void *arg);
/* Asks the window's function about an entry that is to be inserted next. Under the lock. */
void score_entry_slowly(struct window *w, int target, uint64_t address, uint64_t bytes);
static inline void score_entry(struct window *w, int target, uint64_t address, uint64_t bytes) {
    if (UNLIKELY(w->score != NULL))
        score_entry_slowly(w, target, address, bytes);
}

/* ---- progress.c ---- */

/* With the first window, and in MPI_Finalize. */
void progress_start(void);
void progress_stop(void);
/* MPI was called just now. */
extern HIDDEN _Atomic bool progress_fresh;
static inline void progress_note(void) {
    atomic_store_explicit(&progress_fresh, true, memory_order_relaxed);
}
/* Calls MPI if it was not called for a while: a rank that is served from the cache still serves others. */
extern HIDDEN _Atomic int32_t progress_left;
void progress_poll_slowly(void);
static inline void progress_poll(void) {
    int32_t left = atomic_load_explicit(&progress_left, memory_order_relaxed) - 1;
    atomic_store_explicit(&progress_left, left, memory_order_relaxed);
    if (UNLIKELY(left <= 0)) /* below: another thread is just setting it anew, or has lost to this one */
        progress_poll_slowly();
}

/* ---- report.c ---- */

/* Keeps the numbers of a window that is freed, for the report. */
void report_window(const struct window *w, const char *name);

#endif
