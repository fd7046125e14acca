/* memory_p2p.c: sizes of the structures of src/mpi/p2p, for sim_memory. */
#include "memory.h"

#include "mpi/p2p/state/comm.h"

size_t memory_match_peer(void) {
    return sizeof(struct p2p_peer);
}

size_t memory_comm_member(void) {
    return sizeof(*((struct comm *)0)->world);
}
