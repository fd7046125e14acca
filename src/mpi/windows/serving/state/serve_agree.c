/* serve_agree.c: see serve_agree.h. A rank that left a collective call alone, because another call failed on it, would make the
 * others wait forever. So a rank in which a call fails still takes part in the next exchange, and reports it there. If an
 * exchange itself fails, no further one can be relied upon. */
#include "mpi/windows/serving/state/serve_agree.h"

#include "base/job_end.h"
#include "base/log.h"
#include "mpi/windows/serving/state/served.h"

void serve_agree_broken(const char *what) {
    log_error("windows: %s failed inside MPI; the other ranks would wait for this one, so the program ends",
              what);
    job_end(MPI_ERR_INTERN);
}

bool serve_agree(bool mine, MPI_Comm comm) {
    int own = mine, all = 0;
    if (host_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    return all;
}

/* By MPI_Comm_split, as MPI_Comm_dup would call the attribute callbacks of the program. */
bool serve_agree_copy(MPI_Comm comm, MPI_Comm *copy) {
    if (host_real.Comm_split(comm, 0, 0, copy) != MPI_SUCCESS)
        *copy = MPI_COMM_NULL;
    else
        host_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
    if (serve_agree(*copy != MPI_COMM_NULL, comm))
        return true;
    if (*copy != MPI_COMM_NULL)
        host_real.Comm_free(copy);
    *copy = MPI_COMM_NULL;
    return false;
}
