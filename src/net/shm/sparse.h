/* sparse.h: picks addresses that are probably free in this process and in others. */
#ifndef HEARTH_NET_SPARSE_H
#define HEARTH_NET_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

enum { SPARSE_TRIES = 16 };

/* An address for the try-th attempt (0 ... SPARSE_TRIES - 1) to map `bytes`: aligned to a page, or to 2 MiB if
 * `bytes` is at least that. 0, with errno: the system does not give that much address space. */
uint64_t sparse_pick(uint64_t bytes, unsigned try);

/* The address was free. The next pick begins behind it. */
void sparse_took(uint64_t base, uint64_t bytes);

/* Whether address space is scarce, as under ThreadSanitizer. Callers then map no more than they need. */
bool sparse_is_scarce(void);

/* For tests: the next `picks` picks return this. */
void sparse_force(uint64_t base, unsigned picks);

#endif
