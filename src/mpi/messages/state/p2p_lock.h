/* p2p_lock.h: the lock of message passing. With MPI_THREAD_MULTIPLE every call takes it. Otherwise the program's thread
 * holds it permanently and releases it only while it is inside a call of the MPI library: only then can the helper
 * thread take it. An ordinary call thus costs one comparison and no atomic. */
#ifndef HEARTH_MPI_P2P_LOCK_H
#define HEARTH_MPI_P2P_LOCK_H

#include "base/compiler.h"
#include "mpi/host/host.h"

extern HIDDEN bool p2p_on;           /* HEARTH_MATCH, agreed by all processes */
extern HIDDEN bool p2p_threads;      /* MPI_THREAD_MULTIPLE, which may differ between processes */
extern HIDDEN bool p2p_some_threads; /* MPI_THREAD_MULTIPLE in some process, agreed by all processes */

/* Whether calls must take the lock: several threads, or a call from within a call (an attribute callback). */
extern HIDDEN int p2p_careful;

void p2p_lock_slow(void);
void p2p_unlock_slow(void);
bool p2p_try_lock(void);
/* Called by a thread that has just released the lock and will take it again: lets waiting threads take it first. */
void p2p_yield_lock(void);
/* Sleeps while the word has this value; wakes one thread that sleeps on it. */
void p2p_sleep_on(_Atomic int *word, int value);
void p2p_wake_one(_Atomic int *word);

static inline void p2p_lock(void) {
    if (UNLIKELY(p2p_careful))
        p2p_lock_slow();
}

static inline void p2p_unlock(void) {
    if (UNLIKELY(p2p_careful))
        p2p_unlock_slow();
}

#endif
