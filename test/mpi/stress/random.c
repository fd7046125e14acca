/* random.c: runs random gets, writes and completions against a model, and compares every byte.
 *
 * Each rank owns one zone in every rank's window, and only the owner writes there and reads from there. So it knows
 * at any time what each zone must hold although no rank waits for another, and in mode always its own writes are all
 * that the cache has to respect:
 *
 *      window of each rank   | zone of rank 0 | zone of rank 1 | ...
 *
 * MPI leaves the result of a get undefined that is concurrent with a write to the same bytes. The test marks such
 * bytes until a flush. It flushes before a get that touches them, or, at random, issues the get and ignores its
 * result: nothing of it may stay in the cache. Buffers are overwritten as soon as MPI allows it.
 *
 * --seconds N sets the duration, --seed N repeats a run as far as the order of events in MPI permits. */
#include "test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "blocks.h"

enum { ZONE = 8192, MOST_BYTES = 1500, MOST_SPAN = 2000, PENDING = 24, HOT = 40, MOST_RANKS = 16 };
enum { READING = 1, WRITING = 2 };

/* A pending get, or a write, whose buffer must not change. */
struct pending {
    bool used, checked, derived;
    int target;
    MPI_Request request;
    unsigned char got[MOST_SPAN], want[MOST_SPAN];
};

struct access {
    int target;
    size_t disp;
    struct blocks blocks;
};

static struct window window;
static unsigned char model[MOST_RANKS][ZONE], marks[MOST_RANKS][ZONE];
static struct pending pending[PENDING];
static struct access hot[HOT];
static uint64_t state;
static bool may_write, failed;

static uint32_t below(uint32_t n) {
    return blocks_random(&state, n);
}

static bool one_in(uint32_t n) {
    return below(n) == 0;
}

static void mark(const struct access *a, unsigned char how) {
    for (int i = 0; i < a->blocks.count; i++)
        for (size_t j = 0; j < a->blocks.block[i].bytes; j++)
            marks[a->target][a->disp + a->blocks.block[i].at + j] |= how;
}

static bool is_marked(const struct access *a, unsigned char how) {
    for (int i = 0; i < a->blocks.count; i++)
        for (size_t j = 0; j < a->blocks.block[i].bytes; j++)
            if (marks[a->target][a->disp + a->blocks.block[i].at + j] & how)
                return true;
    return false;
}

static void unmark(int target, unsigned char how) {
    for (int t = 0; t < test_size; t++)
        for (size_t i = 0; (target < 0 || t == target) && i < ZONE; i++)
            marks[t][i] &= (unsigned char)~how;
}

/* The operation is complete: compares the data and overwrites the buffer. */
static void check(struct pending *p) {
    if (p->checked && !failed)
        failed = !expect_bytes(p->got, p->want, MOST_SPAN);
    memset(p->got, 0xcc, MOST_SPAN);
    memset(p->want, 0xcc, MOST_SPAN);
}

static void finish(struct pending *p) {
    check(p);
    if (p->request != MPI_REQUEST_NULL)
        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
    p->used = false;
}

/* All operations to the target (-1: to all targets) are complete, at least locally. */
static void finish_all(int target) {
    for (int i = 0; i < PENDING; i++)
        if (pending[i].used && (target < 0 || pending[i].target == target))
            finish(&pending[i]);
}

static void flush(int target) {
    MPI_Win_flush(target, window.win);
    unmark(target, READING | WRITING);
    finish_all(target);
}

static void flush_all(void) {
    MPI_Win_flush_all(window.win);
    unmark(-1, READING | WRITING);
    finish_all(-1);
}

/* Completes gets, and completes writes locally. Two exceptions: MPICH 4.0 does not complete a get that was followed
 * by a put, and Open MPI's osc pt2pt may hang if only one target is flushed (see sync.c). */
static void flush_local_all(void) {
    MPI_Win_flush_local_all(window.win);
    if (may_write && !test_open_mpi())
        MPI_Win_flush_all(window.win);
    unmark(-1, READING);
    finish_all(-1);
}

static void reopen(void) {
    MPI_Win_unlock_all(window.win);
    unmark(-1, READING | WRITING);
    finish_all(-1);
    MPI_Win_lock_all(0, window.win);
}

static struct pending *take_pending(int target) {
    struct pending *p = NULL;
    while (!p) {
        for (int i = 0; i < PENDING && !p; i++)
            if (!pending[i].used)
                p = &pending[i];
        if (!p)
            flush_all();
    }
    *p = (struct pending){.used = true, .checked = true, .target = target, .request = MPI_REQUEST_NULL};
    memset(p->got, 0xa5, MOST_SPAN);
    memset(p->want, 0xa5, MOST_SPAN);
    return p;
}

