/* past.c: a program that reads everything once, then some of it again and again, and writes in between. Its cache may be
 * suspended in the first part and must come back in the second; the data is right throughout. ranks: 2 */
#include "test.h"

enum { BYTES = 64, STREAM = 2000, ROUNDS = 1500, FEW = 8 };

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
    unsigned char data[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        data[i] = expected_byte(to, place + i);
    MPI_Put(data, BYTES, MPI_BYTE, to, (MPI_Aint)place, BYTES, MPI_BYTE, w->win);
}

/* Only rank 0 works, so that rank 1 is in a call of MPI and serves it. */
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

CASE(as_set) {
    stream_then_reuse(NULL);
}

CASE(always) {
    stream_then_reuse("always");
}

CASE(acquire) {
    stream_then_reuse("acquire");
}
