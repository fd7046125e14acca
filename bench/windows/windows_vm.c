/* windows_vm.c: see windows_vm.h. */
#include "windows_vm.h"

#include <mpi.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    uint64_t process;
    char *memory;
} other;

void vm_open(int rank, char *memory) {
    other.process = (uint64_t)getpid();
    other.memory = memory;
    if (rank == 1)
        MPI_Send(&other, sizeof other, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    else
        MPI_Recv(&other, sizeof other, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

bool vm_read(void *into, size_t from, size_t bytes) {
    struct iovec here = {into, bytes}, there = {other.memory + from, bytes};
    return process_vm_readv((pid_t)other.process, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

bool vm_write(const void *from, size_t into, size_t bytes) {
    struct iovec here = {(void *)(uintptr_t)from, bytes}, there = {other.memory + into, bytes};
    return process_vm_writev((pid_t)other.process, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}
