/* flush.c: flushes.
 *
 * A flush with nothing to wait for costs as much as a get on some MPIs. It is elided if there was a hit since the
 * last flush, that is, if the program flushes what the cache has already served. A flush without a preceding
 * operation is never elided, because programs poll with it. */
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "mpi/host/hooks.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/completion.h"
#include "mpi/windows/caching/inflight/fetch.h"
#include "mpi/windows/caching/target.h"
#include "mpi/windows/caching/window/rma_progress.h"
#include "mpi/windows/caching/write.h"
#include "tables/shape.h"

/* Not if the window was refused since the last hit: operations to it may then be untracked. */
static inline bool may_elide(const struct window *w) {
    return w->cache && rma_admission_caches(w);
}

static void note_elided(struct window *w) {
    w->count.elided++;
    w->epoch.hit = w->epoch.hit_unheld = false;
    rma_completion_end_reuse(w);
}

static inline bool elide_one(struct window *w, struct rma_target *t) {
    rma_lock();
    bool idle = t->hit_stamp == w->epoch.flush_stamp && rma_window_is_idle(t) && !t->fetching &&
                rma_window_is_held(w, t) && (w->epoch.locked_all | t->locked);
    if (LIKELY(idle)) {
        ASSERT(t->first_op == NO_OP && !t->fetching);
        t->hit_stamp = t->used_stamp = 0;
        note_elided(w);
    }
    rma_unlock();
    return idle;
}

static bool all_idle(const struct window *w) {
    for (const struct rma_target *t = w->epoch.first_busy; t; t = t->next_busy)
        if (!rma_window_is_idle(t))
            return false;
    return true;
}

static inline bool elide_all(struct window *w) {
    rma_lock();
    bool idle =
        w->epoch.hit && w->epoch.locked_all && !w->epoch.fetching && !w->epoch.hit_unheld && all_idle(w);
    if (idle) {
        w->epoch.flush_stamp++;
        note_elided(w);
    }
    rma_unlock();
    return idle;
}

/* Requires the lock. If anything was issued since the window's lock, the flush shows that it is held anyway. */
static bool needs_touch(const struct window *w, const struct rma_target *t) {
    bool issued = t->last_get >= w->epoch.locked_at || t->last_write >= w->epoch.locked_at;
    return t->hit_stamp == w->epoch.flush_stamp && !rma_window_is_held(w, t) && !issued;
}

/* Gets one byte of the last hit, so that this flush shows that the lock is held and later flushes can be elided. */
static void sync_touch(struct window *w, struct rma_target *t) {
    static char byte;
    struct shape one = shape_contiguous(1);
    if (rma_fetch_bytes(w, t, t->last_hit, &one, &byte, &one) != MPI_SUCCESS)
        return;
    rma_lock();
    rma_fetch_count(w, t, 1);
    rma_unlock();
}

static inline bool wants_touch(const struct window *w, const struct rma_target *t) {
    rma_lock();
    bool wanted = needs_touch(w, t) && may_elide(w);
    rma_unlock();
    return wanted;
}

/* The first after t that needs it; t NULL: of all. */
static struct rma_target *next_to_touch(const struct window *w, const struct rma_target *t) {
    rma_lock();
    struct rma_target *next = t ? t->next_busy : w->epoch.first_busy;
    while (next && !needs_touch(w, next))
        next = next->next_busy;
    rma_unlock();
    return next;
}

static void sync_touch_all(struct window *w) {
    rma_lock();
    bool wanted = w->epoch.hit_unheld;
    rma_unlock();
    for (struct rma_target *t = wanted ? next_to_touch(w, NULL) : NULL; t; t = next_to_touch(w, t))
        sync_touch(w, t);
}

static inline bool has_writes(const struct rma_target *t) {
    return t->last_write >= t->writes_before;
}

/* Whether nothing is in flight that the cache tracks, but only gets that bypassed it, and writes while nothing is cached. Without
 * other threads only: it takes no lock. */
static inline bool is_fast(const struct window *w, const struct rma_target *t) {
    return !rma_threaded && t->first_op == NO_OP &&
           (has_writes(t) ? window_keeps_nothing(w) : !t->fetching) && t->hit_stamp != w->epoch.flush_stamp &&
           !(t->probe_ticks | w->epoch.deferred | host_has_tool);
}

/* The value that an atomic returned is known now, which may be a sync event. */
static inline void end_fetch(struct window *w, struct rma_target *t) {
    t->fetching = false;
    w->epoch.fetching--;
    if (settings_get()->atomics == ATOMICS_ACQUIRE)
        acquire(EVENT_ATOMIC);
}

/* Not inlined: settle_fast needs fewer registers without it. */
static __attribute__((noinline)) void end_writes(struct window *w, struct rma_target *t,
                                                 enum completion_scope scope) {
    if (t->fetching)
        end_fetch(w, t);
    if (scope == SCOPE_LOCAL)
        return;
    t->writes_before = rma_inflight_issued;
    rma_write_completed(w, t, rma_inflight_issued);
}

/* Runs after the host's flush of a target whose gets bypass the cache; returns true if no more work is needed. The hot
 * path of a program without reuse. */
static inline bool settle_fast(struct window *w, struct rma_target *t, enum completion_scope scope, int rc) {
    if (UNLIKELY(rc != MPI_SUCCESS || !rma_window_is_held(w, t) || t->used_stamp != w->epoch.flush_stamp))
        return false;
    t->gets_before = rma_inflight_issued;
    if (UNLIKELY(has_writes(t))) /* among them all atomics whose results are not observed */
        end_writes(w, t, scope);
    t->used_stamp = 0;
    rma_progress_note();
    if (!w->bypassing) {
        w->epoch.hit = w->epoch.hit_unheld = false;
        rma_completion_end_reuse(w);
    } else if (UNLIKELY(w->count.bypassed_fast >= w->count.resume_at)) {
        rma_admission_resume(w);
    }
    return true;
}

