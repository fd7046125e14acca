/* probe.c: probes. MPI_Mprobe removes the message from the queue: its handle is a request that holds the message
 * until MPI_Mrecv. */
#include "mpi/messages/calls/probe.h"

#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/calls/complete.h"
#include "mpi/messages/state/status.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"

typedef int look(struct match *, int32_t, int32_t, uint32_t, void **);

/* Searches the queue and, if nothing is found, again after a round of progress. Requires the lock. */
static struct p2p_message *look_twice(look *how, int source, int tag, uint32_t context) {
    int32_t from = source == MPI_ANY_SOURCE ? MATCH_ANY_SOURCE : source;
    int32_t with = tag == MPI_ANY_TAG ? MATCH_ANY_TAG : tag;
    void *found = NULL;
    if (how(p2p_engine, from, with, context, &found) ||
        (p2p_progress() && how(p2p_engine, from, with, context, &found)))
        return found;
    return NULL;
}

/* Waits for a message if `wait`; another thread may free the communicator meanwhile. Returns with the lock held. */
static struct p2p_message *probe_find(look *how, int source, int tag, const struct comm *c, bool wait) {
    struct pause pause = {0};
    struct p2p_message *m;
    uint32_t context = c->context;
    p2p_lock();
    while (!(m = look_twice(how, source, tag, context)) && wait) {
        p2p_unlock();
        p2p_pause(&pause);
        p2p_lock();
    }
    return m;
}

static void probe_describe(MPI_Status *status, const struct p2p_message *m) {
    const struct header *h = p2p_message_header(m);
    p2p_status_set(status, h->source, h->tag, h->bytes, false);
}

/* ---- probes that leave the message in the queue ---- */

static bool probe(struct comm *c, int source, int tag, MPI_Status *status, bool wait) {
    struct p2p_message *m = probe_find(match_probe, source, tag, c, wait);
    if (m)
        probe_describe(status, m);
    p2p_unlock();
    if (m)
        acquire(EVENT_PROBE);
    return m != NULL;
}

/* On a communicator that is left to MPI. */
static int probe_host(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = host_real.Iprobe(source, tag, comm, &flag, status)) == MPI_SUCCESS && !flag)
        p2p_wait_round(&pause);
    return rc;
}

int p2p_probe_wait(int source, int tag, MPI_Comm comm) {
    return probe_host(source, tag, comm, MPI_STATUS_IGNORE);
}

int hook_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
    struct comm *c = p2p_on ? p2p_comm_from(0, source, tag, comm) : NULL;
    if (c) {
        probe(c, source, tag, status, true);
        return MPI_SUCCESS;
    }
    bool poll = p2p_comm_must_poll_in(comm);
    int rc = poll ? probe_host(source, tag, comm, status) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && (!poll || host_is_wrapped(Probe))) {
        p2p_enter();
        rc = host_Probe(source, tag, comm, status);
        p2p_leave();
    }
    acquire(EVENT_PROBE);
    return rc;
}

int hook_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    struct comm *c = p2p_on && flag ? p2p_comm_from(0, source, tag, comm) : NULL;
    if (c) {
        *flag = probe(c, source, tag, status, false);
        return MPI_SUCCESS;
    }
    p2p_poll();
    int rc = host_Iprobe(source, tag, comm, flag, status);
    if (rc != MPI_SUCCESS || *flag)
        acquire(EVENT_PROBE);
    return rc;
}

/* ---- probes that remove the message ---- */

/* Returns 1, 0 if there is none, or -1 if there is no memory for its handle: then it stays in the queue. */
static int probe_take(struct comm *c, int source, int tag, MPI_Message *message, MPI_Status *status,
                      bool wait) {
    p2p_lock();
    struct p2p_request *r = p2p_request_new(REQUEST_MESSAGE, c);
    p2p_unlock();
    if (!r)
        return -1;
    struct p2p_message *m = probe_find(match_take, source, tag, c, wait);
    r->message = m;
    if (m) {
        probe_describe(status, m);
        *message = (MPI_Message)p2p_request_handle(r);
    } else {
        p2p_request_free(r);
    }
    p2p_unlock();
    if (m)
        acquire(EVENT_PROBE);
    return m != NULL;
}

static int mprobe_host(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = host_real.Improbe(source, tag, comm, &flag, message, status)) == MPI_SUCCESS && !flag)
        p2p_wait_round(&pause);
    return rc;
}

