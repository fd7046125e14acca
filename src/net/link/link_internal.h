/* link_internal.h: declarations shared by link.c and the networks behind it (src/net/mpi, src/net/ucx).
 *
 * A network is a table of functions. Its own structures begin with the ones below, so that link.c finds the table.
 * The functions receive the structures that the same network created. */
#ifndef HEARTH_NET_LINK_INTERNAL_H
#define HEARTH_NET_LINK_INTERNAL_H

#include <time.h>

#include "net/link/link.h"

struct link_network {
    int (*open)(const struct link_options *options, struct link **link);
    void (*close)(struct link *link);
    bool (*in_place)(const struct link *link); /* NULL: never */
    int (*port_open)(struct link *link, int port, const struct link_events *events, struct link_port **p);
    void (*port_quiesce)(struct link_port *p);
    void (*port_shut)(struct link_port *p);
    void (*port_close)(struct link_port *p);
    int (*port_address)(struct link_port *p, void *into);
    int (*connect)(struct link_port *p, const void *address, size_t bytes, int rank, int port,
                   struct link_peer **peer);
    int (*send)(struct link_port *p, struct link_peer *peer, const void *header, size_t header_bytes,
                const void *payload, size_t bytes, struct link_send *s);
    int (*progress)(struct link_port *p);
    int (*arm)(struct link_port *p);
    int (*descriptor)(const struct link_port *p);
    uint64_t (*nap)(const struct link_port *p);

    /* NULL if memory cannot be exposed: all of them or none. */
    bool (*is_direct)(const struct link *link);
    int (*expose)(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key);
    void (*hide)(struct link *link, struct link_memory *memory);
    int (*window_open)(struct link_peer *peer, const void *key, struct link_window **window);
    void (*window_close)(struct link_window *window);
    int (*put)(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
               struct link_send *s);
    int (*get)(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
               struct link_send *s);
    int (*flush)(struct link_port *p, struct link_peer *peer, struct link_send *s);
};

struct link {
    const struct link_network *network;
};

struct link_port {
    const struct link_network *network;
};

struct link_peer {
    const struct link_network *network;
};

struct link_window {
    const struct link_network *network;
};

/* The network over UCX; NULL after logging an error: this build has none, or it cannot be loaded. load_ucx.c */
const struct link_network *net_link_load_ucx(void);

/* The most time that each step of closing may take. */
#define LINK_CLOSE_NS 2000000000u

/* Lets other processes on the same core run, while a port is being closed. */
static inline void net_link_pause(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

#endif
