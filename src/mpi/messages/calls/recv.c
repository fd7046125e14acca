/* recv.c: receives, blocking and non-blocking.
 *
 * The engine either has a message for a receive, or keeps the receive until one arrives (arrive.c). The request of a
 * blocking receive is on the stack of the call. */
#include "mpi/messages/calls/recv.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/observe/receives.h"
#include "mpi/messages/calls/probe.h"
#include "mpi/messages/state/status.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_count.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"

static inline int32_t engine_source(int source) {
    return source == MPI_ANY_SOURCE ? MATCH_ANY_SOURCE : source;
}

static inline int32_t engine_tag(int tag) {
    return tag == MPI_ANY_TAG ? MATCH_ANY_TAG : tag;
}

void p2p_recv_begin(struct p2p_request *r) {
    void *message;
    r->posted = true;
    r->placed = false;
    uint64_t begin = p2p_count_search_begin();
    int rc = match_post(p2p_engine, engine_source(r->rank), engine_tag(r->tag), r->comm->context, r,
                        &r->entry, &message);
    p2p_count_search_end(begin);
    if (UNLIKELY(rc < 0))
        p2p_out_of_memory("the queue of receives");
    if (rc)
        p2p_arrive_take(r, message);
}

/* ---- blocking ---- */

__attribute__((always_inline)) static inline int recv_blocking(struct comm *c, void *buffer, MPI_Count count,
                                                               MPI_Datatype type, int source, int tag,
                                                               MPI_Status *status) {
    struct p2p_request r;
    int rc = p2p_data_make(&r.data, buffer, count, type, c, true);
    if (UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    p2p_request_fill(&r, REQUEST_RECV, c);
    r.rank = source;
    r.tag = tag;
    p2p_comm_lock(c);
    p2p_recv_begin(&r);
    p2p_wait(&r);
    rc = p2p_request_conclude(&r);
    p2p_comm_unlock(c, rc);
    p2p_data_free(&r.data);
    p2p_status_of(status, &r);
    acquire(EVENT_RECV);
    return LIKELY(rc == MPI_SUCCESS) ? rc : p2p_comm_fail(c, rc);
}

#define RECV(name, nonblocking, count_t)                                                                     \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,      \
                    MPI_Status *status) {                                                                    \
        struct comm *c = p2p_on ? p2p_comm_from(count, source, tag, comm) : NULL;                            \
        if (c)                                                                                               \
            return recv_blocking(c, buffer, count, type, source, tag, status);                               \
        int rc;                                                                                              \
        if (UNLIKELY(receives_are_counted))                                                                  \
            receives_note_blocking(source);                                                                  \
        if (p2p_comm_must_poll_in(comm) && host_is_wrapped(name) &&                                          \
            (rc = p2p_probe_wait(source, tag, comm)) != MPI_SUCCESS)                                         \
            return rc;                                                                                       \
        if (p2p_comm_must_poll_in(comm) && !host_is_wrapped(name)) {                                         \
            MPI_Request request;                                                                             \
            rc = host_real.nonblocking(buffer, count, type, source, tag, comm, &request);                    \
            rc = p2p_wait_nonblocking(rc, &request, status);                                                 \
        } else {                                                                                             \
            p2p_enter();                                                                                     \
            rc = host_##name(buffer, count, type, source, tag, comm, status);                                \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        acquire(EVENT_RECV);                                                                                 \
        return rc;                                                                                           \
    }

/* ---- non-blocking ---- */

static int recv_start(struct comm *c, void *buffer, MPI_Count count, MPI_Datatype type, int source, int tag,
                      MPI_Request *request) {
    struct data d;
    int rc = p2p_data_make(&d, buffer, count, type, c, true);
    if (UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    p2p_lock();
    struct p2p_request *r = p2p_request_new(REQUEST_RECV, c);
    if (LIKELY(r != NULL)) {
        r->data = d;
        r->rank = source;
        r->tag = tag;
        p2p_recv_begin(r);
        *request = p2p_request_handle(r);
    }
    p2p_unlock();
    if (LIKELY(r != NULL))
        return MPI_SUCCESS;
    p2p_data_free(&d);
    return p2p_comm_error(c, MPI_ERR_NO_MEM);
}

#define IRECV(name, count_t)                                                                                 \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm,      \
                    MPI_Request *request) {                                                                  \
        struct comm *c = p2p_on && request ? p2p_comm_from(count, source, tag, comm) : NULL;                 \
        if (c)                                                                                               \
            return recv_start(c, buffer, count, type, source, tag, request);                                 \
        int rc = host_##name(buffer, count, type, source, tag, comm, request);                               \
        if (UNLIKELY(receives_are_counted))                                                                  \
            receives_note(rc, source, request);                                                              \
        return rc;                                                                                           \
    }

RECV(Recv, Irecv, int)
IRECV(Irecv, int)
#if HEARTH_MPI_COUNTS
RECV(Recv_c, Irecv_c, MPI_Count)
IRECV(Irecv_c, MPI_Count)
#endif
