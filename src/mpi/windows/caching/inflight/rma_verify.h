/* rma_verify.h: mode auto: acquire mode in which a sample of the hits is verified all the time. The first stale hit turns the
 * window to transparent mode, for good. All functions require the lock. */
#ifndef HEARTH_MPI_RMA_VERIFY_H
#define HEARTH_MPI_RMA_VERIFY_H

#include "base/settings.h"
#include "mpi/windows/caching/inflight/inflight.h"

/* The window enters mode auto. Returns the mode that it is used in: acquire, or transparent if a hit of this process was
 * stale before. */
enum mode rma_verify_enter(struct window *w);

/* The mean number of hits of which one is verified, at this stage. */
uint64_t rma_verify_interval(const struct window *w);

/* A hit is about to be verified: counts it and notes where the program made the get. */
void rma_verify_begin(struct op *op);

/* The fetched data of this hit differs from the cached data. */
void rma_verify_turn(const struct op *op, const unsigned char *cached, const unsigned char *fresh);

#endif
