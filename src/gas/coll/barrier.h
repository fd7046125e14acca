/* barrier.h: see barrier.c. */
#ifndef HEARTH_GAS_BARRIER_H
#define HEARTH_GAS_BARRIER_H

/* Before any rank can send to this one. */
void gas_barrier_open(void);

#endif
