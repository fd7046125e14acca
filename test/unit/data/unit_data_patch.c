/* unit_data_patch.c: tests strided areas: which are valid, what they cover, how they are encoded.
 * unit_data_patch_random.c compares random ones with simple loops. */
#include "test.h"

#include <errno.h>
#include <unistd.h>

#include "patch_help.h"

static char memory[1 << 16], other[1 << 16];

TEST(levels_that_continue_each_other_are_merged)
{
    struct patch p;
    expect_eq(data_patch_make(&p, memory, (int[]){8, 80}, (int[]){8, 10, 5}, 2), 0);
    expect_eq(p.levels, 0);
    expect_eq(p.count[0], 400);
    expect_eq(data_patch_make(&p, memory, (int[]){16, 160}, (int[]){8, 10, 5}, 2), 0);
    expect_eq(p.levels, 1);
    expect_eq(p.stride[0], 16);
    expect_eq(p.count[1], 50);
    expect_eq(data_patch_make(&p, memory, (int[]){-16, -160}, (int[]){8, 10, 5}, 2), 0);
    expect_eq(p.levels, 1);
    expect_eq(p.count[1], 50);
    expect_eq(data_patch_make(&p, memory, (int[]){16, 161}, (int[]){8, 10, 5}, 2), 0);
    expect_eq(p.levels, 2);
    expect_eq(p.bytes, 400);
}

TEST(levels_of_one_vanish)
{
    struct patch p;
    expect_eq(data_patch_make(&p, memory, (int[]){1000, 16, -5}, (int[]){8, 1, 10, 1}, 3), 0);
    expect_eq(p.levels, 1);
    expect_eq(p.stride[0], 16);
    expect_eq(p.count[1], 10);
}

TEST(a_pair_is_merged_only_where_both_allow_it)
{
    struct patch a, b;
    expect_eq(data_patch_make_pair(&a, memory, (int[]){8, 80, 400}, &b, other, (int[]){8, 96, 480},
                                   (int[]){8, 10, 5, 3}, 3),
              0);
    expect_eq(a.levels, 1);
    expect_eq(b.levels, 1);
    expect_eq(a.count[0], 80);
    expect_eq(b.count[0], 80);
    expect_eq(a.count[1], 15);
    expect_eq(b.count[1], 15);
    expect_eq(a.stride[0], 80);
    expect_eq(b.stride[0], 96);
}

TEST(wrong_arguments_are_refused)
{
    int counts[PATCH_LEVELS + 2] = {8, 1, 1, 1, 1, 1, 1, 1, 1}, strides[PATCH_LEVELS + 1] = {0};
    struct patch p, q;
    expect_eq(data_patch_make(&p, memory, strides, counts, PATCH_LEVELS), 0);
    expect_eq(data_patch_make(&p, memory, strides, counts, PATCH_LEVELS + 1), -EINVAL);
    expect_eq(data_patch_make(&p, memory, strides, counts, -1), -EINVAL);
    counts[3] = -1;
    expect_eq(data_patch_make(&p, memory, strides, counts, 3), -EINVAL);
    expect_eq(data_patch_make_pair(&p, memory, strides, &q, other, strides, counts, 3), -EINVAL);
    expect_eq(data_patch_make(&p, memory, strides, counts, 2), 0);
}

TEST(more_bytes_than_can_exist_are_refused)
{
    enum { MANY = 1 << 30 };
    int counts[] = {MANY, MANY, MANY, 0}, strides[] = {1, 1, 1};
    struct patch p;
    expect_eq(data_patch_make(&p, memory, strides, counts, 1), 0);
    expect_eq(data_patch_make(&p, memory, strides, counts, 2), -EINVAL);
    expect_eq(data_patch_make(&p, memory, strides, counts, 3), 0); /* empty, whatever the other counts are */
    expect_eq(p.bytes, 0);
}

static bool count_call(void *arg, char *place, uint64_t offset, size_t bytes) {
    ++*(unsigned *)arg;
    return true;
}

