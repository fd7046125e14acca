/* sync.c: epochs and flushes. A completing call goes to MPI first. Then the gets that it completed are copied into
 * the cache, joined gets are served, and in transparent mode the cache is invalidated.
 *
 * The set of operations that a call completes is fixed before the call: those with a sequence number below the one
 * read at that point. Other threads may issue more while it runs, and several threads may complete the same target at
 * once; the first to return does the work.
 *
 * A flush with nothing to wait for costs as much as a get on some MPIs. It is elided if there was a hit since the
 * last flush, that is, if the program flushes what the cache has already served. A flush without a preceding
 * operation is never elided, because programs poll with it. */
#include <stdlib.h>

#include "mpi/core/hooks.h"
#include "mpi/p2p/transport/p2p_enter.h"
#include "mpi/rma/inflight/fetch.h"
#include "mpi/rma/admission.h"

enum scope { SCOPE_LOCAL, SCOPE_REMOTE };

/* ---- completion ---- */

static void complete_ops(struct window *w, struct rma_target *t, uint64_t before) {
    bool keep = w->mode != MODE_TRANSPARENT && w->mode != MODE_OFF;
    for (uint32_t id = t->first_op, next; id != NO_OP; id = next) {
        struct op *op = rma_inflight_at(id);
        next = op->next;
        if (op->sequence >= before)
            return;
        if (UNLIKELY(op->revalidates))
            acquire(EVENT_RECHECK);
        if (op->kind == OP_REQUEST || op->kind == OP_BYPASS)
            /* the program may use the buffer from now on, and wait for the request later */
            rma_inflight_orphan(id);
        else
            rma_inflight_complete(id, keep);
    }
}

static void complete_target(struct window *w, struct rma_target *t, uint64_t before, enum scope scope) {
    complete_ops(w, t, before);
    uint64_t last = t->last_get > t->last_write ? t->last_get : t->last_write;
    if (last >= w->locked_at && last < before)
        t->held_stamp = w->lock_stamp;
    if (t->gets_before < before)
        t->gets_before = before;
    t->alone = 0;
    t->probe_ticks = 0;
    if (scope == SCOPE_LOCAL || t->writes_before >= before)
        return;
    t->writes_before = before;
    if (t->last_write < before)
        rma_write_completed(w, t);
}

static void complete_all(struct window *w, uint64_t before, enum scope scope) {
    uint32_t *link = &w->first_busy;
    while (*link != NO_TARGET) {
        struct rma_target *t = &w->targets[*link];
        complete_target(w, t, before, scope);
        if (!rma_window_is_idle(t) || t->first_op != NO_OP) {
            link = &t->next_busy;
            continue;
        }
        t->busy = t->fast = false;
        *link = t->next_busy;
    }
}

/* In transparent mode nothing may be reused beyond this point. */
static void end_reuse(struct window *w) {
    if (w->mode == MODE_TRANSPARENT && w->cache)
        cache_invalidate(w->cache);
}

static uint64_t start_completion(void) {
    rma_lock();
    uint64_t before = rma_inflight_issued;
    rma_unlock();
    return before;
}

/* Clears the marks of atomics whose results have arrived; returns whether there were any. Excludes atomics that
 * another thread issued after the completing call began: their results are later sync events. */
static bool end_fetching(struct window *w, struct rma_target *t, uint64_t before) {
    bool any = false;
    if (t && t->fetching && t->last_fetch < before) {
        t->fetching = false;
        w->fetching--;
        return true;
    }
    for (int i = 0; !t && w->fetching && i < w->size; i++)
        any |= end_fetching(w, &w->targets[i], before);
    return any;
}

/* Records the sync events of a completing call. t: as in finish. */
static void note_sync_event(struct window *w, struct rma_target *t, uint64_t before) {
    /* Only now is the lock known to be held, or the post known to be seen. */
    if (t ? !rma_window_is_held(w, t) : w->unsettled)
        acquire(w->started_count ? EVENT_PSCW : EVENT_LOCK);
    if (w->fetching && end_fetching(w, t, before) && settings_get()->atomics == ATOMICS_ACQUIRE)
        acquire(EVENT_ATOMIC);
    if (!t)
        w->unsettled = false;
}

/* After a failed call the contents of the buffers are unknown. */
static void distrust(struct window *w, struct rma_target *t) {
    for (uint32_t i = t ? (uint32_t)(t - w->targets) : w->first_busy; i != NO_TARGET;
         i = t ? NO_TARGET : w->targets[i].next_busy)
        for (uint32_t id = w->targets[i].first_op; id != NO_OP; id = rma_inflight_at(id)->next)
            rma_inflight_invalidate(id);
}

