/* status.h: fills in an MPI_Status. */
#ifndef HEARTH_MPI_P2P_STATUS_H
#define HEARTH_MPI_P2P_STATUS_H

#include "mpi/messages/state/p2p_request.h"

void p2p_status_open(void);
void p2p_status_set(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled);
static inline void p2p_status_empty(MPI_Status *status) {
    p2p_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}
void p2p_status_of(MPI_Status *status, const struct p2p_request *r);

#endif
