/* rma_ahead.h: read-ahead. All functions require the lock, and a window that reads ahead. */
#ifndef HEARTH_MPI_RMA_AHEAD_H
#define HEARTH_MPI_RMA_AHEAD_H

#include "mpi/windows/caching/inflight/inflight.h"

/* A get of these bytes missed and was issued. alone: its cost is being measured, so no further get may be issued. */
void rma_ahead_missed(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes, bool alone);
/* A get of these bytes hit. */
void rma_ahead_hit(struct window *w, struct rma_target *t, uint64_t address, uint64_t bytes);
/* The data of a read-ahead has arrived. */
void rma_ahead_arrived(const struct op *op);
/* The read-ahead is over, whether its data was kept or not. */
void rma_ahead_ended(const struct op *op);

#endif
