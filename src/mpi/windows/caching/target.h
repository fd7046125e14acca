/* target.h: finds the targets of a window, which are made when this process first uses them. */
#ifndef HEARTH_MPI_RMA_TARGET_H
#define HEARTH_MPI_RMA_TARGET_H

#include "base/compiler.h"
#include "mpi/observe/targets.h"
#include "mpi/windows/caching/window/window.h"

/* The target of this rank, made at its first use. NULL: there is none (MPI_PROC_NULL or an invalid rank), or no memory for it. Then
 * the call goes to MPI, and the window is not cached any more. Call without the lock. */
struct rma_target *rma_target_make(struct window *w, int rank);
static inline struct rma_target *rma_target_find(struct window *w, int rank) {
    struct rma_target *t = rma_window_peek(w, rank);
    return LIKELY(t->head.rank >= 0) ? t : rma_target_make(w, rank);
}

/* ---- counts for the report, by target: see targets.h ---- */

/* A call that succeeded and is not a get, with a target of this window. Takes the lock. */
void rma_target_count_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                           MPI_Datatype type);

static inline __attribute__((always_inline)) void
rma_target_count(MPI_Win win, int target, enum target_access what, MPI_Count count, MPI_Datatype type) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_acquire);
    uint64_t size;
    struct rma_target *t =
        LIKELY(w->handle == win && w->open && !rma_threaded) ? rma_window_peek(w, target) : NULL;
    if (UNLIKELY(!t || !t->row || !layout_is_plain(type, &size)))
        rma_target_count_slow(win, target, what, count, type);
    else
        targets_add(t->row, what, LIKELY(count > 0) ? (uint64_t)count * size : 0);
}

/* A timed call with this target. Takes the lock. */
void rma_target_ticks(MPI_Win win, int target, uint64_t ticks);

#endif
