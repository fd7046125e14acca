/* unit_data_accumulate.c: tests sums of all types, alone and under locks. The tests count how often a
 * lock is taken. */
#include "test.h"

#include "accumulate_help.h"
#include "base/random.h"
#include "lock_help.h"
#include "net_help.h"

enum { BLOCKS = 8, SPACE = BLOCKS * LOCK_TABLE_GRAIN };
static _Alignas(LOCK_TABLE_GRAIN) char there[SPACE], here[SPACE], model[SPACE];
static struct random dice;

TEST(grains)
{
    expect_eq(data_accumulate_grain(ACC_INT), sizeof(int));
    expect_eq(data_accumulate_grain(ACC_LONG), sizeof(long));
    expect_eq(data_accumulate_grain(ACC_FLOAT), 4);
    expect_eq(data_accumulate_grain(ACC_DOUBLE), 8);
    expect_eq(data_accumulate_grain(ACC_COMPLEX), 8);
    expect_eq(data_accumulate_grain(ACC_DOUBLE_COMPLEX), 16);
    expect_eq(data_accumulate_grain(-1), 0);
    expect_eq(data_accumulate_grain(TYPES), 0);
}

static void compare_plain(int type, size_t to, size_t from, size_t bytes) {
    union element s = random_scale(type, &dice);
    fill_elements(type, &dice, there + to, bytes + 64);
    fill_elements(type, &dice, here + from, bytes + 64);
    memcpy(model + to, there + to, bytes + 64);
    for (size_t i = 0; i < bytes; i += data_accumulate_grain(type))
        naive_add(type, &s, model + to + i, here + from + i);
    data_accumulate_unlocked(type, &s, there + to, here + from, bytes);
    expect(!memcmp(there + to, model + to, bytes + 64));
}

TEST(all_types_at_all_places)
{
    random_seed(&dice, 1);
    for (int type = 0; type < TYPES; type++)
        for (size_t to = 0; to < 17; to++)
            for (size_t from = 0; from < 17; from++)
                for (size_t count = 0; count < 40; count += 1 + count / 8)
                    compare_plain(type, to, from, count * data_accumulate_grain(type));
}

TEST(integers_wrap)
{
    int a = INT32_MAX, b = 2, s = INT32_MIN, one = 1;
    long x = INT64_MAX, y = 1, t = 1;
    data_accumulate_unlocked(ACC_INT, &one, &a, &b, sizeof a);
    expect_eq(a, INT32_MIN + 1);
    data_accumulate_unlocked(ACC_INT, &s, &a, &one, sizeof a);
    expect_eq(a, 1);
    data_accumulate_unlocked(ACC_LONG, &t, &x, &y, sizeof x);
    expect_eq(x, INT64_MIN);
}

/* 1 + i times (3 + 4i): real and imaginary parts do not mix. */
TEST(complex_products)
{
    double to[2] = {10, 20}, from[2] = {3, 4}, s[2] = {1, 1};
    float small_to[2] = {10, 20}, small_from[2] = {3, 4}, small_s[2] = {1, 1};
    data_accumulate_unlocked(ACC_DOUBLE_COMPLEX, s, to, from, sizeof to);
    expect(to[0] == 9 && to[1] == 27);
    data_accumulate_unlocked(ACC_COMPLEX, small_s, small_to, small_from, sizeof small_to);
    expect(small_to[0] == 9 && small_to[1] == 27);
}

/* A scale of 1 + 0i does not multiply: infinity times 0 would be NaN. */
TEST(a_scale_of_one_keeps_infinity)
{
    double to[2] = {1, 1}, from[2] = {__builtin_inf(), 0}, one[2] = {1, 0};
    data_accumulate_unlocked(ACC_DOUBLE_COMPLEX, one, to, from, sizeof to);
    expect(__builtin_isinf(to[0]) && to[1] == 1);
}

TEST(each_block_is_locked_once)
{
    struct net_lock_table *s = open_stripes();
    double one = 1;
    memset(there, 0, SPACE);
    memset(here, 0, SPACE);
    forget_lock_counts();
    data_accumulate_locked(s, ACC_DOUBLE, &one, there + 8, here, 3 * LOCK_TABLE_GRAIN);
    expect_eq(lock_count, 4);
    expect_eq(unlock_count, 4);
    forget_lock_counts();
    expect_eq(data_accumulate_try(s, ACC_DOUBLE, &one, there + 8, here, 3 * LOCK_TABLE_GRAIN),
              3 * LOCK_TABLE_GRAIN);
    expect_eq(try_count, 4);
    expect_eq(unlock_count, 4);
    forget_lock_counts();
    data_accumulate_locked(s, ACC_DOUBLE, &one, there, here, 0);
    expect_eq(lock_count, 0);
    close_stripes(s);
}

