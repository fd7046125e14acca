/* progress.c: drives the host MPI's progress by MPI_Test of a generalized request that is not completed before
 * MPI_Finalize. In this test both MPIs process everything that has arrived. MPI_Iprobe does not suffice: on a private
 * communicator MPICH processes nothing else, and on a shared one a waiting message ends it early. */
#include "mpi/host/progress.h"

#include <pthread.h>
#include <stdatomic.h>

#include "mpi/host/host.h"

static void (*registered)(void);
static MPI_Request never = MPI_REQUEST_NULL;
static atomic_flag busy = ATOMIC_FLAG_INIT; /* a request may not be tested by two threads at once */

static int progress_query(void *state, MPI_Status *status) {
    (void)state;
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    host_Status_set_cancelled(status, 0);
    return host_Status_set_elements(status, MPI_BYTE, 0);
}

static int progress_release(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int progress_cancel(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void make_request(void) {
    if (host_Grequest_start(progress_query, progress_release, progress_cancel, NULL, &never) != MPI_SUCCESS)
        never = MPI_REQUEST_NULL;
}

void progress_open(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_request);
}

void progress_close(void) {
    if (never == MPI_REQUEST_NULL)
        return;
    host_Grequest_complete(never);
    host_real.Wait(&never, MPI_STATUS_IGNORE);
}

void progress_make(void) {
    int flag;
    if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        return;
    if (never != MPI_REQUEST_NULL)
        host_real.Test(&never, &flag, MPI_STATUS_IGNORE);
    atomic_flag_clear_explicit(&busy, memory_order_release);
    progress_make_own();
}

void progress_make_own(void) {
    if (registered)
        registered();
}

void progress_register(void (*make)(void)) {
    registered = make;
}

bool progress_is_registered(void) {
    return registered;
}
