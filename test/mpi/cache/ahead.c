/* ahead.c: tests read-ahead: prefetched data is correct, is used, and never comes from beyond the window. ranks: 2 */
#include "test.h"

#include <stdlib.h>

enum { BLOCK = 100, BLOCKS = 41, AHEAD = 4 };

__attribute__((constructor)) static void read_ahead(void) {
    setenv("HEARTH_READ_AHEAD", "4", 1);
}

static unsigned char expected_byte(int round, size_t place) {
    return (unsigned char)(place * 13 + place / 256 + (size_t)round * 101);
}

static void fill(struct window *w, int round) {
    for (size_t i = 0; i < w->bytes; i++)
        ((unsigned char *)w->base)[i] = expected_byte(round, i);
}

static void read_block(struct window *w, size_t block, int round) {
    unsigned char data[BLOCK];
    MPI_Get(data, BLOCK, MPI_BYTE, 1, (MPI_Aint)(block * BLOCK), BLOCK, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
    int wrong = 0;
    for (size_t i = 0; i < BLOCK; i++)
        wrong += data[i] != expected_byte(round, block * BLOCK + i);
    expect_eq(wrong, 0);
}

static struct window open_filled(const char *mode) {
    struct window w = make_window(BLOCK * BLOCKS, mode);
    fill(&w, 0);
    barrier();
    MPI_Win_lock_all(0, w.win);
    return w;
}

static void close_filled(struct window *w) {
    barrier();
    MPI_Win_unlock_all(w->win);
    free_window(w);
}

CASE(a_walk_in_order) {
    struct window w = open_filled("always");
    CLAMPI_Stats s;
    for (size_t i = 0; test_rank == 0 && i < BLOCKS; i++)
        read_block(&w, i, 0);
    if (test_rank == 0 && strcmp(test_config(), "on") == 0 && stats(w.win, &s)) {
        /* Blocks 0 and 1 miss, and 1 prefetches 2..5; 6 misses and prefetches 7..10; ...; 36 misses and prefetches
         * 37..40. */
        expect_eq(s.ahead_fetched, 32);
        expect_eq(s.ahead_used, 32);
        expect_eq(s.full_hits, 32);
    }
    close_filled(&w);
}

CASE(any_other_order) {
    struct window w = open_filled("always");
    CLAMPI_Stats s;
    for (size_t i = 0; test_rank == 0 && i < BLOCKS; i++)
        read_block(&w, i * 7 % BLOCKS, 0);
    if (test_rank == 0 && test_cached() && stats(w.win, &s))
        expect_eq(s.ahead_fetched, 0);
    close_filled(&w);
}

CASE(own_writes_count) {
    struct window w = open_filled("always");
    unsigned char data[BLOCK];
    for (size_t i = 0; test_rank == 0 && i < BLOCKS; i++) {
        read_block(&w, i, 0);
        if (i + 1 == BLOCKS)
            break;
        for (size_t k = 0; k < BLOCK; k++) /* data that may have been prefetched */
            data[k] = expected_byte(1, (i + 1) * BLOCK + k);
        MPI_Put(data, BLOCK, MPI_BYTE, 1, (MPI_Aint)((i + 1) * BLOCK), BLOCK, MPI_BYTE, w.win);
        MPI_Win_flush(1, w.win);
        read_block(&w, i + 1, 1);
        for (size_t k = 0; k < BLOCK; k++)
            data[k] = expected_byte(0, (i + 1) * BLOCK + k);
        MPI_Put(data, BLOCK, MPI_BYTE, 1, (MPI_Aint)((i + 1) * BLOCK), BLOCK, MPI_BYTE, w.win);
    }
    close_filled(&w);
}

CASE(news_end_it) {
    struct window w = open_filled("acquire");
    for (int round = 0; round < 10; round++) {
        for (size_t i = 0; test_rank == 0 && i < BLOCKS / 2; i++)
            read_block(&w, i, round);
        barrier();
        if (test_rank == 1) {
            fill(&w, round + 1);
            MPI_Win_sync(w.win);
        }
        barrier();
        for (size_t i = BLOCKS / 2; test_rank == 0 && i < BLOCKS; i++)
            read_block(&w, i, round + 1);
        barrier();
    }
    close_filled(&w);
}

/* A block that a pending get already fetches is not fetched again. */
CASE(no_flush_between) {
    struct window w = open_filled("always");
    unsigned char data[BLOCKS][BLOCK];
    CLAMPI_Stats s;
    for (size_t i = 0; test_rank == 0 && i < BLOCKS; i++)
        MPI_Get(data[i], BLOCK, MPI_BYTE, 1, (MPI_Aint)(i * BLOCK), BLOCK, MPI_BYTE, w.win);
    MPI_Win_flush_all(w.win);
    for (size_t i = 0; test_rank == 0 && i < BLOCKS; i++)
        expect_eq(data[i][BLOCK / 2], expected_byte(0, i * BLOCK + BLOCK / 2));
    if (test_rank == 0 && test_cached() && stats(w.win, &s))
        expect(s.ahead_fetched <= AHEAD);
    close_filled(&w);
}
