/* beside_windows.c: a program that uses ARMCI and windows that Hearth serves, for test_beside_windows.sh. Each rank is a node.
 * Arguments: ORDER armci or windows, whichever is opened first; CLOSING early: ARMCI is finalised while windows are used, or
 * late: by MPI_Finalize, or again: ARMCI is finalised and opened again. With `threads`, two threads use both at the same time.
 *
 * Prints a line for each check that fails, and `threads N more N sockets N more N` of rank 0: after the first library was opened and
 * used, and how many more there are after the second. */
#include <dirent.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hearth/armci/armci.h"

enum { ROUNDS = 200, LONGS = 1000 };

static int rank, size, failures;
static MPI_Win win;
static long *base;
static long **armci;

static void expect(int holds, const char *what, long got) {
    if (!holds)
        printf("FAIL rank %d: %s: %ld\n", rank, what, got);
    failures += !holds;
}

static int count_entries(const char *folder, const char *link) {
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[300], to[100] = "";
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (link && readlink(path, to, sizeof to - 1) < 0)
            continue;
        count += e->d_name[0] != '.' && (!link || strncmp(to, link, strlen(link)) == 0);
    }
    if (dir)
        closedir(dir);
    return count;
}

static int next_rank(void) {
    return (rank + 1) % size;
}

/* ---- the two libraries ---- */

static void open_armci(void) {
    ARMCI_Init();
    armci = malloc((size_t)size * sizeof *armci);
    ARMCI_Malloc((void **)armci, LONGS * sizeof(long));
    memset(armci[rank], 0, LONGS * sizeof(long));
    ARMCI_Barrier();
}

static void close_armci(void) {
    ARMCI_Free(armci[rank]);
    free(armci);
    ARMCI_Finalize();
}

/* Every rank adds 1 to number 0 of the next one, and puts a row behind it. */
static void use_armci(void) {
    long scale = 1, ones[1] = {1}, row[LONGS - 1], got[LONGS - 1];
    long before = armci[rank][0];
    ARMCI_Barrier();
    for (int i = 0; i < ROUNDS; i++)
        ARMCI_Acc(ARMCI_ACC_LNG, &scale, ones, armci[next_rank()], sizeof *ones, next_rank());
    for (int i = 0; i < LONGS - 1; i++)
        row[i] = 7 * rank + i;
    ARMCI_Put(row, armci[next_rank()] + 1, sizeof row, next_rank());
    ARMCI_Fence(next_rank());
    ARMCI_Get(armci[next_rank()] + 1, got, sizeof got, next_rank());
    expect(memcmp(row, got, sizeof row) == 0, "ARMCI brings what was put", got[0]);
    ARMCI_Barrier();
    expect(armci[rank][0] == before + ROUNDS, "ARMCI adds up", armci[rank][0]);
}

static void open_window(void) {
    MPI_Win_allocate(LONGS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, LONGS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void use_window(MPI_Comm comm) {
    long one = 1, row[LONGS - 1], got[LONGS - 1], sum;
    for (int i = 0; i < LONGS - 1; i++)
        row[i] = 9 * rank + i;
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &sum, MPI_LONG, rank, 0, MPI_NO_OP, win);
    MPI_Win_flush(rank, win);
    long before = sum;
    MPI_Barrier(comm);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Accumulate(&one, 1, MPI_LONG, next_rank(), 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Put(row, LONGS - 1, MPI_LONG, next_rank(), 1, LONGS - 1, MPI_LONG, win);
    MPI_Win_flush(next_rank(), win);
    MPI_Get(got, LONGS - 1, MPI_LONG, next_rank(), 1, LONGS - 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    expect(memcmp(row, got, sizeof row) == 0, "a window brings what was put", got[0]);
    for (int i = 0; i < 20; i++) { /* both ranks want the same lock */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    sum = base[0];
    MPI_Win_unlock(rank, win);
    expect(sum == before + ROUNDS + (rank == 0 ? 20 * size : 0), "a window adds up", sum - before);
    MPI_Barrier(comm);
}

/* ---- both ---- */

static void *armci_thread(void *arg) {
    (void)arg;
    for (int i = 0; i < 20; i++)
        use_armci();
    return NULL;
}

static void use_both_in_threads(void) {
    pthread_t thread;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&thread, NULL, armci_thread, NULL);
    for (int i = 0; i < 20; i++)
        use_window(comm);
    pthread_join(thread, NULL);
    MPI_Comm_free(&comm);
}

static void use_both(void) {
    for (int i = 0; i < 5; i++) {
        use_armci();
        use_window(MPI_COMM_WORLD);
    }
}

static void open_first(int is_armci) {
    if (is_armci) {
        open_armci();
        use_armci();
    } else {
        open_window();
        use_window(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int provided, total, threads = argc == 4;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int armci_first = strcmp(argv[1], "armci") == 0, early = strcmp(argv[2], "late") != 0;
    open_first(armci_first);
    int before = count_entries("/proc/self/task", NULL), sockets = count_entries("/proc/self/fd", "socket:");
    open_first(!armci_first);
    use_both();
    int after = count_entries("/proc/self/task", NULL), more = count_entries("/proc/self/fd", "socket:");
    if (rank == 0)
        printf("threads %d more %d sockets %d more %d\n", before, after - before, sockets, more - sockets);
    if (threads)
        use_both_in_threads();
    if (early) {
        close_armci();
        use_window(MPI_COMM_WORLD);
    }
    if (strcmp(argv[2], "again") == 0) {
        open_armci();
        use_both();
    }
    MPI_Win_free(&win);
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return total != 0;
}
