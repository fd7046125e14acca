/* completion.c: the end of a call that completes operations. The call goes to MPI first. Then the gets that it completed
 * are copied into the cache, joined gets are served, and in transparent mode the cache is invalidated.
 *
 * The set of operations that a call completes is fixed before the call: those with a sequence number below the one
 * read at that point. Other threads may issue more while it runs, and several threads may complete the same target at
 * once; the first to return does the work. */
#include "mpi/windows/caching/completion.h"

#include "base/compiler.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/inflight/inflight.h"
#include "mpi/windows/caching/window/rma_progress.h"
#include "mpi/windows/caching/write.h"

static void complete_ops(struct window *w, struct rma_target *t, uint64_t before) {
    bool keep = w->mode != MODE_TRANSPARENT && w->mode != MODE_OFF;
    for (uint32_t id = t->first_op, next; id != NO_OP; id = next) {
        struct op *op = rma_inflight_at(id);
        next = op->next;
        if (op->sequence >= before)
            return;
        if (UNLIKELY(op->revalidates))
            acquire(EVENT_RECHECK);
        if (UNLIKELY(op->kind == OP_REQUEST && op->cached))
            rma_inflight_verify(id);
        if (op->kind == OP_REQUEST || op->kind == OP_BYPASS)
            /* the program may use the buffer from now on, and wait for the request later */
            rma_inflight_orphan(id);
        else
            rma_inflight_complete(id, keep);
    }
}

static void complete_target(struct window *w, struct rma_target *t, uint64_t before,
                            enum completion_scope scope) {
    complete_ops(w, t, before);
    uint64_t last = t->last_get > t->last_write ? t->last_get : t->last_write;
    if (last >= w->epoch.locked_at && last < before)
        t->held_stamp = w->epoch.lock_stamp;
    if (t->gets_before < before)
        t->gets_before = before;
    t->alone = 0;
    t->probe_ticks = 0;
    if (scope == SCOPE_LOCAL || t->writes_before >= before)
        return;
    t->writes_before = before;
    rma_write_completed(w, t, before);
}

static void complete_all(struct window *w, uint64_t before, enum completion_scope scope) {
    struct rma_target **link = &w->epoch.first_busy;
    while (*link) {
        struct rma_target *t = *link;
        complete_target(w, t, before, scope);
        if (!rma_window_is_idle(t) || t->first_op != NO_OP) {
            link = &t->next_busy;
            continue;
        }
        t->busy = false;
        rma_admission_set_fast(t, false);
        *link = t->next_busy;
    }
}

/* Returns whether results of atomics to this target have arrived. Those that another thread issued after the completing
 * call began stay marked: their results are later sync events. */
static bool end_fetching_one(struct window *w, struct rma_target *t, uint64_t before) {
    if (!t->fetching || t->first_fetch >= before)
        return false;
    t->first_fetch = before;
    t->fetching = t->last_fetch >= before;
    w->epoch.fetching -= !t->fetching;
    return true;
}

/* The same for one target, or for all if t is NULL. */
static bool end_fetching(struct window *w, struct rma_target *t, uint64_t before) {
    bool any = t && end_fetching_one(w, t, before);
    for (uint32_t i = 0; !t && w->epoch.fetching && i < w->targets.count; i++)
        any |= end_fetching_one(w, rma_window_target_at(w, i), before);
    return any;
}

/* Records the sync events of a completing call. t: as in rma_completion_finish. */
static void note_sync_event(struct window *w, struct rma_target *t, uint64_t before) {
    /* Only now is the lock known to be held, or the post known to be seen. */
    if (t ? !rma_window_is_held(w, t) : w->epoch.unsettled)
        acquire(w->started.count ? EVENT_PSCW : EVENT_LOCK);
    if (w->epoch.fetching && end_fetching(w, t, before) && settings_get()->atomics == ATOMICS_ACQUIRE)
        acquire(EVENT_ATOMIC);
    if (!t && w->untracked) /* an atomic may be among what is not tracked */
        acquire(EVENT_GENERIC);
    if (!t)
        w->epoch.unsettled = false;
}

/* After a failed call the contents of the buffers are unknown. */
static void distrust(struct window *w, struct rma_target *t) {
    for (struct rma_target *at = t ? t : w->epoch.first_busy; at; at = t ? NULL : at->next_busy)
        for (uint32_t id = at->first_op; id != NO_OP; id = rma_inflight_at(id)->next)
            rma_inflight_invalidate(id);
}

int rma_completion_finish(struct window *w, struct rma_target *t, uint64_t before,
                          enum completion_scope scope, int rc) {
    rma_lock();
    note_sync_event(w, t, rc == MPI_SUCCESS ? before : 0);
    rma_acquire_catch_up(w);
    if (rc == MPI_SUCCESS) {
        rc = w->epoch.deferred;
        w->epoch.deferred = MPI_SUCCESS;
        if (t)
            complete_target(w, t, before, scope);
        else
            complete_all(w, before, scope);
    } else {
        distrust(w, t);
    }
    rma_completion_end_reuse(w);
    w->epoch.hit = w->epoch.hit_unheld = false;
    w->epoch.flush_stamp += !t;
    if (t) {
        t->hit_stamp = t->used_stamp = 0;
        rma_admission_note_fast(w, t);
    }
    rma_unlock();
    rma_progress_note();
    return rc;
}

uint64_t rma_completion_start(void) {
    rma_lock();
    uint64_t before = rma_inflight_issued;
    rma_unlock();
    return before;
}

int rma_completion_unknown(int rc) {
    acquire(EVENT_GENERIC);
    return rc;
}