/* Runs after the host's call. t: one target, or NULL for all. A failed call completes nothing reliably. */
static int sync_finish(struct window *w, struct rma_target *t, uint64_t before, enum scope scope, int rc) {
    rma_lock();
    note_sync_event(w, t, rc == MPI_SUCCESS ? before : 0);
    rma_acquire_catch_up(w);
    if (rc == MPI_SUCCESS) {
        rc = w->deferred;
        w->deferred = MPI_SUCCESS;
        if (t)
            complete_target(w, t, before, scope);
        else
            complete_all(w, before, scope);
    } else {
        distrust(w, t);
    }
    end_reuse(w);
    w->hit = w->used = w->hit_unheld = false;
    w->flush_stamp += !t;
    if (t) {
        t->hit_stamp = t->used_stamp = 0;
        rma_admission_note_fast(w, t);
    }
    rma_unlock();
    rma_progress_note();
    return rc;
}

/* ---- flushes ---- */

static inline bool may_elide(const struct window *w) {
    return w->cache && !w->shared && w->mode != MODE_OFF;
}

static void note_elided(struct window *w) {
    w->elided++;
    w->hit = w->used = w->hit_unheld = false;
    end_reuse(w);
}

static inline bool elide_one(struct window *w, struct rma_target *t) {
    rma_lock();
    bool idle = t->hit_stamp == w->flush_stamp && rma_window_is_idle(t) && !t->fetching &&
                rma_window_is_held(w, t) && (w->locked_all | t->locked);
    if (LIKELY(idle)) {
        t->hit_stamp = t->used_stamp = 0;
        note_elided(w);
    }
    rma_unlock();
    return idle;
}

static bool all_idle(const struct window *w) {
    for (uint32_t i = w->first_busy; i != NO_TARGET; i = w->targets[i].next_busy)
        if (!rma_window_is_idle(&w->targets[i]))
            return false;
    return true;
}

static inline bool elide_all(struct window *w) {
    rma_lock();
    bool idle = w->hit && w->locked_all && !w->fetching && !w->hit_unheld && all_idle(w);
    if (idle) {
        w->flush_stamp++;
        note_elided(w);
    }
    rma_unlock();
    return idle;
}

/* Passes on the result of a call on an unknown window. Such a call may have completed anything, so it acquires.
 *
 * Among known windows, a remote flush without a preceding operation acquires: programs use it to wait for changes in
 * their own window. A local flush does not: it says nothing about other processes, and ARMCI-MPI makes one on every
 * window for each of its operations. */
static int unknown(int rc) {
    acquire(EVENT_GENERIC);
    return rc;
}

static bool needs_touch(const struct window *w, const struct rma_target *t) {
    /* If anything was issued since the lock, the flush shows that it is held anyway. */
    bool issued = t->last_get >= w->locked_at || t->last_write >= w->locked_at;
    return t->hit_stamp == w->flush_stamp && !rma_window_is_held(w, t) && !issued;
}

/* Gets one byte of the last hit, so that this flush shows that the lock is held and later flushes can be elided. */
static void sync_touch(struct window *w, struct rma_target *t) {
    static char byte;
    struct shape one = shape_contiguous(1);
    if (rma_fetch_bytes(w, (int)(t - w->targets), t->last_hit, &one, &byte, &one) != MPI_SUCCESS)
        return;
    rma_lock();
    rma_fetch_count(w, t, 1);
    rma_unlock();
}

static void sync_touch_all(struct window *w) {
    for (uint32_t i = w->first_busy; i != NO_TARGET; i = w->targets[i].next_busy)
        if (needs_touch(w, &w->targets[i]))
            sync_touch(w, &w->targets[i]);
}

/* Whether the cache tracks nothing that is in flight: only gets that bypassed it, and writes while nothing is cached. */
static inline bool is_fast(const struct window *w, const struct rma_target *t) {
    return t->first_op == NO_OP && (t->last_write < t->writes_before || window_keeps_nothing(w)) &&
           t->hit_stamp != w->flush_stamp &&
           !(t->probe_ticks | t->fetching | w->deferred | rma_threaded | host_has_tool);
}

/* Runs after the host's flush of a plain target; returns true if no more work is needed. The hot path of a program
 * without reuse. */
static inline bool settle_fast(struct window *w, struct rma_target *t, enum scope scope, int rc) {
    if (UNLIKELY(rc != MPI_SUCCESS || !rma_window_is_held(w, t) || t->used_stamp != w->flush_stamp))
        return false;
    t->gets_before = rma_inflight_issued;
    if (scope == SCOPE_REMOTE && t->last_write >= t->writes_before) {
        t->writes_before = rma_inflight_issued;
        rma_write_completed(w, t);
    }
    t->alone = 0;
    t->used_stamp = 0;
    w->used = false;
    rma_progress_note();
    if (!w->bypassing) {
        w->hit = w->hit_unheld = false;
        end_reuse(w);
    }
    return true;
}

