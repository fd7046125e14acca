/* barrier.h: see barrier.c. */
#ifndef HEARTH_GAS_BARRIER_H
#define HEARTH_GAS_BARRIER_H

/* Before any rank can send to this one. */
void gas_barrier_open(void);

/* Barrier of all ranks for internal use, separate from the program's; polls meanwhile. */
void gas_barrier(void);

#endif
