/* epoch.c: calls that open and close access epochs: locks, fences, and post-start-complete-wait. Those that open one may make
 * writes of other processes visible; those that close one complete its operations (completion.c). */
#include <stdlib.h>

#include "base/log.h"
#include "mpi/host/hooks.h"
#include "mpi/host/progress.h"
#include "mpi/windows/caching/completion.h"
#include "mpi/windows/caching/inflight/inflight.h"
#include "mpi/windows/caching/target.h"
#include "mpi/windows/caching/window/rma_progress.h"

static void note_opened(struct window *w) {
    log_trace(LOG_WINDOWS, "window %llu: an access epoch begins after operation %llu",
              (unsigned long long)w->serial, (unsigned long long)rma_inflight_issued);
    ASSERT(w->epoch.locked_at <= rma_inflight_issued);
    w->epoch.lock_stamp++;
    w->epoch.locked_at = rma_inflight_issued;
    w->epoch.unsettled = true;
}

/* Writes by other processes may have become visible. */
static int sync_opened(struct window *w, enum sync_event how, int rc) {
    acquire(how);
    if (w) {
        rma_lock();
        rma_completion_end_reuse(w);
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
    struct rma_target *t = w && rc == MPI_SUCCESS ? rma_target_find(w, target) : NULL;
    if (t)
        t->locked = true;
    return sync_opened(w, EVENT_LOCK, rc);
}

int hook_Win_unlock(int target, MPI_Win win) {
    struct window *w = rma_window_find(win);
    struct rma_target *t = w ? rma_target_find(w, target) : NULL;
    if (!t)
        return rma_completion_unknown(host_Win_unlock(target, win));
    uint64_t before = rma_completion_start();
    int rc = host_Win_unlock(target, win);
    if (rc == MPI_SUCCESS)
        t->locked = false;
    return rma_completion_finish(w, t, before, SCOPE_REMOTE, rc);
}

int hook_Win_lock_all(int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    int rc = host_Win_lock_all(assertion, win);
    if (w && rc == MPI_SUCCESS)
        w->epoch.locked_all = true;
    return sync_opened(w, EVENT_LOCK, rc);
}

int hook_Win_unlock_all(MPI_Win win) {
    struct window *w = rma_window_find(win);
    if (!w)
        return rma_completion_unknown(host_Win_unlock_all(win));
    uint64_t before = rma_completion_start();
    int rc = host_Win_unlock_all(win);
    if (rc == MPI_SUCCESS)
        w->epoch.locked_all = false;
    return rma_completion_finish(w, NULL, before, SCOPE_REMOTE, rc);
}

int hook_Win_fence(int assertion, MPI_Win win) {
    struct window *w = rma_window_find(win);
    uint64_t before = rma_completion_start();
    int rc = host_Win_fence(assertion, win);
    acquire(EVENT_FENCE);
    if (!w)
        return rc;
    log_trace(LOG_WINDOWS, "window %llu: a fence%s", (unsigned long long)w->serial,
              assertion & MPI_MODE_NOSUCCEED ? ", without an epoch after it" : "");
    if (rc == MPI_SUCCESS)
        w->epoch.fenced = !(assertion & MPI_MODE_NOSUCCEED);
    return rma_completion_finish(w, NULL, before, SCOPE_REMOTE, rc);
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
    for (int i = 0; i < n; i++) {
        struct rma_target *t = rma_target_find(w, ranks[i]);
        if (!t)
            continue;
        numbers[known++] = ranks[i];
        t->started = true;
    }
    host_Group_free(&all);
    free(w->started.ranks);
    ASSERT(known >= 0 && known <= n);
    log_trace(LOG_WINDOWS, "window %llu: MPI_Win_start with %d targets", (unsigned long long)w->serial,
              known);
    w->started = (struct window_started){numbers, known};
}

static void forget_started(struct window *w) {
    for (int i = 0; i < w->started.count; i++)
        rma_window_peek(w, w->started.ranks[i])->started = false;
    w->started.count = 0;
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
    uint64_t before = rma_completion_start();
    int rc = host_Win_complete(win);
    acquire(EVENT_PSCW);
    if (!w)
        return rc;
    int result = rma_completion_finish(w, NULL, before, SCOPE_REMOTE, rc);
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
    progress_make_own();
    return rc != MPI_SUCCESS || *flag ? sync_opened(rma_window_find(win), EVENT_PSCW, rc) : rc;
}

int hook_Win_sync(MPI_Win win) {
    return sync_opened(rma_window_find(win), EVENT_SYNC, host_Win_sync(win));
}
