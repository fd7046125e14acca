/* unit_net_pull.c: tests copies from another process's memory, and the detection of a kernel that forbids it. */
#include "test.h"

#include <errno.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "base/random.h"
#include "net/node/node.h"
#include "net/node/pull.h"
#include "net_help.h"

enum { BYTES = 5 << 20 };

static uint8_t byte_of(size_t i) {
    return (uint8_t)(random_mix(i / 8) >> i % 8 * 8);
}

/* Memory that ends at an unmapped page. */
static char *ending(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = round_up(bytes, page);
    char *base = mmap(NULL, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(base + length, page);
    return base + length - bytes;
}

static void give(struct net_node *node, int rank) {
    char *data = NULL;
    if (rank) {
        data = ending(BYTES);
        for (size_t i = 0; i < BYTES; i++)
            data[i] = (char)byte_of(i);
        team->board[1][0] = (uint64_t)(uintptr_t)data;
    }
    expect(net_node_can_pull(node));
    meet();
    if (rank) {
        meet();
        return;
    }
    uint64_t from = team->board[1][0];
    uint8_t *to = malloc(BYTES + 1);
    size_t wrong = 0;
    to[BYTES] = 77;
    expect_eq(net_node_pull(node, 1, from, to, BYTES), 0);
    for (size_t i = 0; i < BYTES; i++)
        wrong += to[i] != byte_of(i);
    expect_eq(wrong, 0);
    expect_eq(to[BYTES], 77);
    expect_eq(net_node_pull(node, 1, from + 1001, to, 3), 0);
    expect(to[0] == byte_of(1001) && to[2] == byte_of(1003));
    expect_eq(net_node_pull(node, 1, 0, to, 0), 0);
    expect_eq(net_node_pull(node, 1, 0, to, 8), -EFAULT);
    expect_eq(net_node_pull(node, 1, from + BYTES - 10000, to, 10001), -EFAULT); /* after a part */
    to[0] = (uint8_t)~byte_of(7);
    expect_eq(net_node_push(node, 1, from + 7, to, 1), 0);
    expect_eq(net_node_pull(node, 1, from + 6, to + 1, 3), 0);
    expect(to[1] == byte_of(6) && to[2] == to[0] && to[3] == byte_of(8));
    expect_eq(net_node_push(node, 1, from + BYTES - 10, to, 11), -EFAULT);
    meet();
    free(to);
}

TEST(all_of_it_or_an_error)
{ run_team(2, 1 << 20, 8, give); }

static bool is_power(uint64_t n) {
    return n && !(n & (n - 1));
}

TEST(the_size_from_which_it_is_faster)
{
    static char memory[64 << 10];
    uint64_t address = (uint64_t)(uintptr_t)memory,
             from = net_pull_least(getpid(), address, memory, sizeof memory);
    expect(is_power(from) && from >= 16 << 10 && from <= 4 << 20);
    expect_eq(net_pull_least(getpid(), address, memory, sizeof memory - 1),
              16 << 10);                                                    /* too little to measure */
    expect_eq(net_pull_least(getpid(), 0, memory, sizeof memory), 4 << 20); /* no such memory there */
}

/* Every process claims each of rank 0's offers; one gets it. */
static void claim(struct net_node *node, int rank) {
    enum { OFFERS = 2000 };
    expect(is_power(net_node_pull_from(node)));
    for (uint64_t i = 1; i <= OFFERS; i++) {
        uint64_t old = i > 1 ? team->board[0][0] : 0;
        meet();
        if (!rank)
            team->board[0][0] = net_node_offer(node);
        meet();
        expect(i == 1 || !net_node_claim(node, 0, old));
        team->board[rank][1] += net_node_claim(node, 0, team->board[0][0]);
        expect(!net_node_claim(node, 0, team->board[0][0]));
        meet();
        expect_eq(team->board[0][1] + team->board[1][1] + team->board[2][1], i);
    }
}

TEST(one_process_claims_an_offer)
{ run_team(3, 1 << 20, 8, claim); }

TEST(from_oneself)
{
    uint64_t a = 1234, b = 0;
    expect_eq(net_pull_copy(getpid(), (uint64_t)(uintptr_t)&a, &b, sizeof b), 0);
    expect_eq(b, 1234);
}

TEST(from_a_dead_process)
{
    uint64_t a = 0;
    pid_t child = team_fork();
    if (!child)
        _exit(0);
    expect(team_join(child));
    expect_eq(net_pull_copy(child, (uint64_t)(uintptr_t)&a, &a, sizeof a), -ESRCH);
}

static void expect_not_allowed(struct net_node *node, int rank) {
    uint64_t a = 0, b = 0;
    expect(!net_node_can_pull(node));
    expect_eq(net_node_pull(node, rank, (uint64_t)(uintptr_t)&a, &b, sizeof b), -EPERM);
}

TEST(where_it_is_not_allowed_that_is_known_beforehand)
{
    pid_t child = team_fork();
    if (!child) {
        if (forbid_call(SYS_process_vm_readv, EPERM)) /* as in many containers */
            printf("skip %s: no seccomp here\n", test_name);
        else
            run_team(2, 1 << 20, 8, expect_not_allowed);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    expect(team_join(child));
}

/* Another process may have the same pid; it then has another word where the known one should be. */
TEST(what_is_pulled_is_compared)
{
    struct net_options o = {.count = 2, .limit = 1 << 20, .header_bytes = 8};
    struct net_node *nodes[2];
    struct net_address addresses[2];
    for (int wrong = 0; wrong < 2; wrong++) {
        for (o.rank = 0; o.rank < 2; o.rank++)
            expect_eq(net_node_open(&o, &nodes[o.rank], &addresses[o.rank]), 0);
        nodes[1]->probe.words[1] ^= (unsigned)wrong;
        expect_eq(net_node_connect(nodes[0], addresses), 0);
        expect_eq(net_node_can_pull(nodes[0]), !wrong);
        net_node_close(nodes[0]);
        net_node_close(nodes[1]);
    }
}
