/* order.c: tests the ordering guarantees: a rank's own operations in order, flags after data, fences. */
#include "test.h"

#include <armcix.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 2000 };

static void **parts;

/* Blocks of 64 bytes, one at a time, are slow. */
static bool is_tiny(void) {
    const char *config = getenv("HEARTH_TEST_CONFIG");
    return config && !strcmp(config, "tiny");
}

static int rounds(void) {
    return is_tiny() && test_seconds < 1 ? 25 : 100;
}

static void begin(size_t bytes) {
    parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc(parts, (armci_size_t)bytes), 0);
    memset(parts[test_rank], 0, bytes);
    ARMCI_Barrier();
}

static void end(void) {
    ARMCI_Barrier();
    ARMCI_Free(parts[test_rank]);
    free(parts);
}

/* A get after a put to the same place sees it, and an accumulate adds to it, whatever the shapes are. */
CASE(own_operations_in_order) {
    begin(WORDS * sizeof(long) * (size_t)test_size);
    long *data = malloc(WORDS * sizeof(long)), *back = malloc(WORDS * sizeof(long)), one = 1;
    for (int round = 1; round <= rounds(); round++) {
        int target = round % test_size;
        long *there = (long *)parts[target] + (size_t)test_rank * WORDS;
        for (int i = 0; i < WORDS; i++)
            data[i] = round * 10000L + i;
        int strides[] = {2 * (int)sizeof(long)}, counts[] = {sizeof(long), WORDS / 2};
        ARMCI_Put(data, there, WORDS * sizeof(long), target);
        ARMCI_AccS(ARMCI_ACC_LNG, &one, data, strides, there, strides, counts, 1, target);
        ARMCI_PutS(data + 1, strides, there + 1, strides, counts, 1, target);
        ARMCI_Get(there, back, WORDS * sizeof(long), target);
        long wrong = 0;
        for (int i = 0; i < WORDS; i++)
            wrong += back[i] != (i % 2 ? data[i] : 2 * data[i]);
        expect_eq(wrong, 0);
    }
    free(data);
    free(back);
    end();
}

/* A pending get does not return data that the same rank writes after it, on whatever paths the two go. */
CASE(a_get_sees_nothing_later) {
    const int TIMES = test_seconds < 1 ? 3 : 9;
    int bytes = is_tiny() ? 1 << 16 : 4 << 20;
    int right = (test_rank + 1) % test_size, strides[] = {16}, counts[] = {8, bytes / 16};
    begin((size_t)bytes);
    char *back = malloc(bytes), *data = malloc(bytes);
    for (int i = 0; i < TIMES; i++) {
        armci_hdl_t handle;
        long old;
        ARMCI_INIT_HANDLE(&handle);
        memset(data, i, bytes);
        ARMCI_Put(data, parts[right], bytes, right);
        ARMCI_Fence(right);
        ARMCI_NbGet(parts[right], back, bytes, right, &handle);
        memset(data, 100 + i, bytes);
        if (i % 3 == 0)
            ARMCI_Put(data, parts[right], bytes, right);
        else if (i % 3 == 1)
            ARMCI_PutS(data, strides, parts[right], strides, counts, 1, right);
        else
            ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, (char *)parts[right] + bytes - 8, 1, right);
        ARMCI_Wait(&handle);
        memset(data, i, bytes);
        expect_bytes(back, data, bytes);
        ARMCI_AllFence();
    }
    free(back);
    free(data);
    end();
}

/* A rank that sees the flag sees the data. The ranks pass the flag around a ring. */
CASE(a_flag_comes_after_its_data) {
    begin((WORDS + 1) * sizeof(long));
    long *mine = parts[test_rank], *data = malloc(WORDS * sizeof(long));
    volatile int *flag = (int *)(mine + WORDS);
    int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    for (int round = 1; round <= rounds(); round++) {
        for (int i = 0; i < WORDS; i++)
            data[i] = test_rank * 1000000L + round;
        if (round % 2)
            ARMCI_Put_flag(data, parts[right], WORDS * sizeof(long), (int *)((long *)parts[right] + WORDS),
                           round, right);
        else {
            int strides[] = {4 * (int)sizeof(long)}, counts[] = {4 * sizeof(long), WORDS / 4};
            ARMCI_PutS_flag(data, strides, parts[right], strides, counts, 1,
                            (int *)((long *)parts[right] + WORDS), round, right);
        }
        while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < round)
            ARMCIX_Progress(); /* Hearth needs no such call, ARMCI-MPI does */
        long wrong = 0;
        for (int i = 0; i < WORDS; i++)
            wrong += mine[i] != left * 1000000L + round;
        expect_eq(wrong, 0);
        ARMCI_Barrier(); /* the left neighbour may write again */
    }
    free(data);
    end();
}