static struct access random_access(void) {
    struct access a = {.target = (int)below((uint32_t)test_size)};
    size_t bytes = 1 + below(one_in(3) ? MOST_BYTES : 200);
    a.blocks = blocks_make(&state, bytes, bytes + below((uint32_t)(MOST_SPAN - bytes)));
    a.disp = below((uint32_t)(ZONE - a.blocks.span) + 1);
    return a;
}

/* Mostly repeats one of a few accesses, so that gets hit; contiguous accesses are sometimes longer or shorter. */
static struct access choose_access(void) {
    struct access a = hot[below(HOT)];
    size_t bytes;
    if (one_in(6))
        return random_access();
    if (!blocks_are_contiguous(&a.blocks) || a.blocks.block[0].at || !one_in(3))
        return a;
    bytes = 1 + below(MOST_BYTES);
    if (a.disp + bytes <= ZONE)
        a.blocks = blocks_contiguous(bytes);
    return a;
}

static MPI_Aint displacement(const struct access *a) {
    return (MPI_Aint)((size_t)test_rank * ZONE + a->disp);
}

static void get(void) {
    struct access a = choose_access();
    bool careless = one_in(10);
    struct pending *p = take_pending(a.target);
    struct blocks into = blocks_make(&state, a.blocks.bytes, MOST_SPAN);
    MPI_Datatype from_type, into_type;
    unsigned char packed[MOST_BYTES];
    int from_count, into_count;
    if (is_marked(&a, WRITING) && careless)
        p->checked = false;
    else if (is_marked(&a, WRITING))
        MPI_Win_flush(a.target, window.win);
    mark(&a, READING);
    blocks_gather(packed, model[a.target] + a.disp, &a.blocks);
    blocks_scatter(p->want, &into, packed);
    from_type = blocks_type(&a.blocks, &from_count);
    into_type = blocks_type(&into, &into_count);
    p->derived = from_type != MPI_BYTE || into_type != MPI_BYTE;
    if (one_in(3))
        MPI_Rget(p->got, into_count, into_type, a.target, displacement(&a), from_count, from_type, window.win,
                 &p->request);
    else
        MPI_Get(p->got, into_count, into_type, a.target, displacement(&a), from_count, from_type, window.win);
    blocks_free_type(&from_type);
    blocks_free_type(&into_type);
}

/* Called before a write: completes, or stops checking, all accesses whose result the write makes undefined. */
static void make_way(const struct access *a) {
    if (!is_marked(a, READING | WRITING))
        return;
    if (!one_in(6) || is_marked(a, WRITING))
        flush(a->target);
    for (int i = 0; i < PENDING; i++)
        if (pending[i].used && pending[i].target == a->target)
            pending[i].checked = false;
}

static void put(void) {
    struct access a = choose_access();
    struct pending *p = take_pending(a.target);
    MPI_Datatype type;
    int count;
    p->used = false;
    make_way(&a);
    p->used = true;
    for (size_t i = 0; i < a.blocks.bytes; i++)
        p->got[i] = (unsigned char)below(256);
    memcpy(p->want, p->got, MOST_SPAN);
    blocks_scatter(model[a.target] + a.disp, &a.blocks, p->got);
    mark(&a, WRITING);
    type = blocks_type(&a.blocks, &count);
    if (one_in(3))
        MPI_Rput(p->got, (int)a.blocks.bytes, MPI_BYTE, a.target, displacement(&a), count, type, window.win,
                 &p->request);
    else
        MPI_Put(p->got, (int)a.blocks.bytes, MPI_BYTE, a.target, displacement(&a), count, type, window.win);
    blocks_free_type(&type);
}

/* Sums of ints, with the old values fetched (into the second half of the buffer) or not. */
static void accumulate(void) {
    size_t n = 1 + below(16), half = MOST_SPAN / 2;
    struct access a = {.target = (int)below((uint32_t)test_size), .blocks = blocks_contiguous(4 * n)};
    struct pending *p = take_pending(a.target);
    int from[16], sums[16];
    a.disp = 4 * (size_t)below(ZONE / 4 - 16);
    p->used = false;
    make_way(&a);
    p->used = true;
    memcpy(sums, model[a.target] + a.disp, 4 * n);
    for (size_t i = 0; i < n; i++) {
        from[i] = (int)below(1000);
        sums[i] = (int)((unsigned)sums[i] + (unsigned)from[i]);
    }
    memcpy(p->got, from, 4 * n);
    memcpy(p->want, from, 4 * n);
    mark(&a, WRITING);
    switch (below(4)) {
    case 0:
        memcpy(p->want + half, model[a.target] + a.disp, 4 * n);
        MPI_Get_accumulate(p->got, (int)n, MPI_INT, p->got + half, (int)n, MPI_INT, a.target,
                           displacement(&a), (int)n, MPI_INT, MPI_SUM, window.win);
        break;
    case 1:
        memcpy(p->want + half, model[a.target] + a.disp, 4);
        MPI_Fetch_and_op(p->got, p->got + half, MPI_INT, a.target, displacement(&a), MPI_SUM, window.win);
        n = 1;
        break;
    default:
        MPI_Accumulate(p->got, (int)n, MPI_INT, a.target, displacement(&a), (int)n, MPI_INT, MPI_SUM,
                       window.win);
    }
    memcpy(model[a.target] + a.disp, sums, 4 * n);
}

