/* serve_sync.h: synchronises the ranks of a window by messages, where the host's calls do not.
 *
 *   fence           of windows between nodes whose handle is an empty window of the host, on each node of its own (serve_window.c)
 *   post, start,    of these windows, and wherever the host's start may return before the target has posted: MPI allows this, since a
 *   complete, wait  host can delay its own operations; but Hearth executes those of a served window at once */
#ifndef HEARTH_MPI_SERVE_SYNC_H
#define HEARTH_MPI_SERVE_SYNC_H

#include "mpi/windows/serving/serving.h"

/* Whether Hearth synchronises posts and starts. */
static inline bool serve_sync_posts(const struct served *s) {
    return s && s->sync != MPI_COMM_NULL;
}

/* Whether Hearth synchronises fences, too. */
static inline bool serve_sync_fences(const struct served *s) {
    return serve_sync_posts(s) && s->stand_in && s->domain;
}

/* Whether MPI_Win_start of this MPI is known to wait until all targets have posted: that of MPICH's device ch4. */
bool serve_sync_host_waits(void);

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
