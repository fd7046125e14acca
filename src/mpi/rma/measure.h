/* measure.h: admission per target. The first gets to each target that a flush completes alone are timed. If most of
 * them cost less than a hit would (ranks that share memory), the target's gets bypass the cache. */
#ifndef HEARTH_MPI_MEASURE_H
#define HEARTH_MPI_MEASURE_H

#include "mpi/rma/window.h"

/* Cost of a hit of this size, including the flush. */
double measure_hit_ns(uint64_t bytes);

/* Around the get. measure_start returns 0 if there is nothing to measure. */
uint64_t measure_start(const struct target *t);
void measure_get(struct target *t, uint64_t started, uint64_t bytes);
/* Around the flush that completes the get. */
uint64_t measure_flush_start(const struct target *t);
void measure_flush(struct target *t, uint64_t started);

#endif
