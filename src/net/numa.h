/* numa.h: on which NUMA node pages are to be allocated when they are first touched. */
#ifndef HEARTH_NET_NUMA_H
#define HEARTH_NET_NUMA_H

#include <stddef.h>

/* Whole pages of [base, base + bytes), shared memory, are to lie on the NUMA node on which the caller runs, whichever
 * process touches them first. Nothing happens where there is one node only, or the kernel does not allow it. */
void numa_prefer(void *base, size_t bytes);

#endif
