/* p2p_buffered.c: the space in the buffer for MPI_Bsend. Messages that cannot be sent immediately are copied into Hearth's
 * memory. The program's buffer only limits how much may be in flight. */
#include "mpi/p2p/state/p2p_buffered.h"

static uint64_t room, used; /* room: 0 without a buffer */

void p2p_buffered_attach(uint64_t bytes) {
    room = bytes;
}

bool p2p_buffered_take(struct p2p_request *r) {
    uint64_t bytes = p2p_data_bytes(&r->data) + MPI_BSEND_OVERHEAD;
    if (!room || bytes > room - used)
        return false;
    used += bytes;
    r->buffered = bytes;
    return true;
}

void p2p_buffered_give(struct p2p_request *r) {
    used -= r->buffered;
    r->buffered = 0;
}

bool p2p_buffered_is_used(void) {
    return used;
}
