/* target_admission.h: admission per target. The first gets to each target that a flush completes alone are timed. If most of
 * them cost less than a hit would (ranks that share memory), the target's gets bypass the cache. */
#ifndef HEARTH_MPI_TARGET_ADMISSION_H
#define HEARTH_MPI_TARGET_ADMISSION_H

#include "mpi/rma/window.h"

/* Cost of a hit of this size, including the flush. */
double rma_admission_hit_ns(uint64_t bytes);

/* Around the get. rma_admission_target_start returns 0 if there is nothing to measure. */
uint64_t rma_admission_target_start(const struct rma_target *t);
void rma_admission_target_get(struct rma_target *t, uint64_t started, uint64_t bytes);
/* Around the flush that completes the get. */
uint64_t rma_admission_target_flush_start(const struct rma_target *t);
void rma_admission_target_flush(struct rma_target *t, uint64_t started);

#endif
