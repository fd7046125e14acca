/* threads.c: several threads of each rank call ARMCI at once, with MPI_THREAD_MULTIPLE: puts, gets, sums, counters,
 * mutexes, handles of their own, while the main thread allocates and frees. configs: node nodes1 mpi direct; timeout:
 * 120 */
#include <armci.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 40, SLICE = 3000 };

static int rank, size;
static _Atomic int wrong, running;
static char **slices;  /* per rank: THREADS slices for each rank that writes there */
static long **numbers; /* per rank: a counter, a counter that a mutex protects, and a sum */

static void expect_that(int is, const char *what) {
    if (!is && wrong++ < 5)
        fprintf(stderr, "rank %d: %s\n", rank, what);
}

static char *slice_at(int target, int thread) {
    return slices[target] + (size_t)(rank * THREADS + thread) * SLICE;
}

static void put_and_get(int target, int thread, int round) {
    char data[SLICE], back[SLICE] = "", *there = slice_at(target, thread);
    armci_hdl_t handle;
    memset(data, rank * 50 + thread * 10 + round, sizeof data);
    ARMCI_INIT_HANDLE(&handle);
    if (round % 2) {
        ARMCI_Put(data, there, sizeof data, target);
    } else {
        ARMCI_NbPut(data, there, sizeof data, target, &handle);
        ARMCI_Wait(&handle);
    }
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_NbGet(there, back, sizeof back, target, &handle);
    while (round % 3 == 0 && ARMCI_Test(&handle) != 0)
        ;
    ARMCI_Wait(&handle);
    expect_that(!memcmp(data, back, sizeof data), "a thread got what another put");
    int strides[] = {300}, counts[] = {100, 10};
    memset(back, 0, sizeof back);
    ARMCI_GetS(there, strides, back, strides, counts, 1, target);
    expect_that(!memcmp(data, back + 2700, 100), "a thread got rows of another");
}

static void count(int target) {
    long one = 1, old, value;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, &numbers[target][0], 1, target);
    ARMCI_Lock(0, target);
    ARMCI_Get(&numbers[target][1], &value, sizeof value, target);
    value++;
    ARMCI_Put(&value, &numbers[target][1], sizeof value, target);
    ARMCI_Fence(target);
    ARMCI_Unlock(0, target);
    ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, &numbers[target][2], sizeof one, target);
}

static void *work(void *arg) {
    int thread = *(int *)arg;
    for (int round = 0; round < ROUNDS; round++)
        for (int target = 0; target < size; target++) {
            put_and_get(target, thread, round);
            if (round % 4 == 0)
                count(target);
        }
    running--;
    return NULL;
}

/* All ranks continue until no rank has a running thread. */
static void allocate_meanwhile(void) {
    void **parts = malloc((size_t)size * sizeof *parts);
    for (int most = 1; most > 0;) {
        int mine = running;
        expect_that(ARMCI_Malloc(parts, 5000) == 0, "ARMCI_Malloc failed");
        ARMCI_PutValueInt(rank, parts[(rank + 1) % size], (rank + 1) % size);
        ARMCI_Barrier();
        expect_that(*(int *)parts[rank] == (rank + size - 1) % size, "a new allocation is not what it was");
        ARMCI_Free(parts[rank]);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    free(parts);
}

static void *allocate(size_t bytes) {
    void **parts = malloc((size_t)size * sizeof *parts);
    expect_that(ARMCI_Malloc(parts, (armci_size_t)bytes) == 0, "ARMCI_Malloc failed");
    memset(parts[rank], 0, bytes);
    return parts;
}

int main(int argc, char **argv) {
    int provided, ids[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("skipped: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ARMCI_Init();
    slices = allocate((size_t)size * THREADS * SLICE);
    numbers = allocate(3 * sizeof(long));
    ARMCI_Create_mutexes(1);
    ARMCI_Barrier();
    running = THREADS;
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&threads[i], NULL, work, &ids[i]);
    }
    allocate_meanwhile();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ARMCI_Barrier();
    long expected = (long)size * THREADS * ((ROUNDS + 3) / 4);
    for (int i = 0; i < 3; i++)
        expect_that(numbers[rank][i] == expected, "a count or a sum was lost");
    ARMCI_Destroy_mutexes();
    ARMCI_Free(slices[rank]);
    ARMCI_Free(numbers[rank]);
    ARMCI_Finalize();
    MPI_Finalize();
    return wrong != 0;
}
