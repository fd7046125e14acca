/* atomics.c: tests what several ranks change at once: counters, swaps, sums, and data that mutexes protect. */
#include "test.h"

#include <armcix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200 };

static void **allocate(size_t bytes) {
    void **parts = malloc((size_t)test_size * sizeof *parts);
    expect_eq(ARMCI_Malloc(parts, (armci_size_t)bytes), 0);
    memset(parts[test_rank], 0, bytes);
    ARMCI_Barrier();
    return parts;
}

static void release(void **parts) {
    ARMCI_Barrier();
    ARMCI_Free(parts[test_rank]);
    free(parts);
}

static long draw(char *counter, int owner, bool wide) {
    long drawn = 0;
    int small;
    if (wide) {
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &drawn, counter + 8, 1, owner);
        return drawn;
    }
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &small, counter, 1, owner);
    return small;
}

/* Every value is drawn once: their sum is that of 0 ... n-1, and each rank sees increasing values. */
static void draw_all(char *counter, int owner, bool wide, int rounds) {
    long sum = 0, last = -1, all, n = (long)rounds * test_size;
    for (int i = 0; i < rounds; i++) {
        long drawn = draw(counter, owner, wide);
        expect(drawn > last);
        last = drawn;
        sum += drawn;
    }
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(all, n * (n - 1) / 2);
}

CASE(a_counter_gives_every_value_once) {
    void **parts = allocate(16);
    for (int wide = 0; wide < 2; wide++)
        for (int owner = 0; owner < test_size; owner++)
            draw_all(parts[owner], owner, wide, ROUNDS);
    release(parts);
}

/* The processor has no atomic operation for these words: locks protect them. */
CASE(a_misaligned_counter_gives_every_value_once) {
    void **parts = allocate(32);
    for (int wide = 0; wide < 2; wide++)
        for (int owner = 0; owner < test_size; owner++)
            draw_all((char *)parts[owner] + 3, owner, wide, ROUNDS / 4);
    release(parts);
}

/* A token that is swapped in and out: it never exists twice and is never lost. */
CASE(swap_hands_over_a_token) {
    void **parts = allocate(8);
    if (test_rank == 0)
        *(long *)parts[0] = 1;
    ARMCI_Barrier();
    for (int i = 0; i < ROUNDS; i++) {
        long value = 0;
        ARMCI_Rmw(ARMCI_SWAP_LONG, &value, parts[0], 0, 0);
        expect(value == 0 || value == 1);
        if (value == 1) {
            ARMCI_Rmw(ARMCI_SWAP_LONG, &value, parts[0], 0, 0);
            expect_eq(value, 0);
        }
    }
    ARMCI_Barrier();
    if (test_rank == 0)
        expect_eq(*(long *)parts[0], 1);
    release(parts);
}

/* All ranks add to the whole array at once: no addition is lost, on any path. */
CASE(sums_of_all_ranks) {
    enum { COUNT = 3000 };
    void **parts = allocate(COUNT * sizeof(long));
    long *ones = malloc(COUNT * sizeof(long)), two = 2;
    for (int i = 0; i < COUNT; i++)
        ones[i] = i;
    for (int i = 0; i < 10; i++)
        for (int owner = 0; owner < test_size; owner++) {
            int strides[] = {2 * (int)sizeof(long)}, counts[] = {sizeof(long), COUNT / 2};
            ARMCI_Acc(ARMCI_ACC_LNG, &two, ones, parts[owner], COUNT * sizeof(long), owner);
            ARMCI_AccS(ARMCI_ACC_LNG, &two, ones, strides, parts[owner], strides, counts, 1, owner);
        }
    ARMCI_Barrier();
    long *mine = parts[test_rank], wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += mine[i] != 2L * i * 10 * test_size * (i % 2 ? 1 : 2);
    expect_eq(wrong, 0);
    free(ones);
    release(parts);
}

CASE(a_mutex_protects_what_it_should) {
    void **parts = allocate(16);
    expect_eq(ARMCI_Create_mutexes(3), 0);
    for (int owner = 0; owner < test_size; owner++)
        for (int i = 0; i < ROUNDS / 4; i++) {
            long value;
            ARMCI_Lock(i % 3, owner);
            ARMCI_Get(parts[(owner + i) % test_size], &value, sizeof value, (owner + i) % test_size);
            ARMCI_Unlock(i % 3, owner);
            ARMCI_Lock(2, owner);
            ARMCI_Get(parts[owner], &value, sizeof value, owner);
            value++;
            ARMCI_Put(&value, parts[owner], sizeof value, owner);
            ARMCI_Fence(owner);
            ARMCI_Unlock(2, owner);
        }
    ARMCI_Barrier();
    expect_eq(*(long *)parts[test_rank], (long)ROUNDS / 4 * test_size);
    expect_eq(ARMCI_Destroy_mutexes(), 0);
    release(parts);
}

/* All ranks wait for a mutex, or try it until they get it, and change a number by a get and a put: no change is lost. */
CASE(mutexes_of_handles) {
    ARMCI_Group world;
    ARMCI_Group_get_world(&world);
    armcix_mutex_hdl_t mutexes = ARMCIX_Create_mutexes_hdl(2, &world);
    void **parts = allocate(8);
    int owner = test_size - 1;
    for (int i = 0; i < ROUNDS / 4; i++) {
        if (i % 2)
            ARMCIX_Lock_hdl(mutexes, 1, owner);
        while (i % 2 == 0 && ARMCIX_Trylock_hdl(mutexes, 1, owner) != 0)
            ;
        long value;
        ARMCI_Get(parts[0], &value, sizeof value, 0);
        value += 2;
        ARMCI_Put(&value, parts[0], sizeof value, 0);
        ARMCI_Fence(0);
        ARMCIX_Unlock_hdl(mutexes, 1, owner);
    }
    ARMCI_Barrier();
    if (test_rank == 0)
        expect_eq(*(long *)parts[0], 2L * (ROUNDS / 4) * test_size);
    ARMCIX_Destroy_mutexes_hdl(mutexes);
    release(parts);
}
