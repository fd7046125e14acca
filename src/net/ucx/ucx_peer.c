/* ucx_peer.c: the peers of a port over UCX, their endpoints and their failures.
 *
 * A peer is an endpoint. We create it at the first message to a port whose address is known (each is a socket over TCP,
 * so unused ones are not created). UCX creates it when a message arrives from an unknown port. With every message UCX
 * names the endpoint to reply through, which identifies the peer. Endpoints report the failure of their peer (error mode
 * PEER); without it simultaneous connects over TCP crash in UCX 1.13. Endpoints that UCX creates report to no handler. So
 * the connecting side sends a hello with its own address first. When the other side creates an endpoint to that address,
 * UCX returns the very endpoint that it created itself, and the call sets the error handler.
 *
 * **One connection for both directions.** A port that connects to one that has greeted it gets that peer. With a
 * connection for each direction, the kernel acknowledges every message by a packet of its own: over TCP a round trip of
 * 8 bytes between page services took 14.4 us instead of 11.4. If two ports connect at the same time, there are two
 * connections; both ports then send over that of the port with the lower address. */
#include "net/ucx/ucx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"

/* ---- failures ---- */

/* Progress reports the failure later, outside of any other call, because this function also runs in the middle of a
 * send. The failure of a send that returns an error is reported too: its caller continues as if the message had left,
 * and without the report would wait for the answer forever. */
void net_ucx_peer_fail(struct ucx_peer *peer, const char *what, ucs_status_t why) {
    struct ucx_port *p = peer->port;
    if (peer->failed)
        return;
    peer->failed = true;
    peer->what = what;
    peer->why = why;
    peer->next_failing = p->failing;
    p->failing = peer;
}

/* Called by UCX. */
static void endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t why) {
    log_debug(LOG_NET, "ucx: a connection fails: %s", ucs_status_string(why));
    net_ucx_peer_fail(arg, NULL, why);
}

void net_ucx_report_failures(struct ucx_port *p) {
    while (p->failing) {
        struct ucx_peer *peer = p->failing;
        const char *why = ucs_status_string(peer->why);
        char text[256];
        p->failing = peer->next_failing;
        if (peer->what)
            snprintf(text, sizeof text, "%s: %s", peer->what, why);
        if (!p->quiesced)
            p->events.failed(p->events.arg, peer == &p->unknown ? NULL : &peer->base,
                             peer->what ? text : why);
    }
}

/* ---- peers by address ---- */

static uint64_t hash_address(const unsigned char *address, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ address[i]) * 0x100000001b3u;
    return hash;
}

/* Of two addresses with the same hash only the first is found: the other peer may then have a connection for each
 * direction. */
static struct ucx_peer *peer_at(const struct ucx_port *p, const void *address, size_t bytes) {
    struct ucx_peer *peer = net_peers_find(&p->by_address, hash_address(address, bytes));
    return peer && peer->address_bytes == bytes && !memcmp(peer->address, address, bytes) ? peer : NULL;
}

/* address NULL: unknown. */
static struct ucx_peer *ucx_peer_create(struct ucx_port *p, int rank, const void *address, size_t bytes) {
    struct ucx_peer *peer = net_peers_reserve(&p->by_address) == 0 ? calloc(1, sizeof *peer) : NULL;
    void *copy = peer && address ? malloc(bytes) : NULL;
    if (!peer || (address && !copy)) {
        free(peer);
        return NULL;
    }
    *peer = (struct ucx_peer){.base = {.network = &hearth_link_ucx},
                              .port = p,
                              .rank = rank,
                              .address = copy,
                              .address_bytes = bytes,
                              .next = p->peers};
    p->peers = peer;
    if (address) {
        memcpy(copy, address, bytes);
        net_peers_add(&p->by_address, hash_address(address, bytes), peer);
    }
    return peer;
}

/* ---- we connect ---- */

int net_ucx_connect(struct link_port *port, const void *address, size_t bytes, int rank, int number,
                    struct link_peer **peer) {
    struct ucx_port *p = (struct ucx_port *)port;
    struct ucx_peer *found = peer_at(p, address, bytes);
    if (!found)
        found = ucx_peer_create(p, rank, address, bytes);
    if (!found) {
        log_error("network ucx: no memory for a connection to rank %d", rank);
        return -ENOMEM;
    }
    found->rank = rank;
    *peer = &found->base;
    return 0;
}

static ucs_status_t endpoint_create(struct ucx_peer *peer, const void *address, ucp_ep_h *ep) {
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = endpoint_failed, .arg = peer}};
    return ucp_ep_create(peer->port->worker, &params, ep);
}

