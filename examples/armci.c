/* armci.c: every rank adds to a counter and to a vector on rank 0, which need not take part.
 * build: mpicc.openmpi armci.c -o armci $(pkg-config --cflags --libs hearth-armci-openmpi)
 * run:   mpirun.openmpi -n 2 ./armci */
#include <armci.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int me, ranks, bad = 0;
    long old;
    double ones[16], one = 1.0;
    MPI_Init(&argc, &argv);
    ARMCI_Init();
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    void **parts = malloc((size_t)ranks * sizeof *parts); /* a vector, and a counter behind it */
    ARMCI_Malloc(parts, 16 * sizeof(double) + sizeof(long));
    double *vector = parts[me];
    for (int i = 0; i < 16; i++)
        vector[i] = 0, ones[i] = 1;
    *(long *)(vector + 16) = 0;
    ARMCI_Barrier();
    ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, parts[0], sizeof ones, 0);
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, (double *)parts[0] + 16, 1, 0);
    ARMCI_Barrier();
    if (me == 0) {
        bad = vector[15] != ranks || *(long *)(vector + 16) != ranks;
        printf("armci: %d ranks, vector %g, counter %ld\n", ranks, vector[15], *(long *)(vector + 16));
    }
    ARMCI_Free(parts[me]);
    free(parts);
    ARMCI_Finalize();
    MPI_Finalize();
    return bad;
}
