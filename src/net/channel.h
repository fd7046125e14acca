/* channel.h: messages among the nodes, each of which has one thread that sends and receives them, in its
 * leader: a network of its own beside that of the helpers (call.h), so that neither waits for the other.
 *
 * Messages from one node to another arrive whole, mostly in order; who needs order numbers them. No call
 * waits, but for opening and closing. */
#ifndef HEARTH_NET_CHANNEL_H
#define HEARTH_NET_CHANNEL_H

#include "net/link/link.h"
#include "net/world.h"

struct net_channel;

struct net_channel_events {
    void *arg;
    /* A message, which says itself whom it is from; header (aligned to 8) and payload are valid during the
     * call, in which messages may be sent. */
    void (*arrived)(void *arg, const void *header, size_t header_bytes, const void *payload, size_t bytes);
    /* That node (-1: one that has only spoken to us) cannot be reached any more; in the same thread. */
    void (*failed)(void *arg, int node, const char *why);
};

/* Collective, by all processes of all nodes; `most` bytes of payload at most, the same everywhere. *channel may be
 * NULL in processes that do not lead, and is everywhere if there is one node only. 0, or a negative code after a
 * line, everywhere. `comm` as for net_open. */
int net_channel_open(const struct net_boot *boot, const struct net_world *world, size_t most,
                     const void *comm, const struct net_channel_events *events, struct net_channel **channel);

/* Collective as well: nothing is sent any more by anybody, and the thread that used it has ended. */
void net_channel_close(struct net_channel *c, const struct net_boot *boot);

/* As link_send. `node` is another one than ours. */
int net_channel_send(struct net_channel *c, int node, const void *header, size_t header_bytes,
                     const void *payload, size_t bytes, struct link_send *s);

/* As link_progress, link_arm, link_descriptor, link_nap. */
int net_channel_progress(struct net_channel *c);
int net_channel_arm(struct net_channel *c);
int net_channel_descriptor(const struct net_channel *c);
uint64_t net_channel_nap(const struct net_channel *c);

#endif
