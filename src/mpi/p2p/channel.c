/* channel.c: the transport to each process, and its queue of requests that wait for space.
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
 * thread is woken (progress.c). */
#include <errno.h>
#include <stdlib.h>

#include "mpi/p2p/p2p.h"

struct peer *p2p_peers, *channel_waiting, *channel_owing;
_Alignas(LIVE_ALONE) union p2p_counted p2p_counted;

int channel_open(void) {
    p2p_peers = calloc((size_t)p2p_size, sizeof *p2p_peers);
    for (int i = 0; p2p_peers && i < p2p_size; i++)
        p2p_peers[i] = (struct peer){.node = -1, .world = i};
    return p2p_peers ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void channel_close(void) {
    free(p2p_peers);
    p2p_peers = channel_waiting = channel_owing = NULL;
}

static int send_node(struct peer *p, const struct head *h, struct data *d, uint64_t from, uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        return net_node_send(p2p_node, p->node, h, d->first + from, bytes);
    void *payload;
    int rc = net_node_reserve(p2p_node, p->node, h, bytes, &payload);
    if (rc)
        return rc;
    data_gather(payload, d, from, bytes);
    net_node_commit(p2p_node);
    return 0;
}

int channel_try(struct peer *p, const struct head *h, struct data *d, uint64_t from, uint64_t bytes) {
    if (LIKELY(p->node >= 0))
        return send_node(p, h, d, from, bytes);
    return far_try(p, h, d, from, bytes);
}

/* ---- owed answers ---- */

void channel_owe(struct peer *p) {
    p->owed++;
    if (p->owing || p->node < 0)
        return;
    p->owing = true;
    p->next_owing = channel_owing;
    channel_owing = p;
}

void channel_paid(struct peer *p) {
    p->owed--;
}

bool channel_wake(void) {
    struct peer **link = &channel_owing;
    while (*link) {
        struct peer *p = *link;
        if (!p->owed && !p->first) {
            *link = p->next_owing;
            p->owing = false;
            continue;
        }
        if (net_node_is_inside(p2p_node, p->node))
            net_node_wake(p2p_node, p->node);
        link = &p->next_owing;
    }
    return channel_owing != NULL;
}

/* ---- the queue ---- */

static void enqueue(struct peer *p, struct request *r) {
    r->next = NULL;
    if (p->first)
        p->last->next = r;
    else
        p->first = r;
    p->last = r;
    p2p_counted.of.delayed++;
    if (!p->waiting) {
        p->waiting = true;
        p->next_waiting = channel_waiting;
        channel_waiting = p;
    }
    if (!p->owing) { /* the peer must make space */
        channel_owe(p);
        channel_paid(p);
    }
}

/* A message was sent; rc is the result of channel_try. A buffered message is in Hearth's memory, and no caller waits
 * for it to leave. */
static void sent(struct request *r, int rc) {
    channel_count(r->peer, r->head.bytes);
    if (r->head.kind != HEAD_EAGER)
        return;
    if (rc && r->mode != MODE_BUFFERED)
        far_own(r);
    else
        request_finish(r);
}

/* The payload of an RTS: the address of the bytes if they can be pulled, else 0. */
static uint64_t pull_address(const struct request *r) {
    bool can = r->peer->node >= 0 && net_node_can_pull(p2p_node) &&
               shape_is_contiguous(&r->data.layout.shape) && r->head.bytes >= settings_get()->match_pull;
    return can ? (uint64_t)(uintptr_t)r->data.first : 0;
}

/* Sends the next pieces of a transfer, as large as the transport allows; the eager limit may be set lower, down to 0. */
static int send_piece(struct request *r) {
    uint64_t most = net_node_eager(p2p_node);
    while (r->moved < r->wanted) {
        uint64_t left = r->wanted - r->moved, bytes = left < most ? left : most;
        struct head h = {.kind = HEAD_DATA, .id = r->answer, .bytes = bytes, .place = r->moved};
        int rc = channel_try(r->peer, &h, &r->data, r->moved, bytes);
        if (rc)
            return rc;
        r->moved += bytes;
    }
    return 0;
}

static int send_waiting(struct request *r) {
    if (r->kind == REQUEST_CONTROL)
        return channel_try(r->peer, &r->head, &r->data, 0, 0);
    if (r->wanted)
        return send_piece(r);
    if (r->head.kind != HEAD_RTS)
        return channel_try(r->peer, &r->head, &r->data, 0, r->head.bytes);
    uint64_t address = pull_address(r);
    struct data d;
    data_in_one(&d, &address, sizeof address);
    return channel_try(r->peer, &r->head, &d, 0, sizeof address);
}

/* The request has been sent. */
static void gone(struct request *r, int rc) {
    if (r->kind == REQUEST_CONTROL)
        request_free(r);
    else if (r->wanted)
        request_finish(r);
    else
        sent(r, rc);
}

void channel_send(struct request *r) {
    struct peer *p = r->peer;
    r->wanted = 0;
    r->head.id = (uint64_t)(uintptr_t)r;
    r->head.sequence = p->sent++;
    if (r->head.kind != HEAD_EAGER)
        channel_owe(p);
    int rc = p->first ? -EAGAIN : send_waiting(r);
    if (rc >= 0)
        sent(r, rc);
    else
        enqueue(p, r);
}

void channel_stream(struct request *r, uint64_t wanted, uint64_t answer) {
    r->moved = 0;
    r->wanted = wanted;
    r->answer = answer;
    if (!r->peer->first && !send_piece(r))
        request_finish(r);
    else
        enqueue(r->peer, r);
}

void channel_control(struct peer *p, enum head_kind kind, uint64_t id, uint64_t bytes, uint64_t answer,
                     uint64_t place) {
    struct head h = {.kind = kind, .id = id, .bytes = bytes, .answer = answer, .place = place};
    struct data none;
    data_in_one(&none, "", 0);
    if (channel_try(p, &h, &none, 0, 0) >= 0)
        return;
    struct request *r = request_new(REQUEST_CONTROL, NULL);
    if (!r)
        p2p_out_of_memory("an answer to a message");
    r->head = h;
    r->peer = p;
    enqueue(p, r);
}

static int flush_peer(struct peer *p) {
    int n = 0;
    while (p->first) {
        struct request *r = p->first;
        int rc = send_waiting(r);
        if (rc < 0)
            break;
        p->first = r->next;
        gone(r, rc);
        n++;
    }
    return n;
}

int channel_flush(bool far) {
    int n = 0;
    struct peer **link = &channel_waiting;
    while (*link) {
        struct peer *p = *link;
        if (far || p->node >= 0)
            n += flush_peer(p);
        if (p->first) {
            link = &p->next_waiting;
        } else {
            *link = p->next_waiting;
            p->waiting = false;
        }
    }
    return n;
}
