/* comm_context.h: describes a new communicator: its members, and the context that they agree on. Collective. */
#ifndef HEARTH_MPI_P2P_COMM_CONTEXT_H
#define HEARTH_MPI_P2P_COMM_CONTEXT_H

#include "mpi/messages/state/comm.h"

enum { CONTEXT_CHILDREN = 32 }; /* contexts that the members agree on at once, for duplicates */

/* Agrees on `count` contexts from c->context on. failed: this member cannot describe the communicator; then it
 * fails on all members. Returns false if it fails. */
bool p2p_context_find(struct comm *c, bool failed, uint32_t count);

/* Determines members and context. NULL: its messages are left to MPI. */
struct comm *p2p_context_describe(MPI_Comm handle);

/* Describes the processes of a communicator that is left to MPI and assigns a context, for pre-barriers only. NULL: not
 * all of them are processes of this program, or memory ran out. */
struct comm *p2p_context_shadow(MPI_Comm handle);

#endif
