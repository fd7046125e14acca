/* ga.c: Global Arrays on Hearth's ARMCI; the program does not depend on Hearth.
 * build: mpicc.openmpi ga.c -o ga -lga-openmpi -lscalapack-openmpi -llapack -lblas -lgfortran
 *            $(pkg-config --libs hearth-armci-openmpi) -lm
 * run:   mpirun.openmpi -n 2 ./ga */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int sides[] = {32, 32}, low[] = {0, 0}, high[] = {31, 31}, row = 32;
    double block[32][32], one = 1.0;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 1 << 16, 1 << 16);
    int array = NGA_Create(C_DBL, 2, sides, "sums", NULL), ranks = GA_Nnodes();
    GA_Zero(array);
    for (int i = 0; i < 32 * 32; i++)
        block[i / 32][i % 32] = i;
    NGA_Acc(array, low, high, block, &row, &one); /* every rank adds to the whole array */
    GA_Sync();
    NGA_Get(array, low, high, block, &row);
    int bad = block[31][31] != ranks * 1023.0;
    if (GA_Nodeid() == 0)
        printf("ga: %d ranks, last element %g\n", ranks, block[31][31]);
    GA_Destroy(array);
    GA_Terminate();
    MPI_Finalize();
    return bad;
}
