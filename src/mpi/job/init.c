/* init.c: MPI_Init and MPI_Init_thread: what starts with MPI, in this order. */
#include "base/job_end.h"
#include "base/log.h"
#include "mpi/host/acquire.h"
#include "mpi/host/agreement.h"
#include "mpi/observe/call_time.h"
#include "mpi/host/foreign.h"
#include "mpi/host/hooks.h"
#include "mpi/observe/receives.h"
#include "mpi/observe/targets.h"
#include "mpi/messages/start.h"
#include "mpi/messages/state/p2p_lock.h"
#include "mpi/report/report_partial.h"
#include "mpi/requests/polled.h"
#include "observe/live.h"

#include <stdio.h>
#include <unistd.h>

static void job_show(int level) {
    int rank = -1, size = 0;
    host_Comm_rank(MPI_COMM_WORLD, &rank);
    host_Comm_size(MPI_COMM_WORLD, &size);
    log_identify(rank);
    live_open(LIVE_BY_MPI, rank, size);
    log_debug(LOG_JOB, "rank %d of %d is process %d; thread level %d%s", rank, size, (int)getpid(), level,
              acquire_is_shared ? ", so that calls take locks" : "");
}

/* The reports say that the program did not end by itself. */
static void job_abort(int code) {
    report_partial_end("was ended by Hearth after an error");
    fflush(NULL);
    host_Abort(MPI_COMM_WORLD, code);
}

static void job_start(void) {
    int level = MPI_THREAD_MULTIPLE;
    host_Query_thread(&level);
    acquire_is_shared = level == MPI_THREAD_MULTIPLE;
    job_end_register(job_abort);
    job_show(level);
    agreement_reach();
    p2p_start();
    requests_poll_open();
    if (call_time_open(acquire_is_shared))
        host_be_careful();
    call_time_allow_light(!host_has_tool);
    targets_open(call_time_is_on, acquire_is_shared);
    receives_open(call_time_is_on && !p2p_on, acquire_is_shared);
    report_partial_open();
}

int hook_Init(int *argc, char ***argv) {
    foreign_refuse();
    int rc = host_Init(argc, argv);
    if (rc == MPI_SUCCESS)
        job_start();
    return rc;
}

int hook_Init_thread(int *argc, char ***argv, int required, int *provided) {
    foreign_refuse();
    int rc = host_Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        job_start();
    return rc;
}
