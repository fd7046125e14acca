/* unit_net_mailbox_order.c: tests the mailbox with interruptions between any two of its steps.
 *
 * A wakeup is lost only if two processes race within some nanoseconds, which a test hardly ever hits. Here the code
 * of the mailbox is compiled again, under other names, with a pause of random length before and after every access to
 * shared data, so that the races happen all the time.   waits: yes */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/random.h"

static _Thread_local struct random dice;

/* Often none; otherwise a yield, or longer than the other side needs for a step. */
static void pause_somewhat(void) {
    uint32_t n = random_below(&dice, 16);
    if (n < 3)
        sched_yield();
    if (n == 3)
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
}

#define STEP(type, operation)                                                                                \
    ({                                                                                                       \
        pause_somewhat();                                                                                    \
        type result_ = operation;                                                                            \
        pause_somewhat();                                                                                    \
        result_;                                                                                             \
    })
#undef atomic_load
#undef atomic_exchange
#undef atomic_fetch_or
#define atomic_load(word) STEP(uint64_t, atomic_load_explicit(word, memory_order_seq_cst))
#define atomic_exchange(word, value)                                                                         \
    STEP(uint64_t, atomic_exchange_explicit(word, value, memory_order_seq_cst))
#define atomic_fetch_or(word, value)                                                                         \
    STEP(uint64_t, atomic_fetch_or_explicit(word, value, memory_order_seq_cst))

/* Instead of the names in core_names.h. */
#undef net_mailbox_bytes
#undef net_mailbox_make
#undef net_mailbox_join
#undef net_mailbox_close
#undef net_mailbox_ask
#undef net_mailbox_answered
#undef net_mailbox_wait
#undef net_mailbox_doorbell
#undef net_mailbox_take
#undef net_mailbox_answer
#undef net_mailbox_sleeps
#undef net_mailbox_descriptor
#undef net_mailbox_wakes
#undef net_mailbox_is_watched
#define net_mailbox_bytes      slow_bytes
#define net_mailbox_make       slow_make
#define net_mailbox_join       slow_join
#define net_mailbox_close      slow_close
#define net_mailbox_ask        slow_ask
#define net_mailbox_answered   slow_answered
#define net_mailbox_wait       slow_wait
#define net_mailbox_doorbell   slow_ring
#define net_mailbox_take       slow_take
#define net_mailbox_answer     slow_answer
#define net_mailbox_process    slow_process
#define net_mailbox_sleeps     slow_sleeps
#define net_mailbox_descriptor slow_descriptor
#define net_mailbox_wakes      slow_wakes
#define net_mailbox_is_watched slow_is_watched
#include "../../src/net/shm/mailbox.c"

enum { STOP = 1, PROCESSES = 3 };

#define MOST_NS 10000000000u
static uint64_t seed, asks = 3000;
static uint64_t slept;
static int askers;
static struct mailbox *helper, *boxes[PROCESSES];

static void open_all(void) {
    void *memory = aligned_alloc(128, net_mailbox_bytes(PROCESSES));
    memset(memory, 0, net_mailbox_bytes(PROCESSES));
    expect_eq(net_mailbox_make(memory, PROCESSES, &helper), 0);
    for (int i = 0; i < PROCESSES; i++)
        expect_eq(net_mailbox_join(memory, i, &boxes[i]), 0);
}

static void close_all(void) {
    void *memory = helper->post;
    for (int i = 0; i < PROCESSES; i++)
        net_mailbox_close(boxes[i]);
    net_mailbox_close(helper);
    free(memory);
}

static bool sleeps_on(int milliseconds) {
    struct pollfd p = {.fd = net_mailbox_descriptor(helper), .events = POLLIN};
    return poll(&p, 1, milliseconds) == 0;
}

/* Sleeps before each request. A lost wakeup ends the test after some seconds. */
static void *help(void *arg) {
    random_seed(&dice, seed);
    for (int stops = 0; stops < askers;) {
        struct mailbox_request r;
        int cell;
        net_mailbox_sleeps(helper);
        bool some = net_mailbox_take(helper, &r, &cell);
        if (!some && sleeps_on(5000)) {
            expect(!"a ring was lost");
            return NULL;
        }
        net_mailbox_wakes(helper);
        slept += !some;
        if (some) {
            net_mailbox_answer(helper, cell, (int64_t)r.words[0] + 1);
            stops += r.what == STOP;
        }
    }
    return NULL;
}

static bool ask(struct mailbox *box, uint32_t what, uint64_t word) {
    struct mailbox_request r = {.what = what, .words = {word}};
    int64_t answer = 0;
    int cell = net_mailbox_ask(box, &r);
    for (int i = 0; i < 100 && !net_mailbox_answered(box, cell, &answer); i++)
        net_mailbox_wait(box, cell, 100000);
    expect_eq(answer, word + 1);
    return answer == (int64_t)word + 1;
}

static void *ask_on(void *arg) {
    int process = (int)(intptr_t)arg;
    random_seed(&dice, seed + 1 + (uint64_t)process);
    bool fine = true;
    uint64_t end = clock_ns() + MOST_NS; /* fewer on a busy machine */
    for (uint64_t i = 0; i < asks && fine && clock_ns() < end; i++)
        fine = ask(boxes[process], 0, i);
    if (fine)
        ask(boxes[process], STOP, 0);
    return NULL;
}

