/* p2p_channel.c: the transport to each process, and its queue of requests that wait for space.
 *
 *      peers[rank in MPI_COMM_WORLD]    sent, received    message numbers, so that the receiver processes them in order
 *                                       first -> request -> request    waits for space, in sending order
 *
 * A transport may be full: the shared memory of a node is bounded, and so is the data passed to the host MPI. What
 * does not fit waits in the peer's queue, as the request that it belongs to; control headers get a request of their
 * own. Once the queue is not empty, everything further to the same peer is queued behind it, except for control
 * headers, which are not numbered and may overtake.
 *
 * An answer expected from a peer is counted as owed. If a peer that owes an answer is inside an MPI call, its helper
 * thread is woken (p2p_progress.c). */
#include "mpi/messages/transport/p2p_channel.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "mpi/messages/transport/p2p_bounce.h"
#include "tables/shape.h"

enum { MOST_FLYING = 4 /* pieces of a transfer that the network has not sent */ };

struct p2p_peer *p2p_channel_waiting, *p2p_channel_owing;

void p2p_channel_close(void) {
    p2p_channel_waiting = p2p_channel_owing = NULL;
}

static int send_node(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                     uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        return net_node_send(p2p_node, p->node, h, d->first + from, bytes);
    void *payload;
    int rc = net_node_reserve(p2p_node, p->node, h, bytes, &payload);
    if (rc)
        return rc;
    p2p_data_gather(payload, d, from, bytes);
    net_node_commit(p2p_node);
    return 0;
}

int p2p_channel_try(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes) {
    if (LIKELY(p->node >= 0))
        return send_node(p, h, d, from, bytes);
    return p2p_bounce_send(p, h, d, from, bytes);
}

/* ---- owed answers ---- */

void p2p_channel_owe(struct p2p_peer *p) {
    p->owed++;
    if (p->owing || p->node < 0)
        return;
    p->owing = true;
    log_trace(LOG_MESSAGES, "rank %d owes an answer: it is woken if it blocks inside MPI", p->head.rank);
    p->next_owing = p2p_channel_owing;
    p2p_channel_owing = p;
}

void p2p_channel_paid(struct p2p_peer *p) {
    ASSERT(p->owed > 0);
    p->owed--;
}

bool p2p_channel_wake(void) {
    struct p2p_peer **link = &p2p_channel_owing;
    while (*link) {
        struct p2p_peer *p = *link;
        if (!p->owed && !p->first) {
            *link = p->next_owing;
            p->owing = false;
            continue;
        }
        if (net_node_is_inside(p2p_node, p->node))
            net_node_wake(p2p_node, p->node);
        link = &p->next_owing;
    }
    return p2p_channel_owing != NULL;
}

/* ---- the queue ---- */

static void channel_enqueue(struct p2p_peer *p, struct p2p_request *r) {
    log_trace(LOG_MESSAGES, "a message of %llu bytes to rank %d waits for room",
              (unsigned long long)r->header.bytes, p->head.rank);
    r->next = NULL;
    if (p->first)
        p->last->next = r;
    else
        p->first = r;
    p->last = r;
    p2p_counted.of.delayed++;
    if (!p->waiting) {
        p->waiting = true;
        p->next_waiting = p2p_channel_waiting;
        p2p_channel_waiting = p;
    }
    if (!p->owing) { /* the peer must make space */
        p2p_channel_owe(p);
        p2p_channel_paid(p);
    }
}

/* A message was sent; rc is the result of p2p_channel_try. The bounce buffers of MPI hold a copy of a buffered message, and no caller
 * waits for it to leave. */
static void sent(struct p2p_request *r, int rc) {
    p2p_channel_count(r->peer, r->header.bytes);
    if (r->header.kind != HEADER_EAGER)
        return;
    if (rc && (r->mode != MODE_BUFFERED || p2p_link_is_used))
        p2p_bounce_own(r);
    else
        p2p_request_finish(r);
}

/* The payload of an RTS: the address of the bytes if they can be pulled, else 0. */
static uint64_t pull_address(const struct p2p_request *r) {
    bool can = r->peer->node >= 0 && r->header.bytes >= p2p_node_pull_from &&
               shape_is_contiguous(&r->data.layout.shape);
    return can ? (uint64_t)(uintptr_t)r->data.first : 0;
}

/* Sends the next pieces of a transfer, as large as the transport allows: the eager limit of HEARTH_MATCH_EAGER, which may be
 * as low as 0, does not apply. */
