/* p2p_channel.h: the transport to each process, and its queue of requests that wait for space. */
#ifndef HEARTH_MPI_P2P_CHANNEL_H
#define HEARTH_MPI_P2P_CHANNEL_H

#include "base/compiler.h"
#include "mpi/messages/transport/p2p_count.h"
#include "mpi/messages/transport/p2p_link.h"
#include "mpi/messages/transport/p2p_node.h"
#include "mpi/messages/transport/p2p_remote.h"

/* The largest message to the own process that is copied before a receive is posted. */
enum { SELF_EAGER = 16 << 10 };

extern HIDDEN struct p2p_peer *p2p_channel_waiting; /* list of peers with a non-empty queue */
/* Peers of this node that owe an answer or space, or did so recently. */
extern HIDDEN struct p2p_peer *p2p_channel_owing;

/* The largest message that is sent eagerly. */
static inline uint64_t p2p_channel_eager(const struct p2p_peer *p) {
    return LIKELY(p->node >= 0) ? p2p_node_eager : p2p_remote_eager;
}

/* Counts a message that was sent, by its transport. */
static inline void p2p_channel_count(const struct p2p_peer *p, uint64_t bytes) {
    if (LIKELY(p->node >= 0)) {
        p2p_counted.of.node++;
        p2p_counted.of.node_bytes += bytes;
    } else {
        p2p_counted.of.far++;
        p2p_counted.of.far_bytes += bytes;
    }
}

/* Sends a header and bytes [from, from + bytes) of the data. Returns 0; 1 if the network has accepted them but not sent
 * them yet, which p2p_bounce_own is then told; or -EAGAIN if there is no space at the moment. */
int p2p_channel_try(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes);
/* Sends r->header, and the data unless it is an RTS, behind requests that are already queued. A HEADER_EAGER completes when
 * it has left; others wait for an answer. */
void p2p_channel_send(struct p2p_request *r);
/* Sends a header alone; queues it if there is no space. */
void p2p_channel_control(struct p2p_peer *p, enum header_kind kind, uint64_t id, uint64_t bytes,
                         uint64_t answer, uint64_t place);
/* Sends as much of the queues as there is space for. Returns how many requests were sent. remote: also through the
 * host MPI. */
int p2p_channel_flush(bool remote);
void p2p_channel_owe(struct p2p_peer *p);
void p2p_channel_paid(struct p2p_peer *p);
/* Wakes peers of this node that owe an answer and block in an MPI call. Returns false if no peer owes anything. */
bool p2p_channel_wake(void);
/* The receiver answered the RTS: sends that many bytes, in pieces. */
void p2p_channel_stream(struct p2p_request *r, uint64_t wanted, uint64_t answer);

void p2p_channel_close(void);

#endif