/* An element across two blocks belongs to the first: a row that ends with it does not lock the second. */
TEST(elements_across_blocks_count_to_the_first)
{
    struct net_lock_table *s = open_stripes();
    union element scale = random_scale(ACC_DOUBLE, &dice);
    double value = 1, one = 1, sum;
    char *edge = there + LOCK_TABLE_GRAIN - 4;
    memset(there, 0, SPACE);
    forget_lock_counts();
    data_accumulate_locked(s, ACC_DOUBLE, &one, edge, &value, sizeof value);
    memcpy(&sum, edge, sizeof sum);
    expect(sum == 1);
    expect_eq(lock_count, 1);
    for (int type = 0; type < TYPES; type++) {
        size_t bytes = 2 * LOCK_TABLE_GRAIN + 16;
        scale = random_scale(type, &dice);
        fill_elements(type, &dice, there + 2, bytes);
        fill_elements(type, &dice, here, bytes);
        memcpy(model, there, SPACE);
        for (size_t i = 0; i < bytes; i += data_accumulate_grain(type))
            naive_add(type, &scale, model + 2 + i, here + i);
        data_accumulate_locked(s, type, &scale, there + 2, here, bytes);
        expect(!memcmp(there, model, SPACE));
    }
    close_stripes(s);
}

/* The parts of a complex element may be added to as doubles, each under the lock of its own block. */
TEST(complex_elements_across_blocks_take_both_locks)
{
    struct net_lock_table *s = open_stripes();
    double one[2] = {1, 0}, value[2] = {3, 4}, *edge = (double *)(there + LOCK_TABLE_GRAIN - 8);
    memset(there, 0, SPACE);
    for (int part = 0; part < 2; part++) {
        net_lock_table_lock(s, &edge[part]);
        expect_eq(data_accumulate_try(s, ACC_DOUBLE_COMPLEX, one, edge, value, sizeof value), 0);
        expect(edge[0] == 0 && edge[1] == 0);
        net_lock_table_unlock(s, &edge[part]);
        expect(!lock_is_held(s, &edge[0]) && !lock_is_held(s, &edge[1]));
    }
    expect_eq(data_accumulate_try(s, ACC_DOUBLE_COMPLEX, one, edge, value, sizeof value), sizeof value);
    data_accumulate_locked(s, ACC_DOUBLE_COMPLEX, one, edge, value, sizeof value);
    expect(edge[0] == 6 && edge[1] == 8);
    expect(!lock_is_held(s, &edge[0]) && !lock_is_held(s, &edge[1]));
    close_stripes(s);
}

/* 8-byte rows: as many locks as blocks, not as rows; ascending, descending, and in small groups of rows. */
TEST(rows_of_one_block_share_its_lock)
{
    struct net_lock_table *s = open_stripes();
    struct patch p, row = data_patch_row(here, 8 * 1024);
    double one = 1;
    memset(there, 0, SPACE);
    memset(here, 0, SPACE);
    data_patch_make(&p, there, (int[]){16}, (int[]){8, 1024}, 1);
    forget_lock_counts();
    data_accumulate_patch(s, ACC_DOUBLE, &one, &p, &row);
    expect_eq(lock_count, 4);
    data_patch_make(&p, there + 1023 * 16, (int[]){-16}, (int[]){8, 1024}, 1);
    forget_lock_counts();
    data_accumulate_patch(s, ACC_DOUBLE, &one, &p, &row);
    expect_eq(lock_count, 4);
    data_patch_make(&p, there, (int[]){16, 64}, (int[]){8, 2, 512}, 2);
    forget_lock_counts();
    expect_eq(data_accumulate_patch_try(s, ACC_DOUBLE, &one, &p, 0, here, 8 * 1024), 8 * 1024);
    expect_eq(try_count, 8);
    expect_eq(unlock_count, 8);
    close_stripes(s);
}

/* The same element repeatedly: the lock is released after each LOCK_TABLE_GRAIN of data. */
TEST(no_lock_is_kept_for_long)
{
    struct net_lock_table *s = open_stripes();
    struct patch p, row = data_patch_row(here, 8 * 8192 / 2);
    double one = 1, sum;
    memset(there, 0, SPACE);
    for (size_t i = 0; i < SPACE / 8; i++)
        memcpy(here + 8 * i, &one, 8);
    data_patch_make(&p, there + 8, (int[]){0}, (int[]){8, 4096}, 1);
    forget_lock_counts();
    data_accumulate_patch(s, ACC_DOUBLE, &one, &p, &row);
    memcpy(&sum, there + 8, sizeof sum);
    expect(sum == 4096);
    expect_eq(lock_count, 4096 * 8 / LOCK_TABLE_GRAIN);
    close_stripes(s);
}

enum { ONES = 3 * LOCK_TABLE_GRAIN / 4 };
static int ones[ONES];

