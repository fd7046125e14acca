/* progress_threads.c: tests that two threads whose gets all hit still make progress for other processes. ranks: 2 */
#include "test.h"

#include <pthread.h>
#include <stdbool.h>

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { THREADS = 2, GETS = 20, DONE = 256 /* where rank 1 signals that its gets are answered */ };

/* Seconds: long enough for any machine if the library must answer the gets; short if only the MPI could. */
static double patience(void) {
    return test_cached() ? 30 : 0.5;
}

static struct window hot, asked;
static double end;

static void read_from(struct window *w, int rank) {
    char data[8];
    MPI_Get(data, 8, MPI_BYTE, rank, 64, 8, MPI_BYTE, w->win);
    MPI_Win_flush(rank, w->win);
}

static bool is_done(void) {
    return __atomic_load_n(&asked.base[DONE], __ATOMIC_ACQUIRE) == 1;
}

static void *hit(void *unused) {
    char data[8];
    while (!is_done() && MPI_Wtime() < end)
        for (int i = 0; i < 64; i++)
            MPI_Get(data, 8, MPI_BYTE, 1, 64, 8, MPI_BYTE, hot.win);
    return NULL;
}

static void hit_in_threads(void) {
    pthread_t threads[THREADS];
    end = MPI_Wtime() + patience();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hit, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (test_cached())
        expect(is_done());
}

/* The gets are answered while the threads run: the threads stop when they see the put after the last get. */
static void ask(void) {
    const unsigned char one = 1;
    for (int i = 0; i < GETS; i++)
        read_from(&asked, 0);
    MPI_Put(&one, 1, MPI_BYTE, 0, DONE, 1, MPI_BYTE, asked.win);
    MPI_Win_flush(0, asked.win);
}

CASE(two_threads_that_hit) {
    SKIP_IF(test_threads != MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE is not provided");
    SKIP_IF(over_pt2pt(), "Open MPI's pt2pt windows do not take threads");
    hot = open_window(4096, "always");
    asked = open_window(4096, "off");
    if (test_rank == 0)
        read_from(&hot, 1);
    if (test_rank == 1)
        read_from(&asked, 0);
    asked.base[DONE] = 0;
    barrier();
    if (test_rank == 0)
        hit_in_threads();
    if (test_rank == 1)
        ask();
    barrier();
    close_window(&asked);
    close_window(&hot);
}