TEST(nothing_is_left_alone)
{
    struct patch p, row = data_patch_row(other, 0);
    char *low, *high;
    unsigned calls = 0;
    memset(memory, 1, sizeof memory);
    expect_eq(data_patch_make(&p, memory + 100, (int[]){-16, 7}, (int[]){8, 0, 5}, 2), 0);
    expect_eq(p.bytes, 0);
    data_patch_hull(&p, &low, &high);
    expect(low == high);
    data_patch_pack(&p, 0, other, 0);
    data_patch_unpack(&p, 0, other, 0);
    data_patch_copy(&p, &row);
    data_patch_copy(&row, &p);
    expect_eq(data_patch_walk(&p, 0, 0, count_call, &calls), 0);
    expect_eq(calls, 0);
    for (size_t i = 0; i < sizeof memory; i++)
        expect_eq(memory[i], 1);
}

TEST(hull_reaches_both_ways)
{
    struct patch p;
    char *low, *high;
    expect_eq(data_patch_make(&p, memory + 5000, (int[]){-100, 1000, -7}, (int[]){8, 4, 3, 2}, 3), 0);
    data_patch_hull(&p, &low, &high);
    expect_eq(low - memory, 5000 - 300 - 7);
    expect_eq(high - memory, 5000 + 2000 + 8);
}

TEST(hull_that_leaves_the_address_space_is_cut)
{
    struct patch p = {.base = memory,
                      .levels = 2,
                      .bytes = 4,
                      .stride = {INT64_MAX, INT64_MIN},
                      .count = {1, UINT32_MAX, UINT32_MAX}};
    char *low, *high;
    data_patch_hull(&p, &low, &high);
    expect_eq((uintptr_t)low, 0);
    expect((uintptr_t)high == UINTPTR_MAX);
}

static bool stop_third(void *arg, char *place, uint64_t offset, size_t bytes) {
    return ++*(unsigned *)arg < 3;
}

TEST(a_walk_ends_where_it_is_told)
{
    struct patch p;
    unsigned calls = 0;
    expect_eq(data_patch_make(&p, memory, (int[]){16}, (int[]){8, 10}, 1), 0);
    expect_eq(data_patch_walk(&p, 5, 60, stop_third, &calls), 3 + 8);
    expect_eq(calls, 3);
}

/* A level merged to more than 32 bits would not fit into the encoding. */
TEST(large_counts_survive_the_wire)
{
    enum { MANY = 1 << 20 };
    struct patch p, q;
    char wire[PATCH_WIRE];
    struct patch row = data_patch_row(memory, (size_t)5 << 32);
    expect_eq(data_patch_read(&q, wire, data_patch_write(&row, wire)), 20);
    expect(!memcmp(&row, &q, sizeof q));
    expect_eq(data_patch_make(&p, memory, (int[]){2, 2 * MANY}, (int[]){1, MANY, MANY}, 2), 0);
    expect_eq(p.levels, 2);
    expect_eq(data_patch_read(&q, wire, data_patch_write(&p, wire)), (int)data_patch_write(&p, wire));
    expect(!memcmp(&p, &q, sizeof q));
    expect_eq(data_patch_make(&p, memory, (int[]){2, 2 * MANY}, (int[]){1, MANY, 4095}, 2), 0);
    expect_eq(p.levels, 1);
    expect_eq(data_patch_read(&q, wire, data_patch_write(&p, wire)), (int)data_patch_write(&p, wire));
    expect(!memcmp(&p, &q, sizeof q));
}

/* Overwrites a field of an encoded patch, and decodes it. */
static int read_with(size_t at, uint64_t value, size_t bytes) {
    struct patch p, q;
    char wire[PATCH_WIRE];
    data_patch_make(&p, memory, (int[]){16, 320}, (int[]){8, 10, 5}, 2);
    size_t length = data_patch_write(&p, wire);
    memcpy(wire + at, &value, bytes);
    return data_patch_read(&q, wire, length);
}

