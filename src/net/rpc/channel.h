/* channel.h: messages among nodes, sent and received by one thread in the leader of each node. The channel is a
 * network of its own beside that of the helpers (call.h), so that neither waits for the other.
 *
 * A message arrives whole. The order of messages from one node to another is not guaranteed; callers that need it number
 * their messages. No call blocks, except opening and closing. */
#ifndef HEARTH_NET_CHANNEL_H
#define HEARTH_NET_CHANNEL_H

#include "net/link/link.h"
#include "net/node/world.h"

struct net_channel;

struct net_channel_events {
    void *arg;
    /* A message arrived. Its content identifies the sender. The header (aligned to 8) and the payload are valid
     * during the call. The callback may send messages. */
    void (*arrived)(void *arg, const void *header, size_t header_bytes, const void *payload, size_t bytes);
    /* As link_events.place. */
    void *(*place)(void *arg, const void *header, size_t header_bytes, size_t bytes);
    /* That node is unreachable from now on. -1: unknown which; it is one that this process has never sent to. Same
     * thread. */
    void (*failed)(void *arg, int node, const char *why);
};

/* Collective, by all processes of all nodes. `most`: largest payload in bytes; those of at least `in_place` bytes may be
 * larger, if net_channel_in_place; both the same everywhere. *channel may be NULL in
 * processes that are not leaders, and is NULL everywhere if there is only one node. Returns 0, or a negative code after
 * logging an error, the same everywhere. `comm` as for net_open. */
int net_channel_open(const struct net_boot *boot, const struct net_world *world, size_t most, size_t in_place,
                     const void *comm, const struct net_channel_events *events, struct net_channel **channel);

/* Collective. Before it, every process has stopped sending, and the thread that used the channel has ended. */
void net_channel_close(struct net_channel *c, const struct net_boot *boot);

/* Whether payloads that this process sends should be received in place: see HEARTH_DIRECT. Over TCP, UCX would send them in
 * small fragments, and copy them as it copies other messages: a page of 4 MB takes a tenth longer so. */
bool net_channel_in_place(const struct net_channel *c);

/* As net_link_send. `node` must be another node. */
int net_channel_send(struct net_channel *c, int node, const void *header, size_t header_bytes,
                     const void *payload, size_t bytes, struct link_send *s);

/* As net_link_progress, net_link_arm, net_link_descriptor, net_link_nap. */
int net_channel_progress(struct net_channel *c);
int net_channel_arm(struct net_channel *c);
int net_channel_descriptor(const struct net_channel *c);
uint64_t net_channel_nap(const struct net_channel *c);

#endif