static inline int flush_fast(struct window *w, struct rma_target *t, int target, MPI_Win win,
                             enum scope scope, int (*host)(int, MPI_Win)) {
    int rc = host(target, win);
    if (LIKELY(settle_fast(w, t, scope, rc)))
        return MPI_SUCCESS;
    if (scope == SCOPE_REMOTE && t->used_stamp != w->flush_stamp)
        acquire(EVENT_FLUSH_POLL);
    return sync_finish(w, t, rma_inflight_issued, scope, rc);
}

static int flush_timed(struct window *w, struct rma_target *t, enum scope scope, int (*host)(int, MPI_Win)) {
    bool polls = scope == SCOPE_REMOTE && t->used_stamp != w->flush_stamp;
    uint64_t gets = t->alone, start = clock_ticks();
    rma_lock();
    uint64_t before = rma_inflight_issued, ticks = rma_admission_target_flush_start(t);
    rma_unlock();
    int rc = host((int)(t - w->targets), w->handle);
    uint64_t returned = clock_ticks();
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    rma_lock();
    if (ticks)
        rma_admission_target_flush(t, ticks);
    rma_unlock();
    rc = sync_finish(w, t, before, scope, rc);
    rma_lock();
    rma_admission_flush(w, clock_ticks() - returned, returned - start, gets);
    rma_unlock();
    return rc;
}

static int flush_one(int target, MPI_Win win, enum scope scope, int (*host)(int, MPI_Win)) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    if (!t)
        return unknown(host(target, win));
    if (is_fast(w, t)) {
        int rc = flush_fast(w, t, target, win, scope, host);
        rma_admission_note_fast(w, t);
        return rc;
    }
    if (may_elide(w) && elide_one(w, t)) {
        rma_progress_poll();
        return MPI_SUCCESS;
    }
    if (UNLIKELY(needs_touch(w, t)) && may_elide(w))
        sync_touch(w, t);
    if (UNLIKELY(t->probe_ticks) || rma_admission_wants_flush(w))
        return flush_timed(w, t, scope, host);
    uint64_t before = start_completion();
    bool polls = scope == SCOPE_REMOTE && t->used_stamp != w->flush_stamp;
    int rc = host(target, win);
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    return sync_finish(w, t, before, scope, rc);
}

static int flush_all(MPI_Win win, enum scope scope, int (*host)(MPI_Win)) {
    struct window *w = rma_window_find(win);
    if (!w)
        return unknown(host(win));
    if (may_elide(w) && elide_all(w)) {
        rma_progress_poll();
        return MPI_SUCCESS;
    }
    if (UNLIKELY(w->hit_unheld) && may_elide(w))
        sync_touch_all(w);
    uint64_t before = start_completion();
    bool polls = scope == SCOPE_REMOTE && !w->used;
    int rc = host(win);
    if (polls)
        acquire(EVENT_FLUSH_POLL);
    return sync_finish(w, NULL, before, scope, rc);
}

int hook_Win_flush(int target, MPI_Win win) {
    struct rma_target *t = rma_admission_find_fast(win, target);
    if (LIKELY(t != NULL))
        return flush_fast(atomic_load_explicit(&rma_window_recent, memory_order_relaxed), t, target, win,
                          SCOPE_REMOTE, host_real.Win_flush);
    return flush_one(target, win, SCOPE_REMOTE, host_Win_flush);
}

/* On MPICH 4.0 a local flush may return before a get's data has arrived if a write was issued after the get. Where
 * the cache waits for a get, a full flush replaces it. */
static bool is_unsafe(const struct rma_target *t) {
#ifdef MPICH
    return t->first_op != NO_OP && t->last_write >= t->writes_before;
#else
    return false;
#endif
}

static bool is_any_unsafe(MPI_Win win) {
    struct window *w = rma_window_find(win);
    bool found = false;
    rma_lock();
    for (uint32_t i = w ? w->first_busy : NO_TARGET; i != NO_TARGET; i = w->targets[i].next_busy)
        found |= is_unsafe(&w->targets[i]);
    rma_unlock();
    return found;
}