static int send_piece(struct p2p_request *r) {
    uint64_t most = r->peer->node >= 0 ? net_node_eager(p2p_node) : P2P_LINK_MOST;
    while (r->moved < r->wanted) {
        if (r->flying == MOST_FLYING)
            return -EAGAIN;
        uint64_t left = r->wanted - r->moved, bytes = left < most ? left : most;
        struct header h = {.kind = HEADER_DATA, .id = r->answer, .bytes = bytes, .place = r->moved};
        int rc = p2p_channel_try(r->peer, &h, &r->data, r->moved, bytes);
        if (rc < 0)
            return rc;
        if (rc)
            p2p_bounce_own_piece(r);
        r->moved += bytes;
        ASSERT(r->moved <= r->wanted);
    }
    return 0;
}

/* All pieces have been passed to the transport; the last one that it sends completes the transfer. */
static void stream_end(struct p2p_request *r) {
    if (!r->flying)
        p2p_request_finish(r);
}

static int send_waiting(struct p2p_request *r) {
    if (r->kind == REQUEST_CONTROL)
        return p2p_channel_try(r->peer, &r->header, &r->data, 0, 0);
    if (r->wanted)
        return send_piece(r);
    if (r->header.kind != HEADER_RTS)
        return p2p_channel_try(r->peer, &r->header, &r->data, 0, r->header.bytes);
    uint64_t address = pull_address(r);
    log_trace(LOG_MESSAGES, "%llu bytes to rank %d are announced: the receiver %s",
              (unsigned long long)r->header.bytes, r->peer->head.rank,
              address ? "copies them from here" : "asks for them in pieces");
    struct data d;
    p2p_data_in_one(&d, &address, sizeof address);
    return p2p_channel_try(r->peer, &r->header, &d, 0, sizeof address);
}

/* The request has been sent. */
static void gone(struct p2p_request *r, int rc) {
    if (r->kind == REQUEST_CONTROL)
        p2p_request_free(r);
    else if (r->wanted)
        stream_end(r);
    else
        sent(r, rc);
}

void p2p_channel_send(struct p2p_request *r) {
    struct p2p_peer *p = r->peer;
    r->wanted = 0;
    r->header.id = (uint64_t)(uintptr_t)r;
    r->header.sequence = p->sent++;
    if (r->header.kind != HEADER_EAGER)
        p2p_channel_owe(p);
    p->announced += r->header.kind == HEADER_RTS;
    int rc = p->first ? -EAGAIN : send_waiting(r);
    if (rc >= 0)
        sent(r, rc);
    else
        channel_enqueue(p, r);
}

void p2p_channel_stream(struct p2p_request *r, uint64_t wanted, uint64_t answer) {
    log_trace(LOG_MESSAGES, "rank %d asks for %llu bytes in pieces", r->peer->head.rank,
              (unsigned long long)wanted);
    r->moved = 0;
    r->flying = 0;
    r->wanted = wanted;
    r->answer = answer;
    if (!r->peer->first && !send_piece(r))
        stream_end(r);
    else
        channel_enqueue(r->peer, r);
}

void p2p_channel_control(struct p2p_peer *p, enum header_kind kind, uint64_t id, uint64_t bytes,
                         uint64_t answer, uint64_t place) {
    struct header h = {.kind = kind, .id = id, .bytes = bytes, .answer = answer, .place = place};
    struct data none;
    p2p_data_in_one(&none, "", 0);
    if (p2p_channel_try(p, &h, &none, 0, 0) >= 0)
        return;
    struct p2p_request *r = p2p_request_new(REQUEST_CONTROL, NULL);
    if (!r)
        p2p_out_of_memory("an answer to a message");
    r->header = h;
    r->peer = p;
    channel_enqueue(p, r);
}

static int flush_peer(struct p2p_peer *p) {
    int n = 0;
    while (p->first) {
        struct p2p_request *r = p->first;
        int rc = send_waiting(r);
        if (rc < 0)
            break;
        ASSERT(r->peer == p && (r->next || p->last == r));
        p->first = r->next;
        gone(r, rc);
        n++;
    }
    return n;
}

int p2p_channel_flush(bool remote) {
    int n = 0;
    if (remote)
        p2p_bounce_batch_begin();
    struct p2p_peer **link = &p2p_channel_waiting;
    while (*link) {
        struct p2p_peer *p = *link;
        if (remote || p->node >= 0)
            n += flush_peer(p);
        if (p->first) {
            link = &p->next_waiting;
        } else {
            *link = p->next_waiting;
            p->waiting = false;
        }
    }
    if (remote)
        p2p_bounce_batch_end();
    return n;
}
