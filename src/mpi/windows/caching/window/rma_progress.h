/* rma_progress.h: progress for peers of a rank whose gets hit. */
#ifndef HEARTH_MPI_RMA_PROGRESS_H
#define HEARTH_MPI_RMA_PROGRESS_H

#include "mpi/host/host.h"
#include <stdatomic.h>

#include "base/compiler.h"

/* Called with the first window. */
void rma_progress_start(void);
/* MPI was called since the last poll. */
extern HIDDEN _Atomic bool rma_progress_fresh;
static inline void rma_progress_note(void) {
    atomic_store_explicit(&rma_progress_fresh, true, memory_order_relaxed);
}
/* Calls MPI if it was not called for a while, so that a rank served from its cache still serves its peers. */
extern HIDDEN _Atomic int32_t rma_progress_left;
void rma_progress_poll_slow(void);
static inline void rma_progress_poll(void) {
    int32_t left = atomic_load_explicit(&rma_progress_left, memory_order_relaxed) - 1;
    atomic_store_explicit(&rma_progress_left, left, memory_order_relaxed);
    if (UNLIKELY(left <= 0)) /* below 0: another thread is setting the counter, or both threads decremented
                                it */
        rma_progress_poll_slow();
}

#endif
