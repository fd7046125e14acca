/* sizes.h: see sizes.c. */
#ifndef HEARTH_GAS_SIZES_H
#define HEARTH_GAS_SIZES_H

#include "gas/process/process.h"

/* The largest segment of a rank on a machine with so many ranks. */
uint64_t gas_sizes_most(int machine_ranks);
/* Bytes of memory that it leaves to other jobs of this user, to which they are promised. */
uint64_t gas_sizes_promised(void);

#endif
