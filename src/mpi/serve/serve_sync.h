/* serve_sync.h: fence, post, start, complete, wait and test of windows between nodes whose handle is an empty window of the
 * host, on each node of its own (serve_window.c): Hearth synchronises their ranks by messages. */
#ifndef HEARTH_MPI_SERVE_SYNC_H
#define HEARTH_MPI_SERVE_SYNC_H

#include "mpi/serve/served.h"

static inline bool serve_sync_is_own(const struct served *s) {
    return s && s->sync != MPI_COMM_NULL;
}

/* Collective. False: no communicator. */
bool serve_sync_open(struct served *s, MPI_Comm comm);
void serve_sync_close(struct served *s);

/* The calls, after the flush that they need. The arrays of ranks of this window are allocated; post keeps its own. */
int serve_sync_barrier(const struct served *s);
void serve_sync_post(struct served *s, int *ranks, int count, int assertion);
void serve_sync_start(const struct served *s, const int *ranks, int count, int assertion);
void serve_sync_complete(const struct served *s);
/* Whether all origins have completed, which ends the exposure; `waits` until they have. */
bool serve_sync_test(struct served *s, bool waits);

#endif
