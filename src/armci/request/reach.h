/* reach.h: direct access to memory of other nodes, without their helpers. */
#ifndef HEARTH_ARMCI_REACH_H
#define HEARTH_ARMCI_REACH_H

#include "armci/request/armci_memory.h"

/* Collective over the members; no effect if the network does not support it. */
void armci_reach_open(struct allocation *a, MPI_Comm comm);
void armci_reach_close(struct allocation *a);

/* The window for direct access to the allocation on that node. NULL: it is reached only through the helper. */
struct link_window *armci_reach_window(struct allocation *a, int node);

#endif
