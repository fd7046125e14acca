/* boot_mpi.h: what net takes from MPI: the bootstrap collective, the end of a job (base/job_end.h), and messages between nodes. It is part of each
 * library that knows MPI, and not of libhearth-core. */
#ifndef HEARTH_NET_BOOT_MPI_H
#define HEARTH_NET_BOOT_MPI_H

#include "net/boot/boot.h"

/* Over MPI. `comm` points to an MPI_Comm, which must outlive `boot`. */
void net_boot_over(const void *comm, struct net_boot *boot);

/* A number that is equal in two ranks of `comm` if and only if they run on one machine. Collective. */
int net_boot_machine(const void *comm);

/* Offers MPI messages as a network between nodes. `find_mpi` finds functions of the MPI library by their names, for processes in
 * which libhearth-mpi interposes them: these messages are not the program's. NULL: nothing is interposed. */
void net_mpi_offer(void *(*find_mpi)(const char *name));

/* The ABI of this MPI. Two libraries of a process can share an engine only if their communicators are of one ABI. */
const char *net_mpi_abi(void);

#endif
