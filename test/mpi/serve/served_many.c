/* served_many.c: tests many short operations on windows that Hearth serves before a flush: between nodes they share
 * messages. They must be executed in order with long ones, whatever their number and size, and be complete when the lock
 * is free.
 *
 * configs: serve serve1 servempi servedirect */
#include <stdlib.h>

#include "serving.h"

enum { NUMBERS = 1000, LONG = 20000 /* integers: several messages */ };

CASE(many_puts_and_gets) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, NUMBERS * 8, 1, NULL);
    int target = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size, wrong = 0;
    int64_t values[NUMBERS], back[NUMBERS];
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < NUMBERS; i++) {
        values[i] = 1000 * test_rank + i;
        MPI_Put(&values[i], 1, MPI_INT64_T, target, 8 * i, 1, MPI_INT64_T, w.win);
    }
    MPI_Win_flush(target, w.win);
    barrier();
    for (int i = 0; i < NUMBERS; i++)
        wrong += load_number(&w, i) != 1000 * before + i;
    memset(back, 0, sizeof back);
    for (int i = 0; i < NUMBERS; i++)
        MPI_Get(&back[i], 1, MPI_INT64_T, target, 8 * i, 1, MPI_INT64_T, w.win);
    MPI_Win_flush_local_all(w.win);
    for (int i = 0; i < NUMBERS; i++)
        wrong += back[i] != values[i];
    expect_eq(wrong, 0);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
}

/* Data of all lengths around that of the longest short operation. */
CASE(all_lengths) {
    enum { MOST = 600, APART = 608 };
    struct allocated w = allocate_window(MPI_COMM_WORLD, (size_t)MOST * APART, 1, NULL);
    int target = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size, wrong = 0;
    char *data = malloc((size_t)MOST * APART), *back = calloc(MOST, APART);
    for (int i = 0; i < MOST * APART; i++)
        data[i] = (char)(i * 7 + test_rank);
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; i < MOST; i++)
        MPI_Put(data + i * APART, i, MPI_BYTE, target, (MPI_Aint)i * APART, i, MPI_BYTE, w.win);
    MPI_Win_flush(target, w.win);
    for (int i = 0; i < MOST; i++)
        MPI_Get(back + i * APART, i, MPI_BYTE, target, (MPI_Aint)i * APART, i, MPI_BYTE, w.win);
    MPI_Win_flush(target, w.win);
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < APART; j++)
            wrong += back[i * APART + j] != (j < i ? data[i * APART + j] : 0);
    barrier();
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < APART; j++)
            wrong += w.base[i * APART + j] != (j < i ? (char)((i * APART + j) * 7 + before) : 0);
    expect_eq(wrong, 0);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
    free(data);
    free(back);
}

/* Adds `values` to so many numbers from `at` on, without a flush. */
static void add(MPI_Win win, int target, int at, const int64_t *values, int count, MPI_Op op) {
    MPI_Accumulate(values, count, MPI_INT64_T, target, 8 * (MPI_Aint)at, count, MPI_INT64_T, op, win);
}

/* MPI executes the accumulates of a process to the same element in order. */
CASE(short_and_long_updates_in_order) {
    enum { SEVEN = 7, LAST = LONG - 1 };
    static const int64_t ones[] = {1, 1}, twos[] = {2, 2};
    static int64_t sevens[LONG];
    SKIP_IF(over_pt2pt() && !test_served(), "osc pt2pt is slow");
    struct allocated w = allocate_window(MPI_COMM_WORLD, LONG * 8, 1, NULL);
    int target = (test_rank + 1) % test_size;
    int64_t old = -1;
    for (int i = 0; i < LONG; i++)
        sevens[i] = SEVEN;
    MPI_Win_lock_all(0, w.win);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < round; i++)
            add(w.win, target, LAST, ones, 1, MPI_SUM);
        add(w.win, target, 0, sevens, LONG, MPI_REPLACE);
        for (int i = 0; i < 10; i++)
            add(w.win, target, LAST - 1, twos, 2, MPI_SUM);
        MPI_Fetch_and_op(ones, &old, MPI_INT64_T, target, 8 * LAST, MPI_SUM, w.win);
        MPI_Win_flush_local(target, w.win);
        expect_eq(old, SEVEN + 20);
        add(w.win, target, 0, sevens, LONG, MPI_REPLACE);
    }
    MPI_Win_flush(target, w.win);
    expect_eq(get_number(w.win, target, LAST), SEVEN);
    expect_eq(get_number(w.win, target, 0), SEVEN);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
}

/* All ranks change the same numbers without atomics, each in an exclusive epoch: a read, which is flushed, and writes, which
 * the unlock completes. */
CASE(unlock_completes) {
    enum { ROUNDS = 30, WORDS = 20 };
    struct allocated w = allocate_window(MPI_COMM_WORLD, WORDS * 8, 1, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t values[WORDS];
        int target = round % test_size;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
        for (int i = 0; i < WORDS; i++)
            MPI_Get(&values[i], 1, MPI_INT64_T, target, 8 * i, 1, MPI_INT64_T, w.win);
        MPI_Win_flush(target, w.win);
        for (int i = WORDS; i-- > 0;) {
            expect_eq(values[i], values[0]);
            values[i]++;
            MPI_Put(&values[i], 1, MPI_INT64_T, target, 8 * i, 1, MPI_INT64_T, w.win);
        }
        MPI_Win_unlock(target, w.win);
    }
    barrier();
    int64_t mine = ROUNDS / test_size + (test_rank < ROUNDS % test_size);
    expect_eq(load_number(&w, WORDS - 1), mine * test_size);
    barrier();
    MPI_Win_free(&w.win);
}
