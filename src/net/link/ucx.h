/* ucx.h: what the files ucx*.c share. */
#ifndef HEARTH_NET_LINK_UCX_H
#define HEARTH_NET_LINK_UCX_H

#include <ucp/api/ucp.h>

#include "net/link/inside.h"
#include "net/link/peers.h"

struct ucx_link {
    struct link base;
    ucp_context_h context;
    size_t most;
    bool hardware; /* a transport reads and writes remote memory without the CPU there */
};

struct ucx_peer {
    struct link_peer base;
    struct ucx_port *port;
    ucp_ep_h ep;           /* NULL: not connected yet */
    void *address;         /* until then */
    struct ucx_peer *next; /* of the port's */
    struct ucx_peer *next_failing;
    int rank, number; /* for people: -1 if it came to us */
    bool failed;
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
    unsigned under_way;       /* what UCX will call us back for */
    bool quiet;               /* peers leave: that is no failure any more */
    struct peers by_endpoint; /* each peer that has one */
    struct ucx_peer *peers;   /* all */
    struct ucx_peer *failing; /* `failed` has not been called yet */
};

/* ucx_open.c */
int ucx_open(const struct link_options *options, struct link **link);
void ucx_close(struct link *link);

/* ucx.c */
int ucx_code(ucs_status_t status);
/* Makes the endpoint at first use. 0, or a negative code: -ECONNRESET if the peer has failed. */
int ucx_connected(struct ucx_peer *peer);
/* What a call of UCX that may go on returned, as link_send returns it; `what` failed, if it did. */
int ucx_started(struct ucx_peer *peer, ucs_status_ptr_t request, struct link_send *s, const char *what);
/* How a pending call ends. */
void ucx_sent(void *request, ucs_status_t status, void *send);

/* ucx_direct.c */
bool ucx_is_direct(const struct link *link);
int ucx_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key);
void ucx_hide(struct link *link, struct link_memory *memory);
int ucx_window_open(struct link_peer *peer, const void *key, struct link_window **window);
void ucx_window_close(struct link_window *window);
int ucx_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
            struct link_send *s);
int ucx_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
            struct link_send *s);
int ucx_flush(struct link_port *p, struct link_peer *peer, struct link_send *s);

#endif
