/* mpi_receive.c: receives messages over MPI.
 *
 * A message is received by MPI_Improbe into a free buffer. A large message needs its sender's progress too, and a sender
 * that computes makes none. Other messages do not wait for it: a buffer is made whenever all others wait for their
 * senders. The credits of the layer above limit their number. A few are kept for later. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/mpi/mpi_link.h"

enum {
    KEPT = 4,   /* free buffers that a port keeps for later */
    TURNS = 64, /* messages received in one call */
};

struct mpi_receive {
    struct mpi_receive *next; /* of the list that it is in */
    MPI_Request request;
    int source;
    _Alignas(64) char data[];
};

/* A free buffer, or a new one. NULL: no memory; messages wait until a buffer is free. */
static struct mpi_receive *mpi_receive_take(struct mpi_port *p) {
    struct mpi_receive *r = p->receives.free;
    if (UNLIKELY(!r))
        return aligned_alloc(64, round_up(sizeof *r + net_link_mpi_largest(p->link), 64));
    p->receives.free = r->next;
    p->receives.free_count--;
    return r;
}

static void mpi_receive_free(struct mpi_port *p, struct mpi_receive *r) {
    if (p->receives.free_count == KEPT) {
        free(r);
        return;
    }
    r->next = p->receives.free;
    p->receives.free = r;
    p->receives.free_count++;
}

/* Whether the message has a valid envelope. *start: offset of its payload. */
static bool envelope_is_valid(const struct mpi_envelope *envelope, size_t bytes, size_t *start) {
    *start = sizeof *envelope + round_up(envelope->header_bytes, 8);
    return bytes >= sizeof *envelope && envelope->header_bytes <= LINK_HEADER && bytes >= *start &&
           envelope->port <= INT_MAX;
}

static void mpi_receive_deliver(struct mpi_port *p, struct mpi_receive *r, size_t bytes) {
    struct mpi_envelope envelope;
    size_t start;
    memcpy(&envelope, r->data, sizeof envelope);
    if (UNLIKELY(p->shut))
        return;
    if (UNLIKELY(!envelope_is_valid(&envelope, bytes, &start))) {
        log_error("network mpi: a message of %zu bytes from rank %d is not one of ours; do all ranks run the "
                  "same version of the library?",
                  bytes, r->source);
        net_link_mpi_peer_fail(p, &p->unknown, "a message was thrown away");
        return;
    }
    struct mpi_peer *from = net_link_mpi_peer(p, r->source, (int)envelope.port);
    if (LIKELY(from))
        p->events.arrived(p->events.arg, &from->base, r->data + sizeof envelope, envelope.header_bytes,
                          r->data + start, bytes - start);
    else
        net_link_mpi_peer_fail(p, &p->unknown, "no memory for a rank that sends here; its message is lost");
}

/* Whether the receive is complete; if so, delivers it, and frees the buffer. */
static bool mpi_receive_complete(struct mpi_port *p, struct mpi_receive *r) {
    MPI_Status status;
    int done = 0, bytes = 0;
    int code = p->link->calls.test(&r->request, &done, &status);
    if (LIKELY(code == MPI_SUCCESS) && !done)
        return false;
    if (LIKELY(code == MPI_SUCCESS)) {
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        net_wakeup_answered(&p->wakeup);
        mpi_receive_deliver(p, r, (size_t)bytes);
    } else {
        net_link_mpi_error(code, "a message is lost", r->source);
        net_link_mpi_peer_fail(p, &p->unknown, "a message is lost");
    }
    mpi_receive_free(p, r);
    return true;
}

static int mpi_receives_complete(struct mpi_port *p) {
    int happened = 0;
    for (struct mpi_receive **at = &p->receives.pending, *r; (r = *at);) {
        struct mpi_receive *next = r->next;
        if (mpi_receive_complete(p, r)) {
            *at = next;
            happened++;
        } else {
            at = &r->next;
        }
    }
    return happened;
}

/* Starts to receive the next message; returns whether there was one. */
static bool mpi_receive_start(struct mpi_port *p) {
    struct mpi_receive *r = mpi_receive_take(p);
    MPI_Message message;
    MPI_Status status;
    int there = 0;
    if (UNLIKELY(!r))
        return false;
    int code = p->link->calls.improbe(MPI_ANY_SOURCE, p->number, net_link_mpi_comm(p->link, p->number),
                                      &there, &message, &status);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_error(code, "MPI_Improbe", -1);
        net_link_mpi_peer_fail(p, &p->unknown, "MPI cannot receive");
    }
    if (code != MPI_SUCCESS || !there) {
        mpi_receive_free(p, r);
        return false;
    }
    r->source = status.MPI_SOURCE;
    code =
        p->link->calls.imrecv(r->data, (int)net_link_mpi_largest(p->link), MPI_BYTE, &message, &r->request);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_error(code, "MPI_Imrecv", r->source);
        net_link_mpi_peer_fail(p, &p->unknown, "a message is lost");
        mpi_receive_free(p, r);
        return false;
    }
    if (!mpi_receive_complete(p, r)) {
        r->next = p->receives.pending;
        p->receives.pending = r;
    }
    return true;
}

int net_link_mpi_receive(struct mpi_port *p) {
    int happened = mpi_receives_complete(p);
    for (int i = 0; i < TURNS && mpi_receive_start(p); i++)
        happened++;
    return happened;
}

int net_link_mpi_prepare_receives(struct mpi_port *p) {
    struct mpi_receive *first = mpi_receive_take(p);
    if (!first)
        return -ENOMEM;
    mpi_receive_free(p, first);
    return 0;
}

void net_link_mpi_free_receives(struct mpi_port *p) {
    while (p->receives.free) {
        struct mpi_receive *r = p->receives.free;
        p->receives.free = r->next;
        free(r);
    }
}
