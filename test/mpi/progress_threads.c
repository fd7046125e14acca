/* progress_threads.c: two threads that are served from the cache all the time still let their process serve others. ranks: 2 */
#include "test.h"

#include <pthread.h>

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { THREADS = 2, GETS = 200 };

static const double SECONDS = 0.5;
static struct window hot, asked;
static double end;

static void read_from(struct window *w, int rank) {
    char data[8];
    MPI_Get(data, 8, MPI_BYTE, rank, 64, 8, MPI_BYTE, w->win);
    MPI_Win_flush(rank, w->win);
}

static void *hit(void *unused) {
    char data[8];
    while (MPI_Wtime() < end)
        for (int i = 0; i < 64; i++)
            MPI_Get(data, 8, MPI_BYTE, 1, 64, 8, MPI_BYTE, hot.win);
    return NULL;
}

static void hit_in_threads(void) {
    pthread_t threads[THREADS];
    end = MPI_Wtime() + SECONDS;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hit, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Most of the gets are answered while the threads are at work, not when they are done. */
static void ask(void) {
    double begun = MPI_Wtime();
    int answered = 0;
    while (MPI_Wtime() < begun + SECONDS / 2) {
        read_from(&asked, 0);
        answered++;
    }
    if (test_cached())
        expect(answered >= GETS / 10);
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
    barrier();
    if (test_rank == 0)
        hit_in_threads();
    if (test_rank == 1)
        ask();
    barrier();
    close_window(&asked);
    close_window(&hot);
}
