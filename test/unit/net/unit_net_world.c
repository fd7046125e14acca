/* unit_net_world.c: tests that all processes see the same, correct nodes, and share memory with those of their own
 * node. */
#include "test.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/random.h"
#include "fail_memfile.h"
#include "net/boot/agree.h"
#include "net/shm/segment.h"
#include "net/node/world.h"
#include "net_boot.h"

static int machines[BOOT_MOST]; /* of each rank */
static unsigned node_ranks;

/* The nodes of `machines`, computed from the definition. */
static int node_by_hand(int rank, int size, int *local) {
    int leaders[BOOT_MOST], nodes = 0, node = -1;
    for (int i = 0; i < size; i++) {
        int before = 0, leader = -1;
        for (int j = 0; j < i; j++)
            before += machines[j] == machines[i];
        unsigned place = node_ranks ? (unsigned)before % node_ranks : (unsigned)before;
        for (int j = i, left = (int)place; j >= 0; j--)
            if (machines[j] == machines[i] && left-- == 0)
                leader = j;
        if (leader == i)
            leaders[nodes++] = i;
        for (int n = 0; n < nodes && i == rank; n++)
            if (leaders[n] == leader)
                node = n;
        if (i == rank)
            *local = (int)place;
    }
    return node;
}

static void check_world(const struct net_world *w, const struct net_boot *boot) {
    int nodes = 0;
    expect_eq(w->rank, boot->rank);
    expect_eq(w->size, boot->size);
    for (int i = 0; i < boot->size; i++) {
        int local = -1, node = node_by_hand(i, boot->size, &local);
        expect_eq(w->node_of[i], node);
        expect_eq(w->local_of[i], local);
        expect_eq(net_world_member(w, node, local), i);
        if (local == 0)
            expect_eq(net_world_leader(w, node), i);
        nodes = node >= nodes ? node + 1 : nodes;
    }
    expect_eq(w->nodes, nodes);
    expect_eq(w->first[nodes], boot->size);
    expect_eq(w->node, w->node_of[w->rank]);
    expect_eq(w->local, w->local_of[w->rank]);
    expect_eq(w->local_count, net_world_count(w, w->node));
}

/* Each process writes its rank at its place. All then see the ranks of their own node, and no others. */
static void check_share(struct net_world *w, const struct net_boot *boot, size_t bytes) {
    char *memory = net_world_share(w, boot, bytes);
    expect(memory != NULL);
    expect_eq((uintptr_t)memory % 128, 0);
    for (size_t i = 0; i < bytes; i += 61)
        expect_eq(memory[i], 0);
    net_boot_barrier(boot);
    memory[w->local] = (char)(w->rank + 1);
    memory[bytes - 1 - (size_t)w->local] = (char)(w->rank + 1);
    net_boot_barrier(boot);
    for (int i = 0; i < w->local_count; i++) {
        expect_eq(memory[i], net_world_member(w, w->node, i) + 1);
        expect_eq(memory[bytes - 1 - (size_t)i], net_world_member(w, w->node, i) + 1);
    }
}

static void open_and_share(const struct net_boot *boot) {
    struct net_world *w = NULL;
    unsigned files = count_files();
    expect_eq(net_world_open(boot, machines[boot->rank], node_ranks, &w), 0);
    if (!w)
        return;
    check_world(w, boot);
    check_share(w, boot, 100);
    check_share(w, boot, 60000);
    check_share(w, boot, 1 << 20);
    check_share(w, boot, 64);
    check_share(w, boot, 1000 + 100000 * (size_t)w->node); /* may differ between nodes */
    check_world(w, boot);
    expect_eq(count_files(), files); /* none is kept open */
    net_world_close(w);
    expect_eq(count_maps(), 0);
}

static void run_with(int size, const int *list, unsigned most) {
    memcpy(machines, list, (size_t)size * sizeof *list);
    node_ranks = most;
    boot_run(size, open_and_share);
}

TEST(alone)
{ run_with(1, (int[]){7}, 0); }

TEST(one_node)
{ run_with(4, (int[]){0, 0, 0, 0}, 0); }

TEST(two_machines_in_turns)
{ run_with(5, (int[]){-3, 2, -3, 2, -3}, 0); }

TEST(nodes_of_some_ranks)
{
    run_with(5, (int[]){0, 0, 0, 0, 0}, 2);
    run_with(6, (int[]){9, 1, 9, 9, 1, 9}, 3);
    run_with(3, (int[]){0, 0, 0}, 1);
}

TEST(any_machines)
{
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : clock_ns();
    struct random r;
    printf("SEED=%llu\n", (unsigned long long)seed);
    random_seed(&r, seed);
    for (int i = 0; i < 8; i++) {
        int list[BOOT_MOST], size = 1 + (int)random_below(&r, 8);
        for (int j = 0; j < size; j++)
            list[j] = (int)random_below(&r, 3) * 1000000007;
        run_with(size, list, random_below(&r, 4));
    }
}

/* ---- failures ---- */

static int failing; /* this rank */

