/* poll.c: tests programs that poll until a value changes. The loops must terminate: a cache that kept returning old
 * data, or a flush without effect, would make them run forever. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 20 }; /* seconds */

static int *ints(struct window *w) {
    return (int *)(void *)w->base;
}

static struct window open_zeroed(const char *mode) {
    struct window w = make_window(1024, mode);
    memset(w.base, 0, w.bytes);
    barrier();
    MPI_Win_lock_all(0, w.win);
    return w;
}

static bool in_time(double start) {
    return MPI_Wtime() - start < PATIENCE;
}

/* Makes other MPI calls for a while, like a program with other work to do. */
static void be_busy(double seconds) {
    double end = MPI_Wtime() + seconds;
    int flag;
    while (MPI_Wtime() < end)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Rank 0 changes its own flag by a store. */
static void expect_flag_seen(bool local) {
    struct window w = open_zeroed("transparent");
    volatile int seen = 0;
    double start = MPI_Wtime();
    if (test_rank == 0) {
        be_busy(0.05);
        ints(&w)[3] = 1;
        MPI_Win_sync(w.win);
    }
    while (test_rank && !seen && in_time(start)) {
        MPI_Get((void *)&seen, 1, MPI_INT, 0, 12, 1, MPI_INT, w.win);
        if (local)
            MPI_Win_flush_local(0, w.win);
        else
            MPI_Win_flush(0, w.win);
    }
    expect(test_rank == 0 || seen);
    close_window(&w);
}

CASE(remote_flag_by_flush) {
    expect_flag_seen(false);
}

CASE(remote_flag_by_flush_local) {
    expect_flag_seen(true);
}

CASE(remote_flag_by_rget) {
    struct window w = open_zeroed("transparent");
    volatile int seen = 0;
    double start = MPI_Wtime();
    if (test_rank == 0) {
        be_busy(0.05);
        ints(&w)[3] = 1;
        MPI_Win_sync(w.win);
    }
    while (test_rank && !seen && in_time(start)) {
        MPI_Request request;
        MPI_Rget((void *)&seen, 1, MPI_INT, 0, 12, 1, MPI_INT, w.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    expect(test_rank == 0 || seen);
    close_window(&w);
}

/* Only one reader, which pauses between two reads: a stream of shared locks may starve the exclusive one. */
CASE(remote_flag_by_lock) {
    struct window w = make_window(1024, "transparent");
    int seen = 0;
    double start = MPI_Wtime();
    memset(w.base, 0, w.bytes);
    barrier();
    if (test_rank == 0) {
        be_busy(0.05);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        ints(&w)[3] = 1;
        MPI_Win_unlock(0, w.win);
    }
    while (test_rank == 1 && !seen && in_time(start)) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        MPI_Get(&seen, 1, MPI_INT, 0, 12, 1, MPI_INT, w.win);
        MPI_Win_unlock(0, w.win);
        usleep(200);
    }
    expect(test_rank != 1 || seen);
    free_window(&w);
}

/* An atomic reads the flag, in mode always too: atomics are not cached. */
CASE(remote_flag_by_fetch_and_op) {
    struct window w = open_zeroed("always");
    int seen = 0, none = 0, one = 1;
    double start = MPI_Wtime();
    if (test_rank == 0) {
        be_busy(0.05);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 12, 1, MPI_INT, MPI_REPLACE, w.win);
        MPI_Win_flush(0, w.win);
    }
    while (test_rank && !seen && in_time(start)) {
        MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, 12, MPI_NO_OP, w.win);
        MPI_Win_flush(0, w.win);
    }
    expect(test_rank == 0 || seen);
    close_window(&w);
}

/* Rank 0 waits for a put into its own memory, and its only calls are empty flushes. These must drive MPI progress. */
static void expect_put_arrives(const char *mode, bool all) {
    struct window w = open_zeroed(mode);
    double start = MPI_Wtime();
    int one = 1;
    if (test_rank == 1) {
        MPI_Put(&one, 1, MPI_INT, 0, 12, 1, MPI_INT, w.win);
        MPI_Win_flush(0, w.win);
    }
    while (test_rank == 0 && !((volatile int *)ints(&w))[3] && in_time(start)) {
        if (all)
            MPI_Win_flush_all(w.win);
        else
            MPI_Win_flush(1, w.win);
        MPI_Win_sync(w.win);
    }
    expect(test_rank != 0 || ints(&w)[3] == 1);
    close_window(&w);
}

CASE(own_window_with_empty_flushes) {
    expect_put_arrives("transparent", false);
    expect_put_arrives("transparent", true);
    expect_put_arrives("always", false);
    expect_put_arrives("always", true);
}

/* The same while rank 0 also reads cached data: hits and elided flushes must not starve the put. */
CASE(own_window_between_hits) {
    struct window w = open_zeroed("always");
    double start = MPI_Wtime();
    int one = 1, got = 0;
    long hits = 0;
    if (test_rank == 1) {
        be_busy(0.05);
        MPI_Put(&one, 1, MPI_INT, 0, 12, 1, MPI_INT, w.win);
        MPI_Win_flush(0, w.win);
    }
    while (test_rank == 0 && !((volatile int *)ints(&w))[3] && in_time(start)) {
        MPI_Get(&got, 1, MPI_INT, 1, 64, 1, MPI_INT, w.win);
        MPI_Win_flush(1, w.win);
        hits++;
    }
    expect(test_rank != 0 || ints(&w)[3] == 1);
    if (test_rank == 0 && hits > 10)
        expect_hits(w.win, (uint64_t)hits - 1);
    close_window(&w);
}

/* Alternately, each rank waits for the other's next number, in the other's memory. */
CASE(ping_pong_of_flags) {
    struct window w = open_zeroed("transparent");
    volatile int seen;
    int rounds = test_size > 2 ? 5 : 20, other = 1 - test_rank;
    double start = MPI_Wtime();
    for (int i = 1; i <= rounds && test_rank < 2; i++) {
        if (test_rank == 0) {
            ints(&w)[0] = i;
            MPI_Win_sync(w.win);
        }
        do {
            MPI_Get((void *)&seen, 1, MPI_INT, other, 0, 1, MPI_INT, w.win);
            MPI_Win_flush(other, w.win);
        } while (seen < i && in_time(start));
        expect_eq(seen, i);
        if (test_rank == 1) {
            ints(&w)[0] = i;
            MPI_Win_sync(w.win);
        }
    }
    close_window(&w);
}
