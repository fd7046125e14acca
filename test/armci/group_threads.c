/* group_threads.c: two threads of each rank make collective calls on two groups at once, with MPI_THREAD_MULTIPLE: they
 * create mutexes and allocate memory. configs: node nodes1 mpi direct; timeout: 120 */
#include <armci.h>
#include <armcix.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, ROUNDS = 40 };

static int rank, size;
static _Atomic int wrong, arrived, threaded;
static ARMCI_Group groups[THREADS];

static void expect_that(int is, const char *what) {
    if (!is && wrong++ < 5)
        fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* Called by the library in place of MPI's. Threads that allocate for the first time would create two keys. */
__attribute__((visibility("default"))) int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                                                  MPI_Comm_delete_attr_function *delete,
                                                                  int *key, void *extra) {
    expect_that(!threaded, "a thread creates the key of an attribute");
    return PMPI_Comm_create_keyval(copy, delete, key, extra);
}

/* Waits for the other thread of this rank. */
static void meet(void) {
    int before = arrived++;
    while (arrived < before / THREADS * THREADS + THREADS)
        sched_yield();
}

/* A part for each rank; each puts its number into the part of the next. */
static void allocate(ARMCI_Group *group) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, thread = (int)(group - groups);
    void **parts = malloc((size_t)size * sizeof *parts);
    expect_that(ARMCI_Malloc_group(parts, 5000, group) == 0, "ARMCI_Malloc_group failed");
    ARMCI_PutValueInt(rank * THREADS + thread, parts[right], right);
    ARMCI_Fence(right);
    MPI_Barrier(group->comm);
    expect_that(*(int *)parts[rank] == left * THREADS + thread, "a new allocation is not what it was");
    ARMCI_Free_group(parts[rank], group);
    free(parts);
}

/* Each rank locks a mutex of its own at the next rank. Those of the two threads are in different sets. */
static void lock(ARMCI_Group *group) {
    int right = (rank + 1) % size;
    armcix_mutex_hdl_t set = ARMCIX_Create_mutexes_hdl(size, group);
    meet();
    int taken = ARMCIX_Trylock_hdl(set, rank, right);
    expect_that(taken == 0, "two sets of mutexes have the same number");
    meet();
    if (taken == 0)
        ARMCIX_Unlock_hdl(set, rank, right);
    meet();
    ARMCIX_Destroy_mutexes_hdl(set);
}

static void *work(void *arg) {
    ARMCI_Group *group = arg;
    meet();
    for (int round = 0; round < ROUNDS; round++) {
        allocate(group);
        lock(group);
    }
    return NULL;
}

int main(int argc, char **argv) {
    ARMCI_Group world;
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ARMCI_Init();
    ARMCI_Group_get_world(&world);
    for (int i = 0; i < THREADS; i++)
        ARMCIX_Group_dup(&world, &groups[i]);
    threaded = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &groups[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ARMCI_Barrier();
    for (int i = 0; i < THREADS; i++)
        ARMCI_Group_free(&groups[i]);
    ARMCI_Finalize();
    MPI_Finalize();
    return wrong != 0;
}
