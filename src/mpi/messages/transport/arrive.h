/* arrive.h: incoming messages, and the engine that matches them. */
#ifndef HEARTH_MPI_P2P_ARRIVE_H
#define HEARTH_MPI_P2P_ARRIVE_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_request.h"

extern HIDDEN struct match *p2p_engine;

/* A header arrived, with its payload, which is valid during the call. */
void p2p_arrive_message(struct p2p_peer *p, const struct header *h, const void *payload);

/* The same, or several messages that left together. */
void p2p_arrive_packet(struct p2p_peer *p, const struct header *h, const void *payload);

/* A message of this process to itself. */
void p2p_arrive_self(struct p2p_request *r);

/* Receives a message that a receive has found in the queue, and frees it. */
void p2p_arrive_take(struct p2p_request *r, struct p2p_message *m);

const struct header *p2p_message_header(const struct p2p_message *m);
void p2p_message_drop(struct p2p_message *m);
void p2p_arrive_open(void);
void p2p_arrive_close(void);

#endif
