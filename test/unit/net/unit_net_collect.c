/* unit_net_collect.c: tests that the contributions of some ranks are gathered in slices, and with little memory. */
#include "test.h"

#include "net/boot/collect.h"

enum { ITEM = 520 };

/* A job of which only this process exists: the others contribute a pattern. */
struct fake {
    size_t from; /* first byte of the next slice */
    int size, rounds, fail_at;
};

static unsigned char pattern(int rank, size_t at) {
    return (unsigned char)((unsigned)rank * 31u + (unsigned)at * 7u);
}

static int gather(void *arg, const void *mine, void *all, size_t bytes) {
    struct fake *f = arg;
    (void)mine;
    if (++f->rounds == f->fail_at)
        return -5;
    for (int rank = 0; rank < f->size; rank += 1 + (rank % 997)) /* those that nobody asks for are left out */
        for (size_t i = 0; i < bytes; i++)
            ((unsigned char *)all)[(size_t)rank * bytes + i] = pattern(rank, f->from + i);
    f->from += bytes;
    return 0;
}

static int asked[4]; /* ranks */

static int rank_of(const void *arg, int i) {
    return ((const int *)arg)[i];
}

static void collect(int size, int rounds) {
    struct fake f = {.size = size};
    struct net_boot boot = {.size = size, .arg = &f, .gather = gather};
    unsigned char mine[ITEM] = {0}, table[4][ITEM];
    void *scratch = malloc(net_collect_scratch(size, ITEM));
    expect_eq(net_boot_collect(&boot, mine, ITEM, scratch, 4, rank_of, asked, table), 0);
    expect_eq(f.rounds, rounds);
    expect_eq(f.from, ITEM);
    for (int i = 0; i < 4; i++)
        for (size_t k = 0; k < ITEM; k++)
            expect_eq(table[i][k], pattern(asked[i], k));
    f = (struct fake){.size = size};
    expect_eq(net_boot_collect(&boot, mine, ITEM, scratch, 4, rank_of, asked, NULL), 0);
    expect_eq(f.rounds, rounds);
    f = (struct fake){.size = size, .fail_at = rounds};
    expect_eq(net_boot_collect(&boot, mine, ITEM, scratch, 4, rank_of, asked, table), -5);
    free(scratch);
}

TEST(slices_make_up_the_whole)
{
    for (int i = 0, rank = 0; i < 4; i++, rank += 1 + (rank % 997))
        asked[i] = rank;
    collect(1 << 20, 33); /* 16 MB in slices of 16 bytes */
    expect_eq(net_collect_scratch(1 << 20, ITEM), 16 << 20);
    collect(1 << 18, 9); /* 64 bytes */
}

TEST(small_jobs_take_one_round)
{
    expect_eq(net_collect_scratch(64, ITEM), 64 * ITEM);
    expect_eq(net_collect_scratch(30000, ITEM), 30000ll * ITEM);
    expect(net_collect_scratch(1000000, ITEM) <= 16 << 20);
    expect_eq(net_collect_scratch(100 << 20, ITEM), 16ll * (100 << 20));
}
