/* sendrecv.c: a send and a receive in one call. The receive is posted first, then the call waits for both. The
 * non-blocking form returns the request of the receive, which completes when both are done (p2p_request.c). Either
 * partner may be MPI_PROC_NULL. */
#include <limits.h>

#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/observe/receives.h"
#include "mpi/messages/calls/recv.h"
#include "mpi/messages/calls/send.h"
#include "mpi/messages/state/status.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"

struct pair {
    int dest, stag, source, rtag;
};

/* The managed communicator, if at least one partner is not MPI_PROC_NULL. */
static struct comm *comm_of_pair(MPI_Count scount, MPI_Count rcount, struct pair p, MPI_Comm comm) {
    if (!p2p_on || (p.dest == MPI_PROC_NULL && p.source == MPI_PROC_NULL))
        return NULL;
    struct comm *c = p2p_comm_from(rcount, p.source == MPI_PROC_NULL ? 0 : p.source, p.rtag, comm);
    return c && p2p_comm_to(scount, p.dest == MPI_PROC_NULL ? 0 : p.dest, p.stag, comm) ? c : NULL;
}

static void receive_nothing(struct p2p_request *r) {
    r->got_source = MPI_PROC_NULL;
    r->got_tag = MPI_ANY_TAG;
    r->got_bytes = 0;
    p2p_request_finish(r);
}

static void sendrecv_begin(struct p2p_request *r, struct p2p_request *s) {
    if (r->rank == MPI_PROC_NULL)
        receive_nothing(r);
    else
        p2p_recv_begin(r);
    if (s->rank == MPI_PROC_NULL)
        p2p_request_finish(s);
    else
        p2p_send_begin(s);
}

/* The data to send and the buffer to receive into. With replace both are the same memory, so the data is copied
 * first. */
struct both {
    struct data send, receive;
};

static int sendrecv_describe(struct both *b, struct comm *c, const void *sbuffer, MPI_Count scount,
                             MPI_Datatype stype, void *rbuffer, MPI_Count rcount, MPI_Datatype rtype,
                             bool replace) {
    int rc = p2p_data_make(&b->send, sbuffer, scount, stype, c, false);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = p2p_data_make(&b->receive, rbuffer, rcount, rtype, c, true);
    if (rc == MPI_SUCCESS && replace && p2p_data_detach(&b->send)) {
        p2p_data_free(&b->receive);
        rc = p2p_comm_error(c, MPI_ERR_NO_MEM);
    }
    if (rc != MPI_SUCCESS)
        p2p_data_free(&b->send);
    return rc;
}

static void sendrecv_fill(struct p2p_request *r, struct p2p_request *s, struct both *b, struct pair p) {
    r->data = b->receive;
    r->rank = p.source;
    r->tag = p.rtag;
    s->data = b->send;
    s->rank = p.dest;
    s->tag = p.stag;
}

static int sendrecv_exchange(struct comm *c, struct both *b, struct pair p, MPI_Status *status) {
    struct p2p_request r, s;
    p2p_request_fill(&r, REQUEST_RECV, c);
    p2p_request_fill(&s, REQUEST_SEND, c);
    sendrecv_fill(&r, &s, b, p);
    p2p_comm_lock(c);
    sendrecv_begin(&r, &s);
    p2p_wait(&s);
    p2p_wait(&r);
    int rc = p2p_request_conclude(&r);
    p2p_comm_unlock(c, rc);
    p2p_status_of(status, &r);
    p2p_data_free(&r.data);
    p2p_data_free(&s.data);
    acquire(EVENT_RECV);
    return rc == MPI_SUCCESS ? rc : p2p_comm_fail(c, rc);
}

/* ---- on a communicator that is left to MPI, where no call may wait inside MPI ---- */

