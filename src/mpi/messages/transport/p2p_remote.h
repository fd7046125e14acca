/* p2p_remote.h: processes that are reached through the host MPI. */
#ifndef HEARTH_MPI_P2P_REMOTE_H
#define HEARTH_MPI_P2P_REMOTE_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_request.h"

extern HIDDEN uint64_t p2p_remote_eager; /* the largest message that is sent eagerly */

int p2p_remote_open(void);
int p2p_remote_start(void);     /* once the processes of this node are known */
void p2p_remote_listen(void);   /* once all processes agree to start */
void p2p_remote_withdraw(void); /* no message arrives any more; p2p_remote_close does it too */
void p2p_remote_close(void);
/* one: at most one message, for a caller that checks after each. */
int p2p_remote_poll(bool one);
bool p2p_remote_is_idle(void);
bool p2p_remote_transfers(void); /* payloads of large messages are on their way */
/* The payload of a large message. */
void p2p_remote_receive(struct p2p_request *r, struct p2p_peer *p, const struct header *h);
void p2p_remote_send_bulk(struct p2p_request *r, uint64_t tag);
int p2p_remote_barrier(MPI_Request *request);

#endif
