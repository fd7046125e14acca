/* boot.h: how net's processes meet: through MPI. */
#ifndef HEARTH_ARMCI_BOOT_H
#define HEARTH_ARMCI_BOOT_H

#include <mpi.h>

#include "net/net.h"

/* Over that communicator, which must live as long. */
void boot_over(MPI_Comm comm, struct net_boot *boot);

/* A number that ranks have in common if they are on one machine. */
int boot_machine(MPI_Comm comm);

#endif
