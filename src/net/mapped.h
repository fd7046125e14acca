/* mapped.h: lists of address ranges that an address may be looked up in, by any thread, without a lock. */
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
    MAPPED_BLOCKS, /* what is allocated in them (heap.h) */
    MAPPED_LISTS
};

/* Ranges of a list do not overlap. `owner`: for who finds it. 0 or -ENOMEM; after a reserve, one add cannot fail. */
int mapped_reserve(enum mapped_list list);
int mapped_add(enum mapped_list list, uint64_t base, uint64_t bytes, void *owner);
void mapped_remove(enum mapped_list list, uint64_t base);

/* Whether all of [address, address + bytes) lies in one of them. Any thread; never waits. -EAGAIN: the list is just
 * being changed, ask again; -EFAULT: no. */
int mapped_find(enum mapped_list list, uint64_t address, uint64_t bytes, struct mapped *found);

#endif
