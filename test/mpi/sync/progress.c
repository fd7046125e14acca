/* progress.c: tests that a rank whose gets all hit still makes progress for others. Rank 0 reads cached data in a
 * loop. Rank 1 reads from rank 0, which must take part: neither MPI makes progress while its process makes no call.
 * Without its progress, the first get takes as long as rank 0's loop. If other programs take the cores, one of a few
 * attempts must succeed; each takes twice as long as the one before. */
#include "test.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 200000, ATTEMPTS = 4, ENOUGH = 4 };

static double times[MOST];

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Binds even and odd ranks to different cores: with ranks 0 and 1 on one core the test would measure the scheduler. Returns
 * false if there is only one core. */
static bool spread_out(void) {
    cpu_set_t allowed, one;
    int skip = test_rank % 2;
    if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) < 2)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || skip-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        break;
    }
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

typedef void reading(struct window *w);

static void by_flush(struct window *w) {
    unsigned char got[64];
    MPI_Get(got, sizeof got, MPI_BYTE, 1, 128, sizeof got, MPI_BYTE, w->win);
    MPI_Win_flush(1, w->win);
    expect_pattern(got, sizeof got, 1, 128, 0);
}

static void by_wait(struct window *w) {
    unsigned char got[64];
    MPI_Request request;
    MPI_Rget(got, sizeof got, MPI_BYTE, 1, 128, sizeof got, MPI_BYTE, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_pattern(got, sizeof got, 1, 128, 0);
}

static void read_cached(reading *read, struct window *w, double seconds) {
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        read(w);
}

/* Returns the number of gets that were answered in this time. */
static int read_remote(struct window *w, double seconds) {
    unsigned char got[64];
    double end = MPI_Wtime() + seconds;
    int n = 0;
    while (n < MOST && MPI_Wtime() < end) {
        double start = MPI_Wtime();
        MPI_Get(got, sizeof got, MPI_BYTE, 0, 256, sizeof got, MPI_BYTE, w->win);
        MPI_Win_flush(0, w->win);
        times[n++] = MPI_Wtime() - start;
    }
    expect_pattern(got, sizeof got, 0, 256, 0);
    qsort(times, (size_t)n, sizeof times[0], by_value);
    printf("   %d gets: median %.1f us, 99 %% %.1f us, longest %.1f us\n", n, times[n / 2] * 1e6,
           times[n * 99 / 100] * 1e6, times[n - 1] * 1e6);
    return n;
}

/* Rank 1 stops a little earlier, so that rank 0 is in its loop all the time. Further ranks sleep, as they would only
 * occupy cores. */
static bool attempt(reading *read, struct window *cached, struct window *remote, double seconds) {
    int good = 0;
    barrier();
    if (test_rank == 0)
        read_cached(read, cached, seconds);
    else if (test_rank == 1)
        good = read_remote(remote, seconds * 0.8) >= ENOUGH;
    else
        usleep((unsigned)(seconds * 1e6));
    MPI_Bcast(&good, 1, MPI_INT, 1, MPI_COMM_WORLD);
    return good;
}

static void expect_progress(reading *read) {
    struct window cached = make_window(1024, "always"), remote = make_window(1024, "transparent");
    static int spread = -1;
    bool good = false;
    SKIP_IF(test_seconds < 1 && !test_cached(),
            (free_window(&cached), free_window(&remote), "in the quick tier only where gets may hit"));
    if (spread < 0)
        spread = spread_out();
    MPI_Win_lock_all(0, cached.win);
    MPI_Win_lock_all(0, remote.win);
    for (int i = 0; i < ATTEMPTS && !good; i++)
        good = attempt(read, &cached, &remote, 0.15 * (1 << i));
    expect(good || !spread || !test_cached());
    barrier();
    MPI_Win_unlock_all(remote.win);
    MPI_Win_unlock_all(cached.win);
    if (test_rank == 0)
        expect_hits(cached.win, 20); /* on a busy machine they are few */
    free_window(&remote);
    free_window(&cached);
}

CASE(of_a_rank_in_a_loop_of_hits) {
    expect_progress(by_flush);
}

/* A hit returns a completed request, and its Wait is the only other call. */
CASE(of_a_rank_in_a_loop_of_rgets) {
    expect_progress(by_wait);
}
