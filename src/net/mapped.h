/* mapped.h: the list of mappings that an address may be looked up in, by any thread, without a lock. */
#ifndef HEARTH_NET_MAPPED_H
#define HEARTH_NET_MAPPED_H

#include <stddef.h>
#include <stdint.h>

/* They do not overlap. 0 or -ENOMEM. */
int mapped_add(uint64_t base, uint64_t bytes);
void mapped_remove(uint64_t base);

/* As net_shared_check. */
int mapped_find(uint64_t address, uint64_t bytes, uint64_t *base, uint64_t *size);

#endif
