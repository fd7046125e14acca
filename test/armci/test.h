/* test.h: shared declarations of the ARMCI tests.
 *
 * The tests are plain ARMCI programs. They run on ARMCI-MPI as well, and what they expect of both libraries was
 * verified there. Features that ARMCI-MPI lacks, or implements differently from its documentation, are tested only on
 * ours (test_ours). Cases (frame.h) run between ARMCI_Init and ARMCI_Finalize. */
#ifndef HEARTH_TEST_ARMCI_H
#define HEARTH_TEST_ARMCI_H

#include <armci.h>

#include "frame/frame.h"

extern bool test_ours; /* HEARTH_TEST_CONFIG is set, as by test/run: the library is ours, not ARMCI-MPI */

#define SKIP_IF_STOCK() SKIP_IF(!test_ours, "not on ARMCI-MPI")

/* The node of a rank that ARMCI should report: one node per rank or, with HEARTH_ARMCI_TOPOLOGY=real, the nodes that
 * HEARTH_NODE_RANKS makes on one machine. */
int test_node(int rank);
int test_nodes(void);
int test_master(int node); /* its lowest rank */

#endif
