/* fail.c: the end of a job that cannot go on.
 *
 * ARMCI's calls have no errors that its callers look at, so a mistake of the program ends the job, after one line
 * that says what was wrong. Files and shared memory need nothing done: they are gone with the last process. */
#include "armci/inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Launchers drop what was said just before a job ends, by this process and by others that end with it. */
enum { LAST_WORDS_US = 200000 };

/* Status 0 would tell a batch system that all was well. Before MPI_Init and after MPI_Finalize there is no job to
 * end, only this process. */
_Noreturn static void end_job(int code) {
    int started = 0, over = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&over);
    fflush(NULL);
    if (started &&
        !over) /* all of it: MPICH 4.0 lets the others go on if it is told a communicator of ours */
        MPI_Abort(MPI_COMM_WORLD, code ? code : EXIT_FAILURE);
    _exit(code & 0xff ? code & 0xff : EXIT_FAILURE);
}

void armci_fail(const char *call, const char *format, ...) {
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    log_error("%s: %s", call, what);
    end_job(EXIT_FAILURE);
}

void armci_fail_mpi(const char *call, int code) {
    char why[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, why, &length);
    armci_fail(call, "MPI could not do it: %s", why);
}

void ARMCI_Error(const char *msg, int code) {
    log_error("ARMCI_Error: %s (code %d)", msg ? msg : "", code);
    end_job(code);
}

void armci_msg_abort(int code) {
    end_job(code);
}

/* Called by programs that are about to end the job themselves, also from signal handlers. */
void ARMCI_Cleanup(void) {
}
