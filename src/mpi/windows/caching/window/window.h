/* window.h: the state that Hearth keeps for each MPI window: its targets, its cache, and the operations of this
 * process that are in flight on it.
 *
 * One lock, rma_lock, guards all of it. It is taken only if MPI provides MPI_THREAD_MULTIPLE. It is not held
 * across calls that communicate, except for one rare case in inflight.c (fetch_after_all). */
#ifndef HEARTH_MPI_WINDOW_H
#define HEARTH_MPI_WINDOW_H

#include <pthread.h>
#include <stddef.h>

#include "base/compiler.h"
#include "base/settings.h"
#include "cache/cache.h"
#include "hearth/clampi.h"
#include "mpi/host/acquire.h"
#include "mpi/types/layout.h"
#include "mpi/windows/serving/state/node_table.h"
#include "observe/bypass_reason.h"
#include "tables/rank_table.h"

struct net_shared;
struct target_row;

/* A write that is not known to be complete at its target. */
struct write {
    uint64_t address;
    struct layout layout;
    uint64_t number; /* of the last operation that is part of it */
};

enum verdict { VERDICT_OPEN, VERDICT_CACHE, VERDICT_BYPASS };

/* The gets of a target that the report's matrix does not have yet: their number is gets + fast_gets, modulo 2^64. */
struct rma_asked {
    uint64_t gets, bytes;
};

/* One rank of a window, as seen from this process. Made when this process first uses the rank. */
struct rma_target {
    struct rank_record head;
    uint64_t base; /* address of the window's memory in that process; 0 for dynamic windows, where
                      displacements are addresses */
    uint64_t unit, bytes;
    uint64_t hit_stamp;  /* equals the window's flush_stamp if there was a hit since the last flush */
    uint64_t used_stamp; /* likewise, for any one-sided call since the last flush */
    uint64_t held_stamp; /* equals the window's lock_stamp once MPI has shown that the lock is held */
    /* Operations are numbered in order of issue. Gets with a number below gets_before are complete. Writes below
     * writes_before are complete at the target, which implies local completion. An operation is therefore in flight
     * if the last number is not below the corresponding bound. */
    uint64_t last_hit; /* address of the last hit */
    uint64_t last_get, gets_before;
    uint64_t last_write, writes_before;
    uint64_t fast_gets; /* on the fast bypass path, since the last rma_admission_settle */
    struct rma_asked asked;
    uint32_t requests;          /* incomplete gets with a request; not counted in the numbers above */
    uint32_t alone;             /* gets since the last completion */
    uint32_t first_op, last_op; /* gets that the cache tracks, in order of issue */
    bool busy, locked, started; /* locked, started: an access epoch is open */
    bool fetching;              /* the result of an atomic has not been observed yet */
    bool at_once;               /* its gets have arrived when they return */
    bool fast;                  /* gets and flushes take the fast bypass path: see rma_admission_note_fast */
    uint8_t verdict;            /* enum verdict: the admission decision for this target */
    uint8_t samples, cheap;     /* gets measured; of these, how many were cheaper than a hit */
    bool writes_unknown;        /* too many writes, or an unknown shape: the whole cache is invalidated */
    bool ahead_pending;         /* a read-ahead is still in flight */
    struct rma_target *next_busy; /* list of targets with operations in flight */
    uint32_t write_count, write_room;
    struct write *writes;    /* incomplete writes; on completion, entries in their ranges are dropped again */
    uint64_t inserts_before; /* entries inserted before the first of them: if unchanged, none are dropped */
    uint64_t probe_ticks, probe_bytes;
    struct target_row *row;           /* for the report, by rank in MPI_COMM_WORLD; NULL: not asked for yet */
    uint64_t first_fetch, last_fetch; /* bounds of the numbers of atomics whose results are not observed */
    uint64_t walk_next, walk_bytes;   /* sequential gets: where the next one is expected, and its size */
    uint64_t ahead_from, ahead_to;    /* range that was read ahead and not requested yet */
};

/* The access epochs that are open, and what happened since the last flush. */
struct window_epoch {
    bool locked_all, fenced; /* an access epoch to all targets is open */
    bool hit;                /* since the last flush of any kind */
    bool hit_unheld;         /* a hit since the last flush on a target whose lock is not known to be held */
    bool unsettled;          /* no call has completed anything since the epoch was opened */
    int fetching;            /* targets with an atomic in flight that returns a value */
    int deferred;            /* MPI error code that the next completing call returns */
    uint64_t flush_stamp;
    uint64_t lock_stamp;           /* incremented when an epoch is opened */
    uint64_t locked_at;            /* number of the first operation that can belong to it */
    struct rma_target *first_busy; /* list of targets with operations in flight */
};

