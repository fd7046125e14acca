/* ga_busy.c: how long a get of Global Arrays takes while its target computes.   ga_busy [gets]
 *
 * Rank 0 gets one element of the part of the last rank, which computes for 100 ms at a time between calls of Global
 * Arrays. Prints the median, the 99th percentile and the longest of the gets, in microseconds. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double spell = 0.1; /* s */

static void compute(double seconds) {
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void get_all(int array, int at, int gets) {
    double *took = calloc((size_t)gets, sizeof *took), value = 0;
    int lo[1] = {at}, hi[1] = {at}, stride[1] = {1};
    if (!took)
        GA_Error("ga_busy: out of memory", 1);
    for (int i = 0; i < gets; i++) {
        double start = MPI_Wtime();
        NGA_Get(array, lo, hi, &value, stride);
        took[i] = (MPI_Wtime() - start) * 1e6;
        if (value != (double)at)
            GA_Error("ga_busy: wrong value", (int)value);
        compute(0.002);
    }
    qsort(took, (size_t)gets, sizeof *took, compare);
    printf("p50 %.1f\np99 %.1f\nmost %.1f\n", took[gets / 2], took[gets * 99 / 100], took[gets - 1]);
    free(took);
}

static void compute_until(int array, int flag) {
    int lo[1] = {flag}, hi[1] = {flag}, stride[1] = {1};
    for (double done = 0; done == 0;) {
        compute(spell);
        NGA_Get(array, lo, hi, &done, stride);
    }
}

int main(int argc, char **argv) {
    int gets = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init(&argc, &argv);
    GA_Initialize();
    int me = GA_Nodeid(), last = GA_Nnodes() - 1, dims[1] = {1000 * (last + 1)}, chunk[1] = {1000},
        stride[1] = {1};
    int array = NGA_Create(C_DBL, 1, dims, "busy", chunk), ended = NGA_Create(C_DBL, 1, dims, "ended", chunk);
    int at = dims[0] - 1, lo[1], hi[1];
    double value = at, one = 1;
    GA_Zero(array);
    GA_Zero(ended);
    lo[0] = hi[0] = at;
    if (me == last)
        NGA_Put(array, lo, hi, &value, stride);
    GA_Sync();
    if (me == 0) {
        get_all(array, at, gets);
        NGA_Put(ended, lo, hi, &one, stride);
    } else {
        compute_until(ended, at);
    }
    GA_Sync();
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
