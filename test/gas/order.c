/* order.c: after a put is synchronised everybody sees it: gets of all nodes, loads at its target, and the next holder of
 * a lock that is passed on by active messages. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 1 << 20, ROUNDS = 300 };
enum { ASK = 170, ANSWER, RELEASE, NEXT };
static gasnet_handlerentry_t table[4];
TEST_SETUP(table, SEGMENT)

static uint64_t *word(int node, size_t i) {
    return (uint64_t *)test_segments[node].addr + i;
}

static uint64_t load(size_t i) {
    return __atomic_load_n(word(test_rank, i), __ATOMIC_ACQUIRE);
}

static void clear(void) {
    gasnet_memset((gasnet_node_t)test_rank, test_segments[test_rank].addr, 0, SEGMENT);
    test_barrier();
}

/* Data, then a flag: who loads the flag, finds the data. They are in different pages. */
CASE(flag_after_data_by_loads) {
    enum { FLAG = 0, DATA = 20000, COUNT = 64 };
    int next = (test_rank + 1) % test_size;
    clear();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t data[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            data[i] = round;
        if (round % 2 == 0)
            gasnet_put((gasnet_node_t)next, word(next, DATA), data, sizeof data);
        else
            gasnet_wait_syncnb(gasnet_put_nb_bulk((gasnet_node_t)next, word(next, DATA), data, sizeof data));
        gasnet_put_val((gasnet_node_t)next, word(next, FLAG), round, 8);
        while (load(FLAG) < round)
            gasnet_AMPoll();
        for (size_t i = 0; i < COUNT; i++)
            if (!expect(load(DATA + i) >= round))
                break;
    }
    test_barrier();
}

/* The same, read by gets from a third node. */
CASE(flag_after_data_by_gets) {
    enum { FLAG = 8, DATA = 30000 };
    int home = (test_rank + 1) % test_size, writer = (test_rank + test_size - 1) % test_size;
    int read_at = (writer + 1) % test_size; /* where the one before this rank writes: here */
    clear();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        gasnet_put_val((gasnet_node_t)home, word(home, DATA), round, 8);
        gasnet_put_val((gasnet_node_t)home, word(home, FLAG), round, 8);
        while (gasnet_get_val((gasnet_node_t)read_at, word(read_at, FLAG), 8) < round)
            gasnet_AMPoll();
        expect(gasnet_get_val((gasnet_node_t)read_at, word(read_at, DATA), 8) >= round);
        uint64_t flag, data;
        gasnet_get(&flag, (gasnet_node_t)home, word(home, FLAG), 8);
        gasnet_get(&data, (gasnet_node_t)home, word(home, DATA), 8);
        expect(data >= flag);
    }
    test_barrier();
}

/* Two nodes each put to their own word and then get the other's: one at least sees the other's put. */
CASE(one_of_two_sees_the_other) {
    enum { STRIDE = 4096 };
    SKIP_IF(test_size < 2, "needs two nodes");
    int partner = test_rank ^ 1;
    bool plays = partner < test_size;
    int home = test_rank / 2 * 2; /* both words lie with the even one, on different pages */
    clear();
    for (uint64_t round = 1; round <= 60; round++) {
        uint64_t seen = 0;
        if (plays) {
            gasnet_put_val((gasnet_node_t)home, word(home, (size_t)(test_rank % 2) * STRIDE), round, 8);
            seen = gasnet_get_val((gasnet_node_t)home, word(home, (size_t)(partner % 2) * STRIDE), 8);
            gasnet_put_val((gasnet_node_t)partner, word(partner, 20000), seen, 8);
        }
        test_barrier();
        if (plays)
            expect(seen == round || load(20000) == round);
        test_barrier();
    }
}

/* What is stored at home before a barrier, everybody gets after it. */
CASE(stores_before_a_barrier) {
    clear();
    for (uint64_t round = 1; round <= 30; round++) {
        for (size_t i = 0; i < 3000; i += 97)
            *word(test_rank, i) = round * 1000 + (uint64_t)test_rank;
        test_barrier();
        for (int node = 0; node < test_size; node++)
            for (size_t i = 0; i < 3000; i += 97)
                expect(gasnet_get_val((gasnet_node_t)node, word(node, i), 8) ==
                       round * 1000 + (uint64_t)node);
        test_barrier();
    }
}

/* ---- a lock by active messages ---- */

/* Each lock has a home, whose handlers grant it or queue the request, under a handler-safe lock. A thread that releases is told
 * who is next, and passes the lock on itself, as handlers cannot send requests:
 *
 *      thread                 home                          thread that waits
 *      ASK        ------->    free: ANSWER; else queued
 *      RELEASE    ------->    NEXT: the first of the queue
 *      ANSWER     --------------------------------------->  has the lock
 *
 * A lock protects one word in each segment. Words of two locks share a page. */
enum { LOCKS = 3, THREADS = 2, HOLDS = 40, MOST_WAITERS = 256, WORDS_APART = 8192 };
enum { NOBODY = -1, UNKNOWN = -2 }; /* instead of a waiter */
enum answer { NONE, GRANTED, DENIED };

