/* domain.h: internal part of the topology that ARMCI reports; armci.h declares the rest. */
#ifndef HEARTH_ARMCI_DOMAIN_H
#define HEARTH_ARMCI_DOMAIN_H

/* The index of a process among those of its node. */
int armci_domain_place(int rank);

#endif
