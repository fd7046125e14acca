/* send.c: sends of all modes, blocking and non-blocking.
 *
 * A small message is copied out immediately if there is space, without a request: a blocking send returns, and
 * non-blocking sends return one shared request that is complete. Every other send has its own request, on the stack
 * of a blocking call, which returns when it is done, or from the table. A buffered send copies the message; no caller
 * waits for its request. */
#include "mpi/messages/calls/send.h"

#include "base/compiler.h"
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/state/p2p_buffered.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_bounce.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"
#include "mpi/windows/caching/inflight/rma_request.h"

enum { LOOK_EVERY = 64 }; /* sends: even a program that only sends polls for arrivals now and then */

static inline struct header header_of(const struct comm *c, int tag, uint64_t bytes) {
    return (struct header){
        .kind = HEADER_EAGER, .bytes = bytes, .context = c->context, .source = c->rank, .tag = tag};
}

/* Sends a small message immediately. Returns 0; 1 if MPI has accepted it but not sent it yet; negative if it needs a
 * request. */
static inline int send_now(struct comm *c, struct data *d, int dest, int tag) {
    struct p2p_peer *p = p2p_peer_find(p2p_comm_world_rank(c, dest));
    uint64_t bytes = p2p_data_bytes(d);
    if (UNLIKELY(!p || p->first || p->head.rank == p2p_rank || bytes > p2p_channel_eager(p)))
        return -1;
    struct header h = header_of(c, tag, bytes);
    h.sequence = p->sent;
    int rc = p2p_channel_try(p, &h, d, 0, bytes);
    if (UNLIKELY(rc < 0))
        return rc;
    p->sent++;
    p2p_channel_count(p, bytes);
    return rc;
}

/* The network holds the message: the send completes when it has left. Without memory for a request the call waits. */
static void wait_to_leave(struct comm *c, MPI_Request *request) {
    struct p2p_request here, *r = request ? p2p_request_new(REQUEST_SEND, c) : NULL;
    if (r) {
        *request = p2p_request_handle(r);
        p2p_bounce_own(r);
        return;
    }
    p2p_request_fill(&here, REQUEST_SEND, c);
    p2p_bounce_own(&here);
    p2p_wait(&here);
    if (request)
        *request = p2p_request_handle(p2p_request_sent);
}

static inline void look_around(void) {
    static unsigned sends;
    if (UNLIKELY(++sends % LOOK_EVERY == 0))
        p2p_progress();
}

void p2p_send_begin(struct p2p_request *r) {
    struct p2p_peer *p = p2p_peer_of(p2p_comm_world_rank(r->comm, r->rank));
    uint64_t bytes = p2p_data_bytes(&r->data),
             most = p->head.rank == p2p_rank ? SELF_EAGER : p2p_channel_eager(p);
    r->peer = p;
    r->header = header_of(r->comm, r->tag, bytes);
    if (bytes > most)
        r->header.kind = HEADER_RTS;
    else if (r->mode == MODE_SYNC)
        r->header.kind = HEADER_SYNC;
    if (p->head.rank == p2p_rank)
        p2p_arrive_self(r);
    else
        p2p_channel_send(r);
}

static void send_describe(struct p2p_request *r, struct data *d, int dest, int tag, enum send_mode mode) {
    r->data = *d;
    r->mode = (uint8_t)mode;
    r->rank = dest;
    r->tag = tag;
}

/* ---- with a request; these take ownership of d ---- */

static int wait_here(struct comm *c, struct data *d, int dest, int tag, enum send_mode mode) {
    struct p2p_request r;
    p2p_request_fill(&r, REQUEST_SEND, c);
    send_describe(&r, d, dest, tag, mode);
    p2p_send_begin(&r);
    p2p_wait(&r);
    p2p_data_free(&r.data);
    return MPI_SUCCESS;
}

/* Space comes back when messages leave, which takes progress. */
static bool buffer_take(struct p2p_request *r) {
    if (p2p_buffered_take(r))
        return true;
    p2p_progress();
    return p2p_buffered_take(r);
}

/* Makes a round of progress: the program need not make any call that waits. */
int p2p_send_copy(struct comm *c, struct data *d, int dest, int tag) {
    struct p2p_request *r = p2p_request_new(REQUEST_SEND, c);
    if (!r)
        return MPI_ERR_NO_MEM;
    int rc = p2p_data_copy(&r->data, d) ? MPI_ERR_NO_MEM : buffer_take(r) ? MPI_SUCCESS : MPI_ERR_BUFFER;
    if (rc != MPI_SUCCESS) {
        p2p_request_free(r);
        return rc;
    }
    r->mode = MODE_BUFFERED;
    r->rank = dest;
    r->tag = tag;
    r->orphan = true;
    p2p_send_begin(r);
    p2p_progress();
    return MPI_SUCCESS;
}

static int send_leave(struct comm *c, struct data *d, int dest, int tag, enum send_mode mode,
                      MPI_Request *request) {
    struct p2p_request *r = p2p_request_new(REQUEST_SEND, c);
    if (!r) {
        p2p_data_free(d);
        return MPI_ERR_NO_MEM;
    }
    send_describe(r, d, dest, tag, mode);
    p2p_send_begin(r);
    *request = p2p_request_handle(r);
    return MPI_SUCCESS;
}

