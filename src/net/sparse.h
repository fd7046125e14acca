/* sparse.h: addresses at which probably nothing is, in this process or in others. */
#ifndef HEARTH_NET_SPARSE_H
#define HEARTH_NET_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

enum { SPARSE_TRIES = 16 };

/* Where to try to map so many bytes, the try-th time (0 ... SPARSE_TRIES - 1): aligned to a page, from
 * 2 MiB on to 2 MiB. 0: the system does not even give so much address space, errno. */
uint64_t sparse_pick(uint64_t bytes, unsigned try);

/* It was free. The next pick begins behind it. */
void sparse_took(uint64_t base, uint64_t bytes);

/* Whether address space is scarce, as under ThreadSanitizer: then no more of it is to be mapped than is needed. */
bool sparse_is_scarce(void);

/* For tests: so many picks from now on return this. */
void sparse_force(uint64_t base, unsigned picks);

#endif
