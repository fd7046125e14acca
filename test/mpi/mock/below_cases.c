/* below_cases.c: the cases that run over the mock MPI of below.c; test_below.sh starts them. */
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "below.h"

TEST_THREADS(MPI_THREAD_MULTIPLE)

enum { BLOCK = 100, BLOCKS = 40 };

static struct below *below;

static bool find_below(void) {
    below = dlsym(RTLD_DEFAULT, "below");
    return expect(below != NULL);
}

/* Rank 1 only serves rank 0. */
static bool has_below(void) {
    return find_below() && test_rank == 0;
}

static int read_word(struct window *w) {
    int v = -1;
    MPI_Get(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w->win);
    MPI_Win_flush(1, w->win);
    return v;
}

static void store_word(struct window *w, int v) {
    *(volatile int *)w->base = v;
    MPI_Win_sync(w->win);
}

static int get_block(struct window *w, int block, void *data) {
    return MPI_Get(data, BLOCK, MPI_BYTE, 1, block * BLOCK, BLOCK, MPI_BYTE, w->win);
}

static void read_version(struct window *w, int block, int version) {
    unsigned char data[BLOCK];
    expect_eq(get_block(w, block, data), MPI_SUCCESS);
    MPI_Win_flush(1, w->win);
    expect_pattern(data, BLOCK, 1, (size_t)(block * BLOCK), version);
}

static void read_block(struct window *w, int block) {
    read_version(w, block, 0);
}

/* ---- flushes of another thread ---- */

static void *flush_one(void *w) {
    MPI_Win_flush(1, ((struct window *)w)->win);
    return NULL;
}

static void *flush_all(void *w) {
    MPI_Win_flush_all(((struct window *)w)->win);
    return NULL;
}

/* Another thread begins a flush, which completes and does not return before end_held. */
static void begin_held(pthread_t *other, void *(*flush)(void *), struct window *w) {
    below->holds_flush = true;
    pthread_create(other, NULL, flush, w);
    sem_wait(&below->held);
}

static void end_held(pthread_t other) {
    sem_post(&below->go_on);
    pthread_join(other, NULL);
}

/* ---- sync events by an atomic ---- */

/* One thread's flush begins before another thread issues an atomic, and returns before the atomic's value has arrived. The
 * value must still count as a sync event when a later flush completes the atomic. Nothing else in that flush is a sync
 * event: the locks are known to be held, and the flush has another operation to complete. */
static void hear_late(struct window *flag, struct window *data) {
    pthread_t other;
    int told = 0, zero = 0, unused;
    expect_eq(read_word(flag), 0);
    expect_eq(read_word(data), 1);
    begin_held(&other, flush_one, flag);
    below->fetches_late = true;
    MPI_Fetch_and_op(&zero, &told, MPI_INT, 1, 0, MPI_NO_OP, flag->win);
    end_held(other);
    expect_eq(read_word(data), 1);
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Get(&unused, 1, MPI_INT, 1, 32, 1, MPI_INT, flag->win);
    MPI_Win_flush(1, flag->win);
    expect_eq(told, 2);
    expect_eq(read_word(data), 2);
    below->fetches_late = false;
}

/* Rank 0 learns by an atomic that rank 1 has changed the data. */
static void run_hearing(void (*hear)(struct window *flag, struct window *data)) {
    struct window flag = open_window(64, "acquire"), data = open_window(64, "acquire");
    store_word(&flag, 0);
    store_word(&data, 1);
    barrier();
    if (has_below()) {
        hear(&flag, &data);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        store_word(&data, 2);
        store_word(&flag, 2);
    }
    close_window(&data);
    close_window(&flag);
}

CASE(a_flush_of_another_thread) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no threads");
    run_hearing(hear_late);
}

/* A thread's flush completes an atomic. Before it returns, another thread issues a second atomic to the same target. The flush
 * must still acquire for the first. */
