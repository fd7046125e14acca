/* p2p_peer.c: the processes of MPI_COMM_WORLD. */
#include "mpi/p2p/state/p2p_peer.h"

#include <stdlib.h>

int p2p_rank, p2p_size;
bool p2p_remote_is_used;
struct p2p_peer *p2p_peers;

int p2p_peer_open(void) {
    p2p_peers = calloc((size_t)p2p_size, sizeof *p2p_peers);
    for (int i = 0; p2p_peers && i < p2p_size; i++)
        p2p_peers[i] = (struct p2p_peer){.node = -1, .world = i};
    return p2p_peers ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void p2p_peer_close(void) {
    free(p2p_peers);
    p2p_peers = NULL;
}

static _Noreturn void end_job(int code) {
    log_settle();
    host_Abort(MPI_COMM_WORLD, code);
    abort();
}

void p2p_out_of_memory(const char *what) {
    log_error("HEARTH_MATCH: no memory for %s; it would be lost, so the program ends", what);
    end_job(MPI_ERR_NO_MEM);
}

void p2p_mpi_failed(const char *what) {
    log_error("HEARTH_MATCH: %s failed inside MPI; messages would be lost, so the program ends", what);
    end_job(MPI_ERR_INTERN);
}