/* A failure in one process is returned in all, at each step, and leaves nothing behind. */
static void fail_each_step(const struct net_boot *boot) {
    unsigned files = count_files(), failed = 0;
    int err = -1;
    for (unsigned n = 1; err && n < 50; n++) {
        struct net_world *w = NULL;
        fail_memfile_at(boot->rank == failing ? n : 0);
        err = net_world_open(boot, machines[boot->rank], node_ranks, &w);
        expect(err <= 0 && !w == (err < 0));
        expect_eq(count_files(), files);
        expect_eq(count_maps(), err ? 0 : 1);
        failed += err != 0;
        net_world_close(w);
    }
    fail_memfile_at(0);
    expect_eq(failed, failing == 0 ? 6 : 3); /* rank 0 makes the area, the others attach to it */
}

static void run_failing(int rank) {
    memset(machines, 0, sizeof machines);
    node_ranks = 0;
    failing = rank;
    expect_eq(boot_count_lines(3, fail_each_step), rank == 0 ? 6 : 3); /* one from the failed rank */
}

TEST(all_fail_if_the_leader_does)
{ run_failing(0); }

TEST(all_fail_if_another_does)
{ run_failing(2); }

/* Rank 2 is on another machine, alone, and has no failure: it returns the error too. */
TEST(all_nodes_fail_if_one_does)
{
    run_with(3, (int[]){0, 0, 1}, 0);
    machines[2] = 1;
    failing = 1;
    boot_run(3, fail_each_step);
}

/* A failed share leaves the world unchanged. */
static void fail_to_share(const struct net_boot *boot) {
    struct net_world *w = NULL;
    expect_eq(net_world_open(boot, 0, 0, &w), 0);
    unsigned failed = 0, files = count_files();
    for (unsigned n = 1; n < 50; n++) {
        fail_memfile_at(boot->rank == failing ? n : 0);
        void *memory = net_world_share(w, boot, 200000);
        expect_eq(count_maps(), memory ? 2 : 1);
        expect_eq(count_files(), files);
        if (memory)
            break;
        failed++;
    }
    fail_memfile_at(0);
    expect_eq(failed, failing == 0 ? 6 : 3);
    expect(net_world_share(w, boot, SIZE_MAX) == NULL);
    expect(net_world_share(w, boot, SIZE_MAX - 200) == NULL);
    check_share(w, boot, 5000);
    net_world_close(w);
}

TEST(a_share_fails_in_all_or_none)
{
    failing = 0;
    boot_run(3, fail_to_share);
    failing = 1;
    boot_run(3, fail_to_share);
}

static void be_without_descriptors(const struct net_boot *boot) {
    struct net_world *w = NULL;
    struct rlimit before, limit;
    unsigned files = count_files();
    expect_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = (struct rlimit){boot->rank == 1 ? 3 : before.rlim_cur, before.rlim_max};
    expect_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_eq(net_world_open(boot, 0, 0, &w), -EMFILE);
    expect_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect(!w);
    expect_eq(count_files(), files);
    expect_eq(count_maps(), 0);
}

TEST(no_descriptors_are_an_error_everywhere)
{ boot_run(3, be_without_descriptors); }

/* ---- agreeing ---- */

static void agree_on(const struct net_boot *boot) {
    expect_eq(net_boot_agree(boot, 0), 0);
    expect_eq(net_boot_agree(boot, boot->rank == 1 ? -EIO : 0), -EIO);
    expect_eq(net_boot_agree(boot, boot->rank ? -EPERM : -EEXIST), -EPERM);
    expect_eq(net_boot_agree(boot, boot->rank == 2 ? -EEXIST : 0), -EEXIST);
    expect_eq(net_boot_agree(boot, -10 - boot->rank), -10);
    expect(net_boot_agree(boot, boot->rank == 1 ? -100000 : 0) < 0);
}

TEST(the_lowest_failure_counts)
{ boot_run(3, agree_on); }

static void agree_on_keys(const struct net_boot *boot) {
    expect(net_agree_on_key(boot, 7));
    expect(!net_agree_on_key(boot, boot->rank == 1 ? 8 : 7));
    expect(!net_agree_on_key(boot, boot->rank == 2 ? 0 : 7));
    expect(!net_agree_on_key(boot, 0));
}

TEST(keys_of_all_are_the_same)
{ boot_run(3, agree_on_keys); }

enum { MANY = 600 }; /* more than there is room for on the stack */

/* All processes pass the same; the last one passes another key, if `arg` is given. */
static int gather_copies(void *arg, const void *mine, void *all, size_t bytes) {
    for (size_t i = 0; i < MANY; i++)
        memcpy((char *)all + i * bytes, mine, bytes);
    if (arg && bytes == sizeof(uint64_t))
        memcpy((char *)all + (MANY - 1) * bytes, arg, bytes);
    return 0;
}

TEST(keys_of_many_are_the_same)
{
    uint64_t other = 8;
    struct net_boot equal = {.size = MANY, .gather = gather_copies};
    struct net_boot different = {.size = MANY, .arg = &other, .gather = gather_copies};
    expect(net_agree_on_key(&equal, 7));
    expect(!net_agree_on_key(&different, 7));
}
