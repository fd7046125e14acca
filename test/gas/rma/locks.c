/* locks.c: tests locks that are objects in the segments, as in UPC++ 0.1: a rank copies a lock by a get, asks the lock's home for
 * it, and releases it without waiting for an answer. It may ask for the same lock again at once, so the home must handle the
 * release first. Meanwhile the home's handlers store to the page from which other ranks copy the lock. */
#include "test.h"

enum { SEGMENT = 1 << 20, ROUNDS = 60, TAKE = 180, TAKEN, RELEASE };
static gasnet_handlerentry_t table[3];
TEST_SETUP(table, SEGMENT)

struct lock { /* one at the start of each segment */
    struct lock *self;
    gasnet_node_t home, holder;
    uint32_t is_held;
    uint64_t counter; /* what the lock protects, in the same page */
};

struct answer {
    gasnet_node_t holder;
    int has_come;
};

struct request { /* the answer repeats it */
    struct lock *lock;
    struct answer *answer;
    gasnet_node_t holder;
};

static gasnet_hsl_t hsl = GASNET_HSL_INITIALIZER; /* protects the lock of this rank */

static void on_take(gasnet_token_t token, void *data, size_t bytes) {
    struct request r = *(struct request *)data;
    gasnet_node_t source;
    expect_eq(bytes, sizeof r);
    gasnet_AMGetMsgSource(token, &source);
    gasnet_hsl_lock(&hsl);
    if (r.lock->is_held)
        expect(r.lock->holder != source); /* otherwise its release was overtaken */
    else
        r.lock->holder = source;
    r.lock->is_held = 1;
    r.holder = r.lock->holder;
    gasnet_hsl_unlock(&hsl);
    gasnet_AMReplyMedium0(token, TAKEN, &r, sizeof r);
}

static void on_taken(gasnet_token_t token, void *data, size_t bytes) {
    struct request *r = data;
    (void)token;
    expect_eq(bytes, sizeof *r);
    r->answer->holder = r->holder;
    __atomic_store_n(&r->answer->has_come, 1, __ATOMIC_RELEASE);
}

static void on_release(gasnet_token_t token, void *data, size_t bytes) {
    struct lock *lock = ((struct request *)data)->lock;
    gasnet_node_t source;
    expect_eq(bytes, sizeof(struct request));
    gasnet_AMGetMsgSource(token, &source);
    gasnet_hsl_lock(&hsl);
    expect(lock->is_held && lock->holder == source);
    lock->is_held = 0;
    gasnet_hsl_unlock(&hsl);
}

static gasnet_handlerentry_t table[3] = {HANDLER(TAKE, on_take), HANDLER(TAKEN, on_taken),
                                         HANDLER(RELEASE, on_release)};

static struct lock *lock_at(int home) {
    return test_segments[home].addr;
}

static struct lock copy_of_lock(int home) {
    struct lock copy;
    gasnet_get(&copy, (gasnet_node_t)home, lock_at(home), sizeof copy);
    return copy;
}

static void take(int home) {
    struct lock copy = copy_of_lock(home);
    struct answer answer;
    struct request r = {.lock = copy.self, .answer = &answer};
    do {
        answer.has_come = 0;
        gasnet_AMRequestMedium0(copy.home, TAKE, &r, sizeof r);
        GASNET_BLOCKUNTIL(__atomic_load_n(&answer.has_come, __ATOMIC_ACQUIRE));
    } while (answer.holder != (gasnet_node_t)test_rank);
}

static void release(int home) {
    struct lock copy = copy_of_lock(home);
    struct request r = {.lock = copy.self};
    gasnet_AMRequestMedium0(copy.home, RELEASE, &r, sizeof r);
}

static void add_one(int home) {
    uint64_t *counter = &lock_at(home)->counter;
    uint64_t value = gasnet_get_val((gasnet_node_t)home, counter, sizeof value);
    gasnet_put_val((gasnet_node_t)home, counter, value + 1, sizeof value);
}

CASE(locks_in_segments) {
    *lock_at(test_rank) = (struct lock){.self = lock_at(test_rank), .home = (gasnet_node_t)test_rank};
    test_barrier();
    for (int i = 0; i < 3 * ROUNDS; i++) {
        int home = (test_rank + i % 3) % test_size;
        take(home);
        add_one(home);
        release(home);
    }
    test_barrier();
    /* The last release may still be on its way. */
    GASNET_BLOCKUNTIL(!__atomic_load_n(&lock_at(test_rank)->is_held, __ATOMIC_ACQUIRE));
    expect_eq(lock_at(test_rank)->counter, 3 * ROUNDS);
}
