/* direct.h: contiguous puts and gets that bypass the helpers, on networks that access remote memory by themselves
 * (RDMA), or wherever HEARTH_DIRECT=on.
 *
 * A process has at most NET_MOST_DIRECT of them in flight to each node. Direct operations and operations through
 * the helper stay in order towards each node. Before a process switches between direct operations and the helper, or
 * between direct puts and direct gets, everything issued before the switch completes. A fence waits for both. An
 * operation for the helper that has to wait for direct puts sends its size hint in the meantime. */
#ifndef HEARTH_NET_DIRECT_H
#define HEARTH_NET_DIRECT_H

#include "base/settings.h"
#include "net/link/link.h"
#include "net/rpc/call.h"

enum { NET_KEY = LINK_KEY, NET_MOST_DIRECT = 16 };

/* Whether HEARTH_DIRECT wants this network's own transfers into memory. */
static inline bool net_direct_is_wanted(const struct link *link) {
    int wanted = settings_get()->direct;
    return wanted == DIRECT_ON || (wanted == DIRECT_AUTO && net_link_is_direct(link));
}

/* Whether direct operations are in use: the same in all processes, as collective calls depend on it. */
bool net_is_direct(const struct net *n);

/* Exposes memory of this process, which must be the leader of its node, to other nodes. *key, at most NET_KEY bytes,
 * is the handle that they need. Returns the length of the key, or a negative code after logging an error. */
int net_expose(struct net *n, void *base, size_t bytes, struct link_memory **memory, void *key);
void net_hide(struct net *n, struct link_memory *memory);

/* Opens the exposed memory of another node. */
int net_window_open(struct net *n, int node, const void *key, struct link_window **window);
void net_window_close(struct link_window *window);

/* An operation in flight. */
struct net_direct {
    struct link_send send;
    struct net_target *target;
    bool is_get;
    bool over; /* local completion: the buffer may be reused; of a get, it is filled */
};
void net_put(struct net *n, int node, struct link_window *w, uint64_t to, const void *from, size_t bytes,
             struct net_direct *d);
void net_get(struct net *n, int node, struct link_window *w, void *to, uint64_t from, size_t bytes,
             struct net_direct *d);
void net_wait_direct(struct net *n, int node, const struct net_direct *d);

#endif
