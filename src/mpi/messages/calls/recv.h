/* recv.h: receives that other calls start. */
#ifndef HEARTH_MPI_P2P_RECV_H
#define HEARTH_MPI_P2P_RECV_H

#include "mpi/messages/state/p2p_request.h"

/* Starts the communication of a request whose fields are set. Requires the lock. */
void p2p_recv_begin(struct p2p_request *r);

#endif
