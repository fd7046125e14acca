/* channel.c: messages among nodes, over a link of their own with one port in each leader. */
#include "net/rpc/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/settings.h"
#include "net/boot/agree.h"
#include "net/boot/collect.h"
#include "net/rpc/direct.h"

enum { PORT = 1 /* a helper's port: messages wake its thread */ };

struct address {
    int32_t bytes;
    char data[LINK_ADDRESS];
};

struct net_channel {
    const struct net_world *world;
    struct net_channel_events events;
    struct link *link;
    struct link_port *port;
    struct address *addresses; /* [nodes] */
    struct link_peer **peers;  /* [nodes], created at first use */
    bool *failed;              /* [nodes] */
};

static void channel_on_arrival(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                               const void *payload, size_t bytes) {
    struct net_channel *c = arg;
    (void)from;
    c->events.arrived(c->events.arg, header, header_bytes, payload, bytes);
}

static void *channel_place(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                           size_t bytes) {
    struct net_channel *c = arg;
    (void)from;
    return c->events.place(c->events.arg, header, header_bytes, bytes);
}

/* The node of a peer that this process never connected to is unknown: -1. */
static void channel_on_failure(void *arg, struct link_peer *peer, const char *why) {
    struct net_channel *c = arg;
    int node = 0;
    while (peer && node < c->world->nodes && c->peers[node] != peer)
        node++;
    if (!peer || node == c->world->nodes)
        c->events.failed(c->events.arg, -1, why);
    else if (!c->failed[node]) {
        c->failed[node] = true;
        c->events.failed(c->events.arg, node, why);
    }
}

static struct net_channel *channel_make(const struct net_world *w, const struct net_channel_events *events) {
    struct net_channel *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->world = w;
    c->events = *events;
    c->addresses = calloc((size_t)w->nodes, sizeof *c->addresses);
    c->peers = calloc((size_t)w->nodes, sizeof *c->peers);
    c->failed = calloc((size_t)w->nodes, sizeof *c->failed);
    return c;
}

static bool has_memory(const struct net_channel *c) {
    return c && c->addresses && c->peers && c->failed;
}

static void channel_destroy(struct net_channel *c) {
    if (!c)
        return;
    if (c->port)
        net_link_port_close(c->port);
    if (c->link)
        net_link_close(c->link);
    free(c->addresses);
    free(c->peers);
    free(c->failed);
    free(c);
}

static int channel_leader_of(const void *world, int node) {
    return net_world_leader(world, node);
}

static int channel_exchange(struct net_channel *c, const struct net_boot *boot) {
    const struct net_world *w = c->world;
    struct address mine = {0};
    void *all = malloc(net_collect_scratch(w->size, sizeof mine));
    int status = net_agree_on_memory(boot, all, "the addresses");
    if (status == 0 && c->port) {
        mine.bytes = net_link_port_address(c->port, mine.data);
        status = mine.bytes < 0 ? mine.bytes : 0;
    }
    status = net_boot_agree(boot, status);
    if (status == 0)
        status =
            net_boot_collect(boot, &mine, sizeof mine, all, w->nodes, channel_leader_of, w, c->addresses);
    free(all);
    return net_boot_agree(boot, status);
}

static int open_port(struct net_channel *c) {
    struct link_events events = {
        .arg = c, .arrived = channel_on_arrival, .place = channel_place, .failed = channel_on_failure};
    return c->world->local == 0 ? net_link_port_open(c->link, PORT, &events, &c->port) : 0;
}

/* Creating and freeing MPI communicators is collective. */
static bool takes_part(const struct net_world *w) {
    return w->local == 0 || settings_get()->net == LINK_OVER_MPI;
}

int net_channel_open(const struct net_boot *boot, const struct net_world *world, size_t most, size_t in_place,
                     const void *comm, const struct net_channel_events *events,
                     struct net_channel **channel) {
    *channel = NULL;
    if (world->nodes == 1)
        return 0;
    struct link_options options = {.kind = (enum link_kind)settings_get()->net,
                                   .most = most,
                                   .ports = 2,
                                   .comm = comm,
                                   .in_place = in_place};
    struct net_channel *c = channel_make(world, events);
    if (!has_memory(c))
        log_error("network: no memory for a channel to %d nodes", world->nodes);
    int status = net_boot_agree(boot, has_memory(c) ? 0 : -ENOMEM);
    if (status == 0)
        status = net_boot_agree(boot, takes_part(world) ? net_link_open(&options, &c->link) : 0);
    if (status == 0)
        status = net_boot_agree(boot, open_port(c));
    if (status == 0)
        status = channel_exchange(c, boot);
    if (status != 0 || !takes_part(world)) {
        channel_destroy(c);
        return status;
    }
    *channel = c;
    return 0;
}

void net_channel_close(struct net_channel *c, const struct net_boot *boot) {
    if (c && c->port)
        net_link_port_quiesce(c->port);
    net_boot_barrier(boot);
    if (c && c->port)
        net_link_port_shut(c->port);
    net_boot_barrier(boot);
    channel_destroy(c);
}

static struct link_peer *channel_peer_of(struct net_channel *c, int node) {
    if (!c->peers[node])
        net_link_connect(c->port, c->addresses[node].data, (size_t)c->addresses[node].bytes,
                         net_world_leader(c->world, node), PORT, &c->peers[node]);
    return c->peers[node];
}

bool net_channel_in_place(const struct net_channel *c) {
    return net_direct_is_wanted(c->link) && net_link_in_place(c->link);
}

int net_channel_send(struct net_channel *c, int node, const void *header, size_t header_bytes,
                     const void *payload, size_t bytes, struct link_send *s) {
    struct link_peer *peer = channel_peer_of(c, node);
    return peer ? net_link_send(c->port, peer, header, header_bytes, payload, bytes, s) : -ENOMEM;
}

int net_channel_progress(struct net_channel *c) {
    return net_link_progress(c->port);
}

int net_channel_arm(struct net_channel *c) {
    return net_link_arm(c->port);
}

int net_channel_descriptor(const struct net_channel *c) {
    return net_link_descriptor(c->port);
}

uint64_t net_channel_nap(const struct net_channel *c) {
    return net_link_nap(c->port);
}
