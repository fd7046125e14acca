/* mpi_peer.c: the peers of a port over MPI, found by rank and port number, and their failures.
 *
 * A peer is created when the caller connects to it, or when its first message arrives. A failed peer is in the list
 * `failing` until progress has reported it, once. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/mpi/mpi_link.h"

static uint64_t peer_name(int rank, int port) {
    return (uint64_t)(uint32_t)rank << 32 | (uint32_t)port;
}

struct mpi_peer *net_link_mpi_peer(struct mpi_port *p, int rank, int number) {
    struct mpi_peer *peer = net_peers_find(&p->by_name, peer_name(rank, number));
    if (LIKELY(peer != NULL))
        return peer;
    if (net_peers_reserve(&p->by_name) != 0 || !(peer = calloc(1, sizeof *peer)))
        return NULL;
    *peer = (struct mpi_peer){
        .base = {.network = &net_link_mpi}, .next = p->peers, .rank = rank, .number = number};
    p->peers = peer;
    net_peers_add(&p->by_name, peer_name(rank, number), peer);
    return peer;
}

int net_link_mpi_connect(struct link_port *port, const void *address, size_t bytes, int rank, int number,
                         struct link_peer **peer) {
    struct mpi_peer *to = net_link_mpi_peer((struct mpi_port *)port, rank, number);
    if (!to) {
        log_error("network mpi: no memory for rank %d, port %d", rank, number);
        return -ENOMEM;
    }
    if (bytes == sizeof to->wakeup)
        memcpy(&to->wakeup, address, bytes);
    *peer = &to->base;
    return 0;
}

/* The failure is reported later; see net_ucx_peer_fail for the reason. */
int net_link_mpi_peer_fail(struct mpi_port *p, struct mpi_peer *peer, const char *why) {
    if (peer->failed)
        return -ECONNRESET;
    peer->failed = true;
    peer->why = why;
    peer->next_failing = p->failing;
    p->failing = peer;
    return -EIO;
}

int net_link_mpi_report_failures(struct mpi_port *p) {
    int reported = 0;
    for (; UNLIKELY(p->failing != NULL); reported++) {
        struct mpi_peer *peer = p->failing;
        p->failing = peer->next_failing;
        p->events.failed(p->events.arg, peer == &p->unknown ? NULL : &peer->base, peer->why);
    }
    return reported;
}

void net_link_mpi_free_peers(struct mpi_port *p) {
    while (p->peers) {
        struct mpi_peer *peer = p->peers;
        p->peers = peer->next;
        free(peer);
    }
    net_peers_close(&p->by_name);
}
