/* unit_mpi_gather_plan.c: tests the steps of a gather: every rank is in one of them, in order, and no step has too many bytes. */
#include "test.h"

#include <limits.h>

#include "mpi/observe/gather_plan.h"

enum { RANKS = 5000 };

static int lengths[RANKS], places[RANKS];

/* Walks through the steps. Returns the bytes of all. */
static uint64_t walk(int ranks, int most) {
    uint64_t total = 0;
    for (int begin = 0, end; begin < ranks; begin = end) {
        int64_t step = 0;
        end = gather_plan(lengths, places, begin, ranks, most);
        expect(end > begin && end <= ranks);
        for (int i = begin; i < end; i++) {
            expect_eq(places[i], step);
            step += lengths[i];
        }
        expect(step <= most || end == begin + 1);
        total += (uint64_t)step;
    }
    return total;
}

TEST(more_bytes_than_an_int_counts)
{
    for (int i = 0; i < RANKS; i++)
        lengths[i] = 600000;
    expect_eq(walk(RANKS, 1 << 19), 600000ll * RANKS);
    expect_eq(walk(RANKS, INT_MAX), 600000ll * RANKS);
}

TEST(a_rank_with_more_than_a_step)
{
    lengths[0] = 10;
    lengths[1] = INT_MAX;
    lengths[2] = INT_MAX;
    lengths[3] = 10;
    expect_eq(walk(4, 100), 20 + 2ll * INT_MAX);
}

TEST(ranks_without_data)
{
    memset(lengths, 0, sizeof lengths);
    expect_eq(gather_plan(lengths, places, 0, RANKS, 100), RANKS);
    expect_eq(walk(RANKS, 100), 0);
}
