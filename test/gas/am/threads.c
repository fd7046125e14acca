/* threads.c: several threads of a node send, poll, wait and take handler-safe locks at once. timeout: 60 */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ADD = 150, ADDED, BUFFER, BUFFERED };
#define EACH test_times(500)

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static long sum, under_lock;       /* both protected by the lock */
static _Atomic long back[THREADS]; /* replies to each thread */

static void on_add(gasnet_token_t token, gasnet_handlerarg_t n, gasnet_handlerarg_t thread) {
    gasnet_hsl_lock(&lock);
    expect_eq(__atomic_fetch_add(&under_lock, 1, __ATOMIC_RELAXED), 0);
    sum += n;
    __atomic_fetch_sub(&under_lock, 1, __ATOMIC_RELAXED);
    gasnet_hsl_unlock(&lock);
    expect_eq(gasnet_AMReplyShort1(token, ADDED, thread), GASNET_OK);
}

static void on_added(gasnet_token_t token, gasnet_handlerarg_t thread) {
    (void)token;
    back[thread]++;
}

static void on_buffer(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t thread,
                      gasnet_handlerarg_t version) {
    char *want = malloc(bytes + 1);
    gasnet_node_t from = 0;
    expect_eq(gasnet_AMGetMsgSource(token, &from), GASNET_OK);
    test_fill(want, bytes, (int)from, version);
    expect_bytes(data, want, bytes);
    free(want);
    expect_eq(gasnet_AMReplyMedium2(token, BUFFERED, data, bytes, thread, version), GASNET_OK);
}

static void on_buffered(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t thread,
                        gasnet_handlerarg_t version) {
    char *want = malloc(bytes + 1);
    (void)token;
    test_fill(want, bytes, test_rank, version);
    expect_bytes(data, want, bytes);
    free(want);
    back[thread]++;
}

static gasnet_handlerentry_t table[] = {HANDLER(ADD, on_add), HANDLER(ADDED, on_added),
                                        HANDLER(BUFFER, on_buffer), HANDLER(BUFFERED, on_buffered)};
TEST_SETUP(table, 0)

/* ---- threads ---- */

