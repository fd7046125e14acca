/* unit_mpi_memory_table.c: tests the table of the ranks' memory: every value survives, widths follow the ranges, and ranks of a
 * process are found, in permuted windows in a number of steps that grows with the ranks only. */
#include "test.h"

#include "mpi/windows/serving/state/memory_table.c"

#include "base/random.h"

enum { MOST = 3000 };

static struct rank_memory parts[MOST];
static unsigned char rows[MOST * 32];

static void build(struct memory_table *t, int size, bool one_world) {
    struct memory_table_range range = memory_table_no_range;
    for (int i = 0; i < size; i++)
        memory_table_extend(&range, &parts[i], i, size, one_world);
    memory_table_plan(t, size, one_world, &range);
    t->rows = t->row_bytes ? rows : NULL;
    for (int i = 0; i < size; i++)
        memory_table_write(t, i, &parts[i], rows + (size_t)i * t->row_bytes);
}

static void check(int size, bool one_world) {
    struct memory_table t;
    build(&t, size, one_world);
    for (int i = 0; i < size; i++) {
        struct rank_memory m = memory_table_read(&t, i);
        expect(memcmp(&m, &parts[i], sizeof m) == 0);
        expect_eq(memory_table_process(&t, i), parts[i].process);
        expect_eq(memory_table_find(&t, parts[i].process, 0), i);
    }
}

TEST(nothing_is_stored_where_all_are_equal)
{
    struct memory_table t;
    for (int i = 0; i < MOST; i++)
        parts[i] = (struct rank_memory){
            .base = 0x7f0000001000, .bytes = 4096, .unit = 8, .process = (uint64_t)i + 17};
    build(&t, MOST, true);
    expect_eq(t.row_bytes, 0);
    check(MOST, true);
    expect_eq(memory_table_find(&t, 16, 0), -1);
    expect_eq(memory_table_find(&t, MOST + 17, 0), -1);
}

TEST(rows_are_as_wide_as_the_ranges_need)
{
    struct memory_table t;
    for (int i = 0; i < MOST;
         i++) /* addresses of 47 bits, some sizes, one unit, the ranks of MPI_COMM_WORLD */
        parts[i] = (struct rank_memory){
            .base = (uint64_t)i << 35 | 64, .bytes = (uint64_t)i % 256, .unit = 8, .process = (uint64_t)i};
    build(&t, MOST, true);
    expect_eq(t.widths[MEMORY_BASE], 6);
    expect_eq(t.widths[MEMORY_BYTES], 1);
    expect_eq(t.widths[MEMORY_UNIT], 0);
    expect_eq(t.widths[MEMORY_PROCESS], 0);
    expect_eq(t.row_bytes, 7);
    check(MOST, true);
    for (int i = 0; i < MOST;
         i++) /* sizes of up to 256 TB, two units, a million ranks in another order: 16 bytes */
        parts[i].bytes = (uint64_t)i << 36, parts[i].unit = 1 + (uint64_t)i % 2,
        parts[i].process = 999999 - (uint64_t)i * 300;
    build(&t, MOST, true);
    expect_eq(t.row_bytes, 16);
    check(MOST, true);
}

TEST(every_value_survives)
{
    struct random r;
    random_seed(&r, 5);
    for (int round = 0; round < 200; round++) {
        int size = 1 + (int)(random_next(&r) % 70);
        bool one_world = round % 2;
        unsigned shift[3] = {random_next(&r) % 64, random_next(&r) % 64, random_next(&r) % 64};
        for (int i = 0; i < size; i++)
            parts[i] = (struct rank_memory){.base = random_next(&r) >> shift[0],
                                            .bytes = random_next(&r) >> shift[1],
                                            .unit = random_next(&r) >> shift[2],
                                            .process = one_world ? (uint64_t)((i * 37 + round) % 71) * 1000
                                                                 : random_mix((uint64_t)(i + 100 * round))};
        check(size, one_world);
    }
}

static int met[MOST];
static bool note(void *arg, int a, int b) {
    met[a] = b;
    return ++*(int *)arg == MOST; /* the last ends the walk */
}

/* b has every other process of a, in reverse order. */
static void meet(bool one_world) {
    static unsigned char rows_a[sizeof rows];
    struct memory_table a, b;
    int visits = 0;
    for (int i = 0; i < MOST; i++)
        parts[i] =
            (struct rank_memory){.unit = 1, .process = one_world ? (uint64_t)i : random_mix((uint64_t)i)};
    build(&a, MOST, one_world);
    memcpy(rows_a, rows, sizeof rows);
    a.rows = a.row_bytes ? rows_a : NULL;
    for (int i = 0; i < MOST / 2; i++)
        parts[i].process =
            one_world ? (uint64_t)(MOST - 2 - 2 * i) : random_mix((uint64_t)(MOST - 2 - 2 * i));
    build(&b, MOST / 2, one_world);
    memset(met, -1, sizeof met);
    expect_eq(memory_table_common(&a, &b, note, &visits), 0);
    expect_eq(visits, MOST / 2);
    for (int i = 0; i < MOST; i++)
        expect_eq(met[i], i % 2 ? -1 : (MOST - 2 - i) / 2);
    visits = MOST - 1;
    expect_eq(memory_table_common(&b, &a, note, &visits), 0);
    expect_eq(visits, MOST);
}

TEST(common_processes_are_found)
{
    meet(true);
    meet(false);
}
