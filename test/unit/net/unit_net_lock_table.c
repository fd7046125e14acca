/* unit_net_lock_table.c: tests that the locks exclude processes and threads, and survive the death of a holder. */
#include "test.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/random.h"
#include "net/shm/lock_table.h"
#include "net_boot.h"

static struct net_lock_table *lock_table;
static uint64_t *counters; /* [COUNTERS], not atomic */

enum { COUNTERS = 8, ROUNDS = 20000 };

static char *block(size_t n) {
    return (char *)(uintptr_t)(0x7f0000000000u + n * LOCK_TABLE_GRAIN);
}

static void open_stripes(void) {
    size_t bytes = net_lock_table_bytes();
    lock_table = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    counters = (uint64_t *)((char *)lock_table + bytes);
    expect_eq(net_lock_table_make(lock_table), 0);
}

static void close_stripes(void) {
    munmap(lock_table, net_lock_table_bytes() + 4096);
}

TEST(a_part_ends_with_its_block)
{
    expect_eq(net_lock_table_part(block(1), 10), 10);
    expect_eq(net_lock_table_part(block(1), 100000), LOCK_TABLE_GRAIN);
    expect_eq(net_lock_table_part(block(1) + 4090, 100), 6);
    expect_eq(net_lock_table_part(block(1) + 4090, 6), 6);
    expect_eq(net_lock_table_part(block(1) + 4095, 1), 1);
}

/* Trying a lock shows whether it is the same as that of block 0. */
TEST(neighbours_have_other_locks)
{
    open_stripes();
    size_t firsts[] = {0, 1, 255, 256, 127 * 256, 65535, (1u << 20) - 1};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        for (size_t n = firsts[i]; n < firsts[i] + 600; n++) {
            net_lock_table_lock(lock_table, block(n));
            expect(!net_lock_table_try(lock_table, block(n) + 4095));
            expect(net_lock_table_try(lock_table, block(n + 1)));
            net_lock_table_unlock(lock_table, block(n + 1));
            net_lock_table_unlock(lock_table, block(n));
        }
    close_stripes();
}

static unsigned locked(size_t stride) {
    size_t taken[64];
    unsigned count = 0;
    for (size_t n = 0; n < 64; n++)
        if (net_lock_table_try(lock_table, block(n * stride)))
            taken[count++] = n;
    for (unsigned i = 0; i < count; i++)
        net_lock_table_unlock(lock_table, block(taken[i] * stride));
    return count;
}

TEST(equal_parts_do_not_meet_in_one_lock)
{
    open_stripes();
    for (size_t stride = 1; stride <= 1 << 16; stride *= 2)
        expect(locked(stride) >= 32);
    close_stripes();
}

/* By trying, as a helper does, or by waiting. */
static void count_up(unsigned which, bool tries) {
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned n = (which + i) % COUNTERS;
        if (!tries)
            net_lock_table_lock(lock_table, block(n));
        else
            while (!net_lock_table_try(lock_table, block(n)))
                sched_yield();
        counters[n]++;
        net_lock_table_unlock(lock_table, block(n));
    }
}

static void *count_thread(void *arg) {
    count_up((unsigned)(uintptr_t)arg, (uintptr_t)arg % 2);
    return NULL;
}

static void check_counted(uint64_t rounds) {
    uint64_t sum = 0;
    for (int i = 0; i < COUNTERS; i++)
        sum += counters[i];
    expect_eq(sum, rounds);
}

