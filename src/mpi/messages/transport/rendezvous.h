/* rendezvous.h: messages too large to be sent before a receive matches them. */
#ifndef HEARTH_MPI_P2P_RENDEZVOUS_H
#define HEARTH_MPI_P2P_RENDEZVOUS_H

#include "mpi/messages/state/p2p_request.h"

/* The receive matches an RTS. address: the sender's bytes, or 0 if they cannot be pulled. */
void p2p_rendezvous_begin(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                          uint64_t address);
/* The receiver asks the sender to copy a part; the sender has answered. */
void p2p_rendezvous_help(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                         const void *payload);
void p2p_rendezvous_helped(struct p2p_request *r, struct p2p_peer *p, const struct header *h);
void p2p_rendezvous_cts(struct p2p_request *r, struct p2p_peer *p, const struct header *h);
void p2p_rendezvous_data(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                         const void *payload);

#endif
