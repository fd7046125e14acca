/* live_armci.c: two ranks, each a node of its own: 50 puts to the other rank and 20 to itself, and then the same
 * again.    live_armci FOLDER */
#include <armci.h>
#include <mpi.h>

#include "steps.h"

enum { FAR = 50, NEAR = 20 };

int main(int argc, char **argv) {
    int rank, size;
    double value = 1, *parts[2];
    MPI_Init(&argc, &argv);
    ARMCI_Init();
    steps_folder = argc > 1 ? argv[1] : ".";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || ARMCI_Malloc((void **)parts, sizeof value))
        return 1;
    for (int step = 1; step <= 2; step++) {
        for (int i = 0; i < FAR; i++)
            ARMCI_Put(&value, parts[1 - rank], sizeof value, 1 - rank);
        for (int i = 0; i < NEAR; i++)
            ARMCI_Put(&value, parts[rank], sizeof value, rank);
        ARMCI_Barrier();
        steps_wait(step, rank);
        ARMCI_Barrier();
    }
    ARMCI_Free(parts[rank]);
    ARMCI_Finalize();
    MPI_Finalize();
    return 0;
}
