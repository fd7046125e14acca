/* serve_epoch.c: synchronisation of served windows.
 *
 * Inside a node an operation is complete at its target when its call returns, since the caller executes it. So a flush
 * only orders memory. For targets of other nodes it waits until the helpers have executed all operations; unlock, complete
 * and fence do so before they notify anybody.
 *
 * Operations are executed at once, so an epoch must not begin before its targets are ready. Fences are the host's, which
 * sees a window without operations; without MPI_MODE_NOPRECEDE each of them waits for all ranks. Post, start, complete and wait
 * are messages, unless the host's MPI_Win_start is known to wait (serve_sync.h).
 *
 * A lock is taken at the target's gate (gate.h). MPI_Win_lock_all takes the gates of all targets before it returns. MPI
 * would permit taking a gate with the first operation on its target only, but that can deadlock: a rank in the epoch
 * queues behind an exclusive lock, which waits for another rank in the epoch, which waits for the first rank. Besides,
 * the lock on the own rank also protects loads and stores. All ranks take the gates in the same order, for the same
 * reason: by node, and inside a node by rank.
 *
 * A wrong call is forwarded wherever the host detects the same error, so that the program sees the host's error. */
#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/host/progress.h"
#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/serve_sync.h"

/* Full fence: orders the caller's accesses before it against those after it, as seen by all processes. */
static void order_memory(void) {
    atomic_thread_fence(memory_order_seq_cst);
}

/* For calls that a program may repeat until it sees a store by another process. */
static void order_and_progress(void) {
    order_memory();
    serve_progress_poll();
}

static int refuse(const struct served *s, int code) {
    serve_host.Win_call_errhandler(s->handle, code);
    return code;
}

/* ---- locks ---- */

/* Epochs of this process that hold locks, of all windows; one thread at a time changes it. */
static unsigned epochs;

/* A lock may be deferred while it is the only one. Programs that hold several at a time may rely on holding all of them. */
static bool begin_epoch(void) {
    serve_lock();
    bool is_first = epochs++ == 0;
    serve_unlock();
    if (!is_first)
        serve_remote_small_settle();
    return is_first;
}

static void end_epoch(void) {
    serve_lock();
    epochs--;
    serve_unlock();
}

/* Messages progress meanwhile, because the holder of the lock may wait for a message from this process. */
static void take_lock(struct served_target *t, enum hold hold, bool defers) {
    if (UNLIKELY(t->remote)) {
        if (hold != HOLD_UNCHECKED)
            serve_remote_lock(t, hold == HOLD_ALONE, defers);
        t->held = (uint8_t)(hold | HOLD_REMOTE);
        return;
    }
    if (hold != HOLD_UNCHECKED)
        serve_gate_enter(t->gate, hold == HOLD_ALONE, progress_make);
    t->held = (uint8_t)hold;
}

static void release_lock(struct served_target *t) {
    enum hold held = t->held;
    t->held = HOLD_NONE;
    if (held == HOLD_SHARED || held == HOLD_ALONE)
        serve_gate_leave(t->gate, held == HOLD_ALONE);
    else if (held == (HOLD_SHARED | HOLD_REMOTE) || held == (HOLD_ALONE | HOLD_REMOTE))
        serve_remote_unlock(t, held == (HOLD_ALONE | HOLD_REMOTE));
    else if (t->remote)
        serve_remote_flush(t);
}

/* Whether MPI_Win_lock may begin an epoch: none of another kind may be open, and none on this target. */
static bool may_lock(const struct served *s, const struct served_target *t) {
    return !s->locked_all && !s->started_count && t->held == HOLD_NONE;
}

int serve_Win_lock(int kind, int target, int assertion, MPI_Win win) {
    struct served *s = serve_find(win);
    if (!s || (unsigned)target >= (unsigned)s->size ||
        (kind != MPI_LOCK_SHARED && kind != MPI_LOCK_EXCLUSIVE))
        return serve_host.Win_lock(kind, target, assertion, win);
    struct served_target *t = serve_target_make(s, target);
    if (!t || !may_lock(s, t))
        return refuse(s, t ? MPI_ERR_RMA_SYNC : MPI_ERR_NO_MEM);
    enum hold hold = kind == MPI_LOCK_EXCLUSIVE ? HOLD_ALONE : HOLD_SHARED;
    take_lock(t, assertion & MPI_MODE_NOCHECK ? HOLD_UNCHECKED : hold, begin_epoch());
    serve_lock();
    s->holds++;
    serve_unlock();
    order_memory();
    return MPI_SUCCESS;
}

int serve_Win_unlock(int target, MPI_Win win) {
    struct served *s = serve_find(win);
    struct served_target *t = s ? serve_target_find(s, target) : NULL;
    if (!t || t->held == HOLD_NONE || s->locked_all)
        return serve_host.Win_unlock(target, win);
    order_memory();
    release_lock(t);
    serve_lock();
    s->holds--;
    serve_unlock();
    end_epoch();
    serve_progress_poll();
    return MPI_SUCCESS;
}

/* ---- all ranks, on several nodes: one request per node ---- */

