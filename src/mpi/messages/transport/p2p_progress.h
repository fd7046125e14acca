/* p2p_progress.h: rounds of progress, and waiting. */
#ifndef HEARTH_MPI_P2P_PROGRESS_H
#define HEARTH_MPI_P2P_PROGRESS_H

#include "mpi/messages/state/p2p_request.h"

/* One round of progress. Returns the number of events. Requires the lock, and a thread that may call MPI. */
int p2p_progress(void);
/* A smaller round, for a caller that checks for completion after each. */
int p2p_progress_some(void);
/* The same for a thread that may not call MPI. */
int p2p_progress_node(void);

/* Backs off between two idle rounds of a wait. Call without the lock. */
struct pause {
    uint64_t since;
};
void p2p_pause(struct pause *p);

/* One round of a wait: makes progress, or backs off if there was nothing to do. Call without the lock. */
void p2p_wait_round(struct pause *pause);
/* The same with the lock, which is released while it backs off. */
void p2p_wait_round_locked(struct pause *pause);

/* Windows of MPI that exist, more or fewer: other processes may wait in them for a poll of MPI here. Requires the lock. */
void p2p_progress_windows(int more);

/* From now on rounds poll Hearth's own transports only. Requires the lock. */
void p2p_progress_leave_host(void);

/* on_node: number of processes on this node. */
void p2p_progress_open(int on_node);

/* Waits for the request. Requires the lock, and releases it in between. */
void p2p_wait(struct p2p_request *r);

/* Waits for a request of the host MPI and returns its code. Call without the lock. */
int p2p_wait_host(MPI_Request *request, MPI_Status *status);

/* The same for the request of a non-blocking equivalent whose start returned rc. */
static inline int p2p_wait_nonblocking(int rc, MPI_Request *request, MPI_Status *status) {
    return rc == MPI_SUCCESS ? p2p_wait_host(request, status) : rc;
}

#endif
