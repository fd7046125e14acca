/* domain.h: the nodes that ARMCI reports, inside; the calls of armci.h say the rest. */
#ifndef HEARTH_ARMCI_DOMAIN_H
#define HEARTH_ARMCI_DOMAIN_H

/* The place of a process among those of its node. */
int armci_domain_place(int rank);

#endif
