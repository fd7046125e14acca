/* reserve.h: memory that was promised to the processes of a job on one node, and is not there yet.
 *
 * Pages of shared memory are backed when they are first touched, and the kernel cannot set memory aside for them. So
 * the processes of a job add up what they have been promised, in memory that they share, and a promise that the memory
 * limit does not cover is refused. Other jobs of the node are seen only by what they have touched. */
#ifndef HEARTH_NET_RESERVE_H
#define HEARTH_NET_RESERVE_H

#include <stdint.h>

#include "net/memfile.h"

struct net_reserve; /* in zeroed memory that the node's processes share */
size_t net_reserve_bytes(void);

/* For so many bytes of this process: 0, or -ENOMEM after a line, and nothing is taken. Any process, any thread. The
 * limit is read anew if it is reached, and for a large promise if it was read some seconds ago. */
int net_reserve_take(struct net_reserve *r, uint64_t bytes);
void net_reserve_give(struct net_reserve *r, uint64_t bytes);

/* A file whose pages count as promises that were kept, but for the first `idle` bytes of them, which may belong to no
 * promise; its maker keeps it open meanwhile. Its number, or -1: the list is full, and it is not counted. */
int net_reserve_list(struct net_reserve *r, const struct net_address *file, uint64_t idle);
void net_reserve_unlist(struct net_reserve *r, int number);

/* For tests: the memory limit is this; 0: what the system says. */
void net_reserve_force(uint64_t bytes);

#endif