static void hear_beside(struct window *flag, struct window *data, void *(*flush)(void *)) {
    pthread_t other;
    int told = 0, zero = 0, second = 0;
    expect_eq(read_word(flag), 0);
    flush(flag); /* the first one acquires */
    expect_eq(read_word(data), 1);
    expect_eq(read_word(data), 1); /* cached now: the first flush of this window acquired, too */
    below->fetches_late = true;
    MPI_Fetch_and_op(&zero, &told, MPI_INT, 1, 0, MPI_NO_OP, flag->win);
    below->fetches_late = false;
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    begin_held(&other, flush, flag);
    MPI_Fetch_and_op(&zero, &second, MPI_INT, 1, 0, MPI_NO_OP, flag->win);
    end_held(other);
    expect_eq(told, 2);
    expect_eq(read_word(data), 2);
    MPI_Win_flush(1, flag->win);
    expect_eq(second, 2);
}

static void hear_beside_flush(struct window *flag, struct window *data) {
    hear_beside(flag, data, flush_one);
}

static void hear_beside_flush_all(struct window *flag, struct window *data) {
    hear_beside(flag, data, flush_all);
}

CASE(an_atomic_during_a_flush) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no threads");
    run_hearing(hear_beside_flush);
    run_hearing(hear_beside_flush_all);
}

/* ---- errors of gets, and read-ahead ---- */

static int handled;

static void note_error(MPI_Win *win, int *code, ...) {
    (void)win, (void)code;
    handled++;
}

/* The program did not issue the read-ahead get, so its error handler must not be called. */
CASE(an_error_of_read_ahead) {
    struct window w = open_window(BLOCK * BLOCKS, "always");
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(note_error, &handler);
    MPI_Win_set_errhandler(w.win, handler);
    if (has_below()) {
        below->most_bytes = BLOCK;
        for (int i = 0; i < BLOCKS / 2; i++)
            read_block(&w, i);
        expect_eq(handled, 0);
        unsigned char data[2 * BLOCK]; /* the error handler is called for this get */
        MPI_Get(data, 2 * BLOCK, MPI_BYTE, 1, BLOCK * (BLOCKS - 2), 2 * BLOCK, MPI_BYTE, w.win);
        expect_eq(handled, 1);
        below->most_bytes = 0;
    }
    MPI_Errhandler_free(&handler);
    close_window(&w);
}

/* A get joins one in flight for its first bytes, and fails for the rest. Nothing may write to its buffer after that. */
CASE(an_error_of_a_joined_get) {
    struct window w = open_window(BLOCK * BLOCKS, "always");
    unsigned char first[BLOCK], all[4 * BLOCK], before[4 * BLOCK];
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    if (has_below()) {
        get_block(&w, 0, first);
        below->most_bytes = BLOCK;
        expect(MPI_Get(all, 4 * BLOCK, MPI_BYTE, 1, 0, 4 * BLOCK, MPI_BYTE, w.win) != MPI_SUCCESS);
        below->most_bytes = 0;
        memset(all, 0xee, sizeof all);
        memset(before, 0xee, sizeof before);
        MPI_Win_flush(1, w.win);
        expect_pattern(first, BLOCK, 1, 0, 0);
        expect_bytes(all, before, sizeof all);
        expect_stat(w.win, pending_hits, 0);
    }
    close_window(&w);
}

static unsigned char four[4 * BLOCK];

static void *get_four(void *w) {
    MPI_Get(four, 4 * BLOCK, MPI_BYTE, 1, 0, 4 * BLOCK, MPI_BYTE, ((struct window *)w)->win);
    return NULL;
}

/* While a get fetches all but its first bytes, another thread completes the get in flight that it was to join for them. */
CASE(a_get_that_is_too_late_to_join) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no threads");
    struct window w = open_window(BLOCK * BLOCKS, "always");
    unsigned char first[BLOCK];
    pthread_t other;
    if (has_below()) {
        get_block(&w, 0, first);
        below->holds_get = true;
        pthread_create(&other, NULL, get_four, &w);
        sem_wait(&below->held);
        MPI_Win_flush(1, w.win);
        end_held(other);
        MPI_Win_flush(1, w.win);
        expect_pattern(four, sizeof four, 1, 0, 0);
        expect_stat(w.win, pending_hits, 0);
    }
    close_window(&w);
}