static void take_seed(void) {
    const char *given = getenv("SEED");
    seed = given ? strtoull(given, NULL, 0) : clock_ns();
    printf("SEED=%llu\n", (unsigned long long)seed);
}

/* With fewer requesters the helper sleeps more often. */
static void meet_often(int count) {
    pthread_t threads[PROCESSES], helping;
    askers = count;
    slept = 0;
    open_all();
    expect_eq(pthread_create(&helping, NULL, help, NULL), 0);
    for (intptr_t i = 0; i < count; i++)
        expect_eq(pthread_create(&threads[i], NULL, ask_on, (void *)i), 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_join(helping, NULL);
    printf("%d ask: %llu sleeps\n", count, (unsigned long long)slept);
    close_all();
}

TEST(no_ring_is_lost_wherever_they_meet)
{
    take_seed();
    for (int count = 1; count <= PROCESSES; count++)
        meet_often(count);
}

/* ---- caller-driven progress ---- */

static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static int stops; /* this, and the helper's end of the mailbox, are protected by the progress lock */
static uint64_t by_stand_in;

static bool serve_one(void) {
    struct mailbox_request r;
    int cell;
    if (!net_mailbox_take(helper, &r, &cell))
        return false;
    net_mailbox_answer(helper, cell, (int64_t)r.words[0] + 1);
    stops += r.what == STOP;
    return true;
}

static void *help_with_baton(void *arg) {
    random_seed(&dice, seed);
    pthread_mutex_lock(&baton);
    while (stops < askers) {
        net_mailbox_sleeps(helper);
        if (!serve_one()) {
            pthread_mutex_unlock(&baton);
            bool late = sleeps_on(5000);
            pthread_mutex_lock(&baton);
            if (late && stops < askers) {
                expect(!"a ring was lost");
                break;
            }
        }
        net_mailbox_wakes(helper);
    }
    stops = askers;
    pthread_mutex_unlock(&baton);
    return NULL;
}

static bool stand_in(void) {
    if (pthread_mutex_trylock(&baton) != 0)
        return true;
    net_mailbox_is_watched(helper);
    for (int i = 0; i < 3; i++)
        by_stand_in += serve_one();
    net_mailbox_sleeps(helper);
    by_stand_in += serve_one();
    bool more = stops < askers;
    pthread_mutex_unlock(&baton);
    net_mailbox_doorbell(helper); /* for requests that were not seen here, or to end the helper */
    return more;
}

static void *stand_in_on(void *arg) {
    random_seed(&dice, seed + 100);
    while (stand_in())
        for (int i = 0; i < 4; i++)
            pause_somewhat();
    return NULL;
}

TEST(no_ring_is_lost_while_another_stands_in)
{
    pthread_t threads[PROCESSES], helping, standing;
    take_seed();
    askers = PROCESSES;
    open_all();
    expect_eq(pthread_create(&helping, NULL, help_with_baton, NULL), 0);
    expect_eq(pthread_create(&standing, NULL, stand_in_on, NULL), 0);
    for (intptr_t i = 0; i < askers; i++)
        expect_eq(pthread_create(&threads[i], NULL, ask_on, (void *)i), 0);
    for (int i = 0; i < askers; i++)
        pthread_join(threads[i], NULL);
    pthread_join(standing, NULL);
    pthread_join(helping, NULL);
    printf("%llu by another\n", (unsigned long long)by_stand_in);
    expect(by_stand_in > 0);
    close_all();
}

static uint64_t word; /* accessed relaxed: the doorbell orders it */
static _Atomic uint64_t seen;

/* The helper sees what was written before net_mailbox_doorbell in its last check, or the doorbell ends its sleep. */
static void *ring_on(void *arg) {
    random_seed(&dice, seed + 1);
    for (uint64_t i = 1; i <= asks; i++) {
        __atomic_store_n(&word, i, __ATOMIC_RELAXED);
        net_mailbox_doorbell(boxes[0]);
        for (int n = 0; n < 1000000 && atomic_load_explicit(&seen, memory_order_relaxed) != i; n++)
            sched_yield();
    }
    return NULL;
}

TEST(a_ring_is_for_what_was_written_before)
{
    pthread_t thread;
    take_seed();
    random_seed(&dice, seed);
    open_all();
    expect_eq(pthread_create(&thread, NULL, ring_on, NULL), 0);
    bool lost = false;
    for (uint64_t last = 0; last < asks && !lost;) {
        net_mailbox_sleeps(helper);
        uint64_t now = __atomic_load_n(&word, __ATOMIC_RELAXED);
        if (now == last)
            lost = sleeps_on(5000);
        net_mailbox_wakes(helper);
        last = __atomic_load_n(&word, __ATOMIC_RELAXED);
        atomic_store_explicit(&seen, last, memory_order_relaxed);
    }
    expect(!lost);
    atomic_store_explicit(&seen, asks, memory_order_relaxed);
    pthread_join(thread, NULL);
    close_all();
}
