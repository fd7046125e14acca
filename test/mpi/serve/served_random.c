/* served_random.c: runs random operations on windows that Hearth serves, and compares the windows with a model.
 *
 * A run consists of phases. In each phase every rank owns one slice of every rank's window, not the same as in the phase
 * before, and puts only there; all ranks add to the counters at the end of each window. Every choice follows from the
 * seed, so that each rank can compute the expected contents of its own window after the phase. The test runs for a quarter
 * of --seconds N; --seed N repeats a run.
 *
 * configs: serve serve1 servempi */
#include <stdio.h>
#include <stdlib.h>

#include "serving.h"

enum { SLICE = 5000, COUNTERS = 8, STEPS = 12, MOST = 700, MOST_RANKS = 16 };

static struct allocated window;
static unsigned char model[MOST_RANKS * SLICE];
static int64_t counters[COUNTERS];

/* One operation of one rank. */
struct operation {
    int kind, target, counter;
    size_t at, bytes; /* in the slice */
    int64_t value;
};

static struct operation choose(int phase, int rank, int step) {
    uint64_t n = test_number(rank, (size_t)step, phase), m = test_number(rank, (size_t)step + 1000, phase);
    struct operation o = {.kind = (int)(n % 6), .target = (int)(n / 6 % (unsigned)test_size)};
    o.bytes = 1 + n / 1000 % MOST;
    o.at = m % (SLICE - o.bytes);
    o.counter = (int)(m / SLICE % COUNTERS);
    o.value = (int64_t)(m / 100000 % 1000);
    return o;
}

static size_t slice_of(int phase, int rank) {
    return (size_t)((rank + phase) % test_size) * SLICE;
}

static size_t counters_at(void) {
    return ((size_t)test_size * SLICE + 63) / 64 * 64;
}

static void add_value(const struct operation *o) {
    MPI_Aint at = (MPI_Aint)(counters_at() + 8 * (size_t)o->counter);
    int64_t old;
    if (o->kind == 3)
        MPI_Accumulate(&o->value, 1, MPI_INT64_T, o->target, at, 1, MPI_INT64_T, MPI_SUM, window.win);
    else if (o->kind == 4)
        MPI_Fetch_and_op(&o->value, &old, MPI_INT64_T, o->target, at, MPI_SUM, window.win);
    else
        MPI_Get_accumulate(&o->value, 1, MPI_INT64_T, &old, 1, MPI_INT64_T, o->target, at, 1, MPI_INT64_T,
                           MPI_SUM, window.win);
}

/* `keeps`: the buffer of a put, unchanged until the epoch ends. */
static void execute(const struct operation *o, size_t slice, int phase, unsigned char *keeps) {
    if (o->kind > 2) {
        add_value(o);
        return;
    }
    fill_pattern(keeps, o->bytes, o->target, o->at, phase);
    MPI_Put(keeps, (int)o->bytes, MPI_BYTE, o->target, (MPI_Aint)(slice + o->at), (int)o->bytes, MPI_BYTE,
            window.win);
}

/* Applies to the model what all ranks do to this rank's window in the phase. */
static void predict(int phase) {
    for (int rank = 0; rank < test_size; rank++)
        for (int step = 0; step < STEPS; step++) {
            struct operation o = choose(phase, rank, step);
            if (o.target != test_rank)
                continue;
            if (o.kind > 2)
                counters[o.counter] += o.value;
            else
                fill_pattern(model + slice_of(phase, rank) + o.at, o.bytes, o.target, o.at, phase);
        }
}

static void run_steps(int phase, int kind) {
    static unsigned char kept[STEPS][MOST];
    struct operation done[STEPS];
    for (int step = 0; step < STEPS; step++) {
        struct operation *o = &done[step];
        *o = choose(phase, test_rank, step);
        if (kind > 1)
            MPI_Win_lock(kind == 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, o->target, 0, window.win);
        execute(o, slice_of(phase, test_rank), phase, kept[step]);
        if (kind == 1 && o->kind <= 2) {
            unsigned char got[MOST] = {0};
            MPI_Win_flush(o->target, window.win);
            MPI_Get(got, (int)o->bytes, MPI_BYTE, o->target, (MPI_Aint)(slice_of(phase, test_rank) + o->at),
                    (int)o->bytes, MPI_BYTE, window.win);
            MPI_Win_flush(o->target, window.win);
            expect_bytes(got, kept[step], o->bytes);
        }
        if (kind > 1)
            MPI_Win_unlock(o->target, window.win);
    }
}

/* kind: 0: between fences; 1: within MPI_Win_lock_all; 2, 3: with a shared or an exclusive lock for each operation. */
static void run_phase(int phase) {
    int kind = (int)(test_number(0, 5000, phase) % 4);
    if (kind == 0)
        MPI_Win_fence(0, window.win);
    if (kind == 1)
        MPI_Win_lock_all(0, window.win);
    run_steps(phase, kind);
    if (kind == 0)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
    if (kind == 1)
        MPI_Win_unlock_all(window.win);
    barrier();
    predict(phase);
    MPI_Win_lock(MPI_LOCK_SHARED, test_rank, 0, window.win);
    expect_bytes(window.base, model, (size_t)test_size * SLICE);
    expect_bytes(window.base + counters_at(), counters, sizeof counters);
    MPI_Win_unlock(test_rank, window.win);
    barrier();
}

CASE(phases) {
    SKIP_IF(!test_served() || test_size > MOST_RANKS,
            "puts that overlap need an order that MPI does not promise");
    int go = 1, phase = 0;
    window = allocate_window(MPI_COMM_WORLD, counters_at() + sizeof counters, 1, NULL);
    memset(model, 0, sizeof model);
    memset(counters, 0, sizeof counters);
    for (double end = MPI_Wtime() + test_seconds / 4; go; phase++) {
        run_phase(phase);
        go = MPI_Wtime() < end;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    printf("   rank %d: %d phases\n", test_rank, phase);
    MPI_Win_free(&window.win);
}
