/* send.h: sends that other calls start. Requires the lock. */
#ifndef HEARTH_MPI_P2P_SEND_H
#define HEARTH_MPI_P2P_SEND_H

#include "mpi/messages/state/p2p_request.h"

/* Starts the communication of a request whose fields are set. */
void p2p_send_begin(struct p2p_request *r);

/* Sends a copy within the attached buffer; no caller waits for it. Returns an MPI error code. */
int p2p_send_copy(struct comm *c, struct data *d, int dest, int tag);

#endif