static void lock_all_on_node(struct served *s, enum hold hold) {
    for (int i = 0; i < s->here_count; i++)
        take_lock(s->here[i], hold, false);
}

static void lock_all_nodes(struct served *s, enum hold hold) {
    const struct net_world *w = s->domain->world;
    for (int n = serve_domain_next(s, 0); n < w->nodes; n = serve_domain_next(s, n + 1))
        if (n == w->node)
            lock_all_on_node(s, hold);
        else if (hold != HOLD_UNCHECKED)
            serve_remote_lock_node(s, n);
}

static void unlock_all_on_node(struct served *s) {
    for (int i = 0; i < s->here_count; i++)
        release_lock(s->here[i]);
    serve_target_mark_held(s, HOLD_NONE);
}

static void unlock_all_nodes(struct served *s) {
    const struct net_world *w = s->domain->world;
    bool checked = s->held_all != HOLD_UNCHECKED, in_order = serve_remote_unlocks_in_order();
    if (!in_order)
        serve_remote_flush_all(s);
    unlock_all_on_node(s);
    for (int n = serve_domain_next(s, 0); checked && n < w->nodes; n = serve_domain_next(s, n + 1))
        if (n != w->node)
            serve_remote_unlock_node(s, n);
    if (in_order)
        serve_remote_flush_all(s);
}

int serve_Win_lock_all(int assertion, MPI_Win win) {
    struct served *s = serve_find(win);
    if (!s)
        return serve_host.Win_lock_all(assertion, win);
    if (s->locked_all || s->holds || s->started_count)
        return refuse(s, MPI_ERR_RMA_SYNC);
    begin_epoch();
    enum hold hold = assertion & MPI_MODE_NOCHECK ? HOLD_UNCHECKED : HOLD_SHARED;
    (s->domain ? lock_all_nodes : lock_all_on_node)(s, hold);
    serve_target_mark_held(s, hold);
    order_memory();
    return MPI_SUCCESS;
}

int serve_Win_unlock_all(MPI_Win win) {
    struct served *s = serve_find(win);
    if (!s || !s->locked_all)
        return serve_host.Win_unlock_all(win);
    order_memory();
    (s->domain ? unlock_all_nodes : unlock_all_on_node)(s);
    end_epoch();
    serve_progress_poll();
    return MPI_SUCCESS;
}

/* ---- flushes ---- */

enum completion { IN_ORDER, LOCAL, REMOTE };

/* A target that serve_target_peek shows no lock of; NULL: there is none. After MPI_Win_lock_all there may be no record: this process has
 * not used the target, and there is nothing to complete. */
static __attribute__((noinline)) const struct served_target *flush_slow(const struct served *s, int target) {
    const struct served_target *t = serve_target_find(s, target);
    return t->held != HOLD_NONE || (s->locked_all && (unsigned)target < (unsigned)s->size) ? t : NULL;
}

/* MPI_Win_lock_all sets `held` of all targets, too. */
static inline bool flush_target(int target, MPI_Win win, enum completion completion) {
    const struct served *s = serve_find(win);
    const struct served_target *t = s ? serve_target_peek(s, target) : NULL;
    if (!t || (UNLIKELY(t->held == HOLD_NONE) && !(t = flush_slow(s, target))))
        return false;
    if (UNLIKELY(t->held & HOLD_REMOTE))
        (completion == REMOTE ? serve_remote_flush : serve_remote_wait)(t);
    order_and_progress();
    return true;
}

static inline bool flush_all(MPI_Win win, enum completion completion) {
    const struct served *s = serve_find(win);
    if (!s || !(s->locked_all || s->holds))
        return false;
    if (UNLIKELY(s->domain) && completion != IN_ORDER)
        (completion == REMOTE ? serve_remote_flush_all : serve_remote_wait_all)(s);
    order_and_progress();
    return true;
}

int serve_Win_flush(int target, MPI_Win win) {
    return LIKELY(flush_target(target, win, REMOTE)) ? MPI_SUCCESS : serve_host.Win_flush(target, win);
}

int serve_Win_flush_local(int target, MPI_Win win) {
    return LIKELY(flush_target(target, win, LOCAL)) ? MPI_SUCCESS : serve_host.Win_flush_local(target, win);
}

int serve_Win_flush_all(MPI_Win win) {
    return LIKELY(flush_all(win, REMOTE)) ? MPI_SUCCESS : serve_host.Win_flush_all(win);
}

int serve_Win_flush_local_all(MPI_Win win) {
    return LIKELY(flush_all(win, LOCAL)) ? MPI_SUCCESS : serve_host.Win_flush_local_all(win);
}

int serve_Win_sync(MPI_Win win) {
    return LIKELY(flush_all(win, IN_ORDER)) ? MPI_SUCCESS : serve_host.Win_sync(win);
}

/* ---- active targets: synchronisation with memory in order around it ---- */

/* With MPI_MODE_NOPRECEDE the host may return before the other ranks have called it, and delay its own operations. */
static int fence_all(const struct served *s, int assertion, MPI_Win win) {
    if (serve_sync_fences(s))
        return serve_sync_barrier(s);
    return serve_host.Win_fence(s ? assertion & ~MPI_MODE_NOPRECEDE : assertion, win);
}

