/* order.c: tests that all nodes see a put after it is synchronised: gets of all nodes, loads at the target, and the
 * next holder of a lock that is passed on by active messages. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEGMENT = 1 << 20 };
#define ROUNDS ((uint64_t)test_times(150))
enum { ASK = 170, ANSWER, RELEASE, STORE };
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

/* Data, then a flag: a thread that loads the flag sees the data. They are in different pages. */
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

/* The same, read by gets: from this rank's own segment, which the previous rank writes, and from that of the next rank. */
CASE(flag_after_data_by_gets) {
    enum { FLAG = 8, DATA = 30000 };
    int home = (test_rank + 1) % test_size, writer = (test_rank + test_size - 1) % test_size;
    int read_at = (writer + 1) % test_size; /* the segment that the previous rank writes: this rank's own */
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

/* Two nodes each put to their own word and then get the other's: at least one of them sees the other's put. */
CASE(one_of_two_sees_the_other) {
    enum { STRIDE = 4096 };
    SKIP_IF(test_size < 2, "needs two nodes");
    int partner = test_rank ^ 1;
    bool plays = partner < test_size;
    int home = test_rank / 2 * 2; /* both words are on the even rank, in different pages */
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

/* After a barrier all nodes get what each owner stored in its segment before the barrier. */
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

/* Each lock has a home, whose handlers grant it or queue the request, protected by a handler-safe lock. A holder
 * sends its data to the home and releases the lock at once, without waiting: the next holder sees the data because
 * messages stay in order. Handlers cannot send requests, so the home's threads grant released locks while they wait
 * themselves:
 *
 *      holder                 home                                        waiting thread
 *      STORE, RELEASE -->     stores; grant to the first of the queue
 *                             ANSWER                        ------->      has the lock
 *
 * A lock protects one word in each segment, which holders put; the home's word is stored by message. Words of two
 * locks share a page. */
enum { LOCKS = 3, THREADS = 2, MOST_WAITERS = 256, WORDS_APART = 8192 };
#define HOLDS test_times(40) /* of each thread and lock */
enum answer { NONE, GRANTED, DENIED };

struct waiters {
    uint32_t first, end;
    int of[MOST_WAITERS]; /* rank and thread */
};

static gasnet_hsl_t hsl = GASNET_HSL_INITIALIZER; /* protects the variables below, at the home */
static struct lock {
    bool is_held;
    struct waiters queue;
} locks[LOCKS];
static struct waiters granted; /* answers to send */
static _Atomic int to_tell;    /* their number */

static _Atomic int answers[THREADS]; /* per thread */

static void waiters_add(struct waiters *w, int waiter) {
    w->of[w->end++ % MOST_WAITERS] = waiter;
}

static void on_ask(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t waiter,
                   gasnet_handlerarg_t may_wait) {
    struct lock *l = &locks[lock];
    gasnet_hsl_lock(&hsl);
    bool was_held = l->is_held;
    l->is_held = true;
    if (was_held && may_wait)
        waiters_add(&l->queue, waiter);
    gasnet_hsl_unlock(&hsl);
    if (!was_held || !may_wait)
        gasnet_AMReplyShort2(token, ANSWER, waiter % THREADS, was_held ? DENIED : GRANTED);
}

static void on_answer(gasnet_token_t token, gasnet_handlerarg_t thread, gasnet_handlerarg_t answer) {
    (void)token;
    answers[thread] = answer;
}

static void on_release(gasnet_token_t token, gasnet_handlerarg_t lock) {
    struct waiters *queue = &locks[lock].queue;
    (void)token;
    gasnet_hsl_lock(&hsl);
    if (queue->first != queue->end) {
        waiters_add(&granted, queue->of[queue->first++ % MOST_WAITERS]);
        to_tell++;
    } else
        locks[lock].is_held = false;
    gasnet_hsl_unlock(&hsl);
}

/* The words of locks 0 and 1 are in one page, those of lock 2 in another. */
static uint64_t *protected_word(int node, int lock) {
    return word(node, (size_t)(lock / 2) * WORDS_APART + (size_t)lock);
}

static void on_store(gasnet_token_t token, gasnet_handlerarg_t lock, gasnet_handlerarg_t value) {
    (void)token;
    __atomic_store_n(protected_word(test_rank, lock), (uint64_t)value, __ATOMIC_RELAXED);
}

static gasnet_handlerentry_t table[4] = {HANDLER(ASK, on_ask), HANDLER(ANSWER, on_answer),
                                         HANDLER(RELEASE, on_release), HANDLER(STORE, on_store)};

/* Sends the answers, outside of handlers. */
static void tell_granted(void) {
    while (to_tell > 0) {
        int waiter = -1;
        gasnet_hsl_lock(&hsl);
        if (granted.first != granted.end) {
            waiter = granted.of[granted.first++ % MOST_WAITERS];
            to_tell--;
        }
        gasnet_hsl_unlock(&hsl);
        if (waiter >= 0)
            gasnet_AMRequestShort2((gasnet_node_t)(waiter / THREADS), ANSWER, waiter % THREADS, GRANTED);
    }
}

static enum answer ask_lock(int lock, int thread, bool may_wait) {
    answers[thread] = NONE;
    gasnet_AMRequestShort3((gasnet_node_t)(lock % test_size), ASK, lock, test_rank * THREADS + thread,
                           may_wait);
    while (answers[thread] == NONE) {
        GASNET_BLOCKUNTIL(answers[thread] != NONE || to_tell > 0);
        tell_granted();
    }
    return answers[thread];
}

static uint64_t read_word(int node, int lock, bool by_load) {
    uint64_t *at = protected_word(node, lock), value;
    if (by_load && node == test_rank)
        return __atomic_load_n(at, __ATOMIC_RELAXED);
    gasnet_get(&value, (gasnet_node_t)node, at, sizeof value);
    return value;
}

static void write_word(int node, int lock, uint64_t value, bool by_store) {
    if (node == lock % test_size)
        gasnet_AMRequestShort2((gasnet_node_t)node, STORE, lock, (gasnet_handlerarg_t)value);
    else if (by_store && node == test_rank)
        __atomic_store_n(protected_word(node, lock), value, __ATOMIC_RELAXED);
    else if (value % 3 == 0)
        gasnet_put_nbi((gasnet_node_t)node, protected_word(node, lock), &value, sizeof value);
    else
        gasnet_put((gasnet_node_t)node, protected_word(node, lock), &value, sizeof value);
}

/* All words of a lock are equal when it is free. The home's word is written last. */
static bool add_one(int lock, bool locally) {
    int home = lock % test_size;
    uint64_t value = read_word(home, lock, locally);
    bool same = true;
    for (int i = 1; i < test_size; i++)
        same &= expect_eq(read_word((home + i) % test_size, lock, locally), value);
    for (int i = 1; i < test_size; i++)
        write_word((home + i) % test_size, lock, value + 1, locally);
    gasnet_wait_syncnbi_puts();
    write_word(home, lock, value + 1, locally);
    return same;
}

static void *hold_locks(void *arg) {
    int thread = (int)(intptr_t)arg;
    bool well = true;
    for (int i = 0; i < HOLDS * LOCKS; i++) {
        int lock = (i + thread) % LOCKS;
        while (ask_lock(lock, thread, i % 4 != 0) == DENIED) { /* perhaps by a holder that was not told yet */
            gasnet_AMPoll();
            tell_granted();
        }
        well = well && add_one(lock, i % 2 == 0); /* one line for a fault: later holders only repeat it */
        gasnet_AMRequestShort1((gasnet_node_t)(lock % test_size), RELEASE, lock);
        tell_granted();
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
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    while (gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_ERR_NOT_READY) {
        gasnet_AMPoll();
        tell_granted();
        usleep(100);
    }
    uint64_t all = (uint64_t)(HOLDS * THREADS * test_size);
    for (int lock = 0; lock < LOCKS; lock++)
        if (lock % test_size == test_rank) /* the last message may still be pending */
            GASNET_BLOCKUNTIL(read_word(test_rank, lock, true) >= all);
    test_barrier();
    for (int lock = 0; lock < LOCKS; lock++)
        for (int node = 0; node < test_size; node++)
            expect_eq(read_word(node, lock, false), all);
}
