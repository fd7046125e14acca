/* sync_event.h: reports a sync event to the MPI cache: this process may have seen another process's write, so cached
 * gets of MPI windows must not hide earlier writes of that process (acquire mode, doc/consistency.md). */
#ifndef HEARTH_ARMCI_SYNC_EVENT_H
#define HEARTH_ARMCI_SYNC_EVENT_H

/* Defined only if the drop-in library for MPI is in the same process. */
extern void hearth_acquire(void) __attribute__((weak, visibility("default")));

static inline void armci_sync_event(void) {
    if (__builtin_expect(&hearth_acquire != 0, 0))
        hearth_acquire();
}

#endif
