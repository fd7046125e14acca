/* boot_mpi.c: the bootstrap collective over MPI. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/job_end.h"
#include "base/log.h"
#include "net/boot/machine.h"
#include "net/mpi/boot_mpi.h"

/* The pointer holds the handle itself: MPI_Comm is an int in one MPI, a pointer in the other. */
static void *pack_comm(MPI_Comm comm) {
    void *p = NULL;
    memcpy(&p, &comm, sizeof comm);
    return p;
}

static MPI_Comm unpack_comm(void *p) {
    MPI_Comm comm;
    memcpy(&comm, &p, sizeof comm);
    return comm;
}
_Static_assert(sizeof(MPI_Comm) <= sizeof(void *), "a handle fits into a pointer");

/* If it fails on one process, others wait in it, or have gone on: no two of them can agree any more. */
static int boot_mpi_gather(void *arg, const void *mine, void *all, size_t bytes) {
    MPI_Comm comm = unpack_comm(arg);
    int status = bytes == 0 ? MPI_Barrier(comm)
                            : MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm);
    if (status == MPI_SUCCESS)
        return 0;
    log_error("MPI could not exchange %zu bytes per rank; the job is ended", bytes);
    job_end(EXIT_FAILURE);
}

void net_boot_over(const void *of, struct net_boot *boot) {
    MPI_Comm comm = *(const MPI_Comm *)of;
    *boot = (struct net_boot){.arg = pack_comm(comm), .gather = boot_mpi_gather};
    MPI_Comm_rank(comm, &boot->rank);
    MPI_Comm_size(comm, &boot->size);
}

int net_boot_machine(const void *of) {
    MPI_Comm comm = *(const MPI_Comm *)of, machine;
    int rank, lowest, here, most;
    struct net_boot boot;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, machine);
    MPI_Comm_free(&machine);
    MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, comm);
    if (most > 1)
        return lowest;
    net_boot_over(of, &boot);
    int by_id = net_machine_lowest(&boot);
    return by_id < 0 ? lowest : by_id;
}

const char *net_mpi_abi(void) {
    return HEARTH_MPI_NAME;
}

/* Before MPI_Init and after MPI_Finalize there is no job to end, only this process. */
static void boot_mpi_end(int code) {
    int started = 0, over = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&over);
    fflush(NULL);
    /* MPI_COMM_WORLD: given another communicator, MPICH 4.0 lets other processes live on */
    if (started && !over)
        MPI_Abort(MPI_COMM_WORLD, code);
}

__attribute__((constructor)) static void boot_mpi_register(void) {
    job_end_register(boot_mpi_end);
}
