/* mapped.h: address ranges with lock-free lookup from any thread. */
#ifndef HEARTH_NET_MAPPED_H
#define HEARTH_NET_MAPPED_H

#include <stddef.h>
#include <stdint.h>

struct mapped {
    uint64_t base, bytes;
    void *owner;
};

enum mapped_list {
    MAPPED_SHARED, /* mappings of shared memory (shared.h) */
    MAPPED_BLOCKS, /* blocks allocated in them (heap.h) */
    MAPPED_LISTS
};

/* Ranges of a list do not overlap. `owner` is returned by lookups. Return 0 or -ENOMEM. After a net_mapped_reserve, one
 * net_mapped_add cannot fail. */
int net_mapped_reserve(enum mapped_list list);
int net_mapped_add(enum mapped_list list, uint64_t base, uint64_t bytes, void *owner);
void net_mapped_remove(enum mapped_list list, uint64_t base);

/* Whether all of [address, address + bytes) lies in one range. Any thread; never blocks. -EAGAIN: the list is being
 * changed, retry; -EFAULT: no. */
int net_mapped_find(enum mapped_list list, uint64_t address, uint64_t bytes, struct mapped *found);

#endif
