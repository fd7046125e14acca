/* status.c: fills in an MPI_Status.
 *
 * The number of bytes is a private field of the MPI. Both MPIs have a call that sets it, which takes longer than many
 * messages. The fields are therefore written directly, if a trial at the start has shown that this gives the same
 * result as the call. In the standard ABI their meaning is each MPI's own, and the call is made. */
#include "mpi/messages/state/status.h"

#include "base/compiler.h"

static bool known; /* the fields that hold the count are known */

static void set_directly(MPI_Status *status, uint64_t bytes, bool cancelled) {
#ifdef OPEN_MPI
    status->_ucount = bytes;
    status->_cancelled = cancelled;
#elif !HEARTH_MPI_ABI
    status->count_lo = (int)(uint32_t)bytes;
    status->count_hi_and_cancelled = (int)(uint32_t)(bytes >> 32 << 1 | cancelled);
#endif
}

static void set_by_call(MPI_Status *status, uint64_t bytes, bool cancelled) {
    host_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
    host_Status_set_cancelled(status, cancelled);
}

static bool status_try_out(uint64_t bytes, bool cancelled) {
    MPI_Status direct, call;
    memset(&direct, 0, sizeof direct);
    call = direct;
    set_directly(&direct, bytes, cancelled);
    set_by_call(&call, bytes, cancelled);
    return !memcmp(&direct, &call, sizeof call);
}

void p2p_status_open(void) {
    known = !HEARTH_MPI_ABI && status_try_out(0, false) && status_try_out(12345, false) &&
            status_try_out(0x123456789a, true);
}

void p2p_status_set(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled) {
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    if (LIKELY(known))
        set_directly(status, bytes, cancelled);
    else
        set_by_call(status, bytes, cancelled);
}

void p2p_status_of(MPI_Status *status, const struct p2p_request *r) {
    if (status == MPI_STATUS_IGNORE)
        return;
    if (!r->active || r->kind == REQUEST_SEND)
        p2p_status_empty(status);
    else
        p2p_status_set(status, r->got_source, r->got_tag, r->got_bytes, r->cancelled);
}