/* A rank that polls the flag of another with gets, and sees it, then gets the data. Each rank writes its own memory, and
 * its left neighbour polls. */
CASE(a_polled_flag_comes_after_its_data) {
    begin((WORDS + 1) * sizeof(long));
    int right = (test_rank + 1) % test_size;
    long *mine = parts[test_rank], *there = parts[right];
    for (int round = 1; round <= 10 * rounds(); round++) {
        ARMCI_PutValueLong(round, &mine[0], test_rank);
        ARMCI_PutValueLong(round, &mine[WORDS / 2], test_rank);
        ARMCI_Fence(test_rank);
        ARMCI_PutValueInt(round, &mine[WORDS], test_rank);
        while (ARMCI_GetValueInt(&there[WORDS], right) < round)
            sched_yield();
        expect(ARMCI_GetValueLong(&there[WORDS / 2], right) >= round);
        expect(ARMCI_GetValueLong(&there[0], right) >= round);
    }
    end();
}

/* Rank 0 puts data to rank 1, fences, and sends a message to rank 2: rank 2 then sees the data. */
CASE(a_third_rank_sees_what_was_fenced) {
    SKIP_IF(test_size < 3, "takes three ranks");
    begin(WORDS * sizeof(long));
    long *data = malloc(WORDS * sizeof(long));
    for (int round = 1; round <= rounds(); round++) {
        if (test_rank == 0) {
            for (int i = 0; i < WORDS; i++)
                data[i] = round;
            ARMCI_NbPut(data, parts[1], WORDS * sizeof(long), 1, NULL);
            ARMCI_Fence(1);
            MPI_Send(&round, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
        } else if (test_rank == 2) {
            int told;
            MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ARMCI_Get(parts[1], data, WORDS * sizeof(long), 1);
            long wrong = 0;
            for (int i = 0; i < WORDS; i++)
                wrong += data[i] != round;
            expect_eq(wrong, 0);
        }
        ARMCI_Barrier();
    }
    free(data);
    end();
}

/* The scheduling policy that the program chose for its own thread does not change. */
CASE(scheduling_stays_as_it_was) {
    SKIP_IF(test_size < 2, "takes two ranks");
    begin(8);
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
    for (int i = 0; i < 20; i++) { /* with pauses, so that the thread sleeps while it waits */
        usleep(1000);
        ARMCI_GetValueLong(parts[(test_rank + 1) % test_size], (test_rank + 1) % test_size);
    }
    expect_eq(sched_getscheduler(0), SCHED_BATCH);
    sched_setscheduler(0, SCHED_OTHER, &none);
    end();
}

/* All ranks but 0 compute without a call into ARMCI or MPI, and operations of rank 0 on their memory still complete. */
CASE(progress_while_all_others_compute) {
    SKIP_IF_STOCK();
    SKIP_IF(test_size < 2, "takes two ranks");
    begin(64);
    volatile double x = 0;
    volatile long *done = (long *)parts[test_rank];
    if (test_rank == 0) {
        long old, sum = 0, one = 1;
        for (int i = 0; i < 20; i++)
            for (int r = 1; r < test_size; r++) {
                ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, (long *)parts[r] + 1, 1, r);
                ARMCI_Get((long *)parts[r] + 1, &sum, sizeof sum, r);
                expect_eq(sum, i + 1);
                ARMCI_Acc(ARMCI_ACC_LNG, &one, &one, (long *)parts[r] + 2, sizeof one, r);
            }
        ARMCI_AllFence();
        for (int r = 1; r < test_size; r++)
            ARMCI_PutValueLong(1, parts[r], r);
        ARMCI_AllFence();
    } else
        while (!*done) /* makes no call of any kind */
            for (int i = 0; i < 1000; i++)
                x += i;
    (void)x;
    ARMCI_Barrier();
    if (test_rank > 0)
        expect_eq(((long *)parts[test_rank])[2], 20);
    (void)x; /* a use: gcc 16 */
    end();
}