static void on_all(void *(*run)(void *)) {
    pthread_t threads[THREADS];
    memset((void *)back, 0, sizeof back);
    sum = 0;
    test_barrier();
    for (long i = 0; i < THREADS; i++)
        expect_eq(pthread_create(&threads[i], NULL, run, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    test_barrier();
}

static void *send_adds(void *arg) {
    long me = (long)arg, sent = 0;
    for (int i = 0; i < EACH; i++)
        for (gasnet_node_t to = 0; to < (gasnet_node_t)test_size; to++, sent++)
            expect_eq(gasnet_AMRequestShort2(to, ADD, i, (gasnet_handlerarg_t)me), GASNET_OK);
    GASNET_BLOCKUNTIL(back[me] == sent);
    return NULL;
}

CASE(all_send_and_wait) {
    on_all(send_adds);
    gasnet_hsl_lock(&lock);
    expect_eq(sum, (long)test_size * THREADS * EACH * (EACH - 1) / 2);
    gasnet_hsl_unlock(&lock);
}

static void *send_buffers(void *arg) {
    long me = (long)arg, sent = 0;
    size_t most = gasnet_AMMaxMedium();
    char *data = malloc(most);
    for (int i = 0; i < EACH / 5; i++, sent++) {
        int version = i * THREADS + (int)me;
        size_t bytes = test_number(test_rank, (size_t)version, 3) % (most / 4);
        gasnet_node_t to = (gasnet_node_t)(test_number(test_rank, (size_t)version, 4) % (uint64_t)test_size);
        test_fill(data, bytes, test_rank, version);
        expect_eq(gasnet_AMRequestMedium2(to, BUFFER, data, bytes, (gasnet_handlerarg_t)me, version),
                  GASNET_OK);
    }
    GASNET_BLOCKUNTIL(back[me] == sent);
    free(data);
    return NULL;
}

CASE(buffers_of_all) {
    on_all(send_buffers);
}

/* One thread polls. The others only send, and get their replies without polling. */
static _Atomic int done;

static void *poll_or_send(void *arg) {
    long me = (long)arg;
    if (me == 0) {
        GASNET_BLOCKUNTIL(done == THREADS - 1);
        return NULL;
    }
    for (int i = 0; i < EACH; i++)
        expect_eq(gasnet_AMRequestShort2((gasnet_node_t)((test_rank + 1) % test_size), ADD, 1,
                                         (gasnet_handlerarg_t)me),
                  GASNET_OK);
    while (back[me] < EACH)
        usleep(100);
    done++;
    return NULL;
}

CASE(one_polls_for_all) {
    done = 0;
    on_all(poll_or_send);
}

/* ---- handler-safe locks ---- */

static void *count_under_lock(void *arg) {
    (void)arg;
    for (int i = 0; i < EACH; i++) {
        if (i % 2 == 0)
            gasnet_hsl_lock(&lock);
        else
            while (gasnet_hsl_trylock(&lock) != GASNET_OK)
                sched_yield();
        sum++;
        gasnet_hsl_unlock(&lock);
        if (i % 16 == 0)
            expect_eq(gasnet_AMPoll(), GASNET_OK);
    }
    return NULL;
}

CASE(locks) {
    on_all(count_under_lock);
    expect_eq(sum, (long)THREADS * EACH);
}

CASE(locks_are_made_and_tried) {
    gasnet_hsl_t mine, other;
    gasnet_hsl_init(&mine);
    gasnet_hsl_init(&other);
    gasnet_hsl_lock(&mine);
    expect_eq(gasnet_hsl_trylock(&other), GASNET_OK); /* several locks at a time */
    gasnet_hsl_unlock(&other);
    gasnet_hsl_unlock(&mine);
    expect_eq(gasnet_AMPoll(), GASNET_OK);
    gasnet_hsl_destroy(&mine);
    gasnet_hsl_destroy(&other);
}

static void *try_it(void *held) {
    expect_eq(gasnet_hsl_trylock(held), GASNET_ERR_NOT_READY);
    return NULL;
}

CASE(a_lock_that_another_thread_holds) {
    pthread_t thread;
    gasnet_hsl_lock(&lock);
    expect_eq(pthread_create(&thread, NULL, try_it, &lock), 0);
    pthread_join(thread, NULL);
    gasnet_hsl_unlock(&lock);
}

CASE(interrupts) {
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
    expect_eq(gasnet_AMPoll(), GASNET_OK);
}

/* ---- operations of a thread that ends ---- */

enum { LONG = 500000 };
static char got[LONG], sent[LONG];

static void *start_and_end(void *arg) {
    gasnet_node_t last = (gasnet_node_t)test_size - 1;
    char *at = test_segments[last].addr;
    gasnet_handle_t unused[] = {gasnet_get_nb_bulk(got, last, at, 8),
                                gasnet_get_nb_bulk(got + 8, last, at + 8, LONG - 8),
                                gasnet_put_nb_bulk(last, at + LONG, sent, LONG)};
    (void)unused;
    return arg;
}

/* The operations are complete when the thread has ended. */
CASE(a_thread_that_ends_with_open_operations) {
    char *want = malloc(LONG), *own = test_segments[test_rank].addr;
    for (int round = 0; round < test_times(5); round++) {
        test_fill(own, LONG, test_rank, round);
        test_fill(sent, LONG, 0, round);
        memset(got, 0, LONG);
        test_barrier();
        if (test_rank == 0) {
            pthread_t thread;
            expect_eq(pthread_create(&thread, NULL, start_and_end, NULL), 0);
            pthread_join(thread, NULL);
            test_fill(want, LONG, test_size - 1, round);
            expect_bytes(got, want, LONG);
        }
        test_barrier();
        if (test_rank == test_size - 1)
            expect_bytes(own + LONG, sent, LONG);
        test_barrier();
    }
    free(want);
}

/* ---- ways to wait ---- */

CASE(wait_modes) {
    static const int modes[] = {GASNET_WAIT_SPIN, GASNET_WAIT_BLOCK, GASNET_WAIT_SPINBLOCK};
    for (int m = 0; m < 3; m++) {
        expect_eq(gasnet_set_waitmode(modes[m]), GASNET_OK);
        back[0] = 0;
        test_barrier();
        if (test_rank == 0)
            usleep(20000);
        for (int i = 0; i < 20; i++) {
            expect_eq(gasnet_AMRequestShort2((gasnet_node_t)((test_rank + 1) % test_size), ADD, 1, 0),
                      GASNET_OK);
            GASNET_BLOCKUNTIL(back[0] == i + 1);
        }
        test_barrier();
    }
    expect_eq(gasnet_set_waitmode(99), GASNET_ERR_BAD_ARG);
}
