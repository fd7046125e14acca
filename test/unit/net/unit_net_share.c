/* unit_net_share.c: tests that a service takes the engine of another library at most once, and only if both use one MPI. */
#include "test.h"

#include "net/rpc/rpc_engine.h"
#include "net/rpc/share.h"

static struct net engine;
static struct net_share share;

static void note_close(struct net_share *s) {
    (void)s;
}

/* What the test before has left goes. */
static void share_begin(void) {
    while (share.users > 0)
        net_share_leave(&share, NET_SERVICE_WINDOWS);
    engine = (struct net){.world = NULL};
    share = (struct net_share){.key = 5, .abi = "one", .net = &engine, .close = note_close};
    net_share_open(&share);
}

static bool fits_always(const struct net_share *s, void *arg) {
    (void)s, (void)arg;
    return true;
}

static struct net_share *take_by(int (*gather)(void *arg, const void *mine, void *all, size_t bytes),
                                 int size) {
    struct net_boot boot = {.size = size, .gather = gather};
    return net_share_take("one", &boot, NET_SERVICE_WINDOWS, fits_always, NULL);
}

static int gather_alone(void *arg, const void *mine, void *all, size_t bytes) {
    (void)arg;
    memcpy(all, mine, bytes);
    return 0;
}

static struct net_share *taken_meanwhile;

/* Between the search and the agreement of one thread, another one looks for an engine. */
static int gather_late(void *arg, const void *mine, void *all, size_t bytes) {
    taken_meanwhile = take_by(gather_alone, 1);
    return gather_alone(arg, mine, all, bytes);
}

TEST(one_of_two_threads_takes_it)
{
    share_begin();
    expect(take_by(gather_late, 1) == &share);
    expect(taken_meanwhile == NULL);
    expect_eq(share.users, 2);
}

/* The second process has found none. */
static int gather_none(void *arg, const void *mine, void *all, size_t bytes) {
    memset(all, 0, 2 * bytes);
    return gather_alone(arg, mine, all, bytes);
}

TEST(it_stays_free_if_not_all_find_it)
{
    share_begin();
    expect(take_by(gather_none, 2) == NULL);
    expect_eq(share.users, 1);
    expect(take_by(gather_alone, 1) == &share);
}

TEST(it_is_free_after_its_user_has_left)
{
    const struct net_service service = {.number = NET_SERVICE_WINDOWS};
    share_begin();
    expect(take_by(gather_alone, 1) == &share);
    net_join(&engine, &service);
    expect(take_by(gather_alone, 1) == NULL);
    net_share_leave(&share, NET_SERVICE_WINDOWS);
    expect_eq(share.users, 1);
    expect(take_by(gather_alone, 1) == &share);
}

TEST(one_of_another_mpi_is_not_taken)
{
    struct net_boot boot = {.size = 1, .gather = gather_alone};
    share_begin();
    expect(net_share_take("other", &boot, NET_SERVICE_WINDOWS, fits_always, NULL) == NULL);
    expect_eq(share.users, 1);
}
