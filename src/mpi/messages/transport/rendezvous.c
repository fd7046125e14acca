/* rendezvous.c: messages too large to be sent before a receive matches them.
 *
 *      sender                          receiver
 *      RTS: header, address ------>    matched
 *                                      on one node, very large, contiguous, and the kernel permits it: pulls the bytes in one copy
 *            <--------------- FIN
 *                                      on one node otherwise:
 *            <--------------- CTS
 *      DATA, DATA, DATA ---------->    copied to the receive buffer; the shared memory bounds the number in flight
 *
 *                                      through the host MPI:
 *            <--------------- CTS      after a receive for it was posted there (p2p_remote.c)
 *      MPI_Isend -----------------> */
#include "mpi/messages/transport/rendezvous.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "tables/shape.h"

enum { PIECE = 64 << 10 }; /* pulled per step into a non-contiguous buffer */

/* Pulls bytes [0, wanted) of the message, piece by piece through a buffer. */
static int pull_shaped(struct p2p_request *r, struct p2p_peer *p, uint64_t address, uint64_t wanted) {
    char *piece = malloc(PIECE);
    int rc = piece ? 0 : -ENOMEM;
    for (uint64_t at = 0, n; !rc && at < wanted; at += n) {
        n = wanted - at < PIECE ? wanted - at : PIECE;
        rc = net_node_pull(p2p_node, p->node, address + at, piece, n);
        if (!rc)
            p2p_data_scatter(&r->data, at, piece, n);
    }
    free(piece);
    return rc;
}

static int rendezvous_pull(struct p2p_request *r, struct p2p_peer *p, uint64_t address) {
    if (shape_is_contiguous(&r->data.layout.shape))
        return net_node_pull(p2p_node, p->node, address, r->data.first, r->got_bytes);
    return pull_shaped(r, p, address, r->got_bytes);
}

void p2p_rendezvous_begin(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                          uint64_t address) {
    p2p_counted.of.rendezvous++;
    if (p->node < 0) {
        log_trace(LOG_MESSAGES, "%llu bytes from rank %d are received through MPI",
                  (unsigned long long)r->got_bytes, p->head.rank);
        p2p_channel_owe(p);
        p2p_remote_receive(r, p, h);
        return;
    }
    bool there = !r->got_bytes || (address && !rendezvous_pull(r, p, address));
    p2p_counted.of.pulled += there;
    log_trace(LOG_MESSAGES, "%llu bytes from rank %d: %s", (unsigned long long)r->got_bytes, p->head.rank,
              there     ? "copied from the sender's memory"
              : address ? "they could not be copied from the sender's memory: asked for in pieces"
                        : "asked for in pieces");
    if (there) {
        p2p_channel_control(p, HEADER_FIN, h->id, 0, 0, 0);
        p2p_request_finish(r);
        return;
    }
    r->moved = 0;
    r->wanted = r->got_bytes;
    p2p_channel_owe(p);
    p2p_channel_control(p, HEADER_CTS, h->id, r->wanted, (uint64_t)(uintptr_t)r, 0);
}

void p2p_rendezvous_cts(struct p2p_request *r, struct p2p_peer *p, const struct header *h) {
    if (p->node < 0)
        p2p_remote_send_bulk(r, h->place);
    else
        p2p_channel_stream(r, h->bytes, h->answer);
}

void p2p_rendezvous_data(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                         const void *payload) {
    p2p_data_scatter(&r->data, h->place, payload, h->bytes);
    r->moved += h->bytes;
    if (r->moved < r->wanted)
        return;
    p2p_channel_paid(p);
    p2p_request_finish(r);
}
