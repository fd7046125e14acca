/* node_comm.h: the part of a communicator on this node, and the first processes of all its nodes. */
#ifndef HEARTH_MPI_SERVE_NODE_COMM_H
#define HEARTH_MPI_SERVE_NODE_COMM_H

#include "mpi/host/host.h"
#include "net/net.h"

/* Makes a communicator of the processes of `comm` on this node, in its order. Returns MPI's code. Collective over `comm`. If MPI reports
 * every process as alone, the machines' own ids count (net/boot/machine.h). */
int serve_node_split(MPI_Comm comm, MPI_Comm *node);

/* The processes of the communicator on this node, in its order. Collective over `comm`. It is made at the first call and
 * kept with `comm`; its error handler returns. MPI_COMM_NULL: the MPI library cannot make it. */
MPI_Comm serve_node_comm(MPI_Comm comm);

/* Whether `node`, that part of `comm`, has all processes of it, and HEARTH_NODE_RANKS does not divide them into several nodes. */
bool serve_node_is_whole(MPI_Comm comm, MPI_Comm node);

/* The first process of each node, in the order of `comm`, likewise. MPI_COMM_NULL in all other processes. False on all ranks: the
 * MPI library cannot make it. Requires that serve_node_comm made a part. */
bool serve_leader_comm(MPI_Comm comm, MPI_Comm *leaders);

/* The communicator as a net_boot, whose `arg` it is: it must stay in place. */
void serve_node_boot(MPI_Comm *comm, struct net_boot *boot);

#endif
