/* guard.h: calls of several threads at once, where MPI allows them (MPI_THREAD_MULTIPLE).
 *
 * One lock of the process is held while a thread asks another node, and while it changes what this process keeps of
 * operations and allocations. Nothing that waits for code of the program waits under it: mutexes are tried in a loop,
 * and collectives of MPI are called without it. Memory of this node is reached without it: allocations there are found
 * by net_heap_owner, words are changed by the CPU's atomics, and sums are made under the stripes' locks, which exclude
 * threads as well as processes. Nests. */
#ifndef HEARTH_ARMCI_GUARD_H
#define HEARTH_ARMCI_GUARD_H

#include "armci/inside.h"

void guard_lock(void);
void guard_unlock(void);

static inline void guard_enter(void) {
    if (UNLIKELY(armci.threaded))
        guard_lock();
}

static inline void guard_leave(void) {
    if (UNLIKELY(armci.threaded))
        guard_unlock();
}

#endif
