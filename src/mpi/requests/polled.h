/* polled.h: requests of the MPI library, polled without completing them. */
#ifndef HEARTH_MPI_REQUESTS_POLLED_H
#define HEARTH_MPI_REQUESTS_POLLED_H

#include "mpi/host/host.h"

/* State of one pass over several requests, in order; initialise to {0}. */
struct foreign_look {
    unsigned incomplete; /* so far */
    bool advanced;       /* polled a request that progresses only when it is tested itself */
    bool unknown;        /* polled a request that only a completing call may touch */
};

/* Whether MPI's completing call would return without waiting, if not look->unknown. Progresses the request, but does
 * not complete it. */
bool requests_poll(struct foreign_look *look, MPI_Request request);

/* Tests requests that cannot be polled, in order, up to the first that is incomplete. Replaces each that is complete by a managed
 * request with its result. */
void requests_poll_keep(int count, MPI_Request requests[]);

/* Learns how this MPI treats requests of files. */
void requests_poll_open(void);

#ifdef OPEN_MPI
static inline void requests_poll_forget(MPI_Request request) {
}
#else
/* The handle belongs to a persistent MPI request that is being started. */
void requests_poll_forget(MPI_Request request);
#endif

#endif
