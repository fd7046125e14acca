/* record_targets.h: this process's one-sided calls by target: see targets.h. */
#ifndef HEARTH_MPI_RECORD_TARGETS_H
#define HEARTH_MPI_RECORD_TARGETS_H

#include "mpi/core/targets.h"
#include "mpi/rma/window/bypassed_type.h"
#include "mpi/rma/window/window.h"

/* A call that succeeded, with a target of this window. Takes the lock. */
void rma_record_target_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                            MPI_Datatype type, uint64_t ticks);

/* Programs that bypass the cache use types that it does not know. */
static inline bool rma_record_type_size(MPI_Datatype type, uint64_t *size) {
    *size = rma_bypassed_type.size;
    return type == rma_bypassed_type.type || layout_is_plain(type, size);
}

/* The row of a target is found once. Flushes and locks that were not timed leave nothing to note. */
static inline __attribute__((always_inline)) void rma_record_target(MPI_Win win, int target,
                                                                    enum target_access what, MPI_Count count,
                                                                    MPI_Datatype type, uint64_t ticks) {
    struct window *w = atomic_load_explicit(&rma_window_recent, memory_order_acquire);
    uint64_t size;
    if (what == ACCESS_SYNC && !ticks)
        return;
    struct rma_target *t =
        LIKELY(w && w->handle == win && w->open && !rma_threaded) ? rma_window_peek(w, target) : NULL;
    if (UNLIKELY(!t || !t->row || !rma_record_type_size(type, &size)))
        rma_record_target_slow(win, target, what, count, type, ticks);
    else
        targets_add(t->row, what, LIKELY(count > 0) ? (uint64_t)count * size : 0, ticks);
}

#endif