static struct lock {
    gasnet_hsl_t hsl;
    bool is_held;
    uint32_t first, end; /* of the queue */
    int waiters[MOST_WAITERS];
} locks[LOCKS] = {
    {.hsl = GASNET_HSL_INITIALIZER}, {.hsl = GASNET_HSL_INITIALIZER}, {.hsl = GASNET_HSL_INITIALIZER}};

static _Atomic int answers[THREADS], nexts[THREADS]; /* to each thread */

static void on_ask(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t waiter,
                   gasnet_handlerarg_t may_wait) {
    struct lock *l = &locks[lock];
    gasnet_hsl_lock(&l->hsl);
    bool was_held = l->is_held;
    l->is_held = true;
    if (was_held && may_wait)
        l->waiters[l->end++ % MOST_WAITERS] = waiter;
    gasnet_hsl_unlock(&l->hsl);
    if (!was_held || !may_wait)
        gasnet_AMReplyShort2(token, ANSWER, waiter % THREADS, was_held ? DENIED : GRANTED);
}

static void on_answer(gasnet_token_t token, gasnet_handlerarg_t thread, gasnet_handlerarg_t answer) {
    (void)token;
    answers[thread] = answer;
}

static void on_release(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t thread) {
    struct lock *l = &locks[lock];
    int waiter = NOBODY;
    gasnet_hsl_lock(&l->hsl);
    if (l->first != l->end)
        waiter = l->waiters[l->first++ % MOST_WAITERS];
    else
        l->is_held = false;
    gasnet_hsl_unlock(&l->hsl);
    gasnet_AMReplyShort2(token, NEXT, thread, waiter);
}

static void on_next(gasnet_token_t token, gasnet_handlerarg_t thread, gasnet_handlerarg_t waiter) {
    (void)token;
    nexts[thread] = waiter;
}

static gasnet_handlerentry_t table[4] = {HANDLER(ASK, on_ask), HANDLER(ANSWER, on_answer),
                                         HANDLER(RELEASE, on_release), HANDLER(NEXT, on_next)};

static enum answer ask_lock(int lock, int thread, bool may_wait) {
    answers[thread] = NONE;
    gasnet_AMRequestShort3((gasnet_node_t)(lock % test_size), ASK, lock, test_rank * THREADS + thread,
                           may_wait);
    GASNET_BLOCKUNTIL(answers[thread] != NONE);
    return answers[thread];
}

static void release_lock(int lock, int thread) {
    nexts[thread] = UNKNOWN;
    gasnet_AMRequestShort2((gasnet_node_t)(lock % test_size), RELEASE, lock, thread);
    GASNET_BLOCKUNTIL(nexts[thread] != UNKNOWN);
    int waiter = nexts[thread];
    if (waiter != NOBODY)
        gasnet_AMRequestShort2((gasnet_node_t)(waiter / THREADS), ANSWER, waiter % THREADS, GRANTED);
}

/* The words of locks 0 and 1 are in one page, those of lock 2 in another. */
static uint64_t *protected_word(int node, int lock) {
    return word(node, (size_t)(lock / 2) * WORDS_APART + (size_t)lock);
}

static uint64_t read_word(int node, int lock, bool by_load) {
    uint64_t *at = protected_word(node, lock), value;
    if (by_load && node == test_rank)
        return __atomic_load_n(at, __ATOMIC_RELAXED);
    gasnet_get(&value, (gasnet_node_t)node, at, sizeof value);
    return value;
}

static void write_word(int node, int lock, uint64_t value, bool by_store) {
    if (by_store && node == test_rank)
        __atomic_store_n(protected_word(node, lock), value, __ATOMIC_RELAXED);
    else if (value % 3 == 0)
        gasnet_put_nbi((gasnet_node_t)node, protected_word(node, lock), &value, sizeof value);
    else
        gasnet_put((gasnet_node_t)node, protected_word(node, lock), &value, sizeof value);
}

/* All words of a lock are the same when nobody holds it. */
static bool add_one(int lock, bool locally) {
    uint64_t value = read_word(0, lock, locally);
    bool same = true;
    for (int node = 1; node < test_size; node++)
        same &= expect_eq(read_word(node, lock, locally), value);
    for (int node = 0; node < test_size; node++)
        write_word(node, lock, value + 1, locally);
    gasnet_wait_syncnbi_puts();
    return same;
}

static void *hold_locks(void *arg) {
    int thread = (int)(intptr_t)arg;
    bool well = true;
    for (int i = 0; i < HOLDS * LOCKS; i++) {
        int lock = (i + thread) % LOCKS;
        bool may_wait = i % 4 != 0;
        while (ask_lock(lock, thread, may_wait) == DENIED)
            gasnet_AMPoll();
        well = well && add_one(lock, i % 2 == 0); /* one line for a fault; the others pass on what it left */
        release_lock(lock, thread);
    }
    return NULL;
}

CASE(lock_by_messages) {
    pthread_t other;
    clear();
    SKIP_IF(test_size * THREADS > MOST_WAITERS, "more threads than the queue has room for");
    pthread_create(&other, NULL, hold_locks, (void *)1);
    hold_locks((void *)0);
    pthread_join(other, NULL);
    test_barrier();
    for (int lock = 0; lock < LOCKS; lock++)
        for (int node = 0; node < test_size; node++)
            expect_eq(read_word(node, lock, false), HOLDS * THREADS * test_size);
}