/* On MPICH 4.0 the Wait of an Rget with a derived type returns before the data is there, so flush first. */
static void wait_one(void) {
    struct pending *p = &pending[below(PENDING)];
    if (!p->used || p->request == MPI_REQUEST_NULL)
        return;
    if (p->derived && !test_open_mpi())
        MPI_Win_flush(p->target, window.win);
    MPI_Wait(&p->request, MPI_STATUS_IGNORE);
    finish(p);
}

static void complete(void) {
    switch (below(12)) {
    case 0:
        flush_all();
        break;
    case 1:
        flush_local_all();
        break;
    case 2:
        reopen();
        break;
    case 3:
    case 4:
        flush((int)below((uint32_t)test_size));
        break;
    default:
        wait_one();
    }
}

static void step(void) {
    switch (below(may_write ? 10 : 7)) {
    case 0:
    case 1:
    case 2:
    case 3:
        get();
        break;
    case 7:
    case 8:
        put();
        break;
    case 9: /* a contended accumulate sometimes takes 100 ms on Open MPI */
        if (one_in(12))
            accumulate();
        break;
    default:
        complete();
    }
}

/* Sets all zones of this rank to version `version` of the windows' owners. */
static void reset_model(int version) {
    for (int target = 0; target < test_size; target++)
        fill_pattern(model[target], ZONE, target, (size_t)test_rank * ZONE, version);
    memset(marks, 0, sizeof marks);
}

static void open_random(const char *mode, bool write) {
    window = make_window((size_t)test_size * ZONE, mode);
    state = (test_seed + 1) * 0x9e3779b97f4a7c15u + (uint64_t)test_rank * 77 + (uint64_t)mode[0];
    state |= 1;
    may_write = write;
    failed = false;
    reset_model(0);
    for (int i = 0; i < HOT; i++)
        hot[i] = random_access();
    MPI_Win_lock_all(0, window.win);
}

static void close_random(long steps) {
    flush_all();
    barrier();
    MPI_Win_unlock_all(window.win);
    if (failed)
        fprintf(stderr, "rank %d: repeat with --seed %llu\n", test_rank, (unsigned long long)test_seed);
    printf("   rank %d: %ld steps\n", test_rank, steps);
    free_window(&window);
}

/* Runs longer on a busy machine, where a few steps would show nothing. */
static long run_steps(double seconds, long least) {
    double end = MPI_Wtime() + seconds;
    long steps = 0;
    while ((MPI_Wtime() < end || steps < least) && !failed)
        for (int i = 0; i < 16; i++, steps++)
            step();
    return steps;
}

CASE(always) {
    SKIP_IF(test_size > MOST_RANKS, "too many ranks");
    open_random("always", true);
    long steps = run_steps(test_seconds / 4, 1000);
    expect_hits(window.win, (uint64_t)steps / 20);
    close_random(steps);
}

CASE(transparent) {
    SKIP_IF(test_size > MOST_RANKS, "too many ranks");
    open_random("transparent", true);
    close_random(run_steps(test_seconds / 4, 0));
}

CASE(user_with_invalidations) {
    int (*invalidate)(MPI_Win) = (int (*)(MPI_Win))dlsym(RTLD_DEFAULT, "CLAMPI_Invalidate");
    double end = MPI_Wtime() + test_seconds / 4;
    long steps = 0;
    SKIP_IF(test_size > MOST_RANKS, "too many ranks");
    open_random("user", true);
    for (; MPI_Wtime() < end && !failed; steps++) {
        step();
        if (invalidate && one_in(200))
            invalidate(window.win);
    }
    close_random(steps);
}

/* Phases in which the owners rewrite all data alternate with phases in which all ranks read. */
CASE(transparent_phases) {
    double end = MPI_Wtime() + test_seconds / 4;
    int go = 1;
    long steps = 0;
    SKIP_IF(test_size > MOST_RANKS, "too many ranks");
    open_random("transparent", false);
    for (int version = 1; go; version++) {
        for (int i = 0; i < 300; i++, steps++)
            step();
        flush_all();
        rewrite(&window, version);
        reset_model(version);
        go = MPI_Wtime() < end;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    close_random(steps);
}