static int send_slow(struct comm *c, struct data *d, int dest, int tag, enum send_mode mode,
                     MPI_Request *request) {
    if (!p2p_peer_find(p2p_comm_world_rank(c, dest))) {
        p2p_data_free(d);
        return MPI_ERR_NO_MEM;
    }
    if (mode == MODE_BUFFERED) {
        int rc = p2p_send_copy(c, d, dest, tag);
        p2p_data_free(d);
        if (request && rc == MPI_SUCCESS)
            *request = p2p_request_handle(p2p_request_sent);
        return rc;
    }
    return request ? send_leave(c, d, dest, tag, mode, request) : wait_here(c, d, dest, tag, mode);
}

/* ---- the calls ---- */

/* request: NULL if the call blocks. */
__attribute__((always_inline)) static inline int send_any(struct comm *c, const void *buffer, MPI_Count count,
                                                          MPI_Datatype type, int dest, int tag,
                                                          enum send_mode mode, MPI_Request *request) {
    struct data d;
    int rc = p2p_data_make(&d, buffer, count, type, c, false);
    if (UNLIKELY(rc != MPI_SUCCESS))
        return rc;
    p2p_lock();
    bool at_once = mode != MODE_SYNC && mode != MODE_BUFFERED;
    int left = at_once ? send_now(c, &d, dest, tag) : -1;
    if (LIKELY(left >= 0)) {
        if (UNLIKELY(left))
            wait_to_leave(c, request);
        else if (request)
            *request = p2p_request_handle(p2p_request_sent);
        p2p_data_free(&d);
        look_around();
    } else {
        rc = send_slow(c, &d, dest, tag, mode, request);
    }
    p2p_unlock();
    if (!request && mode == MODE_SYNC)
        acquire(EVENT_SEND_SYNC);
    return LIKELY(rc == MPI_SUCCESS) ? rc : p2p_comm_error(c, rc);
}

#define SEND(name, nonblocking, count_t, mode)                                                               \
    int hook_##name(const void *buffer, count_t count, MPI_Datatype type, int dest, int tag,                 \
                    MPI_Comm comm) {                                                                         \
        struct comm *c = p2p_on ? p2p_comm_to(count, dest, tag, comm) : NULL;                                \
        if (c)                                                                                               \
            return send_any(c, buffer, count, type, dest, tag, mode, NULL);                                  \
        int rc;                                                                                              \
        if (p2p_comm_must_poll_in(comm) && !host_is_wrapped(name)) {                                         \
            MPI_Request request;                                                                             \
            rc = host_real.nonblocking(buffer, count, type, dest, tag, comm, &request);                      \
            rc = p2p_wait_nonblocking(rc, &request, MPI_STATUS_IGNORE);                                      \
        } else {                                                                                             \
            p2p_enter();                                                                                     \
            rc = host_##name(buffer, count, type, dest, tag, comm);                                          \
            p2p_leave();                                                                                     \
        }                                                                                                    \
        if (mode == MODE_SYNC)                                                                               \
            acquire(EVENT_SEND_SYNC);                                                                        \
        return rc;                                                                                           \
    }

#define ISEND(name, count_t, mode)                                                                           \
    int hook_##name(const void *buffer, count_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,  \
                    MPI_Request *request) {                                                                  \
        struct comm *c = p2p_on && request ? p2p_comm_to(count, dest, tag, comm) : NULL;                     \
        if (c)                                                                                               \
            return send_any(c, buffer, count, type, dest, tag, mode, request);                               \
        int rc = host_##name(buffer, count, type, dest, tag, comm, request);                                 \
        if (mode != MODE_SYNC && rc == MPI_SUCCESS)                                                          \
            rma_request_sent(*request);                                                                      \
        return rc;                                                                                           \
    }

SEND(Send, Isend, int, MODE_STANDARD)
SEND(Bsend, Ibsend, int, MODE_BUFFERED)
SEND(Ssend, Issend, int, MODE_SYNC)
SEND(Rsend, Irsend, int, MODE_READY)
ISEND(Isend, int, MODE_STANDARD)
ISEND(Ibsend, int, MODE_BUFFERED)
ISEND(Issend, int, MODE_SYNC)
ISEND(Irsend, int, MODE_READY)
#if HEARTH_MPI_COUNTS
SEND(Send_c, Isend_c, MPI_Count, MODE_STANDARD)
SEND(Bsend_c, Ibsend_c, MPI_Count, MODE_BUFFERED)
SEND(Ssend_c, Issend_c, MPI_Count, MODE_SYNC)
SEND(Rsend_c, Irsend_c, MPI_Count, MODE_READY)
ISEND(Isend_c, MPI_Count, MODE_STANDARD)
ISEND(Ibsend_c, MPI_Count, MODE_BUFFERED)
ISEND(Issend_c, MPI_Count, MODE_SYNC)
ISEND(Irsend_c, MPI_Count, MODE_READY)
#endif
