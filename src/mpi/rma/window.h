/* window.h: what Hearth knows of each MPI window, and what this process has under way on it.
 *
 * One lock guards all of it (rma_lock), taken only where the program asked for MPI_THREAD_MULTIPLE. It is not held
 * across calls that communicate, but for one rare case in inflight.c. */
#ifndef HEARTH_MPI_WINDOW_H
#define HEARTH_MPI_WINDOW_H

#include <pthread.h>

#include "cache/cache.h"
#include "clampi.h"
#include "mpi/host.h"
#include "mpi/layout.h"

/* A write that is not known to be complete at its target. */
struct write {
    uint64_t address;
    struct layout layout;
};

enum verdict { VERDICT_OPEN, VERDICT_CACHE, VERDICT_BYPASS };

/* One rank of a window, seen from this process. */
struct target {
    uint64_t base; /* address of the window's memory in that process; 0 for dynamic windows, whose
                      displacements are addresses */
    uint64_t unit, bytes;
    uint64_t hit_stamp;  /* equal to the window's flush_stamp: a hit since the last flush */
    uint64_t used_stamp; /* likewise: any one-sided call since then */
    uint64_t held_stamp; /* equal to the window's lock_stamp: MPI has shown that the lock is held */
    /* Operations are numbered in order of issue. Gets below gets_before are complete; writes below
     * writes_before are complete at the target, which includes complete here. So something is under way if
     * the last one is not below. */
    uint64_t last_hit; /* address */
    uint64_t last_get, gets_before;
    uint64_t last_write, writes_before;
    uint32_t requests;          /* gets with a request, not complete; not in the numbers above */
    uint32_t alone;             /* gets since the last completion */
    uint32_t first_op, last_op; /* gets that the cache has an interest in, in order of issue */
    uint32_t next_busy;         /* list of targets with anything under way */
    bool busy, locked, started; /* locked, started: an access epoch is open */
    bool fetching;              /* what an atomic returns has not been seen to come */
    bool plain;                 /* gets and flushes need no care: see window_note_plain */
    uint8_t verdict;            /* enum verdict: is its data worth caching? */
    uint8_t samples, cheap;     /* gets measured; of these, cheaper than a hit */
    uint32_t write_count, write_room;
    struct write *writes;    /* writes not complete there, for dropping again; */
    uint64_t inserts_before; /* only if anything was inserted since the first */
    bool writes_unknown;     /* too many or of unknown shape: drop everything of this target */
    uint64_t probe_ticks, probe_bytes;
    uint64_t process;               /* which process this is, over all windows */
    uint64_t last_fetch;            /* number of the last atomic that returns a value */
    uint64_t walk_next, walk_bytes; /* if the gets go in order: where the next one begins, and its size */
    uint64_t ahead_from, ahead_to;  /* read ahead, and not asked for yet */
    bool ahead_pending;             /* ... and still on its way */
};

/* What the cache of a window costs and saves: see worth.h. */
struct worth {
    uint64_t judge_at; /* gets */
    uint64_t hits_before, gets_before, bypassed_before, served_before;
    uint64_t misses, miss_ticks, issue_ticks;    /* timed: ours, MPI's */
    uint64_t flushed, finish_ticks, flush_ticks; /* gets completed by timed flushes; ours, MPI's */
    bool timing;                                 /* the next flush */
    uint64_t resume_at;                          /* gets past the cache; UINT64_MAX if not suspended */
    uint64_t pause;                              /* the next time, in intervals */
    uint64_t since;                              /* gets past the cache when suspended */
    uint64_t times, passed, begun_ns, first_ns, spent_ns,
        saved_ns; /* for the report; the last two of the last time */
};

/* A window over memory that this one shares somewhere. */
struct kin {
    struct window *window;
    int *rank_there; /* of each rank here, or -1 */
};

struct window {
    MPI_Win handle; /* valid while open */
    struct window *next;
    bool open, shared, dynamic, cacheable;
    bool passing;  /* its gets go past the cache: not cacheable, mode off, or suspended */
    bool foresees; /* ... but what other modes would have served is still asked, or all is recorded */
    bool watched;  /* its gets are recorded, or what other modes would have served is asked */
    bool locked_all, fenced; /* an access epoch to all targets is open */
    bool hit, used;          /* a hit, any one-sided call, since the last flush of any kind */
    bool unsettled;          /* no call has completed anything since the epoch was opened */
    bool wrote;              /* while its writes were not counted */
    int fetching;            /* targets to which an atomic that returns a value is under way */
    enum mode mode;
    int rank, size;
    int deferred; /* an error of MPI that the next completing call returns */
    int *started; /* ranks of the open epoch of MPI_Win_start */
    int started_count;
    struct cache *cache;
    bool cache_refused;  /* there was no memory for it: said once, not tried again */
    CLAMPI_Score *score; /* what the program thinks of an entry; NULL: nothing */
    void *score_arg;
    bool score_complained; /* about a value that is none, once */
    struct target *targets;
    uint64_t flush_stamp;
    uint64_t lock_stamp; /* one more with each epoch opened */
    uint64_t locked_at;  /* the number of the first operation that may be issued in it */
    bool hit_unheld;     /* a hit since the last flush on a target whose lock is not known to be held */
    uint32_t first_busy;
    struct kin *kin;
    size_t kin_count;
    struct region *attached;
    uint64_t drops; /* own writes that may have dropped something: what was issued before one is not kept */
    uint64_t acquired; /* acquire mode: the last acquire that the cache has seen */
    uint64_t recheck;  /* acquire mode: hits until one is fetched again */
    uint64_t serial;   /* order of creation */
    struct worth worth;
    struct cache_estimate *estimate; /* what other modes would have served; NULL if nobody asks */
    struct cache_reuse *reuse;       /* what other sizes would have; likewise */
    /* counted here; the rest by the cache */
    uint64_t ahead;             /* blocks to be read ahead */
    uint64_t ahead_outcomes[4]; /* of inserts that were no gets of the program: see enum cache_outcome */
    uint64_t past;              /* gets that hook_Get let go past the cache, in no other number here; */
    uint64_t look_at;           /* at so many of them somebody wants to know */
    uint64_t gets, hits, bypassed, bytes_served, bytes_fetched, elided, ahead_fetched, ahead_used;
};

