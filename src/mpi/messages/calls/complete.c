/* complete.c: the end of managed requests: what a call that completes them returns to the program. The calls themselves, which
 * take managed requests and MPI's in any mixture, are in requests/. */
#include "mpi/messages/calls/complete.h"

#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/messages/state/status.h"
#include "mpi/messages/transport/p2p_progress.h"

/* Returns the result of a complete request to the program; frees the request or makes it inactive. Requires the lock. */
int p2p_complete_take(MPI_Request *handle, struct p2p_request *r, MPI_Status *status, struct outcome *o) {
    int error = MPI_SUCCESS;
    if (r->active && r->kind == REQUEST_RECV)
        error = p2p_request_conclude(r);
    else if (UNLIKELY(r->kind == REQUEST_RESULT && r->error != MPI_SUCCESS))
        error = o->told = r->error;
    p2p_status_of(status, r);
    o->syncs |= r->active && (r->kind == REQUEST_RECV || r->mode == MODE_SYNC);
    if (UNLIKELY(error != MPI_SUCCESS && !o->failed && r->comm)) {
        o->failed = r->comm;
        o->failed->references++;
        o->error = error;
    }
    if (r->persistent) {
        r->active = false;
        return error;
    }
    *handle = MPI_REQUEST_NULL;
    if (r != p2p_request_sent)
        p2p_request_free(r);
    return error;
}

void p2p_complete_show(struct p2p_request *r, MPI_Status *status, struct outcome *o) {
    if (r->active && r->kind == REQUEST_RECV)
        p2p_request_conclude(r); /* the program may read its buffer */
    o->syncs |= r->active && (r->kind == REQUEST_RECV || r->mode == MODE_SYNC);
    p2p_status_of(status, r);
}

/* Call without the lock: error handlers belong to the program. */
int p2p_complete_conclude(struct outcome *o, bool several) {
    if (o->syncs)
        acquire(EVENT_REQUEST);
    if (p2p_data_has_types_to_free())
        p2p_data_free_types();
    if (LIKELY(!o->failed))
        return LIKELY(o->told == MPI_SUCCESS) ? MPI_SUCCESS : several ? MPI_ERR_IN_STATUS : o->told;
    int rc = p2p_comm_error(o->failed, several ? MPI_ERR_IN_STATUS : o->error);
    p2p_lock();
    p2p_comm_release(o->failed);
    p2p_unlock();
    return rc;
}

int p2p_complete_wait(MPI_Request *request, MPI_Status *status) {
    struct outcome o = {0};
    struct p2p_request *r = p2p_request_of(*request);
    p2p_lock();
    if (r->active)
        p2p_wait(r);
    p2p_complete_take(request, r, status, &o);
    p2p_unlock();
    return p2p_complete_conclude(&o, false);
}
