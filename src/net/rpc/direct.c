/* direct.c: one-sided puts and gets over the link, ordered with those through the helper. See direct.h. */
#include "net/rpc/direct.h"

#include <errno.h>

#include "base/compiler.h"
#include "net/rpc/rpc_engine.h"

bool net_is_direct(const struct net *n) {
    return n->direct;
}

int net_expose(struct net *n, void *base, size_t bytes, struct link_memory **memory, void *key) {
    return net_link_expose(n->link, base, bytes, memory, key);
}

void net_hide(struct net *n, struct link_memory *memory) {
    net_link_hide(n->link, memory);
}

/* Uses the helper that this process would send to: on a network without RDMA hardware, that thread executes them. */
static struct net_target *own_target(struct net *n, int node) {
    return net_target_of(n, node, n->world->rank % n->helpers);
}

int net_window_open(struct net *n, int node, const void *key, struct link_window **window) {
    return net_link_window_open(own_target(n, node)->peer, key, window);
}

void net_window_close(struct link_window *window) {
    net_link_window_close(window);
}

/* ---- puts and gets ---- */

/* A failed operation is never over: nobody may use its data. Whoever waits for it makes progress, which calls
 * net_call_failed. */
static void direct_has_ended(struct link_send *send, int status) {
    struct net_direct *d = (struct net_direct *)send;
    if (UNLIKELY(status != 0))
        return;
    d->over = true;
    d->target->direct--;
    d->target->gets -= d->is_get;
}

/* Whether another operation may start: it has a credit, and cannot overtake an earlier one. Networks order neither a
 * get after a put nor a put after a get. */
static bool may_go(const struct net_target *t, bool get) {
    return t->direct < NET_MOST_DIRECT && !t->flushing && (get ? !t->unflushed : t->gets == 0);
}

/* Also waits until the helper has nothing outstanding. */
static struct net_target *direct_prepare(struct net *n, int node, struct net_direct *d, bool get) {
    struct net_target *t = own_target(n, node);
    struct patience p = {0};
    net_target_drain(n, t);
    if (get && t->unflushed)
        net_target_flush(n, t);
    while (!may_go(t, get))
        net_target_wait(n, t, &p, false);
    *d = (struct net_direct){.send.sent = direct_has_ended, .target = t, .is_get = get};
    t->direct++;
    t->gets += get;
    return t;
}

void net_put(struct net *n, int node, struct link_window *w, uint64_t to, const void *from, size_t bytes,
             struct net_direct *d) {
    struct net_target *t = direct_prepare(n, node, d, false);
    t->unflushed = true;
    int status = net_link_put(n->port, w, to, from, bytes, &d->send);
    if (status != 1)
        direct_has_ended(&d->send, status);
}

void net_get(struct net *n, int node, struct link_window *w, void *to, uint64_t from, size_t bytes,
             struct net_direct *d) {
    direct_prepare(n, node, d, true);
    int status = net_link_get(n->port, w, to, from, bytes, &d->send);
    if (status != 1)
        direct_has_ended(&d->send, status);
}

void net_wait_direct(struct net *n, int node, const struct net_direct *d) {
    struct net_target *t = own_target(n, node);
    struct patience p = {0};
    while (!d->over)
        net_target_wait(n, t, &p, false);
}
