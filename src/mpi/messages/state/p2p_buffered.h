/* p2p_buffered.h: the space that buffered sends occupy in the buffers that the program has attached. Requires the lock. */
#ifndef HEARTH_MPI_P2P_BUFFERED_H
#define HEARTH_MPI_P2P_BUFFERED_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_request.h"

/* Those of the process and of its sessions; a communicator has its own. */
extern HIDDEN struct p2p_buffer p2p_buffered_process, p2p_buffered_sessions;

#define P2P_BUFFERED_UNLIMITED UINT64_MAX /* the room of a buffer that MPI provides: MPI_BUFFER_AUTOMATIC */

/* Reserves space for a message; false if there is not enough. */
bool p2p_buffered_take(struct p2p_request *r);
void p2p_buffered_give(struct p2p_request *r);

/* The messages sent so far no longer occupy space. */
void p2p_buffered_flush(struct p2p_buffer *b);

#endif
