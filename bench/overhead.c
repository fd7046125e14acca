/* overhead.c: measures the cost of Hearth for calls that it passes on or replaces and does not make faster.
 *
 * A plain MPI program on two ranks; overhead.sh runs it with and without the library under test, in turn. Rank 0
 * measures; rank 1 waits in an MPI barrier in the one-sided cases, since neither MPI serves such calls in the
 * background.
 *
 *      accumulate   MPI_Accumulate and MPI_Win_flush, one MPI_Win_lock_all
 *      rput         MPI_Rput and MPI_Wait, one MPI_Win_lock_all
 *      iprobe       MPI_Iprobe of the last of 512 unexpected messages
 *      probe        MPI_Probe and MPI_Recv of 512 unexpected messages, the last first
 *      dup          MPI_Comm_dup and MPI_Comm_free
 *      create       MPI_Win_create and MPI_Win_free
 *      allocate     MPI_Win_allocate and MPI_Win_free
 *      puts         16 x 16 doubles transposed by 16 puts, each of a row into a column, between two fences
 *      gets         the same by gets
 *      locked       the same by puts, between MPI_Win_lock and MPI_Win_unlock, by one rank
 *      threads      four threads of one rank send to four of the other (with MPI_THREAD_MULTIPLE, so in another job)
 *      waiting      a thread receives messages while another thread of its rank waits for a later one (the same)
 *
 * Prints: case,samples,median ns per operation,low,high,least. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

enum { WAITING = 512, ROWS = 16, THREADS = 4, BYTES = 64, MOST_SAMPLES = 400 };

static int rank;
static double limit; /* seconds per case */

/* Returns, on both ranks, whether rank 0 has enough samples. */
static bool is_over(const struct samples *s, double begun) {
    int over = MPI_Wtime() - begun > limit || s->count >= MOST_SAMPLES;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return over;
}

static double ns_since(double start, int operations) {
    return (MPI_Wtime() - start) * 1e9 / operations;
}

/* ---- one-sided, one lock ---- */

static char *window_memory;
static MPI_Win window;

