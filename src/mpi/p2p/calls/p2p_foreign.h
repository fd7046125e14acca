/* p2p_foreign.h: requests of the MPI library, polled without completing them. */
#ifndef HEARTH_MPI_P2P_FOREIGN_H
#define HEARTH_MPI_P2P_FOREIGN_H

#include "mpi/core/host.h"

/* State of one pass over several requests, in order; initialise to {0}. */
struct foreign_look {
    unsigned incomplete; /* so far */
    bool advanced;       /* polled a request that progresses only when it is tested itself */
    bool unknown;        /* polled a request that only a completing call may touch */
};

/* Whether MPI's completing call would return without waiting, if not look->unknown. Progresses the request, but does
 * not complete it. */
bool p2p_foreign_poll(struct foreign_look *look, MPI_Request request);

/* Tests requests that cannot be polled, in order, up to the first that is incomplete. Replaces each that is complete by a managed
 * request with its result. */
void p2p_foreign_keep(int count, MPI_Request requests[]);

/* Learns how this MPI treats requests of files. */
void p2p_foreign_open(void);

#ifdef OPEN_MPI
static inline void p2p_foreign_forget(MPI_Request request) {
}
#else
/* The handle belongs to a persistent MPI request that is being started. */
void p2p_foreign_forget(MPI_Request request);
#endif

#endif
