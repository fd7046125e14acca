/* persistent.c: persistent requests.
 *
 * Cancelling removes a posted receive from the queue. A send is never cancelled: small ones are complete anyway, and
 * for large ones the receiver may already know the address of the bytes. */
#include "mpi/messages/calls/persistent.h"

#include "base/compiler.h"
#include "mpi/host/hooks.h"
#include "mpi/observe/receives.h"
#include "mpi/messages/calls/recv.h"
#include "mpi/messages/calls/send.h"
#include "mpi/messages/transport/arrive.h"

static int persistent_make(struct comm *c, const void *buffer, MPI_Count count, MPI_Datatype type, int rank,
                           int tag, enum request_kind kind, enum send_mode mode, MPI_Request *request) {
    struct data d;
    int rc = p2p_data_make(&d, buffer, count, type, c, kind == REQUEST_RECV);
    if (rc != MPI_SUCCESS)
        return rc;
    p2p_lock();
    struct p2p_request *r = p2p_request_new(kind, c);
    p2p_unlock();
    if (!r) {
        p2p_data_free(&d);
        return p2p_comm_error(c, MPI_ERR_NO_MEM);
    }
    r->mode = (uint8_t)mode;
    r->persistent = true;
    r->active = false;
    r->data = d;
    r->rank = rank;
    r->tag = tag;
    *request = p2p_request_handle(r);
    return MPI_SUCCESS;
}

#define SEND_INIT(name, count_t, mode)                                                                       \
    int hook_##name(const void *buffer, count_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,  \
                    MPI_Request *request) {                                                                  \
        struct comm *c = p2p_on && request ? p2p_comm_to(count, dest, tag, comm) : NULL;                     \
        if (c)                                                                                               \
            return persistent_make(c, buffer, count, type, dest, tag, REQUEST_SEND, mode, request);          \
        return host_##name(buffer, count, type, dest, tag, comm, request);                                   \
    }

#define RECV_INIT(name, count_t)                                                                             \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,      \
                    MPI_Request *request) {                                                                  \
        struct comm *c = p2p_on && request ? p2p_comm_from(count, source, tag, comm) : NULL;                 \
        if (c)                                                                                               \
            return persistent_make(c, buffer, count, type, source, tag, REQUEST_RECV, MODE_STANDARD,         \
                                   request);                                                                 \
        int rc = host_##name(buffer, count, type, source, tag, comm, request);                               \
        if (UNLIKELY(receives_are_counted))                                                                  \
            receives_note_persistent(rc, source, request);                                                   \
        return rc;                                                                                           \
    }

SEND_INIT(Send_init, int, MODE_STANDARD)
SEND_INIT(Bsend_init, int, MODE_BUFFERED)
SEND_INIT(Ssend_init, int, MODE_SYNC)
SEND_INIT(Rsend_init, int, MODE_READY)
RECV_INIT(Recv_init, int)
#if HEARTH_MPI_COUNTS
SEND_INIT(Send_init_c, MPI_Count, MODE_STANDARD)
SEND_INIT(Bsend_init_c, MPI_Count, MODE_BUFFERED)
SEND_INIT(Ssend_init_c, MPI_Count, MODE_SYNC)
SEND_INIT(Rsend_init_c, MPI_Count, MODE_READY)
RECV_INIT(Recv_init_c, MPI_Count)
#endif

/* ---- start ---- */

/* A buffered send sends a copy and is complete. */
static int begin_buffered(struct p2p_request *r) {
    int rc = p2p_send_copy(r->comm, &r->data, r->rank, r->tag);
    p2p_request_finish(r);
    return rc;
}

static int persistent_begin(struct p2p_request *r) {
    r->active = true;
    r->done = r->cancelled = false;
    r->error = MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    if (r->kind == REQUEST_SEND && r->data.opaque)
        rc = p2p_data_pack(&r->data);
    p2p_lock();
    if (r->kind == REQUEST_RECV)
        p2p_recv_begin(r);
    else if (r->mode == MODE_BUFFERED)
        rc = begin_buffered(r);
    else
        p2p_send_begin(r);
    p2p_unlock();
    return rc;
}

int p2p_persistent_start(struct p2p_request *r) {
    return r->persistent && !r->active ? persistent_begin(r) : MPI_ERR_REQUEST;
}

/* ---- cancel ---- */

static void cancel_receive(struct p2p_request *r) {
    if (!r->posted)
        return;
    match_cancel(p2p_engine, r->entry);
    r->posted = false;
    r->cancelled = true;
    r->got_source = MPI_ANY_SOURCE;
    r->got_tag = MPI_ANY_TAG;
    r->got_bytes = 0;
    p2p_request_finish(r);
}

void p2p_persistent_cancel(struct p2p_request *r) {
    p2p_lock();
    if (r->active && !r->done && r->kind == REQUEST_RECV)
        cancel_receive(r);
    p2p_unlock();
}
