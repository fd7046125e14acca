/* fail.c: makes the error that its argument names; test_errors.sh checks how the program ends. */
#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void get_box(int array, int first, int last) {
    double values[100];
    int lo[] = {first}, hi[] = {last};
    NGA_Get(array, lo, hi, values, NULL);
}

static void make_mistake(const char *which, int array) {
    int bad_dims[] = {-5};
    if (strcmp(which, "error") == 0)
        GA_Error("the program gave up", 42);
    else if (strcmp(which, "error2") == 0)
        NGA_Error("the program gave up", 42);
    else if (strcmp(which, "one") == 0 && GA_Nodeid() == GA_Nnodes() - 1)
        GA_Error("the program gave up", 42); /* the other ranks wait in the sync below */
    else if (strcmp(which, "handle") == 0)
        get_box(array + 77, 0, 3);
    else if (strcmp(which, "bounds") == 0)
        get_box(array, 0, 1000000);
    else if (strcmp(which, "dims") == 0)
        NGA_Create(C_DBL, 1, bad_dims, "bad", NULL);
}

int main(int argc, char **argv) {
    int dims[] = {100};
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(C_DBL, 10000, 10000);
    int array = NGA_Create(C_DBL, 1, dims, "array", NULL);
    make_mistake(argc > 1 ? argv[1] : "none", array);
    GA_Sync();
    GA_Destroy(array);
    GA_Terminate();
    if (strcmp(argc > 1 ? argv[1] : "none", "again") == 0)
        GA_Terminate(); /* a second time: has no effect */
    MPI_Finalize();
    printf("ended well\n");
    return 0;
}
