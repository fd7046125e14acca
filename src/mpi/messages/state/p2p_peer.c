/* p2p_peer.c: the processes of MPI_COMM_WORLD with which this one has exchanged messages, and those on its node. */
#include "mpi/messages/state/p2p_peer.h"

#include <stdlib.h>

#include "base/job_end.h"
#include "base/log.h"

int p2p_rank, p2p_size;
bool p2p_remote_is_used;
struct rank_table p2p_peers;

static struct p2p_peer no_peer = {.head = {.rank = -1}, .node = -1};

int p2p_peer_open(void) {
    int err = rank_table_open(&p2p_peers, (uint32_t)p2p_size, sizeof(struct p2p_peer), &no_peer.head);
    return err ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

void p2p_peer_close(void) {
    rank_table_close(&p2p_peers);
}

struct p2p_peer *p2p_peer_try(int rank) {
    struct p2p_peer *p = (struct p2p_peer *)(void *)rank_table_prepare(&p2p_peers, rank);
    if (!p)
        return NULL;
    p->node = -1;
    rank_table_add(&p2p_peers, &p->head);
    return p;
}

struct p2p_peer *p2p_peer_make(int rank) {
    struct p2p_peer *p = p2p_peer_try(rank);
    if (!p)
        p2p_out_of_memory("the order of messages with another process");
    return p;
}

void p2p_out_of_memory(const char *what) {
    log_error("HEARTH_MATCH: no memory for %s; it would be lost, so the program ends", what);
    job_end(MPI_ERR_NO_MEM);
}

void p2p_mpi_failed(const char *what) {
    log_error("HEARTH_MATCH: %s failed inside MPI; messages would be lost, so the program ends", what);
    job_end(MPI_ERR_INTERN);
}