/* The ranks in the open epoch of MPI_Win_start. */
struct window_started {
    int *ranks, count;
};

/* Counted here; the cache counts the rest. */
struct window_count {
    uint64_t gets, hits, bytes_served, elided;
    uint64_t bypassed_fast; /* gets that hook_Get passed to MPI on the fast path; in no other counter */
    uint64_t resume_at; /* value of bypassed_fast at which a flush ends the suspension; UINT64_MAX: none */
    uint64_t bytes_fetched, bypassed;
};

/* Read-ahead: see rma_ahead.c. */
struct window_ahead {
    uint64_t blocks;      /* to read ahead; 0: none */
    uint64_t outcomes[4]; /* of inserts by read-ahead, by enum cache_outcome */
    uint64_t fetched, used;
};

/* How far cached data may be reused. */
struct window_fresh {
    uint64_t acquired; /* acquire mode: the last acquire that the cache has applied */
    uint64_t recheck;  /* acquire mode: hits until one is revalidated */
    uint64_t drops;    /* own writes that may have dropped entries: gets issued before are not kept */
    uint64_t verified; /* mode auto: hits verified */
    bool is_auto;      /* mode auto: acquire mode with a sample of hits verified; see rma_verify.h */
};

/* Cost and benefit of a window's cache: see admission.h. */
struct window_admission {
    bool timing;       /* the next flush is timed */
    uint64_t judge_at; /* count of gets at which the next decision is due */
    uint64_t hits_before, gets_before, bypassed_before, served_before;
    uint64_t generation_before;                  /* of the cache */
    uint64_t misses, miss_ticks, issue_ticks;    /* timed misses; ticks of Hearth, MPI */
    uint64_t flushed, finish_ticks, flush_ticks; /* gets completed by timed flushes; ticks of Hearth, MPI */
    uint64_t resume_at; /* count of bypassed gets that ends the suspension; UINT64_MAX if not suspended */
    uint64_t pause;     /* length of the next suspension, in intervals */
    uint64_t since;     /* bypassed gets when the suspension began */
    /* For the report; spent_ns and saved_ns are those of the last suspension. */
    uint64_t times, passed, begun_ns, first_ns, spent_ns, saved_ns;
};

/* The program's score function: see score.h. */
struct window_score {
    CLAMPI_Score *function; /* NULL: none */
    void *arg;
    bool complained; /* an invalid score was reported; logged once */
};

/* What-if analysis of other modes and other cache sizes; NULL if not requested. */
struct window_analysis {
    struct cache_sample sample; /* of the gets that they follow */
    uint32_t sited;             /* gets whose call site was sampled */
    struct cache_whatif *whatif;
    struct cache_reuse *reuse;
};

/* A window whose memory overlaps this one's at some process. */
struct alias {
    struct window *window;
    int *
        rank_there; /* by number of a target of this window: its rank in the other one; -1: no overlap there; -2: not known yet */
    uint32_t room;
};

struct window_aliases {
    struct alias *list;
    size_t count;
};

/* A hit with its elided flush, and a get on the fast bypass path, read and write the first three cache lines, up to
 * ahead.blocks. */
struct window {
    MPI_Win handle;            /* valid while open */
    struct rank_table targets; /* of struct rma_target */
    struct cache *cache;
    int rank, size;
    enum mode mode;
    bool open, shared, dynamic, cacheable;
    bool bypassing; /* gets bypass the cache: not cacheable, mode off, single, or suspended */
    bool
        single; /* transparent mode: so far no target had two gets before a flush, and nothing could be reused */
    bool wants_whatif;  /* bypassing gets still feed the what-if analysis or the recording */
    bool watched;       /* gets are recorded, or feed the what-if analysis */
    bool cache_refused; /* no memory for the cache: logged once, not tried again */
    bool wrote;         /* there were writes while writes were not tracked */
    bool served;        /* Hearth executes its operations, not MPI; for the report */
    bool untracked;     /* there was no memory for a target: its operations are not tracked */
    struct window_epoch epoch;
    struct window_count count;
    struct window_ahead ahead;
    struct window_fresh fresh;
    struct window_admission admission;
    struct window_score score;
    struct window_analysis analysis;
    struct window_aliases aliases;
    struct node_table memory; /* where that of all ranks lies */
    struct window_started started;
    struct window *next;
    uint64_t served_reason;       /* windows/serving/serve_auto.h */
    struct region *attached;      /* parts of a dynamic window */
    uint64_t serial;              /* order of creation */
    uint64_t why[BYPASS_REASONS]; /* bypassed gets, by reason */
};

