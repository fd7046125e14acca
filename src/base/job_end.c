/* job_end.c: see job_end.h. Threads of the program may call MPI, those of Hearth's own may not: MPI may have been initialised for
 * one thread. */
#include "base/job_end.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

static _Atomic(void (*)(int code)) interface_end;
static _Thread_local bool is_own_thread;

void job_end_register(void (*end)(int code)) {
    atomic_store(&interface_end, end);
}

void job_end_by_exit(void) {
    is_own_thread = true;
}

void job_end(int code) {
    void (*end)(int) = is_own_thread ? NULL : atomic_load(&interface_end);
    int status = code & 0xff ? code & 0xff : EXIT_FAILURE;
    log_debug(LOG_JOB, "the job ends with code %d: this thread %s", code,
              end ? "calls the interface, such as MPI_Abort"
                  : "exits, and the launcher ends the other ranks");
    log_settle();
    if (end)
        end(code ? code : EXIT_FAILURE);
    _exit(status);
}