/* The library measures the cost of a get on gets that are alone, and only then adds read-ahead. */
CASE(measured_before_read_ahead) {
    struct window w = open_window(BLOCK * BLOCKS, "always");
    CLAMPI_Stats s;
    if (has_below()) {
        below->slow_us = 50;
        for (int i = 0; i < BLOCKS; i++) {
            read_block(&w, i);
            if (i == 7 && stats(w.win, &s))
                expect_eq(s.ahead_fetched, 0);
        }
        if (expect(stats(w.win, &s)))
            expect(s.ahead_fetched > 0);
        below->slow_us = 0;
    }
    close_window(&w);
}

/* ---- suspension ---- */

/* Gets without reuse suspend the cache. Gets with reuse resume it after 16 intervals (HEARTH_SUSPEND), however they are completed. */
static void resume_with(void *(*complete)(void *w)) {
    enum { INTERVAL = 8, ENOUGH = 20 * INTERVAL };
    struct window w = open_window(BLOCK * BLOCKS, "always");
    unsigned char data[BLOCK];
    CLAMPI_Stats s;
    if (has_below()) {
        below->slow_us = 50;
        for (int i = 0; i < 2 * INTERVAL; i++)
            read_block(&w, i);
        if (expect(stats(w.win, &s)))
            expect(s.full_hits == 0 && s.bypassed > 0);
        for (int i = 0; i < ENOUGH; i++) {
            expect_eq(get_block(&w, 0, data), MPI_SUCCESS);
            complete(&w);
            expect_pattern(data, BLOCK, 1, 0, 0);
        }
        if (expect(stats(w.win, &s)))
            expect(s.full_hits > 0 && s.bypassed >= 16 * INTERVAL && counts_add_up(&s));
        below->slow_us = 0;
    }
    close_window(&w);
}

CASE(a_flush_ends_the_suspension) {
    resume_with(flush_one);
}

CASE(a_flush_of_all_ends_the_suspension) {
    resume_with(flush_all);
}

/* Every second get is a hit. A cache that grows while gets are timed takes 30 ms for it each time, as long as hundreds of gets. It
 * still saves half of the time of the gets. */
CASE(a_slow_resize_does_not_suspend) {
    enum { KEYS = 1500 };
    struct window w = open_window(BLOCK * KEYS, "always");
    CLAMPI_Stats s;
    if (has_below()) {
        below->slow_us = 50;
        below->map_us = 30000;
        for (int i = 0; i < 2 * KEYS; i++)
            read_block(&w, i / 2);
        if (expect(stats(w.win, &s)))
            expect(s.adjustments > 0 && s.bypassed == 0 && counts_add_up(&s));
        below->slow_us = below->map_us = 0;
    }
    close_window(&w);
}

/* Two gets, one flush. */
static void read_two(struct window *w, int block, int other) {
    unsigned char first[BLOCK], second[BLOCK];
    get_block(w, block, first);
    get_block(w, other, second);
    MPI_Win_flush(1, w->win);
    expect_pattern(first, BLOCK, 1, block * BLOCK, 0);
    expect_pattern(second, BLOCK, 1, other * BLOCK, 0);
}

/* In transparent mode a window has no cache before a target has two gets between flushes. Then it has one. */
CASE(no_cache_before_a_second_get) {
    struct window w = open_window(BLOCK * BLOCKS, "transparent");
    CLAMPI_Stats s;
    if (has_below()) {
        below->slow_us = 50;
        for (int i = 0; i < BLOCKS; i++)
            read_block(&w, i / 2);
        if (expect(stats(w.win, &s)))
            expect(s.bypassed == BLOCKS && s.gets == BLOCKS && s.index_slots == 0 && counts_add_up(&s));
        read_two(&w, 1, 1);
        read_two(&w, 2, 2);
        if (expect(stats(w.win, &s)))
            expect(s.full_hits + s.pending_hits > 0 && s.index_slots > 0 && counts_add_up(&s));
        below->slow_us = 0;
    }
    close_window(&w);
}

/* A cache that many flushes have emptied without a hit is suspended before the interval (HEARTH_SUSPEND) is over. */
CASE(emptied_in_vain) {
    enum { INTERVAL = 1024 };
    struct window w = open_window(BLOCK * BLOCKS, "transparent");
    CLAMPI_Stats s;
    if (has_below()) {
        below->slow_us = 50;
        for (int i = 0; i < INTERVAL / 4; i++)
            read_two(&w, 1, 2);
        if (expect(stats(w.win, &s)))
            expect(s.full_hits == 0 && s.bypassed >= INTERVAL / 8 && counts_add_up(&s));
        below->slow_us = 0;
    }
    close_window(&w);
}

