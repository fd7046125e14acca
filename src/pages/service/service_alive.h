/* service_alive.h: detection of unresponsive nodes. */
#ifndef HEARTH_PAGES_SERVICE_ALIVE_H
#define HEARTH_PAGES_SERVICE_ALIVE_H

#include "pages/protocol/protocol.h"

struct service;

/* Liveness state of another node. */
struct service_peer {
    bool known;      /* something was sent to it */
    uint64_t pinged; /* clock_ns of a ping since which nothing has arrived from it; 0: none */
};

struct service_alive {
    struct service_peer *peers; /* [nodes] */
    uint64_t looked, pinged;    /* clock_ns of the last check, and of the last check that sent pings */
};

/* pages_alive_is_wanted: whether answers from other nodes may be outstanding. pages_alive_look is then called at least
 * every SERVICE_LOOK_US. It pings nodes to which something was sent, and ends the job if one does not answer for
 * HEARTH_NET_TIMEOUT. */
enum { SERVICE_LOOK_US = 500000 };
bool pages_alive_is_wanted(const struct service *s);
void pages_alive_look(struct service *s);
void pages_alive_take(struct service *s, const struct pages_message *m);

#endif