enum { NO_TARGET = UINT32_MAX, NO_OP = UINT32_MAX };

extern HIDDEN bool rma_threaded;
extern HIDDEN pthread_mutex_t rma_mutex;

static inline void rma_lock(void) {
    if (UNLIKELY(rma_threaded))
        pthread_mutex_lock(&rma_mutex);
}

static inline void rma_unlock(void) {
    if (UNLIKELY(rma_threaded))
        pthread_mutex_unlock(&rma_mutex);
}

/* NULL for windows that are not ours to know (made before we were there, freed, not windows at all). */
extern HIDDEN _Atomic(struct window *) window_recent;
struct window *window_find_slowly(MPI_Win handle);
static inline struct window *window_find(MPI_Win handle) {
    struct window *w = atomic_load_explicit(&window_recent, memory_order_acquire);
    if (LIKELY(w && w->handle == handle && w->open))
        return w;
    return window_find_slowly(handle);
}

/* There is, or was, a window in acquire mode. */
extern HIDDEN bool window_acquires;

/* The window's target of this rank, or NULL if there is none (MPI_PROC_NULL, a wrong rank). */
static inline struct target *window_target(struct window *w, int rank) {
    return (unsigned)rank < (unsigned)w->size ? &w->targets[rank] : NULL;
}

/* Whether every get and write to this target is complete. */
static inline bool window_is_idle(const struct target *t) {
    return t->last_get < t->gets_before && t->last_write < t->writes_before && !t->requests;
}

/* MPI_Win_lock, lock_all and start may return at once. That they have come through is shown only by an operation that was issued
 * since and is complete: Open MPI does not even wait in a flush if there was none. */
static inline bool window_is_held(const struct window *w, const struct target *t) {
    return t->held_stamp == w->lock_stamp;
}

/* A one-sided call, served by MPI or by the cache. */
static inline void window_use(struct window *w, struct target *t) {
    w->used = true;
    t->used_stamp = w->flush_stamp;
}

static inline bool window_is_open_to(const struct window *w, const struct target *t) {
    return w->locked_all | w->fenced | t->locked | t->started;
}

/* Whether gets of this window go through the cache at all. */
static inline bool window_caches(const struct window *w) {
    return w->cacheable && w->mode != MODE_OFF;
}

/* The window's cache, made at first need; NULL if there is no memory for it. */
struct cache *window_cache(struct window *w);

/* A target is plain if its gets go past the cache, no get or write is under way that the cache must see completed, and calls
 * may be passed on as they are. It stays so until something of that changes; the end of a completing call finds out again.
 * Only in programs without threads. */
void window_note_plain(struct window *w, struct target *t);
void window_none_plain(struct window *w);

/* The target if it is plain, else NULL. All that a program without reuse pays before its call goes on to MPI. */
static inline struct target *window_find_plain(MPI_Win handle, int rank) {
    struct window *w = atomic_load_explicit(&window_recent, memory_order_relaxed);
    if (UNLIKELY(!w || w->handle != handle || (unsigned)rank >= (unsigned)w->size))
        return NULL;
    struct target *t = &w->targets[rank];
    return LIKELY(t->plain) ? t : NULL;
}

/* Calls visit for every open window. */
void window_each(void (*visit)(struct window *w, void *arg), void *arg);

void window_set_mode(struct window *w, enum mode mode);

/* What was issued while nothing was counted may still be under way. */
void window_assume_busy(struct window *w);

/* Of a window that is opened, with all that are open; of one that is freed. */
void kin_meet(struct window *w);
void kin_part(struct window *w);

void window_stats(const struct window *w, CLAMPI_Stats *stats);

/* Something is under way to this target. */
void window_list_busy(struct window *w, struct target *t);
static inline void window_mark_busy(struct window *w, struct target *t) {
    window_use(w, t);
    if (UNLIKELY(!t->busy))
        window_list_busy(w, t);
}

#endif
