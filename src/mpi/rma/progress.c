/* progress.c: a rank whose gets all hit makes no call into MPI, but its peers may wait for it to: neither MPI
 * serves one-sided calls of others by itself over TCP. So after a while without a call the next hit or elided
 * flush makes one.
 *
 * The call is MPI_Test of a request that is never complete until the end, for which both MPIs look at
 * everything that has arrived. MPI_Iprobe would not do: on a communicator of one's own MPICH looks at nothing
 * else, and on a shared one a message that waits there ends it early. */
#include "mpi/rma/rma.h"

_Atomic uint64_t progress_last, progress_limit;

static MPI_Request never = MPI_REQUEST_NULL;

static int query(void *state, MPI_Status *status) {
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    host_Status_set_cancelled(status, 0);
    return host_Status_set_elements(status, MPI_BYTE, 0);
}

static int release(void *state) {
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete) {
    return MPI_SUCCESS;
}

void progress_start(void) {
    double ticks = (double)settings_get()->progress_us * 1000 / clock_ns_per_tick();
    atomic_store_explicit(&progress_limit, ticks < 1 ? 1 : (uint64_t)ticks, memory_order_relaxed);
    if (host_Grequest_start(query, release, cancel, NULL, &never) != MPI_SUCCESS)
        never = MPI_REQUEST_NULL;
    progress_note();
}

void progress_stop(void) {
    if (never == MPI_REQUEST_NULL)
        return;
    host_Grequest_complete(never);
    host_real.Wait(&never, MPI_STATUS_IGNORE);
}

void progress_poll_slowly(void) {
    int flag;
    if (never != MPI_REQUEST_NULL)
        host_real.Test(&never, &flag, MPI_STATUS_IGNORE);
    progress_note();
}