/* Both were started; sent: the code that the start of the send returned. */
static int wait_for_both(int sent, MPI_Request *s, MPI_Request *r, MPI_Status *status) {
    if (sent != MPI_SUCCESS) {
        host_real.Cancel(r);
        host_real.Wait(r, MPI_STATUS_IGNORE);
        return sent;
    }
    int rc = p2p_wait_host(s, MPI_STATUS_IGNORE), received = p2p_wait_host(r, status);
    return rc != MPI_SUCCESS ? rc : received;
}

/* Copies the data that is sent and then replaced; d must be freed. False: no copy is possible, and MPI makes the
 * call. */
static bool copy_foreign(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type,
                         MPI_Comm comm, int *rc) {
    struct comm shadow = {.handle = comm};
    *rc = p2p_data_make(d, buffer, count, type, &shadow, false);
    if (*rc != MPI_SUCCESS)
        return true;
    if (p2p_data_bytes(d) <= INT_MAX && !p2p_data_detach(d))
        return true;
    p2p_data_free(d);
    return false;
}

#define SENDRECV(name, send, receive, count_t)                                                               \
    int hook_##name(const void *sbuffer, count_t scount, MPI_Datatype stype, int dest, int stag,             \
                    void *rbuffer, count_t rcount, MPI_Datatype rtype, int source, int rtag, MPI_Comm comm,  \
                    MPI_Status *status) {                                                                    \
        struct pair p = {dest, stag, source, rtag};                                                          \
        struct comm *c = comm_of_pair(scount, rcount, p, comm);                                              \
        struct both b;                                                                                       \
        if (c) {                                                                                             \
            int rc = sendrecv_describe(&b, c, sbuffer, scount, stype, rbuffer, rcount, rtype, false);        \
            return rc == MPI_SUCCESS ? sendrecv_exchange(c, &b, p, status) : rc;                             \
        }                                                                                                    \
        int rc;                                                                                              \
        if (UNLIKELY(receives_are_counted))                                                                  \
            receives_note_blocking(source);                                                                  \
        if (p2p_comm_must_poll_in(comm) && !host_is_wrapped(name)) {                                         \
            MPI_Request s, r;                                                                                \
            rc = host_real.receive(rbuffer, rcount, rtype, source, rtag, comm, &r);                          \
            if (rc == MPI_SUCCESS)                                                                           \
                rc = wait_for_both(host_real.send(sbuffer, scount, stype, dest, stag, comm, &s), &s, &r,     \
                                   status);                                                                  \
        } else {                                                                                             \
            p2p_enter();                                                                                     \
            rc = host_##name(sbuffer, scount, stype, dest, stag, rbuffer, rcount, rtype, source, rtag, comm, \
                             status);                                                                        \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        acquire(EVENT_RECV);                                                                                 \
        return rc;                                                                                           \
    }

