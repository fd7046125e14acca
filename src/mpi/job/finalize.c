/* finalize.c: MPI_Finalize: what must happen before the end of MPI, in this order. */
#include "base/job_end.h"
#include "base/log.h"
#include "mpi/host/complaints.h"
#include "mpi/host/hooks.h"
#include "mpi/host/progress.h"
#include "mpi/host/resident.h"
#include "mpi/messages/start.h"
#include "mpi/report/report.h"
#include "mpi/report/report_partial.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/serving/serving.h"
#include "observe/live.h"

int hook_Finalize(void) {
    log_debug(LOG_JOB, "MPI_Finalize begins");
    report_partial_stop();
    complaints_last();
    p2p_finish();
    serve_close();
    progress_close();
    rma_check_summary();
    report_at_end();
    report_partial_remove();
    live_close(LIVE_BY_MPI);
    resident_keep();
    int rc = host_Finalize();
    job_end_register(NULL); /* no job is left */
    return rc;
}
