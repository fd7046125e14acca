/* rendezvous.c: messages too large to be sent before a receive matches them.
 *
 *      sender                          receiver
 *      RTS: header, address ------>    matched
 *                                      on one node, if the kernel permits it and the sender's bytes are contiguous:
 *            <-------------- HELP      a larger message: offers its second half
 *                                      copies the first half from the sender's memory
 *      HELPED -------------------->    the sender has claimed the second half, and copied it to the receiver's memory;
 *                                      or the receiver has claimed it, and copies it too
 *            <--------------- FIN
 *                                      on one node otherwise, and through Hearth's network:
 *            <--------------- CTS
 *      DATA, DATA, DATA ---------->    copied to the receive buffer; the transport bounds the number in flight
 *
 *                                      through the host MPI:
 *            <--------------- CTS      after a receive for it was posted there (p2p_remote.c)
 *      MPI_Isend ----------------->
 *
 * The receiver never waits for a sender that does not look for messages: it claims the half that nobody has begun. A
 * sender that looks late finds the offer claimed, and does not follow the request, which may have ended. */
#include "mpi/messages/transport/rendezvous.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "tables/shape.h"

enum {
    PIECE = 64 << 10, /* pulled per step into a non-contiguous buffer */
    PAGE = 4096       /* halves meet at a multiple, so that few pages belong to both */
};

/* Pulls bytes [from, end) of the message, piece by piece through a buffer. */
static int pull_shaped(struct p2p_request *r, struct p2p_peer *p, uint64_t address, uint64_t from,
                       uint64_t end) {
    char *piece = malloc(PIECE);
    int rc = piece ? 0 : -ENOMEM;
    for (uint64_t n; !rc && from < end; from += n) {
        n = end - from < PIECE ? end - from : PIECE;
        rc = net_node_pull(p2p_node, p->node, address + from, piece, n);
        if (!rc)
            p2p_data_scatter(&r->data, from, piece, n);
    }
    free(piece);
    return rc;
}

/* Copies bytes [from, end) from the sender's memory. */
static bool rendezvous_pull(struct p2p_request *r, struct p2p_peer *p, uint64_t address, uint64_t from,
                            uint64_t end) {
    if (!shape_is_contiguous(&r->data.layout.shape))
        return !pull_shaped(r, p, address, from, end);
    return !net_node_pull(p2p_node, p->node, address + from, r->data.first + from, end - from);
}

/* The message is there, or could not be copied. id: the sender's request. */
static void rendezvous_end(struct p2p_request *r, struct p2p_peer *p, uint64_t id, bool there) {
    p2p_counted.of.pulled += there;
    log_trace(LOG_MESSAGES, "%llu bytes from rank %d: %s", (unsigned long long)r->got_bytes, p->head.rank,
              there ? "copied from the sender's memory" : "asked for in pieces");
    if (there) {
        p2p_channel_control(p, HEADER_FIN, id, 0, 0, 0);
        p2p_request_finish(r);
        return;
    }
    r->moved = 0;
    r->wanted = r->got_bytes;
    p2p_channel_owe(p);
    p2p_channel_control(p, HEADER_CTS, id, r->wanted, (uint64_t)(uintptr_t)r, 0);
}

/* Offers the bytes behind `from` to the sender. Returns the number of the offer, or 0: there is no room for the message. */
static uint64_t rendezvous_offer(struct p2p_request *r, struct p2p_peer *p, uint64_t id, uint64_t from) {
    struct header_help help = {.from = from, .address = (uint64_t)(uintptr_t)r->data.first + from};
    struct header h = {.kind = HEADER_HELP,
                       .id = id,
                       .bytes = r->got_bytes - from,
                       .answer = (uint64_t)(uintptr_t)r,
                       .place = net_node_offer(p2p_node)};
    struct data d;
    p2p_data_in_one(&d, &help, sizeof help);
    return p2p_channel_try(p, &h, &d, 0, sizeof help) ? 0 : h.place;
}

/* A sender that has large messages of this process to copy is busy with those. */
static bool is_shared(const struct p2p_request *r, const struct p2p_peer *p) {
    return r->got_bytes >= p2p_node_share_from && !p->helpless && !p->announced &&
           shape_is_contiguous(&r->data.layout.shape);
}

/* Copies the message from the sender's memory, together with the sender if it is large. */
static void rendezvous_copy(struct p2p_request *r, struct p2p_peer *p, uint64_t id, uint64_t address) {
    uint64_t end = r->got_bytes, first = is_shared(r, p) ? end / 2 & ~(uint64_t)(PAGE - 1) : end;
    uint64_t offer = first < end ? rendezvous_offer(r, p, id, first) : 0;
    bool there = rendezvous_pull(r, p, address, 0, first);
    if (offer && !net_node_claim(p2p_node, p2p_node_rank, offer)) {
        r->moved = there ? first : 0;
        p2p_channel_owe(p);
        return;
    }
    rendezvous_end(r, p, id, there && rendezvous_pull(r, p, address, first, end));
}

void p2p_rendezvous_help(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                         const void *payload) {
    struct header_help help;
    memcpy(&help, payload, sizeof help);
    if (!net_node_claim(p2p_node, p->node, h->place))
        return; /* the request may have ended */
    char *first = r->data.first;
    int rc = net_node_push(p2p_node, p->node, help.address, first + help.from, h->bytes);
    p2p_channel_control(p, HEADER_HELPED, h->answer, rc ? 0 : h->bytes, h->id, (uint64_t)(uintptr_t)first);
}

void p2p_rendezvous_helped(struct p2p_request *r, struct p2p_peer *p, const struct header *h) {
    uint64_t first = r->moved;
    p->helpless |= !h->bytes;
    rendezvous_end(r, p, h->answer,
                   first && (h->bytes || rendezvous_pull(r, p, h->place, first, r->got_bytes)));
}

void p2p_rendezvous_begin(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                          uint64_t address) {
    p2p_counted.of.rendezvous++;
    if (p->node < 0 && !p2p_link_carries(h->bytes)) {
        log_trace(LOG_MESSAGES, "%llu bytes from rank %d are received through MPI",
                  (unsigned long long)r->got_bytes, p->head.rank);
        p2p_channel_owe(p);
        p2p_remote_receive(r, p, h);
    } else if (address && r->got_bytes) {
        rendezvous_copy(r, p, h->id, address);
    } else {
        rendezvous_end(r, p, h->id, !r->got_bytes);
    }
}

void p2p_rendezvous_cts(struct p2p_request *r, struct p2p_peer *p, const struct header *h) {
    if (h->answer)
        p2p_channel_stream(r, h->bytes, h->answer);
    else
        p2p_remote_send_bulk(r, h->place);
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