static inline int flush_fast(struct window *w, struct rma_target *t, int target, MPI_Win win,
                             enum completion_scope scope, int (*host)(int, MPI_Win)) {
    int rc = host(target, win);
    if (LIKELY(settle_fast(w, t, scope, rc)))
        return MPI_SUCCESS;
    if (scope == SCOPE_REMOTE && t->used_stamp != w->epoch.flush_stamp)
        acquire(EVENT_FLUSH_POLL);
    return rma_completion_finish(w, t, rma_inflight_issued, scope, rc);
}

/* Requires the lock. A remote flush of a target to which nothing was issued waits for changes in this process's own window. */
static inline bool is_poll(const struct window *w, const struct rma_target *t, enum completion_scope scope) {
    return scope == SCOPE_REMOTE && t->used_stamp != w->epoch.flush_stamp;
}

static int flush_timed(struct window *w, struct rma_target *t, enum completion_scope scope,
                       int (*host)(int, MPI_Win)) {
    uint64_t start = clock_ticks();
    rma_lock();
    bool polls = is_poll(w, t, scope);
    uint64_t gets = t->alone, before = rma_inflight_issued, ticks = rma_admission_target_flush_start(t);
    rma_unlock();
    int rc = host(t->head.rank, w->handle);
    uint64_t returned = clock_ticks();
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    rma_lock();
    if (ticks)
        rma_admission_target_flush(t, ticks);
    rma_unlock();
    rc = rma_completion_finish(w, t, before, scope, rc);
    rma_lock();
    rma_admission_flush(w, clock_ticks_since(returned), clock_ticks_between(start, returned), gets);
    rma_unlock();
    return rc;
}

static int flush_one(int target, MPI_Win win, enum completion_scope scope, int (*host)(int, MPI_Win)) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_target_find(w, target) : NULL;
    if (!t)
        return rma_completion_unknown(host(target, win));
    if (is_fast(w, t)) {
        int rc = flush_fast(w, t, target, win, scope, host);
        rma_admission_note_fast(w, t);
        return rc;
    }
    if (may_elide(w) && elide_one(w, t)) {
        rma_progress_poll();
        return MPI_SUCCESS;
    }
    if (UNLIKELY(wants_touch(w, t)))
        sync_touch(w, t);
    rma_lock();
    bool timed = t->probe_ticks || rma_admission_wants_flush(w), polls = is_poll(w, t, scope);
    uint64_t before = rma_inflight_issued;
    rma_unlock();
    if (UNLIKELY(timed))
        return flush_timed(w, t, scope, host);
    int rc = host(target, win);
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    return rma_completion_finish(w, t, before, scope, rc);
}

/* The same for all targets. Every target with an operation since the last flush is on the list. */
static bool is_poll_of_all(const struct window *w, enum completion_scope scope) {
    bool used = w->epoch.hit;
    for (const struct rma_target *t = w->epoch.first_busy; t && !used; t = t->next_busy)
        used = t->used_stamp == w->epoch.flush_stamp;
    return scope == SCOPE_REMOTE && !used;
}

static int flush_all(MPI_Win win, enum completion_scope scope, int (*host)(MPI_Win)) {
    struct window *w = rma_window_find(win);
    if (!w)
        return rma_completion_unknown(host(win));
    if (may_elide(w) && elide_all(w)) {
        rma_progress_poll();
        return MPI_SUCCESS;
    }
    if (may_elide(w))
        sync_touch_all(w);
    rma_lock();
    bool polls = is_poll_of_all(w, scope);
    uint64_t before = rma_inflight_issued;
    rma_unlock();
    int rc = host(win);
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    return rma_completion_finish(w, NULL, before, scope, rc);
}

int hook_Win_flush(int target, MPI_Win win) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_relaxed);
    struct rma_target *t = rma_admission_find_fast(w, win, target);
    if (LIKELY(t != NULL))
        return flush_fast(w, t, target, win, SCOPE_REMOTE, host_real.Win_flush);
    return flush_one(target, win, SCOPE_REMOTE, host_Win_flush);
}

/* On MPICH 4.0 a local flush may return before a get's data has arrived if a write was issued after the get. Where
 * the cache waits for a get, a full flush replaces it. Requires the lock. */
static bool is_unsafe(const struct rma_target *t) {
    return !host_is_open_mpi() && t->first_op != NO_OP && has_writes(t);
}

static bool is_any_unsafe(MPI_Win win) {
    struct window *w = rma_window_find(win);
    bool found = false;
    rma_lock();
    for (const struct rma_target *t = w ? w->epoch.first_busy : NULL; t; t = t->next_busy)
        found |= is_unsafe(t);
    rma_unlock();
    return found;
}

int hook_Win_flush_local(int target, MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_target_find(w, target) : NULL;
    rma_lock();
    bool unsafe = t && is_unsafe(t);
    rma_unlock();
    if (unsafe)
        return hook_Win_flush(target, win);
    return flush_one(target, win, SCOPE_LOCAL, host_Win_flush_local);
}

int hook_Win_flush_all(MPI_Win win) {
    return flush_all(win, SCOPE_REMOTE, host_Win_flush_all);
}

int hook_Win_flush_local_all(MPI_Win win) {
    if (is_any_unsafe(win))
        return hook_Win_flush_all(win);
    return flush_all(win, SCOPE_LOCAL, host_Win_flush_local_all);
}
