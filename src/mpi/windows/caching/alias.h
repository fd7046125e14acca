/* alias.h: aliasing windows, that is, windows over the same memory. Requires the lock. */
#ifndef HEARTH_MPI_RMA_ALIAS_H
#define HEARTH_MPI_RMA_ALIAS_H

#include "mpi/windows/caching/window/window.h"

/* Finds the aliasing windows of a window that is being opened; removes a window that is being freed from their lists. */
void rma_alias_join(struct window *w);
void rma_alias_leave(struct window *w);

/* The rank in the aliasing window of this rank's process, if their memory overlaps there; else -1. */
int rma_alias_rank_there(const struct window *w, struct alias *a, int rank);

#endif
