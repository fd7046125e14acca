/* target.c: the targets of a window are made when this process first uses them: see tables/rank_table.h.
 *
 * A target that was never used has no operation in flight, no entry in the cache and no lock, so that nothing is lost by not having
 * one. If there is no memory for a target, its operations go to MPI untracked. What is cached could then become stale unnoticed:
 * neither the window nor those that alias it are cached from then on. */
#include "mpi/windows/caching/target.h"

#include "base/log.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/record/record_targets.h"
#include "mpi/windows/serving/serving.h"
#include "tables/rank_table.h"

static void target_lost(struct window *w, int rank) {
    if (w->untracked)
        return;
    w->untracked = true;
    log_warn("window %llu: no memory for the state of target %d; the window and those over the same memory "
             "are not cached any more",
             (unsigned long long)w->serial, rank);
    rma_admission_refuse(w);
    for (size_t i = 0; i < w->aliases.count; i++)
        rma_admission_refuse(w->aliases.list[i].window);
}

static struct rma_target *target_add(struct window *w, int rank) {
    struct rma_target *t = (struct rma_target *)(void *)rank_table_prepare(&w->targets, rank);
    if (!t) {
        target_lost(w, rank);
        return NULL;
    }
    struct rank_memory m = memory_table_read(&w->memory.table, rank);
    *t = (struct rma_target){.head = t->head,
                             .base = m.base,
                             .bytes = m.bytes,
                             .unit = m.unit,
                             .gets_before = 1,
                             .writes_before = 1,
                             .first_op = NO_OP,
                             .last_op = NO_OP,
                             .at_once = serve_target_is_mapped(w->handle, rank),
                             .row = rma_record_row(w, rank),
                             .verdict = rma_admission_first_verdict(w, rank)};
    rank_table_add(&w->targets, &t->head);
    return t;
}

/* Another thread may have made it meanwhile. */
struct rma_target *rma_target_make(struct window *w, int rank) {
    if ((unsigned)rank >= (unsigned)w->size)
        return NULL;
    rma_lock();
    struct rma_target *t = rma_window_peek(w, rank);
    if (t->head.rank < 0)
        t = target_add(w, rank);
    rma_unlock();
    return t;
}

/* ---- counts ---- */

static struct rma_target *target_observed(MPI_Win win, int target) {
    struct window *w = targets_are_observed ? rma_window_find(win) : NULL;
    struct rma_target *t = w ? rma_target_find(w, target) : NULL;
    return t && t->row ? t : NULL;
}

void rma_target_count_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                           MPI_Datatype type) {
    struct rma_target *t = target_observed(win, target);
    if (t)
        targets_note(t->row, what, targets_bytes(count, type));
}

void rma_target_ticks(MPI_Win win, int target, uint64_t ticks) {
    struct rma_target *t = target_observed(win, target);
    if (t)
        targets_note_row_ticks(t->row, ticks);
}