/* ---- own writes ---- */

/* Executed by the next flush. */
static void put_late(struct window *w, int block, const void *data) {
    below->puts_late = true;
    MPI_Put(data, BLOCK, MPI_BYTE, 1, block * BLOCK, BLOCK, MPI_BYTE, w->win);
    below->puts_late = false;
}

/* Read-ahead fetches block 2 before this process's put to it is executed. A flush completes both. Before it returns, another thread
 * issues an operation to the same target that counts as a write and changes nothing. The block must not be served any more. */
static void write_beside(struct window *w) {
    pthread_t other;
    unsigned char changed[BLOCK], first[BLOCK], second[BLOCK];
    int zero = 0, unused;
    fill_pattern(changed, BLOCK, 1, 2 * BLOCK, 1);
    put_late(w, 2, changed);
    get_block(w, 0, first);
    get_block(w, 1, second);
    begin_held(&other, flush_one, w);
    MPI_Fetch_and_op(&zero, &unused, MPI_INT, 1, BLOCK * (BLOCKS - 1), MPI_NO_OP, w->win);
    end_held(other);
    read_version(w, 2, 1);
}

CASE(a_write_during_a_flush) {
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no threads");
    struct window w = open_window(BLOCK * BLOCKS, "always");
    CLAMPI_Stats s;
    if (has_below()) {
        write_beside(&w);
        if (expect(stats(w.win, &s)))
            expect(s.ahead_fetched > 0);
    }
    close_window(&w);
}

/* A window over other memory, of which Hearth cannot tell whether it overlaps the windows of MPI_COMM_WORLD. Collective. */
static MPI_Win make_unrelated(void *memory, size_t bytes) {
    MPI_Comm comm;
    MPI_Win win;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    below->two_worlds = true;
    MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, comm, &win);
    below->two_worlds = false;
    MPI_Comm_free(&comm);
    return win;
}

/* There was a hit since the last flush. Then caching of the window ends, and a put is issued. The flush must not be elided. */
CASE(a_flush_after_refusal) {
    static _Alignas(64) unsigned char other[64];
    struct window w = open_window(BLOCK * BLOCKS, "always");
    unsigned char data[BLOCK], changed[BLOCK];
    if (!find_below())
        return;
    if (test_rank == 0) {
        read_block(&w, 0);
        get_block(&w, 0, data);
        expect_hits(w.win, 1);
    }
    MPI_Win win = make_unrelated(other, sizeof other);
    if (test_rank == 0) {
        fill_pattern(changed, BLOCK, 1, BLOCK, 1);
        put_late(&w, 1, changed);
        MPI_Win_flush(1, w.win);
    }
    barrier();
    MPI_Win_sync(w.win);
    if (test_rank == 1)
        expect_pattern(w.base + BLOCK, BLOCK, 1, BLOCK, 1);
    MPI_Win_free(&win);
    close_window(&w);
}

