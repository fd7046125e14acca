/* record_targets.h: this process's one-sided calls by target: see targets.h. */
#ifndef HEARTH_MPI_RECORD_TARGETS_H
#define HEARTH_MPI_RECORD_TARGETS_H

#include "mpi/core/targets.h"
#include "mpi/rma/window/window.h"

/* The row of a target for the report; NULL: targets are not observed. Asked for when the target is made. */
struct target_row *rma_record_row(const struct window *w, int target);

/* Moves the gets that the targets have counted to their rows: before these are read, and before the window is freed. Requires the lock. */
void rma_record_collect_window(const struct window *w);
void rma_record_collect(void);

/* A call that succeeded and is not a get, with a target of this window. Takes the lock. */
void rma_record_target_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                            MPI_Datatype type);

static inline __attribute__((always_inline)) void
rma_record_target(MPI_Win win, int target, enum target_access what, MPI_Count count, MPI_Datatype type) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_acquire);
    uint64_t size;
    struct rma_target *t =
        LIKELY(w->handle == win && w->open && !rma_threaded) ? rma_window_peek(w, target) : NULL;
    if (UNLIKELY(!t || !t->row || !layout_is_plain(type, &size)))
        rma_record_target_slow(win, target, what, count, type);
    else
        targets_add(t->row, what, LIKELY(count > 0) ? (uint64_t)count * size : 0);
}

/* A timed call with this target. Takes the lock. */
void rma_record_ticks(MPI_Win win, int target, uint64_t ticks);

#endif
