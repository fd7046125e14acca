/* complete.h: the end of managed requests. */
#ifndef HEARTH_MPI_P2P_COMPLETE_H
#define HEARTH_MPI_P2P_COMPLETE_H

#include "mpi/messages/state/p2p_request.h"

/* The result to report at the end of a call. */
struct outcome {
    struct comm *failed; /* communicator of the first request that failed */
    int error;
    int told; /* of a request of MPI, whose error handler MPI has called */
    bool syncs;
};

static inline MPI_Status *p2p_complete_status_at(MPI_Status statuses[], int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static inline bool p2p_complete_is_over(const struct p2p_request *r) {
    return !r->active || r->done;
}

/* Completes a managed request that is over: fills in its status, and frees it or makes it inactive. Returns its
 * error. Requires the lock. */
int p2p_complete_take(MPI_Request *handle, struct p2p_request *r, MPI_Status *status, struct outcome *o);

/* Fills in the status of a managed request that is over, and leaves the request as it is. Requires the lock. */
void p2p_complete_show(struct p2p_request *r, MPI_Status *status, struct outcome *o);

/* The end of a call: acquires, and calls the error handler. Returns the call's code. Call without the lock. */
int p2p_complete_conclude(struct outcome *o, bool several);

/* MPI_Wait for a managed request. */
int p2p_complete_wait(MPI_Request *request, MPI_Status *status);

#endif
