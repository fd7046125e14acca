/* start.c: starts persistent requests, and cancels requests: managed ones and MPI's. */
#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/observe/receives.h"
#include "mpi/messages/calls/persistent.h"
#include "mpi/messages/transport/p2p_bounce.h"
#include "mpi/requests/polled.h"

static int start_conclude(const struct p2p_request *r, int rc) { /* p2p_request_sent has no communicator */
    return rc == MPI_SUCCESS ? rc : p2p_comm_error(r->comm ? r->comm : p2p_comm_find(MPI_COMM_WORLD), rc);
}

static void start_forget(int count, const MPI_Request requests[]) {
    for (int i = 0; p2p_on && requests && i < count; i++)
        requests_poll_forget(requests[i]);
}

int hook_Start(MPI_Request *request) {
    if (!p2p_on || !request || !p2p_request_is_ours(*request)) {
        start_forget(1, request);
        if (UNLIKELY(receives_are_counted))
            receives_note_start(1, request);
        return host_Start(request);
    }
    struct p2p_request *r = p2p_request_of(*request);
    return start_conclude(r, p2p_persistent_start(r));
}

/* Starts those of the requests that are Hearth's own, until one fails. Error handlers run when all messages have left: they
 * may do anything. */
static int start_ours(int count, const MPI_Request requests[]) {
    struct p2p_request *r = NULL;
    int rc = MPI_SUCCESS;
    p2p_lock();
    p2p_bounce_batch_begin();
    p2p_unlock();
    for (int i = 0; rc == MPI_SUCCESS && i < count; i++) {
        if (!p2p_request_is_ours(requests[i]))
            continue;
        r = p2p_request_of(requests[i]);
        rc = p2p_persistent_start(r);
    }
    p2p_lock();
    p2p_bounce_batch_end();
    p2p_unlock();
    return start_conclude(r, rc);
}

int hook_Startall(int count, MPI_Request requests[]) {
    int rc = MPI_SUCCESS, ours = 0;
    for (int i = 0; p2p_on && requests && i < count; i++)
        ours += p2p_request_is_ours(requests[i]);
    if (!ours) {
        start_forget(count, requests);
        if (UNLIKELY(receives_are_counted))
            receives_note_start(count, requests);
        return host_Startall(count, requests);
    }
    rc = start_ours(count, requests);
    for (int i = 0; rc == MPI_SUCCESS && i < count && ours < count; i++)
        if (!p2p_request_is_ours(requests[i]))
            rc = hook_Start(&requests[i]);
    return rc;
}

int hook_Cancel(MPI_Request *request) {
    int rc = MPI_SUCCESS;
    if (!p2p_on || !request || !p2p_request_is_ours(*request))
        rc = host_Cancel(request);
    else
        p2p_persistent_cancel(p2p_request_of(*request));
    acquire(EVENT_GENERIC);
    return rc;
}
