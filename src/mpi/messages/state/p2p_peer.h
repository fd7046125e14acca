/* p2p_peer.h: the processes of MPI_COMM_WORLD with which this one has exchanged messages, and those on its node. */
#ifndef HEARTH_MPI_P2P_PEER_H
#define HEARTH_MPI_P2P_PEER_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_lock.h"
#include "tables/rank_table.h"

extern HIDDEN int p2p_rank, p2p_size; /* in MPI_COMM_WORLD */
extern HIDDEN bool
    p2p_remote_is_used; /* some process is on another node: reached through Hearth's network or the host MPI */

/* No memory for state that must not be lost: logs one line and aborts the job as MPI would. */
_Noreturn void p2p_out_of_memory(const char *what);

/* The same for an MPI call that other processes rely on. */
_Noreturn void p2p_mpi_failed(const char *what);

struct p2p_request;
struct p2p_bounce;
struct link_peer;
struct p2p_message; /* arrived and not yet matched: arrive.c */

struct p2p_peer {
    struct rank_record head;          /* its rank in MPI_COMM_WORLD */
    uint32_t sent, received;          /* numbered messages so far */
    int node;                         /* its rank on this node, or -1: on another */
    uint32_t owed;                    /* answers that this process waits for */
    uint32_t announced;               /* large messages to it that it has not answered yet */
    struct p2p_request *first, *last; /* queue of requests that wait for space */
    struct link_peer *link;           /* over Hearth's own network, or NULL: not connected */
    struct p2p_peer *next_waiting;    /* list of peers with a non-empty queue */
    struct p2p_message *held;         /* messages that arrived out of order, sorted */
    union {
        struct p2p_peer *next_owing; /* on this node: list of peers with owed > 0 */
        struct p2p_bounce *batch;    /* on another node: messages that will leave together, or NULL */
    };
    bool waiting, owing;
    bool helpless; /* it cannot write to this process's memory */
};

extern HIDDEN struct rank_table p2p_peers; /* of struct p2p_peer, by rank in MPI_COMM_WORLD */

/* The process with this rank, made at its first use; never NULL: see p2p_out_of_memory. Requires the lock. */
struct p2p_peer *p2p_peer_make(int rank);
static inline struct p2p_peer *p2p_peer_of(int rank) {
    struct p2p_peer *p = (struct p2p_peer *)(void *)rank_table_find(&p2p_peers, rank);
    return LIKELY(p->head.rank >= 0) ? p : p2p_peer_make(rank);
}
/* The same; NULL: no memory. */
struct p2p_peer *p2p_peer_try(int rank);
static inline struct p2p_peer *p2p_peer_find(int rank) {
    struct p2p_peer *p = (struct p2p_peer *)(void *)rank_table_find(&p2p_peers, rank);
    return LIKELY(p->head.rank >= 0) ? p : p2p_peer_try(rank);
}

/* Whether this process shares memory with the one of this rank, for messages. Makes nothing. */
static inline bool p2p_peer_is_local(int rank) {
    return ((struct p2p_peer *)(void *)rank_table_find(&p2p_peers, rank))->node >= 0;
}

int p2p_peer_open(void);
void p2p_peer_close(void);

#endif
