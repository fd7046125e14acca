/* stripes.h: locks in shared memory for the words of a node's shared memory.
 *
 * Each address belongs to one of some hundred locks: those of one STRIPE_BYTES block to the same one. Whoever
 * changes memory in more than one step (an accumulate) holds the lock of the block for these steps: processes
 * of the node, and the helper, which only tries. A process that dies inside leaves the lock to the next who
 * comes; what it was doing is half done, and the job ends for other reasons. */
#ifndef HEARTH_NET_STRIPES_H
#define HEARTH_NET_STRIPES_H

#include <stdbool.h>
#include <stddef.h>

enum { STRIPE_BYTES = 4096 };

struct net_stripes;

/* In zeroed memory of so many bytes that the node shares; made by one, before the others use it. 0 or
 * a negative code. */
size_t net_stripes_bytes(void);
int net_stripes_make(struct net_stripes *s);

/* For the block that holds this address. Lock waits; try does not. Blocks are locked one at a time. */
void net_stripes_lock(struct net_stripes *s, const void *address);
bool net_stripes_try(struct net_stripes *s, const void *address);
void net_stripes_unlock(struct net_stripes *s, const void *address);

/* How many of the `bytes` bytes from here on are of the same block. */
static inline size_t net_stripes_part(const void *address, size_t bytes) {
    size_t rest = STRIPE_BYTES - (size_t)address % STRIPE_BYTES;
    return bytes < rest ? bytes : rest;
}

#endif
