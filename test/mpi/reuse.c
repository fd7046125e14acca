/* reuse.c: what must not end reuse in acquire mode. ranks: 2 */
#include "test.h"

enum { TIMES = 50, BYTES = 64 };

static char buffer[BYTES];

static void read_once(struct window *w) {
    MPI_Get(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
}

static struct window open_in(const char *mode) {
    struct window w = make_window(4096, mode);
    memset(w.base, 7, w.bytes);
    barrier();
    MPI_Win_lock_all(0, w.win);
    if (test_rank == 0)
        for (int i = 0; i < 3; i++) /* the lock is shown to be held */
            read_once(&w);
    return w;
}

static void close_in(struct window *w) {
    MPI_Win_unlock_all(w->win);
    free_window(w);
}

static uint64_t hits(struct window *w) {
    CLAMPI_Stats s = {0};
    stats(w->win, &s);
    return s.full_hits;
}

static void expect_reuse(struct window *w, uint64_t before, uint64_t least) {
    if (test_rank == 0 && test_cached())
        expect(hits(w) - before >= least);
}

CASE(gets_of_a_window_that_is_off) {
    struct window w = open_in("acquire"), off = open_in("off");
    uint64_t before = hits(&w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        read_once(&w);
        read_once(&off);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&off);
    close_in(&w);
}

CASE(an_atomic_ends_it_once) {
    struct window w = open_in("acquire"), counter = open_in("acquire");
    uint64_t before = hits(&w);
    int64_t one = 1, old;
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, counter.win);
        MPI_Win_flush(1, counter.win);
        read_once(&w);
        MPI_Win_flush_local_all(counter.win);
        read_once(&w);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&counter);
    close_in(&w);
}

CASE(requests_of_hits) {
    struct window w = open_in("acquire");
    uint64_t before = hits(&w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Request request;
        MPI_Rget(buffer, BYTES, MPI_BYTE, 1, 0, BYTES, MPI_BYTE, w.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&w);
}

/* Standard sends tell nothing of others. */
CASE(requests_of_sends) {
    struct window w = open_in("acquire");
    uint64_t before = hits(&w);
    for (int i = 0; test_rank == 0 && i < TIMES; i++) {
        MPI_Request request;
        MPI_Isend(&i, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        read_once(&w);
    }
    for (int i = 0, got; test_rank == 1 && i < TIMES; i++)
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_reuse(&w, before, TIMES - 2);
    barrier();
    close_in(&w);
}
