/* bench.c: implements bench.h. The library's own calls are looked up at run time, so that the same program runs
 * without it. */
#include "bench.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compiler.h"

static int rank;
static int (*get_stats)(MPI_Win, CLAMPI_Stats *);
static int (*invalidate)(MPI_Win);

static void stop(const char *why) {
    fprintf(stderr, "bench: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A core for each rank, if there are two: both poll, and on one core they would wait for each other's time slices. */
static void take_core(void) {
    cpu_set_t cores, mine;
    int skip = rank;
    if (sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) < 2)
        return;
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE && !CPU_COUNT(&mine); core++)
        if (CPU_ISSET(core, &cores) && !skip--)
            CPU_SET(core, &mine);
    sched_setaffinity(0, sizeof mine, &mine);
}

void bench_start(int *argc, char ***argv) {
    int size;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        stop("this program runs on two ranks: an initiator and a target");
    take_core();
    setvbuf(stdout, NULL, _IOLBF, 0); /* line by line, so that results before a time limit count */
    *(void **)&get_stats = dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    *(void **)&invalidate = dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
}

void bench_end(void) {
    MPI_Finalize();
}

bool bench_is_initiator(void) {
    return rank == 0;
}

bool bench_is_cached(void) {
    return get_stats != NULL;
}

char *bench_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return need(memory == MAP_FAILED ? NULL : memory);
}

void bench_fill(char *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        memory[i] = bench_byte(i);
}

/* Every rank's window is aligned to 64 bytes and a multiple of 64 bytes: MPICH 4.0 is otherwise incorrect. */
MPI_Win bench_open(char *memory, size_t bytes, const char *mode) {
    static _Alignas(64) char nothing[64];
    MPI_Info info;
    MPI_Win win;
    bool exposes = rank == TARGET;
    MPI_Info_create(&info);
    if (mode)
        MPI_Info_set(info, "clampi_mode", mode);
    MPI_Win_create(exposes ? memory : nothing, (MPI_Aint)(exposes ? round_up(bytes, 64) : 64), 1, info,
                   MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    if (rank == 0)
        MPI_Win_lock_all(0, win);
    return win;
}

void bench_close(MPI_Win *win) {
    if (rank == 0)
        MPI_Win_unlock_all(*win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(win);
}

CLAMPI_Stats bench_stats(MPI_Win win) {
    CLAMPI_Stats stats;
    memset(&stats, 0, sizeof stats);
    if (get_stats)
        get_stats(win, &stats);
    return stats;
}

void bench_forget(MPI_Win win) {
    if (invalidate)
        invalidate(win);
}

void bench_verify(const char *buffer, uint64_t disp, uint32_t bytes) {
    if (buffer[0] != bench_byte(disp) || buffer[bytes - 1] != bench_byte(disp + bytes - 1))
        stop("a get returned wrong data");
}
