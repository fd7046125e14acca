/* p2p_link.h: processes of other nodes, through Hearth's own network (net/link) instead of the host MPI. All processes use it or
 * none. */
#ifndef HEARTH_MPI_P2P_LINK_H
#define HEARTH_MPI_P2P_LINK_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_header.h"
#include "mpi/messages/state/p2p_peer.h"
#include "net/net.h"

/* The largest payload of a message of the link; larger ones travel in pieces. */
enum { P2P_LINK_MOST = 64 << 10 };

/* Begins each message of the link: who sends it, as the link does not tell. */
struct p2p_link_header {
    int64_t rank;
    struct header header;
};

extern HIDDEN bool p2p_link_is_used;

/* Opens the network and exchanges the addresses of all processes, if there are several nodes. on_node: processes of this node.
 * Collective over MPI_COMM_WORLD, after p2p_node_open. */
void p2p_link_open(unsigned on_node);
/* Closes the connections, when all processes have met and nothing is in flight any more. A process that is earlier counts as lost for
 * the others, but they close theirs before that matters. */
void p2p_link_shut(void);
void p2p_link_close(void);

/* The struct p2p_link_header is the header, or without one the beginning of the payload. Returns 0: sent. 1: in flight; both stay in
 * place until s->sent is called. */
int p2p_link_send(struct p2p_peer *p, const void *header, size_t header_bytes, const void *payload,
                  uint64_t bytes, struct link_send *s);
int p2p_link_poll(void);

/* Whether the payload of a message that was announced travels in pieces over the link; otherwise the host MPI carries it. */
bool p2p_link_carries(uint64_t bytes);

#endif
