/* unit_net_helper.c: tests the helper of a single node. */
#include "test.h"

#include <string.h>

#include "base/base.h"
#include "net/net.h"
#include "net/node/world.h"

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
