/* served_atomic.c: tests that no update is lost when ranks and threads update the same elements concurrently, by every
 * atomic call, through one window or through two aliasing windows. Some elements are aligned, others cross the boundary
 * between two blocks with separate locks.
 *
 * configs: serve serve1 serve2 servempi servedirect */
#include <pthread.h>
#include <stdlib.h>

#include "serving.h"

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { WINDOW = 3 * 4096, THREADS = 2, ROUNDS = 60, PLACES = 4 };

static const MPI_Aint places[PLACES] = {0, 64, 4096 - 3, 8192 - 7};

struct worker {
    pthread_t thread;
    int number;
    MPI_Win win;
};

static void add_by_swapping(MPI_Win win, MPI_Aint at) {
    int64_t seen = 0, found, next;
    for (;;) {
        next = seen + 1;
        MPI_Compare_and_swap(&next, &seen, &found, MPI_INT64_T, 0, at, win);
        MPI_Win_flush(0, win);
        if (found == seen)
            return;
        seen = found;
    }
}

static void add_one(MPI_Win win, MPI_Aint at, int how) {
    int64_t one = 1, old;
    switch (how % 4) {
    case 0:
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, win);
        break;
    case 1:
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, at, MPI_SUM, win);
        break;
    case 2:
        MPI_Get_accumulate(&one, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_SUM, win);
        break;
    default:
        add_by_swapping(win, at);
    }
    MPI_Win_flush(0, win);
}

static void *add_in_thread(void *arg) {
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++)
        for (int place = 0; place < PLACES; place++)
            add_one(w->win, places[place], i + place + w->number);
    return NULL;
}

static void add_everywhere(MPI_Win first, MPI_Win second) {
    struct worker workers[THREADS];
    int threads = test_threads == MPI_THREAD_MULTIPLE ? THREADS : 1;
    for (int i = 0; i < threads; i++) {
        workers[i] = (struct worker){.number = i, .win = i % 2 ? second : first};
        if (threads > 1)
            pthread_create(&workers[i].thread, NULL, add_in_thread, &workers[i]);
        else
            add_in_thread(&workers[i]);
    }
    for (int i = 0; threads > 1 && i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    barrier();
    for (int place = 0; test_rank == 0 && place < PLACES; place++) {
        int64_t sum = 0;
        MPI_Get(&sum, 1, MPI_INT64_T, 0, places[place], 1, MPI_INT64_T, first);
        MPI_Win_flush(0, first);
        expect_eq(sum, (int64_t)ROUNDS * threads * test_size);
    }
    barrier();
}

CASE(one_window) {
    SKIP_IF(!test_served(), "compare and swap crashes in Open MPI 4");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win_lock_all(0, w.win);
    add_everywhere(w.win, w.win);
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&w.win);
}

CASE(two_windows_over_the_same_memory) {
    SKIP_IF(!test_served(), "MPI promises nothing between windows");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win second;
    MPI_Win_create(w.base, WINDOW, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &second);
    MPI_Win_lock_all(0, w.win);
    MPI_Win_lock_all(0, second);
    add_everywhere(w.win, second);
    MPI_Win_unlock_all(second);
    MPI_Win_unlock_all(w.win);
    MPI_Win_free(&second);
    MPI_Win_free(&w.win);
}

/* Memory of the program is reached through the kernel, in parts of many blocks. */
enum { NUMBERS = 20000, TIMES = 6, OFFSET = 3 }; /* elements cross the boundaries of blocks */

static void add_ranges(MPI_Win win) {
    int64_t *ones = malloc(8 * NUMBERS), old = 0;
    for (int i = 0; i < NUMBERS; i++)
        ones[i] = 1;
    for (int i = 0; i < TIMES; i++) {
        MPI_Accumulate(ones, NUMBERS, MPI_INT64_T, 0, OFFSET, NUMBERS, MPI_INT64_T, MPI_SUM, win);
        for (int n = i; n < NUMBERS; n += 1000) {
            MPI_Fetch_and_op(ones, &old, MPI_INT64_T, 0, OFFSET + 8 * n, MPI_SUM, win);
            MPI_Win_flush(0, win);
        }
    }
    MPI_Win_flush(0, win);
    free(ones);
}