int serve_Win_fence(int assertion, MPI_Win win) {
    struct served *s = serve_find(win);
    if (s && (s->locked_all || s->holds))
        return refuse(s, MPI_ERR_RMA_SYNC);
    if (s && s->domain)
        serve_remote_flush_all(s);
    order_memory();
    int rc = fence_all(s, assertion, win);
    order_memory();
    if (s && rc == MPI_SUCCESS)
        serve_target_mark_fenced(s, !(assertion & MPI_MODE_NOSUCCEED));
    return rc;
}

/* The ranks of a group in the window; NULL: out of memory, no group, or not all are members. For MPI_GROUP_NULL MPI would not call the error
 * handler of the window. */
static int *ranks_of(const struct served *s, MPI_Group group, int *count) {
    MPI_Group all = MPI_GROUP_NULL;
    if (group == MPI_GROUP_NULL || host_Group_size(group, count) != MPI_SUCCESS)
        return NULL;
    int *own = malloc(((size_t)*count + 1) * sizeof *own),
        *ranks = malloc(((size_t)*count + 1) * sizeof *ranks);
    bool ok = own && ranks && host_Win_get_group(s->handle, &all) == MPI_SUCCESS;
    for (int i = 0; ok && i < *count; i++)
        own[i] = i;
    ok = ok && host_Group_translate_ranks(group, *count, own, all, ranks) == MPI_SUCCESS;
    for (int i = 0; ok && i < *count; i++)
        ok = ranks[i] != MPI_UNDEFINED;
    if (all != MPI_GROUP_NULL)
        host_Group_free(&all);
    free(own);
    if (ok)
        return ranks;
    free(ranks);
    return NULL;
}

static bool make_targets(struct served *s, const int *ranks, int count) {
    for (int i = 0; i < count; i++)
        if (!serve_target_make(s, ranks[i]))
            return false;
    return true;
}

int serve_Win_start(MPI_Group group, int assertion, MPI_Win win) {
    struct served *s = serve_find(win);
    if (s && (s->locked_all || s->holds))
        return refuse(s, MPI_ERR_RMA_SYNC);
    bool own = serve_sync_posts(s);
    if (own && s->started)
        return refuse(s, MPI_ERR_RMA_SYNC);
    int rc = own ? MPI_SUCCESS : serve_host.Win_start(group, assertion, win), count = 0;
    if (!s || rc != MPI_SUCCESS)
        return rc;
    int *ranks = ranks_of(s, group, &count);
    if (!ranks)
        return refuse(s, MPI_ERR_GROUP);
    if (own)
        serve_sync_start(s, ranks, count, assertion);
    if (!make_targets(s, ranks, count)) {
        free(ranks);
        return refuse(s, MPI_ERR_NO_MEM);
    }
    serve_lock();
    for (int i = 0; i < count; i++)
        serve_target_find(s, ranks[i])->started = true;
    s->started = ranks;
    s->started_count = count;
    serve_unlock();
    return rc;
}

static void end_start(struct served *s) {
    serve_lock();
    for (int i = 0; i < s->started_count; i++)
        serve_target_find(s, s->started[i])->started = false;
    free(s->started);
    s->started = NULL;
    s->started_count = 0;
    serve_unlock();
}

int serve_Win_complete(MPI_Win win) {
    struct served *s = serve_find(win);
    if (s && s->domain)
        serve_remote_flush_all(s);
    order_memory();
    if (serve_sync_posts(s) && !s->started)
        return refuse(s, MPI_ERR_RMA_SYNC);
    int rc = MPI_SUCCESS;
    if (serve_sync_posts(s))
        serve_sync_complete(s);
    else
        rc = serve_host.Win_complete(win);
    if (s && rc == MPI_SUCCESS)
        end_start(s);
    return rc;
}

int serve_Win_post(MPI_Group group, int assertion, MPI_Win win) {
    struct served *s = serve_find(win);
    int count = 0, *ranks;
    order_memory();
    if (!serve_sync_posts(s))
        return serve_host.Win_post(group, assertion, win);
    if (s->posted || !(ranks = ranks_of(s, group, &count)))
        return refuse(s, s->posted ? MPI_ERR_RMA_SYNC : MPI_ERR_GROUP);
    serve_sync_post(s, ranks, count, assertion);
    return MPI_SUCCESS;
}

/* The end of an exposure that Hearth synchronises. */
static int end_post(struct served *s, bool waits, int *flag) {
    if (!s->posted)
        return refuse(s, MPI_ERR_RMA_SYNC);
    *flag = serve_sync_test(s, waits);
    return MPI_SUCCESS;
}

int serve_Win_wait(MPI_Win win) {
    struct served *s = serve_find(win);
    int flag, rc = serve_sync_posts(s) ? end_post(s, true, &flag) : serve_host.Win_wait(win);
    order_memory();
    return rc;
}

int serve_Win_test(MPI_Win win, int *flag) {
    struct served *s = serve_find(win);
    int rc = serve_sync_posts(s) ? end_post(s, false, flag) : serve_host.Win_test(win, flag);
    order_memory();
    return rc;
}
