/* p2p_buffered.h: the space that buffered sends occupy in the buffer of MPI_Buffer_attach. Requires the lock. */
#ifndef HEARTH_MPI_P2P_BUFFERED_H
#define HEARTH_MPI_P2P_BUFFERED_H

#include "mpi/p2p/state/p2p_request.h"

/* The program has attached a buffer of this size; 0: it has none. */
void p2p_buffered_attach(uint64_t bytes);
/* Reserves space for a message; false if there is not enough. */
bool p2p_buffered_take(struct p2p_request *r);
void p2p_buffered_give(struct p2p_request *r);
/* Whether a message still occupies space. */
bool p2p_buffered_is_used(void);

#endif
