/* measure.h: is this target's data worth caching? The first gets to each target that a flush completes alone
 * are timed; if most cost less than a hit would (ranks that share memory), the target is left to MPI. */
#ifndef HEARTH_MPI_MEASURE_H
#define HEARTH_MPI_MEASURE_H

#include "mpi/rma/window.h"

/* What a hit of so many bytes costs, flush included. */
double measure_hit_ns(uint64_t bytes);

/* Around the get: start gives 0 if there is nothing to measure. */
uint64_t measure_start(const struct target *t);
void measure_get(struct target *t, uint64_t started, uint64_t bytes);
/* Around the flush that completes it. */
uint64_t measure_flush_start(const struct target *t);
void measure_flush(struct target *t, uint64_t started);

#endif
