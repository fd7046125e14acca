/* threads.c: several threads call MPI at once, on one window and on several. Each thread reads its own places, so
 * that at any moment the flush of one thread completes gets of another. All data is compared. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "blocks.h"

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { THREADS = 4, WINDOW = 32768, ROUNDS = 120, PLACES = 64, BYTES = 300 };

struct worker {
    pthread_t thread;
    int number;
    struct window *window;
    int rounds;
};

typedef void *work(void *worker);

static void run_threads(work *run, struct window *windows, int window_count) {
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.number = i, .window = &windows[i % window_count]};
        workers[i].rounds = test_size > 2 ? ROUNDS / 4 : ROUNDS;
        pthread_create(&workers[i].thread, NULL, run, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
}

static uint64_t seed_of(const struct worker *w) {
    return (test_seed + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(test_rank * THREADS + w->number) * 2 + 1;
}

static size_t place(uint64_t *state) {
    return 480 * (size_t)blocks_random(state, PLACES);
}

static void *get_and_flush(void *arg) {
    struct worker *w = arg;
    uint64_t state = seed_of(w);
    unsigned char got[2][BYTES];
    for (int i = 0; i < w->rounds; i++) {
        size_t at[2] = {place(&state), place(&state)}, bytes = 1 + blocks_random(&state, BYTES);
        for (int j = 0; j < 2; j++)
            MPI_Get(got[j], (int)bytes, MPI_BYTE, peer(), (MPI_Aint)at[j], (int)bytes, MPI_BYTE,
                    w->window->win);
        if (i % 3)
            MPI_Win_flush(peer(), w->window->win);
        else
            MPI_Win_flush_all(w->window->win);
        for (int j = 0; j < 2; j++)
            expect_pattern(got[j], bytes, peer(), at[j], 0);
        memset(got, 0xcc, sizeof got);
    }
    return NULL;
}

static void *rget_and_wait(void *arg) {
    struct worker *w = arg;
    uint64_t state = seed_of(w);
    unsigned char got[2][BYTES];
    for (int i = 0; i < w->rounds; i++) {
        size_t at[2] = {place(&state), place(&state)}, bytes = 1 + blocks_random(&state, BYTES);
        MPI_Request requests[2];
        for (int j = 0; j < 2; j++)
            MPI_Rget(got[j], (int)bytes, MPI_BYTE, peer(), (MPI_Aint)at[j], (int)bytes, MPI_BYTE,
                     w->window->win, &requests[j]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int j = 0; j < 2; j++)
            expect_pattern(got[j], bytes, peer(), at[j], 0);
        memset(got, 0xcc, sizeof got);
    }
    return NULL;
}

/* Each thread writes 64 bytes of its own in the peer's window, right after the places that are read, and reads them
 * back. */
static void *put_and_get(void *arg) {
    struct worker *w = arg;
    size_t at = 480 * PLACES + 64 * (size_t)w->number;
    unsigned char mine[64], got[64];
    for (int i = 0; i < w->rounds; i++) {
        fill_pattern(mine, 64, test_rank, at, i);
        MPI_Put(mine, 64, MPI_BYTE, peer(), (MPI_Aint)at, 64, MPI_BYTE, w->window->win);
        MPI_Win_flush(peer(), w->window->win);
        for (int j = 0; j < 2; j++) {
            MPI_Get(got, 64, MPI_BYTE, peer(), (MPI_Aint)at, 64, MPI_BYTE, w->window->win);
            MPI_Win_flush(peer(), w->window->win);
            expect_pattern(got, 64, test_rank, at, i);
        }
    }
    return NULL;
}

static void *mixed(void *arg) {
    struct worker *w = arg;
    work *works[] = {get_and_flush, rget_and_wait, put_and_get, get_and_flush};
    return works[w->number % 4](arg);
}

static void run_windows(work *run, int count, const char *mode) {
    struct window windows[THREADS];
    for (int i = 0; i < count; i++) {
        windows[i] = make_window(WINDOW, mode);
        MPI_Win_lock_all(0, windows[i].win);
    }
    run_threads(run, windows, count);
    barrier();
    for (int i = 0; i < count; i++) {
        if (strcmp(mode, "always") == 0)
            expect_hits(windows[i].win, count == 1 ? 5 : 1); /* one thread may repeat few places */
        MPI_Win_unlock_all(windows[i].win);
        free_window(&windows[i]);
    }
}

#define NEED_THREADS                                                                                         \
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE || over_pt2pt(), "no MPI_THREAD_MULTIPLE for windows")

CASE(gets_on_one_window) {
    NEED_THREADS;
    run_windows(get_and_flush, 1, "always");
}

CASE(rgets_on_one_window) {
    NEED_THREADS;
    run_windows(rget_and_wait, 1, "always");
}

CASE(puts_on_one_window) {
    NEED_THREADS;
    run_windows(put_and_get, 1, "always");
}

CASE(all_on_one_window) {
    NEED_THREADS;
    run_windows(mixed, 1, "always");
}

CASE(all_on_one_transparent_window) {
    NEED_THREADS;
    run_windows(mixed, 1, "transparent");
}

CASE(a_window_each) {
    NEED_THREADS;
    run_windows(mixed, THREADS, "always");
}

CASE(two_windows) {
    NEED_THREADS;
    run_windows(mixed, 2, "always");
}
