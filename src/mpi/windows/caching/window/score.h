/* score.h: scores that the program assigns to entries. */
#ifndef HEARTH_MPI_RMA_SCORE_H
#define HEARTH_MPI_RMA_SCORE_H

#include "base/compiler.h"
#include "mpi/windows/caching/window/window.h"

/* Applies the info key clampi_score, if present. */
void rma_score_from_info(struct window *w, MPI_Info info);
/* NULL removes the function. Weights from the previous function are forgotten. */
void rma_score_set(struct window *w, CLAMPI_Score *score, void *arg);
/* Calls the window's score function for the entry that is inserted next. Requires the lock. */
void rma_score_entry_slow(struct window *w, int target, uint64_t address, uint64_t bytes);
static inline void rma_score_entry(struct window *w, int target, uint64_t address, uint64_t bytes) {
    if (UNLIKELY(w->score.function != NULL))
        rma_score_entry_slow(w, target, address, bytes);
}

#endif
