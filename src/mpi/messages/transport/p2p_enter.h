/* p2p_enter.h: the program enters a call of the MPI library, and leaves it. */
#ifndef HEARTH_MPI_P2P_ENTER_H
#define HEARTH_MPI_P2P_ENTER_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_lock.h"

/* Around a call of the MPI library that may wait for other processes. Calls nest. */
void p2p_enter_slow(void);
void p2p_leave_slow(void);

static inline void p2p_enter(void) {
    if (UNLIKELY(p2p_on))
        p2p_enter_slow();
}

static inline void p2p_leave(void) {
    if (UNLIKELY(p2p_on))
        p2p_leave_slow();
}

/* A round of progress in an MPI call that does not wait and that programs repeat until something happens. */
void p2p_poll_slow(void);

static inline void p2p_poll(void) {
    if (UNLIKELY(p2p_on))
        p2p_poll_slow();
}

#endif
