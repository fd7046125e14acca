/* drive.h: callers that wait for an answer serve other nodes meanwhile, in place of the helper of their process.
 *
 * A rank that waits polls. If other nodes have requests for its node at the same time, its helper needs a core, too. Where
 * there is none to spare, each request would wait for the scheduler. The rank has that core already, so it runs the
 * helper's rounds between its own: it *drives* the helper. Either the helper's thread or a caller has the *turn*, and only
 * the holder touches the helper's port, buffers and clients.
 *
 * Callers drive only if requests arrived lately. A caller that finds the helper's thread asleep until a message arrives wakes
 * it once, because polling may consume the event that would wake it. As long as callers drive for most of the time, the
 * helper's thread only looks now and then: it rests for up to REST_MOST_US, which is also the longest delay of a request that
 * arrives when the last caller has just stopped. */
#ifndef HEARTH_NET_DRIVE_H
#define HEARTH_NET_DRIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct net;

enum { REST_LEAST_US = 50, REST_MOST_US = 400 };

/* Of a helper. */
struct turn {
    _Atomic bool taken;
    _Atomic bool asleep;        /* its thread sleeps until a message arrives */
    _Atomic uint64_t driven_ns; /* for how long callers have driven it */
    /* Of its thread: driven_ns and clock_ns when it looked last, and how long to rest. */
    uint64_t seen_ns, looked_ns, rest_us;
};

/* Of the callers of a process. */
struct driver {
    uint64_t last_ns; /* when one had an idle round */
    uint64_t served;  /* by its helpers, at that time */
    unsigned waits;   /* that are left, without a request, until callers stop driving */
};

/* Whether the turn was free. The holder before has released its writes. */
static inline bool net_turn_take(struct turn *t) {
    return !atomic_exchange_explicit(&t->taken, true, memory_order_acquire);
}
static inline void net_turn_end(struct turn *t) {
    atomic_store_explicit(&t->taken, false, memory_order_release);
}

/* In the helper's thread: whether callers have driven it for most of the time since the last call. */
bool net_turn_is_driven(struct turn *t);

/* In an idle round of a caller that waits. Returns how many events of its helpers it handled. now: 0: the clock is read only if
 * callers may drive. */
unsigned net_drive(struct net *n, uint64_t now);

#endif
