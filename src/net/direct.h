/* direct.h: contiguous puts and gets that go around the helpers, where the network reaches memory by itself, or where
 * HEARTH_DIRECT=on says so.
 *
 * They have credits at their source: at most HEARTH_DIRECT_CREDITS are under way. What a process does to one node
 * directly and through its helper is kept in order: before it changes from one to the other, or from direct puts to
 * direct gets and back, all of the one is done. A
 * fence waits for both. While an operation for the helper waits for direct puts, it is announced already. */
#ifndef HEARTH_NET_DIRECT_H
#define HEARTH_NET_DIRECT_H

#include "net/call.h"
#include "net/link/link.h"

enum { NET_KEY = LINK_KEY };

/* Whether it is to be used at all. */
bool net_is_direct(const struct net *n);

/* Memory of this process, which must be the leader of its node, for others: *key, at most NET_KEY bytes, is what they need.
 * Its length, or a negative code after a line. */
int net_expose(struct net *n, void *base, size_t bytes, struct link_memory **memory, void *key);
void net_hide(struct net *n, struct link_memory *memory);

/* Such memory of another node. */
int net_window_open(struct net *n, int node, const void *key, struct link_window **window);
void net_window_close(struct link_window *window);

/* One under way. */
struct net_direct {
    struct link_send send;
    struct target *target;
    bool is_get;
    bool over; /* its local memory may be used again; of a get: is filled */
};
void net_put(struct net *n, int node, struct link_window *w, uint64_t to, const void *from, size_t bytes,
             struct net_direct *d);
void net_get(struct net *n, int node, struct link_window *w, void *to, uint64_t from, size_t bytes,
             struct net_direct *d);
void net_wait_direct(struct net *n, int node, const struct net_direct *d);

#endif