CASE(ranges_of_memory_of_the_program) {
    SKIP_IF(!test_served(), "MPICH 4.0 needs aligned elements");
    char *memory = aligned_bytes(8 * NUMBERS + 64);
    MPI_Win win;
    int wrong = 0;
    memset(memory, 0, 8 * NUMBERS + 64);
    MPI_Win_create(memory, 8 * NUMBERS + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    add_ranges(win);
    barrier();
    for (int n = 0; test_rank == 0 && n < NUMBERS; n++) {
        int64_t number;
        memcpy(&number, memory + OFFSET + 8 * n, 8);
        wrong += number != (int64_t)test_size * (TIMES + (n % 1000 < TIMES));
    }
    expect_eq(wrong, 0);
    barrier();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(memory);
}

/* Runs in several threads at once, each with its own communicator. */
static void *make_windows(void *arg) {
    MPI_Comm comm = *(MPI_Comm *)arg;
    for (int i = 0; i < 3; i++) {
        struct allocated w = allocate_window(comm, 4096, 1, NULL);
        MPI_Win_lock_all(0, w.win);
        for (int round = 0; round < ROUNDS; round++)
            add_number(w.win, 0, 1, 1);
        MPI_Barrier(comm);
        expect_eq(get_number(w.win, 0, 1), (int64_t)ROUNDS * test_size);
        MPI_Barrier(comm);
        MPI_Win_unlock_all(w.win);
        MPI_Win_free(&w.win);
    }
    return NULL;
}

CASE(windows_of_threads) {
    SKIP_IF(!test_served() || test_threads < MPI_THREAD_MULTIPLE,
            "needs MPI_THREAD_MULTIPLE and served windows");
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, make_windows, &comms[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
}

/* ---- threads that use targets for the first time at once ---- */

enum { FRESH = 30, USERS = 4 };

static pthread_barrier_t together;

static void *use_all_targets(void *arg) {
    const struct worker *worker = arg;
    int64_t one = 1;
    pthread_barrier_wait(&together);
    for (int target = 0; target < test_size; target++) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, worker->win);
        MPI_Win_flush(target, worker->win);
    }
    return NULL;
}

CASE(first_use_by_threads) {
    SKIP_IF(!test_served() || test_threads < MPI_THREAD_MULTIPLE,
            "needs MPI_THREAD_MULTIPLE and served windows");
    struct worker workers[USERS];
    pthread_barrier_init(&together, NULL, USERS);
    for (int round = 0; round < FRESH; round++) {
        struct allocated w = allocate_window(MPI_COMM_WORLD, 64, 1, NULL);
        MPI_Win_lock_all(0, w.win);
        for (int i = 0; i < USERS; i++) {
            workers[i] = (struct worker){.number = i, .win = w.win};
            pthread_create(&workers[i].thread, NULL, use_all_targets, &workers[i]);
        }
        for (int i = 0; i < USERS; i++)
            pthread_join(workers[i].thread, NULL);
        barrier();
        expect_eq(load_number(&w, 0), (int64_t)USERS * test_size);
        barrier();
        MPI_Win_unlock_all(w.win);
        MPI_Win_free(&w.win);
    }
    pthread_barrier_destroy(&together);
}

/* ---- locks by many threads at once, each on a window of its own ---- */

enum { LOCKERS = 6, LOCK_ROUNDS = 15 };

static void *lock_windows(void *arg) {
    const struct worker *worker = arg;
    for (int round = 0; round < LOCK_ROUNDS; round++)
        for (int target = 0; target < test_size; target++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, worker->win);
            int64_t value = get_number(worker->win, target, 0);
            put_number(worker->win, target, 0, value + 1);
            MPI_Win_unlock(target, worker->win);
        }
    return NULL;
}

CASE(locks_of_threads) {
    SKIP_IF(!test_served() || test_threads < MPI_THREAD_MULTIPLE,
            "needs MPI_THREAD_MULTIPLE and served windows");
    struct worker workers[LOCKERS];
    struct allocated windows[LOCKERS];
    for (int i = 0; i < LOCKERS; i++) {
        windows[i] = allocate_window(MPI_COMM_WORLD, 4096, 1, NULL);
        workers[i] = (struct worker){.number = i, .win = windows[i].win};
    }
    for (int i = 0; i < LOCKERS; i++)
        pthread_create(&workers[i].thread, NULL, lock_windows, &workers[i]);
    for (int i = 0; i < LOCKERS; i++)
        pthread_join(workers[i].thread, NULL);
    barrier();
    for (int i = 0; i < LOCKERS; i++) {
        expect_eq(load_number(&windows[i], 0), (int64_t)LOCK_ROUNDS * test_size);
        MPI_Win_free(&windows[i].win);
    }
}
