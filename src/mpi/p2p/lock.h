/* lock.h: who may touch messages. With MPI_THREAD_MULTIPLE every call takes the lock. Otherwise the program's thread holds it for
 * good, and gives it up only while it sits inside a call of the MPI library: then, and only then, the helper thread may have it. So
 * an ordinary call costs one compare, and no atomic. */
#ifndef HEARTH_MPI_P2P_LOCK_H
#define HEARTH_MPI_P2P_LOCK_H

#include "mpi/host.h"

extern HIDDEN bool p2p_on;      /* HEARTH_MATCH, agreed by all processes */
extern HIDDEN bool p2p_threads; /* MPI_THREAD_MULTIPLE */
extern HIDDEN bool far_is_used; /* some process is reached through the host MPI */

/* Whether a call has to take the lock: many threads, or a call from within a call (an attribute's callback). */
extern HIDDEN int p2p_careful;

void p2p_lock_slowly(void);
void p2p_unlock_slowly(void);
bool p2p_try_lock(void);

static inline void p2p_lock(void) {
    if (UNLIKELY(p2p_careful))
        p2p_lock_slowly();
}

static inline void p2p_unlock(void) {
    if (UNLIKELY(p2p_careful))
        p2p_unlock_slowly();
}

/* Around a call of the MPI library that may wait for others. They nest. */
void p2p_enter_slowly(void);
void p2p_leave_slowly(void);

static inline void p2p_enter(void) {
    if (UNLIKELY(p2p_on))
        p2p_enter_slowly();
}

static inline void p2p_leave(void) {
    if (UNLIKELY(p2p_on))
        p2p_leave_slowly();
}

/* In a call of the MPI library that does not wait, and that a program repeats until something happens: a round of progress. */
void p2p_poll_slowly(void);

static inline void p2p_poll(void) {
    if (UNLIKELY(p2p_on))
        p2p_poll_slowly();
}

/* The helper thread: helper.c */
void helper_start(void);
void helper_stop(void);

#endif
