/* barrier.h: see barrier.c. */
#ifndef HEARTH_GAS_BARRIER_H
#define HEARTH_GAS_BARRIER_H

/* Before anybody can send to this rank. */
void barrier_open(void);

#endif