static int int_at(size_t i) {
    int value;
    memcpy(&value, there + 4 * i, 4);
    return value;
}

static void clear(void) {
    memset(there, 0, SPACE);
    for (int i = 0; i < ONES; i++)
        ones[i] = 1;
}

TEST(a_held_lock_ends_a_try_at_its_first_byte)
{
    struct net_lock_table *s = open_stripes();
    char *held = there + 2 * LOCK_TABLE_GRAIN + 100;
    size_t expected = 0;
    int one = 1;
    clear();
    net_lock_table_lock(s, held);
    while (!lock_is_held(s, there + 400 + expected))
        expected += 4;
    expect(expected <= 2 * LOCK_TABLE_GRAIN - 400);
    size_t done = data_accumulate_try(s, ACC_INT, &one, there + 400, ones, sizeof ones);
    expect_eq(done, expected);
    expect_eq(data_accumulate_try(s, ACC_INT, &one, held, ones, 4), 0);
    for (size_t i = 0; i < SPACE / 4; i++)
        expect_eq(int_at(i), i >= 100 && i < 100 + done / 4);
    net_lock_table_unlock(s, held);
    expect_eq(data_accumulate_try(s, ACC_INT, &one, there + 400 + done, ones, sizeof ones - done),
              sizeof ones - done);
    for (size_t i = 0; i < SPACE / 4; i++)
        expect_eq(int_at(i), i >= 100 && i < 100 + ONES);
    close_stripes(s);
}

/* Three integers in a row, rows 40 bytes apart: row 102 crosses two blocks, and is done in two parts. */
TEST(a_try_over_rows_goes_on_where_it_stopped)
{
    enum { ROWS = 500, BYTES = 12 * ROWS, FIRST = 8 };
    struct net_lock_table *s = open_stripes();
    struct patch p;
    size_t done = 0, expected = 0;
    int one = 1;
    clear();
    data_patch_make(&p, there + FIRST, (int[]){40}, (int[]){12, ROWS}, 1);
    for (int block = 1; block < 4; block++) {
        net_lock_table_lock(s, there + block * LOCK_TABLE_GRAIN);
        while (!lock_is_held(s, there + FIRST + expected / 12 * 40 + expected % 12))
            expected += 4;
        done += data_accumulate_patch_try(s, ACC_INT, &one, &p, done, ones, BYTES - done);
        expect_eq(done, expected);
        net_lock_table_unlock(s, there + block * LOCK_TABLE_GRAIN);
    }
    done += data_accumulate_patch_try(s, ACC_INT, &one, &p, done, ones, BYTES - done);
    expect_eq(done, BYTES);
    for (int i = 0; i < SPACE / 4; i++)
        expect_eq(int_at((size_t)i), i >= 2 && i < 2 + 10 * ROWS && (i - 2) % 10 < 3);
    close_stripes(s);
}

/* Every kind of update, on integers in two or more blocks; they are aligned, so that none crosses blocks. */
static void add_guarded(void) {
    struct net_lock_table *s = open_stripes();
    struct patch p, row = data_patch_row(here, 12 * 500);
    const int one = 1;
    guarded = true;
    mprotect(there, SPACE, PROT_READ);
    data_accumulate_locked(s, ACC_INT, &one, there + 100, here, 3 * LOCK_TABLE_GRAIN);
    data_accumulate_try(s, ACC_INT, &one, there + 100, here, 3 * LOCK_TABLE_GRAIN);
    for (int stride = -44; stride <= 44; stride += 4) {
        if (stride > -12 && stride < 12)
            continue;
        data_patch_make(&p, there + SPACE / 2 + 8, (int[]){stride, 24 * stride}, (int[]){12, 20, 15}, 2);
        row = data_patch_row(here, p.bytes);
        data_accumulate_patch(s, ACC_INT, &one, &p, &row);
        data_accumulate_patch_try(s, ACC_INT, &one, &p, 8, here, p.bytes - 8);
    }
    _exit(0);
}

TEST(nothing_is_written_without_its_lock)
{
    if (sysconf(_SC_PAGESIZE) > LOCK_TABLE_GRAIN) {
        printf("skipped: pages are larger than blocks\n");
        return;
    }
    pid_t child = team_fork();
    if (!child)
        add_guarded();
    expect(team_join(child));
}

/* ---- several processes ---- */

enum { CHILDREN = 3, ROUNDS = 2000, AREA = 2 * LOCK_TABLE_GRAIN, INTS = AREA / 4 };

/* Tries until all is done, as a helper does between other work. */
static void try_until_done(struct net_lock_table *s, const struct patch *to, const int *values) {
    const int scale = 5;
    for (size_t done = 0; done < to->bytes; sched_yield())
        done += data_accumulate_patch_try(s, ACC_INT, &scale, to, done, (const char *)values + done,
                                          to->bytes - done);
}

