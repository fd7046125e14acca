/* armci_fail.c: the state of this process, and the end of a job that cannot continue.
 *
 * Callers do not check errors of ARMCI calls. So a mistake of the program ends the job, after one line that names
 * it. No cleanup is needed: files and shared memory vanish with the last process. */
#include "armci/job/armci_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/job_end.h"
#include "base/log.h"

struct armci armci_job;

void armci_fail(const char *call, const char *format, ...) {
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    log_error("%s: %s", call, what);
    job_end(EXIT_FAILURE);
}

void armci_fail_mpi(const char *call, int code) {
    char why[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, why, &length);
    armci_fail(call, "MPI error: %s", why);
}

void ARMCI_Error(const char *msg, int code) {
    log_error("ARMCI_Error: %s (code %d)", msg ? msg : "", code);
    job_end(code);
}

void armci_msg_abort(int code) {
    job_end(code);
}

/* Called by programs that are about to end the job themselves, also from signal handlers. */
void ARMCI_Cleanup(void) {
}
