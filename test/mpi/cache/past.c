/* past.c: a program that reads everything once, then reads some of it again and again, and writes in between. The
 * cache may be suspended in the first part and must resume in the second; the data is correct throughout. ranks: 2 */
#include "test.h"

#include <string.h>

enum { BYTES = 64, STREAM = 300, ROUNDS = 1500, FEW = 8 };

static unsigned char expected_byte(int rank, size_t place) {
    return (unsigned char)(place * 7 + place / 251 + (size_t)rank * 31);
}

static void fill(struct window *w) {
    for (size_t i = 0; i < w->bytes; i++)
        ((unsigned char *)w->base)[i] = expected_byte(test_rank, i);
}

static void read_and_compare(struct window *w, int from, size_t place) {
    unsigned char data[BYTES] = {0};
    MPI_Get(data, BYTES, MPI_BYTE, from, (MPI_Aint)place, BYTES, MPI_BYTE, w->win);
    MPI_Win_flush(from, w->win);
    int wrong = 0;
    for (size_t i = 0; i < BYTES; i++)
        wrong += data[i] != expected_byte(from, place + i);
    expect_eq(wrong, 0);
}

static void write_back(struct window *w, int to, size_t place) {
    static unsigned char data[BYTES]; /* MPI may read it until the next flush */
    for (size_t i = 0; i < BYTES; i++)
        data[i] = expected_byte(to, place + i);
    MPI_Put(data, BYTES, MPI_BYTE, to, (MPI_Aint)place, BYTES, MPI_BYTE, w->win);
}

/* Only rank 0 reads. Rank 1 waits in an MPI call and so serves it. */
static void stream_then_reuse(const char *mode) {
    struct window w = make_window(STREAM * BYTES, mode);
    fill(&w);
    barrier();
    MPI_Win_lock_all(0, w.win);
    for (int i = 0; test_rank == 0 && i < STREAM; i++)
        read_and_compare(&w, 1, (size_t)i * BYTES);
    for (int i = 0; test_rank == 0 && i < ROUNDS; i++) {
        size_t place = (size_t)(i % FEW) * BYTES;
        if (i % 97 == 0)
            write_back(&w, 1, place);
        read_and_compare(&w, 1, place);
    }
    CLAMPI_Stats s;
    if (stats(w.win, &s)) {
        expect(counts_add_up(&s));
        expect(test_rank != 0 || s.gets == STREAM + ROUNDS);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

/* The same between fences, which complete gets without a flush. */
CASE(between_fences) {
    enum { EACH = 20 };
    struct window w = make_window(STREAM * BYTES, "always");
    static unsigned char data[EACH][BYTES];
    int wrong = 0, peer = 1 - test_rank;
    fill(&w);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 2 * STREAM; i += EACH) {
        for (int k = 0; k < EACH; k++)
            MPI_Get(data[k], BYTES, MPI_BYTE, peer, (MPI_Aint)(i < STREAM ? i + k : k % FEW) * BYTES, BYTES,
                    MPI_BYTE, w.win);
        MPI_Win_fence(0, w.win);
        for (int k = 0; k < EACH; k++)
            for (size_t b = 0; b < BYTES; b++)
                wrong +=
                    data[k][b] != expected_byte(peer, (size_t)(i < STREAM ? i + k : k % FEW) * BYTES + b);
    }
    expect_eq(wrong, 0);
    CLAMPI_Stats s;
    if (stats(w.win, &s)) {
        expect(counts_add_up(&s));
        expect_eq(s.gets, 2 * STREAM);
    }
    free_window(&w);
}

/* A write issued before anything is cached is still pending when the first get is issued. The data of that get is
 * invalidated. */
CASE(write_before_the_first_get) {
    struct window w = make_window(BYTES, "always");
    unsigned char data[BYTES], before[BYTES], after[BYTES];
    fill(&w);
    barrier();
    MPI_Win_lock_all(0, w.win);
    memset(data, 0x5a, sizeof data);
    if (test_rank == 0) {
        MPI_Put(data, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win);
        MPI_Get(before, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush(1, w.win);
        MPI_Get(after, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win);
        MPI_Win_flush(1, w.win);
        expect_eq(memcmp(after, data, BYTES), 0);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    free_window(&w);
}

CASE(as_set) {
    stream_then_reuse(NULL);
}

CASE(always) {
    stream_then_reuse("always");
}

CASE(acquire) {
    stream_then_reuse("acquire");
}
