/* abort.c: MPI_Abort. */
#include "mpi/host/hooks.h"
#include "mpi/report/report_partial.h"

int hook_Abort(MPI_Comm comm, int code) {
    report_partial_end("called MPI_Abort");
    return host_Abort(comm, code);
}
