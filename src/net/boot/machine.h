/* machine.h: which processes run on one machine, if MPI does not tell.
 *
 * MPI_Comm_split_type tells which processes share memory by the means of the MPI library. MPICH 5 over UCX has no such means, and
 * reports every process as alone (also ch3:sock). Hearth shares memory by its own means. */
#ifndef HEARTH_NET_MACHINE_H
#define HEARTH_NET_MACHINE_H

#include "net/boot/boot.h"

/* The lowest rank on the machine of this process, by the machines' own ids. To be called if MPI reports every process as alone.
 * -1 in all ranks: MPI's report counts, because the user asked MPICH for it (MPIR_CVAR_NOLOCAL and the like), or as a rank has
 * no memory. Collective. */
int net_machine_lowest(const struct net_boot *boot);

/* A number of this machine, by the same id: processes on different machines have, almost certainly, different ones. 0: the user asked
 * MPICH to treat processes of one machine as if they were on several. Local. */
int net_machine_mark(void);

#endif
