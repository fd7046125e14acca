/* auto.c: a program for mode auto, on 2 ranks. Rank 1 writes, rank 0 reads. Argument:
 *
 *   clean   rank 0 learns of writes by a barrier: acquire mode is right
 *   stale   rank 0 learns of writes through shared memory, without an MPI call: acquire mode reads old data
 *
 * Prints a line for each check that fails, and `hits N verified N` of the window with most gets. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hearth/clampi.h"

enum { INTS = 64, ROUNDS = 40, GETS = 500, AGAIN = 8, LATE = 20000, MOST = 2000000 };
enum { LATE_WINDOW, GET_WINDOW, RGET_WINDOW, FLUSHED_WINDOW, PARTIAL_WINDOW, WINDOWS };

struct flags {
    volatile int wanted[WINDOWS], done[WINDOWS], quit;
};

static int rank, failures;
static MPI_Win windows[WINDOWS], later;
static int *memory[WINDOWS], *later_memory;
static struct flags *flags;

static void expect(int holds, const char *what, int window) {
    if (!holds)
        printf("FAIL %s, window %d\n", what, window);
    failures += !holds;
}

static void make_window(MPI_Win *win, int **base) {
    MPI_Win_allocate(INTS * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win);
    memset(*base, 0, INTS * sizeof(int));
    MPI_Win_lock_all(0, *win);
}

/* Without MPI_Win_allocate_shared, which MPICH 5 over UCX does not have. */
static void share_flags(void) {
    int place[2] = {getpid(), memfd_create("flags", 0)}, failed = ftruncate(place[1], sizeof *flags);
    char path[64];
    MPI_Bcast(place, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
    flags = mmap(NULL, sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 0);
    if (failed || flags == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- reading ---- */

static int get(MPI_Win win) {
    int value = -1;
    MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    return value;
}

static int rget(MPI_Win win, int flushes) {
    int value = -1;
    MPI_Request request;
    MPI_Rget(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request);
    if (flushes)
        MPI_Win_flush(1, win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return value;
}

/* Every second int: a request of such a get may be complete too early on MPICH. */
static int rget_strided(MPI_Win win) {
    int values[4] = {-1, -1, -1, -1};
    MPI_Request request;
    MPI_Datatype strided;
    MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Rget(values, 1, strided, 1, 0, 1, strided, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(1, win);
    MPI_Type_free(&strided);
    return values[0] == values[2] ? values[0] : -1;
}

/* More than was cached: the first part is a hit, the rest is fetched. */
static int get_more(MPI_Win win) {
    static int count = 1;
    int values[INTS];
    count = count < INTS ? count + 1 : 2;
    MPI_Get(values, count, MPI_INT, 1, 0, count, MPI_INT, win);
    MPI_Win_flush(1, win);
    return values[0];
}

static int read_window(int window) {
    static int was_read;
    switch (window) {
    case RGET_WINDOW:
        return rget(windows[window], 0);
    case FLUSHED_WINDOW: /* what is flushed before the wait is not cached, so the first ones are plain gets */
        return was_read++ > 1 ? rget(windows[window], 1) : get(windows[window]);
    case PARTIAL_WINDOW:
        return get_more(windows[window]);
    }
    return get(windows[window]);
}

/* ---- clean ---- */

static void set_all(int *ints, int value) {
    for (int i = 0; i < INTS; i++)
        ints[i] = value;
}

static void print_counts(MPI_Win win) {
    int (*stats)(MPI_Win, CLAMPI_Stats *) =
        (int (*)(MPI_Win, CLAMPI_Stats *))dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    CLAMPI_Stats s = {0};
    if (stats)
        stats(win, &s);
    printf("hits %llu verified %llu\n", (unsigned long long)s.full_hits, (unsigned long long)s.bypassed);
}

static void run_clean(void) {
    for (int round = 1; round <= ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; rank == 1 && k < WINDOWS; k++) {
            set_all(memory[k], round);
            MPI_Win_sync(windows[k]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; rank == 0 && i < GETS; i++)
            expect(get(windows[GET_WINDOW]) == round, "a get", GET_WINDOW);
        for (int i = 0; rank == 0 && i < 20; i++) {
            for (int k = RGET_WINDOW; k < WINDOWS; k++)
                expect(read_window(k) == round, "a get", k);
            expect(rget_strided(windows[LATE_WINDOW]) == round, "a strided get", LATE_WINDOW);
        }
    }
    if (rank == 0)
        print_counts(windows[GET_WINDOW]);
}

/* ---- stale ---- */

/* Rank 1: writes whenever rank 0 wants it. Its calls let gets make progress. */
static void write_on_demand(void) {
    while (!flags->quit) {
        int flag;
        MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        for (int k = 0; k < WINDOWS; k++) {
            int wanted = flags->wanted[k];
            if (wanted == flags->done[k])
                continue;
            set_all(memory[k], wanted);
            MPI_Win_sync(windows[k]);
            __sync_synchronize();
            flags->done[k] = wanted;
        }
        usleep(20); /* both ranks may share a core */
    }
}

/* Rank 0: has a value written, and learns by a load that it is there. */
static void demand(int window, int value) {
    flags->wanted[window] = value;
    while (flags->done[window] != value)
        usleep(20);
    __sync_synchronize();
}

/* The first stale hits are verified, so every value is right; and after the first the window is transparent. */
static void expect_turned(int window) {
    expect(read_window(window) == 0, "the first value", window);
    expect(read_window(window) == 0, "a hit", window);
    for (int value = 1; value <= AGAIN; value++) {
        demand(window, value);
        expect(read_window(window) == value, "a new value", window);
    }
}

/* After many hits one in 1000 is verified: stale data is read until one of these is among it. */
static void expect_turned_late(void) {
    int i, value = 0;
    for (i = 0; i < LATE; i++)
        expect(get(windows[LATE_WINDOW]) == 0, "a hit", LATE_WINDOW);
    demand(LATE_WINDOW, 1);
    for (i = 0; i < MOST && value != 1; i++)
        value = get(windows[LATE_WINDOW]);
    printf("after %d stale hits\n", i);
    expect(value == 1, "the new value in the end", LATE_WINDOW);
    for (value = 2; value <= AGAIN; value++) {
        demand(LATE_WINDOW, value);
        expect(get(windows[LATE_WINDOW]) == value, "a new value", LATE_WINDOW);
    }
}

static void run_stale(void) {
    if (rank == 1)
        write_on_demand();
    if (rank == 0) {
        expect_turned_late();
        for (int k = GET_WINDOW; k < WINDOWS; k++)
            expect_turned(k);
        flags->quit = 1;
    }
    make_window(&later, &later_memory);
    int (*stats)(MPI_Win, CLAMPI_Stats *) =
        (int (*)(MPI_Win, CLAMPI_Stats *))dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    CLAMPI_Stats s = {0};
    for (int i = 0; rank == 0 && i < 10; i++)
        get(later);
    if (rank == 0 && stats && stats(later, &s) == MPI_SUCCESS && !getenv("HEARTH_CHECK"))
        expect(s.full_hits == 0, "a later window is transparent", WINDOWS);
    MPI_Win_unlock_all(later);
    MPI_Win_free(&later);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    share_flags();
    for (int k = 0; k < WINDOWS; k++)
        make_window(&windows[k], &memory[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "clean"))
        run_clean();
    else
        run_stale();
    for (int k = 0; k < WINDOWS; k++) {
        MPI_Win_unlock_all(windows[k]);
        MPI_Win_free(&windows[k]);
    }
    MPI_Finalize();
    return failures != 0;
}
