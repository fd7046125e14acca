/* lock_table.h: a lock table for a node's shared memory.
 *
 * Each block of LOCK_TABLE_GRAIN bytes maps to one of 256 locks, in shared memory. A process that changes memory in
 * more than one step (an accumulate) holds the lock of the block meanwhile. The helper only tries locks. If a
 * process dies with a lock, the next process gets it. The interrupted change stays incomplete: the launcher ends the
 * job because a process died. */
#ifndef HEARTH_NET_LOCK_TABLE_H
#define HEARTH_NET_LOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { LOCK_TABLE_GRAIN = 4096 };

struct net_lock_table;

/* In zeroed memory of net_lock_table_bytes bytes that the node shares. One process creates the table before the others
 * use it. Returns 0 or a negative code. */
size_t net_lock_table_bytes(void);
int net_lock_table_make(struct net_lock_table *s);

/* For the block that contains this address. lock blocks; try does not. A thread that holds a lock acquires no other, and no
 * robust mutex: if it died, the first one would stay locked. */
void net_lock_table_lock(struct net_lock_table *s, const void *address);
bool net_lock_table_try(struct net_lock_table *s, const void *address);
void net_lock_table_unlock(struct net_lock_table *s, const void *address);

/* For all blocks that contain a byte of this range, at most LOCK_TABLE_RANGE of them. lock_range blocks; try_range does not.
 * The locks are acquired in the order of the table, so two threads do not wait for each other. A thread holds one range at a
 * time. */
enum { LOCK_TABLE_RANGE = 64 };
void net_lock_table_lock_range(struct net_lock_table *s, const void *address, size_t bytes);
bool net_lock_table_try_range(struct net_lock_table *s, const void *address, size_t bytes);
void net_lock_table_unlock_range(struct net_lock_table *s);

/* How many of the `bytes` bytes from here on lie in the same block. */
static inline size_t net_lock_table_part(const void *address, size_t bytes) {
    size_t rest = LOCK_TABLE_GRAIN - (size_t)address % LOCK_TABLE_GRAIN;
    return bytes < rest ? bytes : rest;
}

#endif
