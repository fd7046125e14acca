/* leave.c: a program that calls MPI_Finalize with ARMCI open, memory allocated, mutexes created and an operation
 * pending. MPI_Finalize ends all of it. */
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { BYTES = 1 << 20 };
    static char data[BYTES];
    int rank, size;
    MPI_Init(&argc, &argv);
    ARMCI_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    void **parts = malloc((size_t)size * sizeof *parts);
    if (ARMCI_Malloc(parts, BYTES) != 0)
        return 1;
    ARMCI_Create_mutexes(1);
    ARMCI_NbPut(data, parts[(rank + 1) % size], BYTES, (rank + 1) % size, NULL);
    ARMCI_NbGet(parts[(rank + 1) % size], data, BYTES, (rank + 1) % size, NULL);
    MPI_Finalize();
    if (ARMCI_Initialized()) {
        fprintf(stderr, "rank %d: ARMCI is still open\n", rank);
        return 1;
    }
    free(parts);
    return 0;
}
