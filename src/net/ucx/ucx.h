/* ucx.h: messages between nodes as UCX active messages: declarations shared by ucx_*.c. */
#ifndef HEARTH_NET_LINK_UCX_H
#define HEARTH_NET_LINK_UCX_H

#include <ucp/api/ucp.h>

#include "net/link/link_internal.h"
#include "net/link/peers.h"

enum { UCX_MESSAGE = 1, UCX_HELLO = 2 }; /* ids of active messages */

struct ucx_link {
    struct link base;
    ucp_context_h context;
    size_t most;
    size_t in_place; /* payloads of at least so many bytes are sent by rendezvous */
    bool anonymous;  /* messages do not name the endpoint to reply through */
    bool hardware;   /* a transport accesses remote memory without the remote CPU */
};

struct ucx_peer {
    struct link_peer base;
    struct ucx_port *port;
    ucp_ep_h ep; /* NULL: not connected yet */
    ucp_ep_h
        second; /* if both sides have connected at the same time, else NULL; nothing more is sent over it */
    void *address; /* NULL: unknown */
    size_t address_bytes;
    struct ucx_peer *next; /* in the port's list */
    struct ucx_peer *next_failing;
    int rank; /* for messages; -1 if the peer connected to us */
    bool has_windows, failed;
    const char *what; /* the call that failed, if it was ours */
    ucs_status_t why;
};

struct ucx_port {
    struct link_port base;
    struct ucx_link *link;
    struct link_events events;
    ucp_worker_h worker;
    int descriptor, number;
    char address[LINK_ADDRESS];
    size_t address_bytes;
    unsigned under_way;       /* requests whose completion callback is pending */
    bool quiesced;            /* closing: peers that leave are not failures */
    struct peers by_endpoint; /* peers with an endpoint, or with two */
    struct peers by_address;  /* peers whose address is known */
    struct ucx_peer *peers;   /* all peers */
    struct ucx_peer *failing; /* `failed` has not been called yet */
    struct ucx_receive *free_receives;
    struct ucx_peer unknown; /* placeholder for peers that there was no memory for */
};

/* ucx_open.c */
extern __attribute__((visibility("default")))
const struct link_network hearth_link_ucx; /* found by this name */
int net_ucx_open(const struct link_options *options, struct link **link);
void net_ucx_close(struct link *link);
int net_ucx_code(ucs_status_t status);

/* ucx_peer.c */
int net_ucx_connect(struct link_port *port, const void *address, size_t bytes, int rank, int number,
                    struct link_peer **peer);
/* Creates the endpoint at first use. Returns 0, or a negative code: -ECONNRESET if the peer has failed. */
int net_ucx_connected(struct ucx_peer *peer);
/* Handles a message of a port that has not greeted this one. NULL: no memory; the failure is noted. */
struct ucx_peer *net_ucx_adopt(struct ucx_port *p, ucp_ep_h ep);
/* Called by UCX when a hello has arrived. */
ucs_status_t net_ucx_greeted(void *port, const void *header, size_t header_bytes, void *address, size_t bytes,
                             const ucp_am_recv_param_t *param);
/* Notes that the peer has failed, for net_ucx_report_failures. `what`: the call that failed; NULL: none of ours. */
void net_ucx_peer_fail(struct ucx_peer *peer, const char *what, ucs_status_t why);
void net_ucx_report_failures(struct ucx_port *p);
void net_ucx_free_peers(struct ucx_port *p);

/* ucx_send.c */
int net_ucx_send(struct link_port *port, struct link_peer *to, const void *header, size_t header_bytes,
                 const void *payload, size_t bytes, struct link_send *s);
/* Converts the result of a non-blocking UCX call to that of net_link_send. `what` describes its failure in the error message. */
int net_ucx_started(struct ucx_peer *peer, ucs_status_ptr_t request, struct link_send *s, const char *what);
/* Completion callback of a pending call. */
void net_ucx_sent(void *request, ucs_status_t status, void *send);

/* ucx_receive.c */
/* Called by UCX when a message has arrived, or is announced. */
ucs_status_t net_ucx_arrived(void *port, const void *header, size_t header_bytes, void *data, size_t bytes,
                             const ucp_am_recv_param_t *param);
void net_ucx_free_receives(struct ucx_port *p);

/* ucx_progress.c */
/* Parameters of a request that only the port waits for. Its result is passed to net_ucx_count. */
ucp_request_param_t net_ucx_counted(struct ucx_port *p, uint32_t flags);
void net_ucx_count(struct ucx_port *p, ucs_status_ptr_t request);
int net_ucx_progress(struct link_port *port);
/* Makes progress until all requests under way have completed, or until the deadline. */
void net_ucx_complete(struct ucx_port *p, uint64_t deadline);
int net_ucx_arm(struct link_port *port);
int net_ucx_descriptor(const struct link_port *port);
uint64_t net_ucx_nap(const struct link_port *port);

/* ucx_direct.c */
bool net_ucx_is_direct(const struct link *link);
int net_ucx_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key);
void net_ucx_hide(struct link *link, struct link_memory *memory);
int net_ucx_window_open(struct link_peer *peer, const void *key, struct link_window **window);
void net_ucx_window_close(struct link_window *window);
int net_ucx_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
                struct link_send *s);
int net_ucx_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
                struct link_send *s);
int net_ucx_flush(struct link_port *p, struct link_peer *peer, struct link_send *s);

#endif
