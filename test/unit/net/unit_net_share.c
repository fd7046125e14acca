/* unit_net_share.c: tests that a service takes the engine of another library at most once. */
#include "test.h"

#include "net/rpc/rpc_engine.h"
#include "net/rpc/share.h"

static struct net engine;
static struct net_registry registry = {.mutex = PTHREAD_MUTEX_INITIALIZER};
static struct net_share share;

static void registry_fill(void) {
    engine = (struct net){.world = NULL};
    share = (struct net_share){.key = 5, .net = &engine};
    registry.first = NULL;
    net_share_open(&registry, &share);
}

static bool fits_always(const struct net_share *s, void *arg) {
    (void)s, (void)arg;
    return true;
}

static struct net_share *take_by(int (*gather)(void *arg, const void *mine, void *all, size_t bytes),
                                 int size) {
    struct net_boot boot = {.size = size, .gather = gather};
    return net_share_take(&registry, &boot, NET_SERVICE_WINDOWS, fits_always, NULL);
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
    registry_fill();
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
    registry_fill();
    expect(take_by(gather_none, 2) == NULL);
    expect_eq(share.users, 1);
    expect(take_by(gather_alone, 1) == &share);
}

TEST(it_is_free_after_its_user_has_left)
{
    const struct net_service service = {.number = NET_SERVICE_WINDOWS};
    registry_fill();
    expect(take_by(gather_alone, 1) == &share);
    net_join(&engine, &service);
    expect(take_by(gather_alone, 1) == NULL);
    net_share_leave(&registry, &share, NET_SERVICE_WINDOWS);
    expect_eq(share.users, 1);
    expect(take_by(gather_alone, 1) == &share);
}
