/* probe.h: waits for a message without receiving it. */
#ifndef HEARTH_MPI_P2P_PROBE_H
#define HEARTH_MPI_P2P_PROBE_H

#include "mpi/host/host.h"

/* Waits until a communicator that is left to MPI has such a message. Returns an MPI error code. */
int p2p_probe_wait(int source, int tag, MPI_Comm comm);

#endif