/* Adds 7 to each element, and 3 or 5 more to those at even and odd places. */
static void add_rounds(struct net_lock_table *s, char *sums, const int *values) {
    struct patch even, odd, row = data_patch_row(values, AREA / 2);
    const int seven = 7, three = 3;
    data_patch_make(&even, sums, (int[]){8}, (int[]){4, INTS / 2}, 1);
    data_patch_make(&odd, sums + AREA - 4, (int[]){-8}, (int[]){4, INTS / 2}, 1);
    for (int i = 0; i < ROUNDS; i++) {
        data_accumulate_locked(s, ACC_INT, &seven, sums, values, AREA);
        data_accumulate_patch(s, ACC_INT, &three, &even, &row);
        try_until_done(s, &odd, values);
    }
}

TEST(processes_at_once_lose_nothing)
{
    struct net_lock_table *s = open_stripes();
    int *sums = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    static int values[INTS];
    pid_t children[CHILDREN];
    team_open(CHILDREN);
    for (int i = 0; i < INTS; i++)
        values[i] = 1;
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = team_fork();
        if (!children[i]) {
            meet();
            add_rounds(s, (char *)sums, values);
            _exit(0);
        }
    }
    for (int i = 0; i < CHILDREN; i++)
        expect(team_join(children[i]));
    for (int i = 0; i < INTS; i++)
        expect_eq(sums[i], CHILDREN * ROUNDS * (i % 2 ? 12 : 10));
    munmap(sums, AREA);
    team_close();
    close_stripes(s);
}

/* ---- elements of different sizes ---- */

enum { CELLS = 2 /* doubles around the edge of two blocks, and as many floats around the next edge */ };

/* Children add small integers, whose sums are exact, and add up what each cell should hold. */
struct mixed {
    _Alignas(LOCK_TABLE_GRAIN) char memory[3 * LOCK_TABLE_GRAIN];
    double expected[CHILDREN][2][CELLS];
};

static double *mixed_doubles(struct mixed *m) {
    return (double *)(m->memory + LOCK_TABLE_GRAIN) - CELLS / 2;
}

static float *mixed_floats(struct mixed *m) {
    return (float *)(m->memory + 2 * LOCK_TABLE_GRAIN) - CELLS / 2;
}

/* Adds to one number, real or complex, anywhere in the doubles or floats; by a wait or by tries. */
static void mixed_add(struct net_lock_table *s, struct mixed *m, int child, struct random *r) {
    static const double one[2] = {1, 0};
    static const float small_one[2] = {1, 0};
    bool is_float = random_below(r, 2), is_complex = random_below(r, 2);
    unsigned width = 1 + is_complex, at = random_below(r, CELLS - width + 1);
    double values[2] = {1 + random_below(r, 3), 1 + random_below(r, 3)};
    float small_values[2] = {(float)values[0], (float)values[1]};
    int type =
        is_float ? (is_complex ? ACC_COMPLEX : ACC_FLOAT) : (is_complex ? ACC_DOUBLE_COMPLEX : ACC_DOUBLE);
    void *to = is_float ? (void *)(mixed_floats(m) + at) : (void *)(mixed_doubles(m) + at);
    const void *scale = is_float ? (const void *)small_one : one;
    const void *from = is_float ? (const void *)small_values : values;
    for (unsigned i = 0; i < width; i++)
        m->expected[child][is_float][at + i] += values[i];
    if (random_below(r, 2))
        data_accumulate_locked(s, type, scale, to, from, data_accumulate_grain(type));
    else
        while (!data_accumulate_try(s, type, scale, to, from, data_accumulate_grain(type)))
            sched_yield();
}

static void mixed_child(struct net_lock_table *s, struct mixed *m, int child) {
    enum { TIMES = 100000 };
    struct random r;
    random_seed(&r, (uint64_t)child + 1);
    meet();
    for (int i = 0; i < TIMES; i++)
        mixed_add(s, m, child, &r);
    _exit(0);
}

TEST(elements_of_different_sizes_lose_nothing)
{
    struct net_lock_table *s = open_stripes();
    struct mixed *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[CHILDREN];
    team_open(CHILDREN);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = team_fork();
        if (!children[i])
            mixed_child(s, m, i);
    }
    for (int i = 0; i < CHILDREN; i++)
        expect(team_join(children[i]));
    for (int at = 0; at < CELLS; at++) {
        double sums[2] = {0};
        for (int i = 0; i < CHILDREN; i++)
            for (int kind = 0; kind < 2; kind++)
                sums[kind] += m->expected[i][kind][at];
        expect(mixed_doubles(m)[at] == sums[0]);
        expect(mixed_floats(m)[at] == (float)sums[1]);
    }
    munmap(m, sizeof *m);
    team_close();
    close_stripes(s);
}
