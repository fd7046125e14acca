/* test.c: begins and ends a job of MPI tests. */
#include "test.h"

#include <stdio.h>
#include <string.h>

int test_threads_wanted = MPI_THREAD_SINGLE, test_threads;

static void begin(int *argc, char ***argv) {
    if (strcmp(test_config(), "servempi") == 0) /* a helper that calls MPI */
        test_threads_wanted = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(argc, argv, test_threads_wanted, &test_threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (test_size >= 2)
        return;
    fprintf(stderr, "%s: needs at least 2 ranks\n", (*argv)[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int test_open_mpi_major(void) {
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major = 0;
    if (!*version)
        MPI_Get_library_version(version, &length);
    sscanf(version, "Open MPI v%d", &major);
    return major;
}

bool test_open_mpi(void) {
    return test_open_mpi_major() > 0;
}

/* Without Fortran, Open MPI's header leaves the types of a given size out, and MPICH's defines them as null. */
bool test_has_fortran(void) {
#ifdef MPI_INTEGER8
    return MPI_INTEGER8 != MPI_DATATYPE_NULL;
#else
    return false;
#endif
}

void test_return_errors(bool yes) {
    MPI_Errhandler handler = yes ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

static void ignore_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

bool test_errors_returned(void) {
    MPI_Comm comm;
    MPI_Errhandler handler;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(ignore_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    bool returned = MPI_Send(NULL, 0, MPI_BYTE, 1, 0, comm) != MPI_SUCCESS; /* there is no rank 1 */
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
    return returned;
}

bool test_shared_windows(void) {
    static bool tried, works;
    MPI_Win win;
    void *base;
    if (tried)
        return works;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    works = MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win) == MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (works)
        MPI_Win_free(&win);
    tried = true;
    return works;
}

static void end(int status) {
    (void)status;
    MPI_Finalize();
}

const struct test_job test_job = {
    .member = "rank", .seconds = 80, .begin = begin, .end = end, .config = test_config};