static void open_window(void) {
    MPI_Win_allocate(ROWS * ROWS * sizeof(double), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &window);
    memset(window_memory, 0, ROWS * ROWS * sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(void) {
    MPI_Win_free(&window);
}

static void open_locked(void) {
    open_window();
    if (rank == 0)
        MPI_Win_lock_all(0, window);
}

static void close_locked(void) {
    if (rank == 0)
        MPI_Win_unlock_all(window);
    close_window();
}

static double accumulate(void) {
    enum { COUNT = 200 };
    double one = 1, start = MPI_Wtime();
    for (int i = 0; i < COUNT && rank == 0; i++) {
        MPI_Accumulate(&one, 1, MPI_DOUBLE, 1, 8 * (i % ROWS), 1, MPI_DOUBLE, MPI_SUM, window);
        MPI_Win_flush(1, window);
    }
    double ns = ns_since(start, COUNT);
    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

static double rput(void) {
    enum { COUNT = 200 };
    char bytes[BYTES] = {0};
    double start = MPI_Wtime();
    for (int i = 0; i < COUNT && rank == 0; i++) {
        MPI_Request request;
        MPI_Rput(bytes, BYTES, MPI_BYTE, 1, BYTES * (i % ROWS), BYTES, MPI_BYTE, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    double ns = ns_since(start, COUNT);
    if (rank == 0)
        MPI_Win_flush(1, window);
    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

/* ---- unexpected messages ---- */

static void fill_queue(void) {
    char byte = 0;
    for (int i = 0; i < WAITING && rank == 1; i++)
        MPI_Send(&byte, 1, MPI_BYTE, 0, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void empty_queue(void) {
    char byte;
    for (int i = 0; i < WAITING && rank == 0; i++)
        MPI_Recv(&byte, 1, MPI_BYTE, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double iprobe(void) {
    enum { COUNT = 200 };
    int flag;
    double start = MPI_Wtime();
    for (int i = 0; i < COUNT && rank == 0; i++)
        MPI_Iprobe(1, WAITING - 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    double ns = ns_since(start, COUNT);
    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

static double probe(void) {
    char byte;
    fill_queue();
    double start = MPI_Wtime();
    for (int i = WAITING; i-- > 0 && rank == 0;) {
        MPI_Status status;
        MPI_Probe(1, i, MPI_COMM_WORLD, &status);
        MPI_Recv(&byte, 1, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return ns_since(start, WAITING);
}

/* ---- objects made and freed ---- */

static double dup(void) {
    enum { COUNT = 20 };
    double start = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_free(&comm);
    }
    return ns_since(start, COUNT);
}

static double create(void) {
    enum { COUNT = 8 };
    static _Alignas(64) char memory[1024];
    double start = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        MPI_Win win;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_free(&win);
    }
    return ns_since(start, COUNT);
}

static double allocate(void) {
    enum { COUNT = 8 };
    double start = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        MPI_Win win;
        void *memory;
        MPI_Win_allocate(1024, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        MPI_Win_free(&win);
    }
    return ns_since(start, COUNT);
}

/* ---- transposes ---- */

static MPI_Datatype column;

static void open_transpose(void) {
    open_window();
    MPI_Type_vector(ROWS, 1, ROWS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_fence(0, window);
}

static void close_transpose(void) {
    MPI_Win_fence(0, window);
    MPI_Type_free(&column);
    close_window();
}

static void put_rows(const double *matrix) {
    for (int i = 0; i < ROWS; i++)
        MPI_Put(matrix + i * ROWS, ROWS, MPI_DOUBLE, 1 - rank, i * (int)sizeof(double), 1, column, window);
}

static double puts_fenced(void) {
    enum { COUNT = 16 };
    double matrix[ROWS * ROWS] = {0}, start = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        put_rows(matrix);
        MPI_Win_fence(0, window);
    }
    return ns_since(start, COUNT);
}

static double gets_fenced(void) {
    enum { COUNT = 16 };
    double matrix[ROWS * ROWS], start = MPI_Wtime();
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < ROWS; k++)
            MPI_Get(matrix + k * ROWS, ROWS, MPI_DOUBLE, 1 - rank, k * (int)sizeof(double), 1, column,
                    window);
        MPI_Win_fence(0, window);
    }
    return ns_since(start, COUNT);
}

static void open_unfenced(void) {
    open_window();
    MPI_Type_vector(ROWS, 1, ROWS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
}

static void close_unfenced(void) {
    MPI_Type_free(&column);
    close_window();
}

static double puts_locked(void) {
    enum { COUNT = 16 };
    double matrix[ROWS * ROWS] = {0}, start = MPI_Wtime();
    for (int i = 0; i < COUNT && rank == 0; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
        put_rows(matrix);
        MPI_Win_unlock(1, window);
    }
    double ns = ns_since(start, COUNT);
    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

/* ---- threads ---- */

enum { EACH = 250 };

/* Completes when the other rank has received all messages before it. */
static void answer_each_other(void) {
    char byte = 0;
    MPI_Sendrecv(&byte, 1, MPI_BYTE, 1 - rank, THREADS, &byte, 1, MPI_BYTE, 1 - rank, THREADS, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void *exchange(void *arg) {
    int tag = (int)(intptr_t)arg;
    char byte = 0;
    for (int i = 0; i < EACH; i++)
        if (rank == 0)
            MPI_Send(&byte, 1, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        else
            MPI_Recv(&byte, 1, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static double threads(void) {
    pthread_t thread[THREADS];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, exchange, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    answer_each_other();
    return ns_since(start, THREADS * EACH);
}

static void *receive_last(void *arg) {
    MPI_Recv(arg, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static double waiting(void) {
    pthread_t waiter;
    char last = 0;
    if (rank == 1)
        pthread_create(&waiter, NULL, receive_last, &last);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < THREADS; i++)
        exchange(0);
    if (rank == 0)
        MPI_Send(&last, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    else
        pthread_join(waiter, NULL);
    answer_each_other();
    return ns_since(start, THREADS * EACH);
}

/* ---- all of them ---- */

static void nothing(void) {
}

static const struct measured {
    const char *name;
    void (*open)(void);
    double (*measure)(void);
    void (*close)(void);
} cases[] = {
    {"accumulate", open_locked, accumulate, close_locked},
    {"rput", open_locked, rput, close_locked},
    {"iprobe", fill_queue, iprobe, empty_queue},
    {"probe", nothing, probe, nothing},
    {"dup", nothing, dup, nothing},
    {"create", nothing, create, nothing},
    {"allocate", nothing, allocate, nothing},
    {"puts", open_transpose, puts_fenced, close_transpose},
    {"gets", open_transpose, gets_fenced, close_transpose},
    {"locked", open_unfenced, puts_locked, close_unfenced},
    {"threads", nothing, threads, nothing},
    {"waiting", nothing, waiting, nothing},
};

static void run(const struct measured *c) {
    struct samples s = {0};
    c->open();
    for (int i = 0; i < 3; i++) /* warm-up */
        c->measure();
    for (double begun = MPI_Wtime(); !is_over(&s, begun);)
        samples_add(&s, c->measure());
    c->close();
    struct median m = samples_median(&s);
    if (rank == 0)
        printf("%s,%zu,%.1f,%.1f,%.1f,%.1f\n", c->name, s.count, m.value, m.low, m.high, samples_least(&s));
    samples_free(&s);
}

static bool is_named(int count, char **names, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

int main(int argc, char **argv) {
    bool threaded = is_named(argc, argv, "threads") || is_named(argc, argv, "waiting");
    int level, size;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 2 || (threaded && level != MPI_THREAD_MULTIPLE)) {
        fprintf(stderr, "overhead [--milliseconds N] CASE...   on two ranks; see the head of overhead.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    limit = (double)option(argc, argv, "--milliseconds", 100) / 1000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (is_named(argc, argv, cases[i].name))
            run(&cases[i]);
    MPI_Finalize();
    return 0;
}
