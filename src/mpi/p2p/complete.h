/* complete.h: what the calls that complete requests share. */
#ifndef HEARTH_MPI_P2P_COMPLETE_H
#define HEARTH_MPI_P2P_COMPLETE_H

#include "mpi/p2p/p2p.h"

/* What to tell at the end of a call. */
struct outcome {
    struct comm *failed; /* of the first that failed */
    int error;
    bool news;
};

static inline MPI_Status *complete_status_at(MPI_Status statuses[], int i) {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

static inline bool complete_is_over(const struct request *r) {
    return !r->active || r->done;
}

/* Completes a request of ours that is over: fills in its status, and frees it or makes it inactive. Its error. Under the lock. */
int complete_take(MPI_Request *handle, struct request *r, MPI_Status *status, struct outcome *o);

/* The end of a call: acquires, and calls the error handler. Its return code. Not under the lock. */
int complete_conclude(struct outcome *o, bool several);

int complete_count_ours(int count, const MPI_Request requests[]);

/* A round of progress; not under the lock. */
int complete_progress(void);

/* ---- foreign.c: requests of MPI ---- */

/* One look at several, in their order; {0} to begin with. */
struct foreign_look {
    unsigned incomplete; /* so far */
    bool advanced;       /* one that advances only by itself */
};

/* Whether MPI's call that completes the request would not wait. Advances it; does not complete it. */
bool foreign_poll(struct foreign_look *look, MPI_Request request);

#endif
