/* stripes.h: a lock table for a node's shared memory.
 *
 * Each block of STRIPE_BYTES maps to one of some hundred locks, in shared memory. A process that changes memory in
 * more than one step (an accumulate) holds the lock of the block meanwhile. The helper only tries locks. If a
 * process dies with a lock, the next process gets it; the interrupted change is incomplete, and the job ends for
 * other reasons. */
#ifndef HEARTH_NET_STRIPES_H
#define HEARTH_NET_STRIPES_H

#include <stdbool.h>
#include <stddef.h>

enum { STRIPE_BYTES = 4096 };

struct net_stripes;

/* In zeroed memory of net_stripes_bytes bytes that the node shares. One process creates the table before the others
 * use it. Returns 0 or a negative code. */
size_t net_stripes_bytes(void);
int net_stripes_make(struct net_stripes *s);

/* For the block that contains this address. lock blocks; try does not. A thread holds at most one lock at a time. */
void net_stripes_lock(struct net_stripes *s, const void *address);
bool net_stripes_try(struct net_stripes *s, const void *address);
void net_stripes_unlock(struct net_stripes *s, const void *address);

/* How many of the `bytes` bytes from here on lie in the same block. */
static inline size_t net_stripes_part(const void *address, size_t bytes) {
    size_t rest = STRIPE_BYTES - (size_t)address % STRIPE_BYTES;
    return bytes < rest ? bytes : rest;
}

#endif
