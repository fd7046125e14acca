/* mixed.h: sets of requests in which managed ones and MPI's may be mixed. */
#ifndef HEARTH_MPI_REQUESTS_MIXED_H
#define HEARTH_MPI_REQUESTS_MIXED_H

#include "mpi/host/hooks.h"
#include "mpi/messages/calls/complete.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"
#include "mpi/requests/tracked.h"

static inline int requests_count_ours(int count, const MPI_Request requests[]) {
    int n = 0;
    for (int i = 0; requests && i < count; i++)
        n += p2p_request_is_ours(requests[i]);
    return n;
}

/* A round of progress. Call without the lock. */
static inline int requests_progress(void) {
    p2p_lock();
    int n = p2p_progress();
    p2p_unlock();
    return n;
}

#endif
