/* reach.h: how the memory of other nodes is reached without their helpers. */
#ifndef HEARTH_ARMCI_REACH_H
#define HEARTH_ARMCI_REACH_H

#include "armci/memory.h"

/* Collective over the members; nothing happens where the network does not do that. */
void reach_open(struct allocation *a, MPI_Comm comm);
void reach_close(struct allocation *a);

/* NULL: only through the helper. */
struct link_window *reach_window(struct allocation *a, int node);

#endif
