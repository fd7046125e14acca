/* p2p_buffered.c: the space in the buffers for MPI_Bsend. Messages that cannot be sent immediately are copied into
 * Hearth's memory. The program's buffer only limits how much may be in flight.
 *
 * A message counts in the buffer of its communicator, if one is attached there, otherwise in that of the process,
 * otherwise in those of the sessions, which are not limited: Hearth does not know which session a communicator is from.
 *
 * Invariant: used is the sum of r->buffered of the messages that were sent since the last flush, and messages is the
 * number of all that have not left. */
#include "mpi/messages/state/p2p_buffered.h"

struct p2p_buffer p2p_buffered_process, p2p_buffered_sessions;

static struct p2p_buffer *buffer_for(struct p2p_request *r) {
    if (r->comm->buffer.room)
        return &r->comm->buffer;
    return p2p_buffered_process.room ? &p2p_buffered_process : &p2p_buffered_sessions;
}

bool p2p_buffered_take(struct p2p_request *r) {
    struct p2p_buffer *b = buffer_for(r);
    uint64_t bytes = p2p_data_bytes(&r->data) + MPI_BSEND_OVERHEAD;
    if (!b->room || bytes > b->room - b->used)
        return false;
    b->used += bytes;
    b->messages++;
    r->buffered = bytes;
    r->buffer = b;
    r->buffer_flush = b->flushes;
    return true;
}

void p2p_buffered_give(struct p2p_request *r) {
    if (r->buffer_flush == r->buffer->flushes)
        r->buffer->used -= r->buffered;
    r->buffer->messages--;
    r->buffered = 0;
}

void p2p_buffered_flush(struct p2p_buffer *b) {
    b->used = 0;
    b->flushes++;
}
