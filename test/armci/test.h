/* test.h: what the ARMCI tests share.
 *
 * They are plain programs for ARMCI: they run on ARMCI-MPI as well, and what they expect of both was seen there. What
 * ARMCI-MPI lacks, or does otherwise than it says, is asked only of ours (test_ours). Cases (frame.h) run between
 * ARMCI_Init and ARMCI_Finalize. */
#ifndef HEARTH_TEST_ARMCI_H
#define HEARTH_TEST_ARMCI_H

#include <armci.h>

#include "frame/frame.h"

extern bool test_ours; /* HEARTH_TEST_CONFIG is set, as test/run does: not ARMCI-MPI */

#define SKIP_IF_STOCK() SKIP_IF(!test_ours, "not on ARMCI-MPI")

/* The node of a rank, as ARMCI ought to report it: one for each, or, with HEARTH_ARMCI_TOPOLOGY=real, that of
 * HEARTH_NODE_RANKS on one machine. */
int test_node(int rank);
int test_nodes(void);
int test_master(int node); /* its lowest rank */

#endif
