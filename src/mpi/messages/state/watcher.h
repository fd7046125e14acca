/* watcher.h: threads that wait for a request while another thread drives progress. Requires the lock. Only with
 * MPI_THREAD_MULTIPLE. */
#ifndef HEARTH_MPI_P2P_WATCHER_H
#define HEARTH_MPI_P2P_WATCHER_H

#include "mpi/messages/state/p2p_request.h"

/* Sleeps until the request is done or this thread must drive progress. Releases the lock meanwhile. */
void p2p_watcher_sleep(struct p2p_request *r);
/* Wakes the thread that waits for this request, which is done. */
void p2p_watcher_wake(struct p2p_request *r);
/* Wakes one of the waiting threads, if there are any, to drive progress. */
void p2p_watcher_wake_one(void);

#endif