int hook_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct comm *c = p2p_on && message ? p2p_comm_from(0, source, tag, comm) : NULL;
    if (c)
        return probe_take(c, source, tag, message, status, true) > 0 ? MPI_SUCCESS
                                                                     : p2p_comm_error(c, MPI_ERR_NO_MEM);
    bool poll = p2p_comm_must_poll_in(comm), wrapped = host_is_wrapped(Mprobe);
    int rc = !poll     ? MPI_SUCCESS
             : wrapped ? p2p_probe_wait(source, tag, comm)
                       : mprobe_host(source, tag, comm, message, status);
    if (rc == MPI_SUCCESS && (!poll || wrapped)) {
        p2p_enter();
        rc = host_Mprobe(source, tag, comm, message, status);
        p2p_leave();
    }
    acquire(EVENT_PROBE);
    return rc;
}

int hook_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
    struct comm *c = p2p_on && message && flag ? p2p_comm_from(0, source, tag, comm) : NULL;
    if (c) {
        int found = probe_take(c, source, tag, message, status, false);
        if (found >= 0)
            *flag = found;
        return found >= 0 ? MPI_SUCCESS : p2p_comm_error(c, MPI_ERR_NO_MEM);
    }
    p2p_poll();
    int rc = host_Improbe(source, tag, comm, flag, message, status);
    if (rc != MPI_SUCCESS || *flag)
        acquire(EVENT_PROBE);
    return rc;
}

/* The request of the message becomes that of the receive. */
static int probe_receive(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                         struct p2p_request **made) {
    struct p2p_request *r = p2p_message_request(*message);
    int rc = count < 0 ? p2p_comm_error(r->comm, MPI_ERR_COUNT)
                       : p2p_data_make(&r->data, buffer, count, type, r->comm, true);
    if (rc != MPI_SUCCESS)
        return rc;
    struct p2p_message *m = r->message;
    r->kind = REQUEST_RECV;
    r->message = NULL;
    *message = MPI_MESSAGE_NULL;
    *made = r;
    p2p_lock();
    p2p_arrive_take(r, m);
    p2p_unlock();
    return MPI_SUCCESS;
}

static int receive_and_wait(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                            MPI_Status *status) {
    struct p2p_request *r;
    int rc = probe_receive(buffer, count, type, message, &r);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Request request = p2p_request_handle(r);
    rc = p2p_complete_wait(&request, status);
    acquire(EVENT_RECV);
    return rc;
}

static int receive_later(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                         MPI_Request *request) {
    struct p2p_request *r;
    int rc = probe_receive(buffer, count, type, message, &r);
    if (rc == MPI_SUCCESS)
        *request = p2p_request_handle(r);
    return rc;
}

static bool probe_is_ours(const MPI_Message *message) {
    return p2p_on && message && p2p_message_is_ours(*message);
}

#define MRECV(name, nonblocking, count_t)                                                                    \
    int hook_##name(void *buffer, count_t count, MPI_Datatype type, MPI_Message *message,                    \
                    MPI_Status *status) {                                                                    \
        MPI_Request request;                                                                                 \
        int rc;                                                                                              \
        if (probe_is_ours(message))                                                                          \
            return receive_and_wait(buffer, count, type, message, status);                                   \
        if (p2p_comm_must_poll() && !host_is_wrapped(name)) {                                                \
            rc = p2p_wait_nonblocking(host_real.nonblocking(buffer, count, type, message, &request),         \
                                      &request, status);                                                     \
        } else {                                                                                             \
            p2p_enter();                                                                                     \
            rc = host_##name(buffer, count, type, message, status);                                          \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        acquire(EVENT_RECV);                                                                                 \
        return rc;                                                                                           \
    }

MRECV(Mrecv, Imrecv, int)

int hook_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
    if (probe_is_ours(message) && request)
        return receive_later(buffer, count, type, message, request);
    return host_Imrecv(buffer, count, type, message, request);
}

#if HEARTH_MPI_COUNTS
MRECV(Mrecv_c, Imrecv_c, MPI_Count)

int hook_Imrecv_c(void *buffer, MPI_Count count, MPI_Datatype type, MPI_Message *message,
                  MPI_Request *request) {
    if (probe_is_ours(message) && request)
        return receive_later(buffer, count, type, message, request);
    return host_Imrecv_c(buffer, count, type, message, request);
}
#endif
