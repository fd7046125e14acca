/* link.c: dispatches each call to the network that was chosen when the link was opened. */
#include "net/link/link_internal.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/log.h"

static const struct link_network *_Atomic over_mpi;

void net_link_offer_mpi(const struct link_network *network) {
    const struct link_network *none = NULL;
    atomic_compare_exchange_strong(&over_mpi, &none, network);
}

static const struct link_network *network_of(enum link_kind kind) {
    if (kind == LINK_UCX)
        return net_link_load_ucx();
    const struct link_network *network = atomic_load(&over_mpi);
    if (!network)
        log_error("network mpi: no library of this process sends MPI messages: set HEARTH_NET=ucx");
    return network;
}

int net_link_open(const struct link_options *options, struct link **link) {
    const struct link_network *network = network_of(options->kind);
    return network ? network->open(options, link) : -ENOTSUP;
}

void net_link_close(struct link *link) {
    link->network->close(link);
}

bool net_link_in_place(const struct link *link) {
    return link->network->in_place && link->network->in_place(link);
}

int net_link_port_open(struct link *link, int port, const struct link_events *events, struct link_port **p) {
    return link->network->port_open(link, port, events, p);
}

void net_link_port_quiesce(struct link_port *p) {
    p->network->port_quiesce(p);
}

void net_link_port_shut(struct link_port *p) {
    p->network->port_shut(p);
}

void net_link_port_close(struct link_port *p) {
    p->network->port_close(p);
}

int net_link_port_address(struct link_port *p, void *into) {
    return p->network->port_address(p, into);
}

int net_link_connect(struct link_port *p, const void *address, size_t bytes, int rank, int port,
                     struct link_peer **peer) {
    return p->network->connect(p, address, bytes, rank, port, peer);
}

int net_link_send(struct link_port *p, struct link_peer *peer, const void *header, size_t header_bytes,
                  const void *payload, size_t bytes, struct link_send *s) {
    return p->network->send(p, peer, header, header_bytes, payload, bytes, s);
}

int net_link_progress(struct link_port *p) {
    return p->network->progress(p);
}

int net_link_arm(struct link_port *p) {
    return p->network->arm(p);
}

int net_link_descriptor(const struct link_port *p) {
    return p->network->descriptor(p);
}

uint64_t net_link_nap(const struct link_port *p) {
    return p->network->nap(p);
}

/* ---- memory ---- */

bool net_link_is_direct(const struct link *link) {
    return link->network->is_direct && link->network->is_direct(link);
}

int net_link_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key) {
    if (!link->network->expose) {
        log_error("network mpi: memory of %zu bytes cannot be exposed over MPI messages: set HEARTH_NET=ucx",
                  bytes);
        return -ENOTSUP;
    }
    return link->network->expose(link, base, bytes, memory, key);
}

void net_link_hide(struct link *link, struct link_memory *memory) {
    link->network->hide(link, memory);
}

int net_link_window_open(struct link_peer *peer, const void *key, struct link_window **window) {
    return peer->network->window_open ? peer->network->window_open(peer, key, window) : -ENOTSUP;
}

void net_link_window_close(struct link_window *window) {
    window->network->window_close(window);
}

int net_link_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
                 struct link_send *s) {
    return p->network->put(p, w, to, from, bytes, s);
}

int net_link_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
                 struct link_send *s) {
    return p->network->get(p, w, to, from, bytes, s);
}

int net_link_flush(struct link_port *p, struct link_peer *peer, struct link_send *s) {
    return p->network->flush ? p->network->flush(p, peer, s) : -ENOTSUP;
}
