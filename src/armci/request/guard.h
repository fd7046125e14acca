/* guard.h: serialises threads that call ARMCI concurrently, where MPI allows that (MPI_THREAD_MULTIPLE).
 *
 * The process has one such lock. A thread holds it while it communicates with another node, and while it changes the
 * state of operations and allocations. A thread that waits for an action of the program does not hold it: mutexes are
 * tried in a loop, and MPI collectives are called without it. Access to memory of this node does not take it:
 * net_heap_owner finds allocations without a lock, CPU atomics change words, and accumulates run under the locks of the
 * lock table, which exclude threads as well as processes. The lock is recursive. */
#ifndef HEARTH_ARMCI_GUARD_H
#define HEARTH_ARMCI_GUARD_H

#include "armci/job/armci_internal.h"
#include "base/compiler.h"

void armci_guard_lock(void);
void armci_guard_unlock(void);

static inline void armci_guard_enter(void) {
    if (UNLIKELY(armci_job.threaded))
        armci_guard_lock();
}

static inline void armci_guard_leave(void) {
    if (UNLIKELY(armci_job.threaded))
        armci_guard_unlock();
}

#endif