int hook_Win_flush_local(int target, MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    if (t && is_unsafe(t))
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

/* ---- calls that open and close epochs ---- */

static void note_opened(struct window *w) {
    w->lock_stamp++;
    w->locked_at = rma_inflight_issued;
    w->unsettled = true;
}

/* Writes by other processes may have become visible. */
static int sync_opened(struct window *w, enum sync_event how, int rc) {
    acquire(how);
    if (w) {
        rma_lock();
        end_reuse(w);
        if (how == EVENT_LOCK)
            note_opened(w);
        rma_unlock();
        rma_progress_note();
    }
    return rc;
}

int hook_Win_lock(int kind, int target, int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_lock(kind, target, assertion, win);
    if (w && rc == MPI_SUCCESS && rma_window_target(w, target))
        w->targets[target].locked = true;
    return sync_opened(w, EVENT_LOCK, rc);
}

int hook_Win_unlock(int target, MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    if (!t)
        return unknown(host_Win_unlock(target, win));
    uint64_t before = start_completion();
    int rc = host_Win_unlock(target, win);
    if (rc == MPI_SUCCESS)
        t->locked = false;
    return sync_finish(w, t, before, SCOPE_REMOTE, rc);
}

int hook_Win_lock_all(int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_lock_all(assertion, win);
    if (w && rc == MPI_SUCCESS)
        w->locked_all = true;
    return sync_opened(w, EVENT_LOCK, rc);
}

int hook_Win_unlock_all(MPI_Win win) {
    struct window *w = rma_window_find(win);
    if (!w)
        return unknown(host_Win_unlock_all(win));
    uint64_t before = start_completion();
    int rc = host_Win_unlock_all(win);
    if (rc == MPI_SUCCESS)
        w->locked_all = false;
    return sync_finish(w, NULL, before, SCOPE_REMOTE, rc);
}

int hook_Win_fence(int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    uint64_t before = start_completion();
    int rc = host_Win_fence(assertion, win);
    acquire(EVENT_FENCE);
    if (!w)
        return rc;
    if (rc == MPI_SUCCESS)
        w->fenced = !(assertion & MPI_MODE_NOSUCCEED);
    return sync_finish(w, NULL, before, SCOPE_REMOTE, rc);
}

/* Records which ranks of the window are in the group of MPI_Win_start. */
static void note_started(struct window *w, MPI_Group group) {
    MPI_Group all;
    int n = 0;
    host_Group_size(group, &n);
    int *numbers = malloc(2 * (size_t)(n + 1) * sizeof *numbers), *ranks = numbers + n;
    if (!numbers || host_Win_get_group(w->handle, &all) != MPI_SUCCESS) {
        free(numbers);
        return; /* then the epoch is not known to be open, and MPI serves all of its gets */
    }
    for (int i = 0; i < n; i++)
        numbers[i] = i;
    if (host_Group_translate_ranks(group, n, numbers, all, ranks) != MPI_SUCCESS)
        n = 0;
    int known = 0;
    for (int i = 0; i < n; i++)
        if (rma_window_target(w, ranks[i])) {
            numbers[known++] = ranks[i];
            w->targets[ranks[i]].started = true;
        }
    host_Group_free(&all);
    free(w->started);
    w->started = numbers;
    w->started_count = known;
}

static void forget_started(struct window *w) {
    for (int i = 0; i < w->started_count; i++)
        w->targets[w->started[i]].started = false;
    w->started_count = 0;
}

int hook_Win_start(MPI_Group group, int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_start(group, assertion, win);
    if (w && rc == MPI_SUCCESS) {
        note_started(w, group);
        note_opened(w);
    }
    return sync_opened(w, EVENT_PSCW, rc);
}

int hook_Win_complete(MPI_Win win) {
    struct window *w = rma_window_find(win);
    uint64_t before = start_completion();
    int rc = host_Win_complete(win);
    acquire(EVENT_PSCW);
    if (!w)
        return rc;
    int result = sync_finish(w, NULL, before, SCOPE_REMOTE, rc);
    if (rc == MPI_SUCCESS)
        forget_started(w);
    return result;
}

int hook_Win_post(MPI_Group group, int assertion, MPI_Win win) {
    return sync_opened(rma_window_find(win), EVENT_PSCW, host_Win_post(group, assertion, win));
}

int hook_Win_wait(MPI_Win win) {
    return sync_opened(rma_window_find(win), EVENT_PSCW, host_Win_wait(win));
}

int hook_Win_test(MPI_Win win, int *flag) {
    int rc = host_Win_test(win, flag);
    p2p_poll();
    return rc != MPI_SUCCESS || *flag ? sync_opened(rma_window_find(win), EVENT_PSCW, rc) : rc;
}

int hook_Win_sync(MPI_Win win) {
    return sync_opened(rma_window_find(win), EVENT_SYNC, host_Win_sync(win));
}
