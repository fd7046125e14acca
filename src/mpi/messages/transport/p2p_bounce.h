/* p2p_bounce.h: bounce buffers, in which messages to other nodes leave through Hearth's network or the host MPI, alone or in
 * batches. */
#ifndef HEARTH_MPI_P2P_BOUNCE_H
#define HEARTH_MPI_P2P_BOUNCE_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_request.h"

/* comm: Hearth's own. most: the largest message, with its header. One buffer is allocated at once. */
int p2p_bounce_open(MPI_Comm comm, size_t most);
void p2p_bounce_close(void);

/* Copies a message and passes it to the network, or adds it to a batch. Returns as p2p_channel_try. */
int p2p_bounce_send(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes);
/* After p2p_bounce_send has returned 1: the request completes when the message has been sent. */
void p2p_bounce_own(struct p2p_request *r);
/* The same for a piece of a transfer, which completes when all its pieces have been sent. */
void p2p_bounce_own_piece(struct p2p_request *r);
int p2p_bounce_poll_slow(void);
bool p2p_bounce_is_idle(void);

/* From begin to end, messages to one process leave together. Require the lock, which may be released in between: a round
 * of progress sends what has been gathered. */
void p2p_bounce_batch_begin(void);
void p2p_bounce_batch_end(void);

extern HIDDEN unsigned p2p_bounce_count; /* buffers that are filled or in flight */

/* Completes requests whose messages have been sent. Returns the number of buffers that became free. */
static inline int p2p_bounce_poll(void) {
    return LIKELY(!p2p_bounce_count) ? 0 : p2p_bounce_poll_slow();
}

#endif