TEST(threads_exclude_each_other)
{
    pthread_t threads[4];
    open_stripes();
    for (uintptr_t i = 0; i < 4; i++)
        expect_eq(pthread_create(&threads[i], NULL, count_thread, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    check_counted(4 * ROUNDS);
    close_stripes();
}

static void count_rank(const struct net_boot *boot) {
    count_up((unsigned)boot->rank, boot->rank == 2);
}

TEST(processes_exclude_each_other)
{
    open_stripes();
    boot_run(4, count_rank);
    check_counted(4 * ROUNDS);
    close_stripes();
}

TEST(a_range_takes_all_its_locks)
{
    enum { BLOCKS = 8 };
    open_stripes();
    char *first = block(3) + 4000;
    size_t bytes = (BLOCKS - 1) * LOCK_TABLE_GRAIN; /* ends in block 3 + BLOCKS - 1 */
    net_lock_table_lock_range(lock_table, first, bytes);
    for (size_t n = 3; n < 3 + BLOCKS; n++)
        expect(!net_lock_table_try(lock_table, block(n)));
    expect(net_lock_table_try(lock_table, block(2)));
    expect(net_lock_table_try(lock_table, block(3 + BLOCKS)));
    net_lock_table_unlock(lock_table, block(2));
    net_lock_table_unlock(lock_table, block(3 + BLOCKS));
    net_lock_table_unlock_range(lock_table);
    expect_eq(locked(1), 64);                                                             /* as before */
    net_lock_table_lock_range(lock_table, block(1), LOCK_TABLE_RANGE * LOCK_TABLE_GRAIN); /* some share one */
    net_lock_table_unlock_range(lock_table);
    expect_eq(locked(1), 64);
    close_stripes();
}

/* Ranges that overlap, in both directions, and single locks. */
static void count_ranges(const struct net_boot *boot) {
    for (unsigned i = 0; i < ROUNDS / 4; i++) {
        unsigned first = (i * 5 + (unsigned)boot->rank) % COUNTERS, count = 1 + i % (COUNTERS - first);
        net_lock_table_lock_range(lock_table, block(first), count * LOCK_TABLE_GRAIN);
        for (unsigned n = first; n < first + count; n++)
            counters[n]++;
        net_lock_table_unlock_range(lock_table);
        for (unsigned n = 0; n < COUNTERS - count; n++) {
            net_lock_table_lock(lock_table, block(n));
            counters[n]++;
            net_lock_table_unlock(lock_table, block(n));
        }
    }
}

TEST(ranges_exclude_each_other)
{
    open_stripes();
    boot_run(4, count_ranges);
    check_counted((uint64_t)4 * (ROUNDS / 4) * COUNTERS);
    close_stripes();
}

TEST(a_range_is_tried)
{
    size_t bytes = 3 * LOCK_TABLE_GRAIN;
    open_stripes();
    net_lock_table_lock(lock_table, block(4));
    expect(!net_lock_table_try_range(lock_table, block(3), bytes));
    net_lock_table_unlock(lock_table, block(4));
    expect(net_lock_table_try_range(lock_table, block(3), bytes));
    expect(!net_lock_table_try_range(lock_table, block(30), bytes)); /* one range at a time */
    expect(!net_lock_table_try(lock_table, block(4)));
    net_lock_table_unlock_range(lock_table);
    expect_eq(locked(1), 64);
    close_stripes();
}

/* More threads than guards, so that some threads have the same. */
enum { CROWD = 20 };

static void *count_range_thread(void *arg) {
    (void)arg;
    for (unsigned i = 0; i < ROUNDS / 40; i++) {
        net_lock_table_lock_range(lock_table, block(0), COUNTERS * LOCK_TABLE_GRAIN);
        for (unsigned n = 0; n < COUNTERS; n++)
            counters[n]++;
        net_lock_table_unlock_range(lock_table);
    }
    return NULL;
}

TEST(ranges_of_many_threads)
{
    pthread_t threads[CROWD];
    open_stripes();
    for (int i = 0; i < CROWD; i++)
        expect_eq(pthread_create(&threads[i], NULL, count_range_thread, NULL), 0);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    check_counted((uint64_t)CROWD * (ROUNDS / 40) * COUNTERS);
    close_stripes();
}

/* ---- holders that die ---- */

static void take(size_t first, size_t blocks) {
    if (blocks == 1)
        net_lock_table_lock(lock_table, block(first));
    else
        net_lock_table_lock_range(lock_table, block(first), blocks * LOCK_TABLE_GRAIN);
}

static bool try_to_take(size_t first, size_t blocks) {
    return blocks == 1 ? net_lock_table_try(lock_table, block(first))
                       : net_lock_table_try_range(lock_table, block(first), blocks * LOCK_TABLE_GRAIN);
}

static void give(size_t first, size_t blocks) {
    if (blocks == 1)
        net_lock_table_unlock(lock_table, block(first));
    else
        net_lock_table_unlock_range(lock_table);
}

static void die_with(size_t first, size_t blocks) {
    pid_t child = team_fork();
    if (!child) {
        take(first, blocks);
        raise(SIGKILL);
    }
    expect(!team_join(child));
}

/* One lock or a range, by waiting or by trying. */
TEST(who_dies_leaves_the_lock_to_the_next)
{
    enum { FIRST = 5, WAYS = 16 };
    open_stripes();
    for (int way = 0; way < WAYS; way++) {
        size_t dead = way & 1 ? 3 : 1, next = way & 2 ? 2 : 1;
        bool tries = way & 4, by_two = way & 8;
        die_with(FIRST, dead);
        if (by_two)
            die_with(FIRST, next);
        if (tries)
            expect(try_to_take(FIRST, next));
        else
            take(FIRST, next);
        expect(!try_to_take(FIRST, 1));
        give(FIRST, next);
        expect_eq(locked(1), 64);
    }
    close_stripes();
}

/* All processes wait for the lock while its holder dies. */
static size_t dying_blocks, waiting_blocks;

static void wait_or_die(const struct net_boot *boot) {
    pid_t child = boot->rank == 0 ? team_fork() : 1;
    if (!child) {
        take(9, dying_blocks);
        counters[0] = 1;
        usleep(50000);
        raise(SIGKILL);
    }
    while (!*(volatile uint64_t *)counters)
        usleep(1000);
    take(9, waiting_blocks);
    counters[1]++;
    give(9, waiting_blocks);
    if (boot->rank == 0)
        expect(!team_join(child));
}

TEST(who_waits_gets_the_lock_of_the_dead)
{
    for (int way = 0; way < 4; way++) {
        open_stripes();
        dying_blocks = way & 1 ? 2 : 1;
        waiting_blocks = way & 2 ? 2 : 1;
        boot_run(3, wait_or_die);
        expect_eq(counters[1], 3);
        close_stripes();
    }
}

/* Workers that take locks at random, and are killed at any time. Whoever takes a lock finds its block without an owner, or with
 * one that was killed. */
enum { WORKERS = 3, KILLS = 150, BLOCKS = 6 };

static struct {
    _Atomic uint32_t owners[BLOCKS];
    _Atomic bool killed[1 + WORKERS + KILLS], over;
    _Atomic uint64_t rounds;
} * yard;

static void own_blocks(uint32_t me, size_t first, size_t blocks) {
    for (size_t n = first; n < first + blocks; n++) {
        uint32_t before = atomic_exchange(&yard->owners[n], me);
        expect(!before || yard->killed[before]);
    }
    for (size_t n = first; n < first + blocks; n++) {
        expect_eq(yard->owners[n], me);
        yard->owners[n] = 0;
    }
}

static void work(uint32_t me) {
    struct random random;
    random_seed(&random, me);
    while (!yard->over) {
        size_t first = random_below(&random, BLOCKS), blocks = 1;
        if (random_below(&random, 2))
            blocks += random_below(&random, BLOCKS - first);
        if (random_below(&random, 3))
            take(first, blocks);
        else if (!try_to_take(first, blocks))
            continue;
        own_blocks(me, first, blocks);
        give(first, blocks);
        yard->rounds++;
    }
}

static pid_t start_worker(uint32_t me) {
    pid_t child = team_fork();
    if (!child) {
        work(me);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    return child;
}

TEST(workers_are_killed_at_any_time)
{
    pid_t workers[WORKERS];
    uint32_t ids[WORKERS], next = 1;
    struct random random;
    open_stripes();
    yard = mmap(NULL, sizeof *yard, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    random_seed(&random, test_seed());
    for (int i = 0; i < WORKERS; i++)
        workers[i] = start_worker(ids[i] = next++);
    for (int kills = 0; kills < KILLS; kills++) {
        unsigned victim = (unsigned)random_below(&random, WORKERS);
        uint64_t before = yard->rounds; /* the others go on */
        while (yard->rounds < before + random_below(&random, 200))
            usleep(20);
        yard->killed[ids[victim]] = true;
        kill(workers[victim], SIGKILL);
        expect(!team_join(workers[victim]));
        workers[victim] = start_worker(ids[victim] = next++);
    }
    yard->over = true;
    for (int i = 0; i < WORKERS; i++)
        expect(team_join(workers[i]));
    expect_eq(locked(1), 64);
    munmap(yard, sizeof *yard);
    close_stripes();
}

/* Checks no limit: the machine may be busy. */
TEST(what_a_lock_costs)
{
    enum { TIMES = 200000 };
    uint64_t best = UINT64_MAX;
    open_stripes();
    for (int round = 0; round < 5; round++) {
        uint64_t start = clock_ns();
        for (int i = 0; i < TIMES; i++) {
            net_lock_table_lock(lock_table, block((size_t)i & 15));
            net_lock_table_unlock(lock_table, block((size_t)i & 15));
        }
        uint64_t ns = (clock_ns() - start) / TIMES;
        best = ns < best ? ns : best;
    }
    printf("lock and unlock: %llu ns\n", (unsigned long long)best);
    close_stripes();
}
