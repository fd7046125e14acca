/* reserve.h: memory promised to the processes of a job on one node, and not yet backed.
 *
 * Pages of shared memory are backed when they are first touched, and the kernel cannot reserve memory for them. So
 * the processes of a job sum up their promises in shared memory. A promise that the memory limit does not cover is
 * refused. Memory promised to other jobs of the user counts as taken (promise.h). */
#ifndef HEARTH_NET_RESERVE_H
#define HEARTH_NET_RESERVE_H

#include <stdint.h>

#include "net/shm/memfile.h"

struct net_reserve; /* in zeroed memory shared by the node's processes */
size_t net_reserve_bytes(void);

/* Reserves `bytes` for this process. Returns 0, or -ENOMEM after logging an error, with nothing reserved. Any
 * process, any thread. The limit is read again if it is reached, and for a large promise if it was read some seconds
 * ago. */
int net_reserve_take(struct net_reserve *r, uint64_t bytes);
void net_reserve_give(struct net_reserve *r, uint64_t bytes);

/* Registers a file whose backed pages count as fulfilled promises, except for its first `idle` bytes, which may
 * belong to no promise. Its creator keeps it open meanwhile. Returns its number, or -1: the list is full, and the
 * file is not counted. */
int net_reserve_list(struct net_reserve *r, const struct net_address *file, uint64_t idle);
void net_reserve_unlist(struct net_reserve *r, int number);

#endif
