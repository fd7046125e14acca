/* detach.c: a part of a dynamic window that is attached without memory to note it. When it is detached, none of its cached data may
 * remain. Run by test_memory.sh, with fail.so behind libhearth-mpi. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int get_own(int rank, const int *memory, MPI_Win win) {
    MPI_Aint at;
    int value = -1;
    MPI_Get_address(memory, &at);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (int i = 0; i < 2; i++) { /* the second from the cache */
        MPI_Get(&value, 1, MPI_INT, rank, at, 1, MPI_INT, win);
        MPI_Win_flush(rank, win);
    }
    MPI_Win_unlock(rank, win);
    return value;
}

int main(int argc, char **argv) {
    static _Alignas(64) int memory[16];
    int rank, failed = 0;
    void (*arm)(const char *plan);
    MPI_Info info;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *(void **)&arm = dlsym(RTLD_DEFAULT, "test_fail_arm");
    if (!arm) {
        puts("FAIL fail.so is not preloaded");
        return 1;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", "always");
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
    for (int version = 0; version < 3; version++) {
        memory[0] = version;
        arm("memory:1:on");
        MPI_Win_attach(win, memory, sizeof memory);
        arm(NULL);
        int got = get_own(rank, memory, win);
        if (got != version)
            printf("FAIL rank %d: %d instead of %d\n", rank, got, version);
        failed |= got != version;
        MPI_Win_detach(win, memory);
    }
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Finalize();
    return failed;
}
