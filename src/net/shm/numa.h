/* numa.h: the NUMA node on which pages are allocated at first touch. */
#ifndef HEARTH_NET_NUMA_H
#define HEARTH_NET_NUMA_H

#include <stddef.h>

/* Prefers the caller's NUMA node for the whole pages of [base, base + bytes), shared memory, whichever process
 * touches them first. No effect if there is only one NUMA node, or if the kernel does not allow it. */
void net_numa_prefer(void *base, size_t bytes);

#endif
