/* fortran.h: the Fortran handles of requests. */
#ifndef HEARTH_MPI_P2P_FORTRAN_H
#define HEARTH_MPI_P2P_FORTRAN_H

#include "mpi/messages/state/p2p_request.h"

/* Open MPI's Fortran calls read a handle's number from the object that it points to. */
#ifdef OPEN_MPI
int p2p_fortran_open(void);
void p2p_fortran_number(struct p2p_request *r);
#else
static inline int p2p_fortran_open(void) {
    return MPI_SUCCESS;
}
static inline void p2p_fortran_number(struct p2p_request *r) {
}
#endif

#endif