#define SENDRECV_REPLACE(name, receive, count_t)                                                             \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, int dest, int stag, int source,          \
                    int rtag, MPI_Comm comm, MPI_Status *status) {                                           \
        struct pair p = {dest, stag, source, rtag};                                                          \
        struct comm *c = comm_of_pair(count, count, p, comm);                                                \
        struct both b;                                                                                       \
        if (c) {                                                                                             \
            int rc = sendrecv_describe(&b, c, buffer, count, type, buffer, count, type, true);               \
            return rc == MPI_SUCCESS ? sendrecv_exchange(c, &b, p, status) : rc;                             \
        }                                                                                                    \
        struct data d;                                                                                       \
        int rc = MPI_SUCCESS;                                                                                \
        if (UNLIKELY(receives_are_counted))                                                                  \
            receives_note_blocking(source);                                                                  \
        if (p2p_comm_must_poll_in(comm) && !host_is_wrapped(name) &&                                         \
            copy_foreign(&d, buffer, count, type, comm, &rc)) {                                              \
            MPI_Request s, r;                                                                                \
            if (rc != MPI_SUCCESS)                                                                           \
                return rc;                                                                                   \
            rc = host_real.receive(buffer, count, type, source, rtag, comm, &r);                             \
            if (rc == MPI_SUCCESS)                                                                           \
                rc = wait_for_both(                                                                          \
                    host_real.Isend(d.first, (int)p2p_data_bytes(&d), MPI_PACKED, dest, stag, comm, &s), &s, \
                    &r, status);                                                                             \
            p2p_data_free(&d);                                                                               \
        } else {                                                                                             \
            p2p_enter();                                                                                     \
            rc = host_##name(buffer, count, type, dest, stag, source, rtag, comm, status);                   \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        acquire(EVENT_RECV);                                                                                 \
        return rc;                                                                                           \
    }

SENDRECV(Sendrecv, Isend, Irecv, int)
SENDRECV_REPLACE(Sendrecv_replace, Irecv, int)

#if HEARTH_MPI_COUNTS
SENDRECV(Sendrecv_c, Isend_c, Irecv_c, MPI_Count)
SENDRECV_REPLACE(Sendrecv_replace_c, Irecv_c, MPI_Count)
#endif

#if HEARTH_MPI_4_0
static int start_exchange(struct comm *c, struct both *b, struct pair p, MPI_Request *request) {
    p2p_lock();
    struct p2p_request *r = p2p_request_new(REQUEST_RECV, c),
                       *s = r ? p2p_request_new(REQUEST_SEND, c) : NULL;
    if (s) {
        sendrecv_fill(r, s, b, p);
        r->partner = s;
        s->partner = r;
        s->orphan = true;
        *request = p2p_request_handle(r);
        sendrecv_begin(r, s);
    } else if (r) {
        p2p_request_free(r);
    }
    p2p_unlock();
    if (s)
        return MPI_SUCCESS;
    p2p_data_free(&b->send);
    p2p_data_free(&b->receive);
    return p2p_comm_error(c, MPI_ERR_NO_MEM);
}

static int exchange_note(int rc, int source, const MPI_Request *request) {
    if (UNLIKELY(receives_are_counted))
        receives_note(rc, source, request);
    return rc;
}

#define ISENDRECV(name, count_t)                                                                             \
    int hook_##name(const void *sbuffer, count_t scount, MPI_Datatype stype, int dest, int stag,             \
                    void *rbuffer, count_t rcount, MPI_Datatype rtype, int source, int rtag, MPI_Comm comm,  \
                    MPI_Request *request) {                                                                  \
        struct pair p = {dest, stag, source, rtag};                                                          \
        struct comm *c = request ? comm_of_pair(scount, rcount, p, comm) : NULL;                             \
        struct both b;                                                                                       \
        if (!c)                                                                                              \
            return exchange_note(host_##name(sbuffer, scount, stype, dest, stag, rbuffer, rcount, rtype,     \
                                             source, rtag, comm, request),                                   \
                                 source, request);                                                           \
        int rc = sendrecv_describe(&b, c, sbuffer, scount, stype, rbuffer, rcount, rtype, false);            \
        return rc == MPI_SUCCESS ? start_exchange(c, &b, p, request) : rc;                                   \
    }

#define ISENDRECV_REPLACE(name, count_t)                                                                     \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, int dest, int stag, int source,          \
                    int rtag, MPI_Comm comm, MPI_Request *request) {                                         \
        struct pair p = {dest, stag, source, rtag};                                                          \
        struct comm *c = request ? comm_of_pair(count, count, p, comm) : NULL;                               \
        struct both b;                                                                                       \
        if (!c)                                                                                              \
            return exchange_note(host_##name(buffer, count, type, dest, stag, source, rtag, comm, request),  \
                                 source, request);                                                           \
        int rc = sendrecv_describe(&b, c, buffer, count, type, buffer, count, type, true);                   \
        return rc == MPI_SUCCESS ? start_exchange(c, &b, p, request) : rc;                                   \
    }

ISENDRECV(Isendrecv, int)
ISENDRECV_REPLACE(Isendrecv_replace, int)
#endif
#if HEARTH_MPI_COUNTS
ISENDRECV(Isendrecv_c, MPI_Count)
ISENDRECV_REPLACE(Isendrecv_replace_c, MPI_Count)
#endif
