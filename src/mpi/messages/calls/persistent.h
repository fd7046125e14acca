/* persistent.h: persistent requests: their start and cancellation, for the calls in requests/. Call without the lock. */
#ifndef HEARTH_MPI_P2P_PERSISTENT_H
#define HEARTH_MPI_P2P_PERSISTENT_H

#include "mpi/messages/state/p2p_request.h"

/* Returns MPI_ERR_REQUEST if the request is not persistent, or active. */
int p2p_persistent_start(struct p2p_request *r);

void p2p_persistent_cancel(struct p2p_request *r);

#endif