static void endpoint_send_hello(struct ucx_peer *peer) {
    struct ucx_port *p = peer->port;
    ucp_request_param_t param = net_ucx_counted(p, UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
    net_ucx_count(p, ucp_am_send_nbx(peer->ep, UCX_HELLO, NULL, 0, p->address, p->address_bytes, &param));
}

static int endpoint_connect(struct ucx_peer *peer) {
    struct ucx_port *p = peer->port;
    ucs_status_t status = net_peers_reserve(&p->by_endpoint) != 0
                              ? UCS_ERR_NO_MEMORY
                              : endpoint_create(peer, peer->address, &peer->ep);
    if (status != UCS_OK) {
        peer->ep = NULL;
        net_ucx_peer_fail(peer, "no connection (see ulimit -n, UCX_TLS, UCX_NET_DEVICES)", status);
        return net_ucx_code(status);
    }
    net_peers_add(&p->by_endpoint, (uintptr_t)peer->ep, peer);
    log_debug(LOG_NET, "ucx: a connection to rank %d is opened, by an address of %zu bytes", peer->rank,
              peer->address_bytes);
    endpoint_send_hello(peer);
    return 0;
}

int net_ucx_connected(struct ucx_peer *peer) {
    if (UNLIKELY(peer->failed))
        return -ECONNRESET;
    return LIKELY(peer->ep != NULL) ? 0 : endpoint_connect(peer);
}

/* ---- others connect ---- */

/* Whether this port's address is lower than the peer's, in an order that all ports share. */
static bool is_lower(const struct ucx_port *p, const struct ucx_peer *peer) {
    size_t common = p->address_bytes < peer->address_bytes ? p->address_bytes : peer->address_bytes;
    int order = memcmp(p->address, peer->address, common);
    return order ? order < 0 : p->address_bytes < peer->address_bytes;
}

/* Messages that are under way over the other endpoint still arrive. A window belongs to its endpoint, which therefore stays. */
static void add_endpoint(struct ucx_peer *peer, ucp_ep_h ep) {
    bool ours_stays = peer->ep && (peer->has_windows || is_lower(peer->port, peer));
    peer->second = ours_stays ? ep : peer->ep;
    if (!ours_stays)
        peer->ep = ep;
}

/* The peer with this address, which connects by this endpoint; address NULL: unknown. NULL: no memory. */
static struct ucx_peer *peer_that_connects(struct ucx_port *p, ucp_ep_h ep, const void *address,
                                           size_t bytes) {
    struct ucx_peer *peer = address ? peer_at(p, address, bytes) : NULL;
    if (!peer || peer->second)
        peer = ucx_peer_create(p, -1, address, bytes);
    if (!peer || net_peers_reserve(&p->by_endpoint) != 0) {
        net_ucx_peer_fail(&p->unknown, "no memory for a rank that sends here; its message is lost",
                          UCS_ERR_NO_MEMORY);
        return NULL;
    }
    net_peers_add(&p->by_endpoint, (uintptr_t)ep, peer);
    log_debug(LOG_NET, "ucx: a process connects here%s",
              !address   ? ", of unknown address"
              : peer->ep ? ", to which this one connects, too"
                         : "");
    add_endpoint(peer, ep);
    return peer;
}

struct ucx_peer *net_ucx_adopt(struct ucx_port *p, ucp_ep_h ep) {
    return peer_that_connects(p, ep, NULL, 0);
}

/* If the endpoint differs, UCX has made one more connection; then failures of this peer are not reported. */
static void watch(struct ucx_peer *peer, ucp_ep_h theirs, const void *address) {
    struct ucx_port *p = peer->port;
    ucp_ep_h ep;
    if (endpoint_create(peer, address, &ep) != UCS_OK || ep == theirs)
        return;
    ucp_request_param_t forced = net_ucx_counted(p, UCP_EP_CLOSE_FLAG_FORCE);
    log_warn("network ucx: failures of clients will not be noticed: Hearth was not tested with this UCX");
    net_ucx_count(p, ucp_ep_close_nbx(ep, &forced));
}

ucs_status_t net_ucx_greeted(void *arg, const void *header, size_t header_bytes, void *address, size_t bytes,
                             const ucp_am_recv_param_t *param) {
    struct ucx_port *p = arg;
    if (net_peers_find(&p->by_endpoint,
                       (uintptr_t)param->reply_ep)) /* UCX has found that we connect to it, too */
        return UCS_OK;
    struct ucx_peer *from = peer_that_connects(p, param->reply_ep, address, bytes);
    if (from)
        watch(from, param->reply_ep, address);
    return UCS_OK;
}

void net_ucx_free_peers(struct ucx_port *p) {
    log_debug(LOG_NET, "ucx: a port closes its connections");
    while (p->peers) {
        struct ucx_peer *peer = p->peers;
        p->peers = peer->next;
        free(peer->address);
        free(peer);
    }
    net_peers_close(&p->by_endpoint);
    net_peers_close(&p->by_address);
}
