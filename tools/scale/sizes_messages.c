/* sizes_messages.c: sizes of the structures of src/mpi/messages, for scale.c. */
#include "scale/sizes.h"

#include "mpi/messages/state/comm.h"
#include "tables/rank_table.h"

size_t memory_match_peers(uint32_t ranks, uint32_t used) {
    return rank_table_bytes(ranks, sizeof(struct p2p_peer), used);
}

size_t memory_comm_member(void) {
    return sizeof(*((struct comm *)0)->world);
}