_Static_assert(offsetof(struct window, ahead.blocks) < 3 * CACHE_LINE,
               "a hit reads three cache lines of the window");

enum { NO_OP = UINT32_MAX };

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

/* The window that was found last; never NULL: a closed window without targets if there is none. */
extern HIDDEN _Atomic(struct window *) rma_window_recent;
/* NULL for unknown handles: windows created before Hearth was active, freed windows, invalid handles. */
struct window *rma_window_find_slow(MPI_Win handle);
static inline struct window *rma_window_find(MPI_Win handle) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_acquire);
    if (LIKELY(w->handle == handle && w->open))
        return w;
    return rma_window_find_slow(handle);
}

/* There is, or was, a window in acquire mode. */
extern HIDDEN _Atomic bool rma_window_acquires;

/* The target of this rank if it was used before, else rma_window_no_target. Any thread, with or without the lock. */
extern HIDDEN struct rma_target rma_window_no_target;
static inline struct rma_target *rma_window_peek(const struct window *w, int rank) {
    return (struct rma_target *)(void *)rank_table_find(&w->targets, rank);
}

/* The i-th target that was made, i < w->targets.count. Requires the lock. */
static inline struct rma_target *rma_window_target_at(const struct window *w, uint32_t i) {
    return (struct rma_target *)(void *)rank_table_at(&w->targets, i);
}

/* Whether every get and write to this target is complete. */
static inline bool rma_window_is_idle(const struct rma_target *t) {
    return t->last_get < t->gets_before && t->last_write < t->writes_before && !t->requests;
}

/* MPI_Win_lock, lock_all and start may return before the lock is acquired. Only the completion of an operation issued
 * after them shows that it is held: Open MPI does not even wait in a flush if there was no operation. */
static inline bool rma_window_is_held(const struct window *w, const struct rma_target *t) {
    return t->held_stamp == w->epoch.lock_stamp;
}

/* Notes a one-sided call, served by MPI or by the cache. */
static inline void rma_window_use(const struct window *w, struct rma_target *t) {
    t->used_stamp = w->epoch.flush_stamp;
}

static inline bool rma_window_is_open_to(const struct window *w, const struct rma_target *t) {
    return w->epoch.locked_all | w->epoch.fenced | t->locked | t->started;
}

/* Whether nothing is cached that a write through this window could invalidate. */
static inline bool window_keeps_nothing(const struct window *w) {
    return !w->cache && !w->aliases.count;
}

/* Calls visit for every open window. */
void rma_window_each(void (*visit)(struct window *w, void *arg), void *arg);

/* Adds the window to those that rma_window_find finds, under its handle; removes it. Requires the lock. */
void rma_window_link(struct window *w);
void rma_window_unlink(struct window *w);

/* name: MPI_MAX_OBJECT_NAME bytes, empty if MPI does not know it. */
void rma_window_name(const struct window *w, char *name);
void rma_window_stats(const struct window *w, CLAMPI_Stats *stats);

/* Call before the window's cache is used: invalidates entries older than the last acquire. Requires the lock. */
static inline void rma_acquire_catch_up(struct window *w) {
    if (w->mode != MODE_ACQUIRE)
        return;
    uint64_t now = atomic_load_explicit(&acquire_generation, memory_order_acquire);
    if (LIKELY(w->fresh.acquired == now))
        return;
    w->fresh.acquired = now;
    if (w->cache)
        cache_invalidate(w->cache);
}

/* Puts the target on the list of targets with operations in flight. */
void rma_window_list_busy(struct window *w, struct rma_target *t);
static inline void rma_window_mark_busy(struct window *w, struct rma_target *t) {
    rma_window_use(w, t);
    if (UNLIKELY(!t->busy))
        rma_window_list_busy(w, t);
}

#endif