TEST(what_is_no_patch_is_not_read)
{
    enum { LEVELS = 8, STRIDE = 12, COUNT = 28, FIRST_LEVEL = 36, LENGTH = 44 };
    struct patch q, empty = data_patch_row(memory, 0);
    char wire[PATCH_WIRE];
    expect_eq(read_with(LEVELS, 2, 4), LENGTH);
    expect_eq(read_with(LEVELS, 3, 4), -EPROTO); /* truncated */
    expect_eq(read_with(LEVELS, PATCH_LEVELS + 1, 4), -EPROTO);
    expect_eq(read_with(LEVELS, UINT32_MAX, 4), -EPROTO);
    expect_eq(read_with(COUNT, 0, 8), -EPROTO);
    expect_eq(read_with(FIRST_LEVEL, 0, 4), -EPROTO);
    expect_eq(read_with(COUNT, UINT64_MAX, 8), -EPROTO);
    expect_eq(read_with(COUNT, UINT64_MAX / 50 + 1, 8), -EPROTO);
    expect_eq(read_with(STRIDE, (uint64_t)INT64_MAX, 8), -EPROTO);
    expect_eq(read_with(STRIDE, (uint64_t)INT64_MIN, 8), -EPROTO);
    expect_eq(read_with(0, UINT64_MAX - 100, 8), -EPROTO);
    expect_eq(data_patch_read(&q, wire, data_patch_write(&empty, wire)), -EPROTO);
    expect_eq(data_patch_read(&q, wire, 0), -EPROTO);
}

TEST(a_full_patch_fits_the_wire)
{
    struct patch p, q;
    char wire[PATCH_WIRE + 1];
    int counts[] = {3, 2, 2, 2, 2, 2, 2, 2}, strides[] = {5, 17, 50, 170, 500, 1700, -5000};
    expect_eq(data_patch_make(&p, memory + 10000, strides, counts, PATCH_LEVELS), 0);
    expect_eq(p.levels, PATCH_LEVELS);
    expect_eq(data_patch_write(&p, wire + 1), PATCH_WIRE);
    expect_eq(data_patch_read(&q, wire + 1, PATCH_WIRE), PATCH_WIRE);
    expect(!memcmp(&p, &q, sizeof q));
    expect_eq(data_patch_read(&q, wire + 1, PATCH_WIRE - 1), -EPROTO);
}

/* Large enough for non-temporal stores, where they exist: rows aligned to cache lines and not. */
static void copy_more_than_the_caches(int row, int from_stride, int to_stride) {
    long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    size_t bytes = (size_t)(cache > 0 && cache < 256 << 20 ? cache : 32 << 20) + (1 << 20);
    int rows = (int)(bytes / (size_t)row) + 1, bad = 0;
    char *from = malloc((size_t)rows * (size_t)from_stride), *to = calloc((size_t)rows, (size_t)to_stride);
    struct patch a, b;
    size_t all = (size_t)rows * (size_t)from_stride, period = 127, filled = 0;
    for (; filled < period; filled++)
        from[filled] = (char)(1 + filled * 2654435761u % period);
    for (; filled < all; filled *= 2) /* by blocks: each byte costs a check of ASan */
        memcpy(from + filled, from, filled < all - filled ? filled : all - filled);
    expect_eq(data_patch_make_pair(&a, to + 3, &to_stride, &b, from + 1, &from_stride, (int[]){row, rows}, 1),
              0);
    data_patch_copy(&a, &b);
    for (size_t i = 0; i < (size_t)rows; i++) {
        const char *there = to + i * (size_t)to_stride;
        bad += memcmp(there + 3, from + 1 + i * (size_t)from_stride, (size_t)row) != 0;
        bad += there[2] != 0 || there[3 + row] != 0;
    }
    expect_eq(bad, 0);
    free(from);
    free(to);
}

TEST(copies_larger_than_the_caches)
{
    copy_more_than_the_caches(1024, 1100, 1031);
    copy_more_than_the_caches(4096, 4100, 4160);
    copy_more_than_the_caches(8, 16, 12);
}
