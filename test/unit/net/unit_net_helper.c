/* unit_net_helper.c: tests the helper of a single node. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "net/net.h"
#include "net/node/world.h"
#include "net/rpc/rpc_engine.h"

static int gather_alone(void *arg, const void *mine, void *all, size_t bytes) {
    (void)arg;
    if (bytes > 0)
        memcpy(all, mine, bytes);
    return 0;
}

static enum net_result answer_near(void *arg, int process, const struct mailbox_request *r, int cell,
                                   int64_t *answer) {
    (void)arg, (void)process, (void)cell;
    *answer = (int64_t)r->what + 1;
    return NET_DONE;
}

static int64_t ask_and_wait(struct mailbox *box, uint32_t what) {
    struct mailbox_request r = {.what = what};
    int64_t answer;
    int cell = net_mailbox_ask(box, &r);
    expect(cell >= 0);
    while (!net_mailbox_answered(box, cell, &answer))
        net_mailbox_wait(box, cell, UINT64_MAX);
    return answer;
}

/* Under TSan this shows that the reads are no data races. */
TEST(counts_are_read_while_it_works)
{
    enum { REQUESTS = 500 };
    struct net_boot boot = {.size = 1, .gather = gather_alone};
    struct net_service service = {.local = answer_near};
    struct net_world *world;
    struct net_counts counts = {0};
    struct net *n;
    uint64_t before = 0;
    expect_eq(net_world_open(&boot, 0, 0, &world), 0);
    expect_eq(net_open(&boot, world, &service, NULL, &n), 0);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        expect_eq(ask_and_wait(net_mailbox(n), i), (int64_t)i + 1);
        net_count(n, &counts);
        expect(counts.local >= before && counts.local <= i + 1);
        before = counts.local;
    }
    net_close(n, &boot, &counts);
    expect_eq(counts.local, REQUESTS);
    net_world_close(world);
}

/* ---- callers that serve ---- */

struct driving {
    struct net *net;
    pthread_t driver; /* set before the first request */
    _Atomic bool is_over, serves;
    _Atomic uint64_t by_helper, by_caller, at_once;
};

/* Not atomic: under TSan this shows that the turn orders the accesses of its holders. */
static uint64_t unprotected;

static enum net_result answer_and_count(void *arg, int process, const struct mailbox_request *r, int cell,
                                        int64_t *answer) {
    struct driving *d = arg;
    (void)process, (void)cell;
    atomic_fetch_add(&d->at_once, atomic_exchange(&d->serves, true));
    bool is_caller = pthread_equal(pthread_self(), d->driver);
    atomic_fetch_add(is_caller ? &d->by_caller : &d->by_helper, 1);
    unprotected++;
    *answer = (int64_t)r->what + 1;
    atomic_store(&d->serves, false);
    return NET_DONE;
}

/* Drives for a while, and computes for a while. */
static void *drive_and_pause(void *arg) {
    struct driving *d = arg;
    for (uint64_t i = 0; !atomic_load(&d->is_over); i++)
        if (i % 4096 < 2048)
            net_drive(d->net, clock_ns());
        else if (i % 64 == 0)
            sched_yield();
    return NULL;
}

TEST(callers_and_the_helper_take_turns)
{
    enum { REQUESTS = 2000, MOST_REQUESTS = 2000000, WORDS = 1000 /* the upper half names the service */ };
    struct driving d = {0};
    struct net_boot boot = {.size = 1, .gather = gather_alone};
    struct net_service service = {.arg = &d, .local = answer_and_count, .callers_serve = true};
    struct net_world *world;
    uint32_t asked = 0;
    unprotected = 0;
    expect_eq(net_world_open(&boot, 0, 0, &world), 0);
    expect_eq(net_open(&boot, world, &service, NULL, &d.net), 0);
    expect_eq(pthread_create(&d.driver, NULL, drive_and_pause, &d), 0);
    for (; asked < REQUESTS || (asked < MOST_REQUESTS && (!d.by_helper || !d.by_caller)); asked++)
        expect_eq(ask_and_wait(net_mailbox(d.net), asked % WORDS), asked % WORDS + 1);
    atomic_store(&d.is_over, true);
    pthread_join(d.driver, NULL);
    net_close(d.net, &boot, NULL);
    net_world_close(world);
    expect_eq(d.at_once, 0);
    expect_eq(unprotected, asked);
    expect_eq(d.by_helper + d.by_caller, asked);
    expect(d.by_helper > 0 && d.by_caller > 0);
}