/* A window over the same memory that Hearth cannot describe. Collective. */
static MPI_Win make_unregistered(const struct window *w) {
    MPI_Win win;
    below->fails_gather = true;
    MPI_Win_create(w->base, (MPI_Aint)w->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    below->fails_gather = false;
    MPI_Win_lock_all(0, win);
    return win;
}

static void put_through(MPI_Win win, int block, int version) {
    unsigned char data[BLOCK];
    fill_pattern(data, BLOCK, 1, (size_t)(block * BLOCK), version);
    MPI_Put(data, BLOCK, MPI_BYTE, 1, block * BLOCK, BLOCK, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

/* Own writes through a window that is not registered must be seen through windows that were opened before it, and after it. */
CASE(writes_through_an_unregistered_window) {
    struct window w = open_window(BLOCK * BLOCKS, "always");
    if (!find_below())
        return;
    if (test_rank == 0)
        read_block(&w, 0);
    MPI_Win unregistered = make_unregistered(&w);
    MPI_Info info = make_info("always");
    struct window later = w;
    MPI_Win_create(w.base, (MPI_Aint)w.bytes, 1, info, MPI_COMM_WORLD, &later.win);
    MPI_Win_lock_all(0, later.win);
    if (test_rank == 0) {
        read_block(&later, 0);
        put_through(unregistered, 0, 1);
        read_version(&w, 0, 1);
        read_version(&later, 0, 1);
    }
    barrier();
    MPI_Win_unlock_all(later.win);
    MPI_Win_unlock_all(unregistered);
    MPI_Win_free(&later.win);
    MPI_Win_free(&unregistered);
    MPI_Info_free(&info);
    close_window(&w);
}

/* ---- processes that MPI reports as alone ---- */

/* Of the ranks of a node, MPI_Win_shared_query returns the memory. */
static void query_peer(MPI_Aint want) {
    MPI_Win win;
    MPI_Aint bytes = -1;
    int unit;
    char *own, *base = NULL;
    MPI_Win_allocate(BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    expect_eq(MPI_Win_shared_query(win, peer(), &bytes, &unit, &base), MPI_SUCCESS);
    expect_eq(bytes, want);
    if (bytes == BLOCK)
        base[0] = (char)(1 + test_rank);
    barrier();
    expect_eq(own[0], bytes == BLOCK ? 1 + (test_rank + test_size - 1) % test_size : own[0]);
    MPI_Win_free(&win);
}

/* The messages of the barriers are in the report. */
CASE(processes_of_one_machine) {
    int other = -1;
    query_peer(BLOCK);
    MPI_Sendrecv(&test_rank, 1, MPI_INT, peer(), 0, &other, 1, MPI_INT,
                 (test_rank + test_size - 1) % test_size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_eq(other, (test_rank + test_size - 1) % test_size);
}

CASE(processes_that_the_user_separates) {
    query_peer(0);
}

/* ---- first windows between nodes ---- */

/* Adds to all ranks of a new window, and checks the sum. */
static void use_new_window(MPI_Comm comm) {
    int64_t *sum, one = 1;
    MPI_Win win;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &sum, &win);
    *sum = 0;
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win);
    for (int target = 0; target < test_size; target++)
        MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Barrier(comm);
    expect_eq(*sum, test_size);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static volatile bool first_is_over;

static void *use_first_window(void *comm) {
    below->thread = pthread_self();
    below->meets = true;
    below->holds_exchanges = test_rank == 1;
    use_new_window(*(MPI_Comm *)comm);
    below->holds_exchanges = below->meets = false;
    first_is_over = true;
    if (test_rank == 1)
        sem_post(&below->held);
    return NULL;
}

/* A thread creates the first window. On rank 1 it stops after each exchange with rank 0, while the main threads create windows,
 * too. After one of the exchanges the helpers of the first window are open on rank 0, but not on rank 1: the main threads must
 * not use them. They begin when the ranks have agreed on the name of these helpers, so that these would come first: of the about
 * 60 exchanges, the 12th does so, and the 49th comes before the helpers are open. */
CASE(the_first_window_of_another_thread) {
    enum { BEFORE = 40 /* exchanges */, WINDOWS = 2 };
    SKIP_IF(test_threads < MPI_THREAD_MULTIPLE, "no threads");
    pthread_t other;
    MPI_Comm first, next;
    int over = 0;
    has_below();
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    pthread_create(&other, NULL, use_first_window, &first);
    for (int exchanges = 1; !over; exchanges++) {
        if (test_rank == 1)
            sem_wait(&below->held);
        over = first_is_over;
        MPI_Bcast(&over, 1, MPI_INT, 1, MPI_COMM_WORLD);
        for (int i = 0; exchanges > BEFORE && i < WINDOWS; i++)
            use_new_window(next);
        if (test_rank == 1 && !over)
            sem_post(&below->go_on);
    }
    pthread_join(other, NULL);
    MPI_Comm_free(&first);
    MPI_Comm_free(&next);
}

/* ---- more windows than the report has records ---- */

CASE(many_windows) {
    for (int i = 0; i < 1040; i++) {
        struct window w = open_window(BLOCK * BLOCKS, "always");
        for (int k = 0; test_rank == 0 && k < 7; k++)
            read_block(&w, k * k);
        close_window(&w);
    }
}
