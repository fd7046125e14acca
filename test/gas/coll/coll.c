/* coll.c: tests collective operations and teams. */
#include "test.h"

#include <gasnet_coll.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 4 << 20, ROOM = 1 << 20 };
TEST_SEGMENT(SEGMENT)

static const size_t sizes[] = {0, 1, 8, 1000, 32768, 32769, 100000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static const int in_flags[] = {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC};
static const int out_flags[] = {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC};

/* The i-th combination of flags. */
static int flags_of(int i) {
    return in_flags[i % 3] | out_flags[i / 3 % 3] | (i % 2 ? GASNET_COLL_LOCAL : GASNET_COLL_SINGLE);
}

/* Memory for data, in the segment or outside. */
static char *place(int which, bool in_segment) {
    static char *outside;
    if (!outside && !(outside = malloc(4 * (size_t)ROOM)))
        abort();
    return (in_segment ? (char *)test_segments[test_rank].addr : outside) + (size_t)which * ROOM;
}

/* The data that `rank` sends to `whom`, in this version. */
static void fill(char *to, size_t bytes, int rank, int whom, int version) {
    test_fill(to, bytes, rank * 64 + whom, version);
}

static void check(const char *got, size_t bytes, int rank, int whom, int version) {
    static char wanted[ROOM];
    fill(wanted, bytes, rank, whom, version);
    expect_bytes(got, wanted, bytes);
}

/* A size such that one block of each rank fits. */
static size_t size_of(int i) {
    size_t most = ROOM / (size_t)test_size;
    return sizes[i] < most ? sizes[i] : most;
}

CASE(broadcasts) {
    for (int i = 0; i < SIZES; i++)
        for (int root = 0; root < test_size; root++) {
            int version = i * 16 + root;
            char *dst = place(0, version % 2 == 0), *src = place(1, version % 3 == 0);
            if (test_rank == root)
                fill(src, sizes[i], root, 0, version);
            memset(dst, 0, sizes[i]);
            int flags = flags_of(version);
            if (version % 4 < 2)
                gasnet_coll_broadcast(GASNET_TEAM_ALL, dst, (gasnet_image_t)root, src, sizes[i], flags);
            else
                gasnet_coll_wait_sync(gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, dst, (gasnet_image_t)root,
                                                               src, sizes[i], flags));
            check(dst, sizes[i], root, 0, version);
        }
}

CASE(scatters_and_gathers) {
    for (int i = 0; i < SIZES; i++)
        for (int root = 0; root < test_size; root++) {
            int version = i * 16 + root, flags = flags_of(version);
            size_t bytes = size_of(i);
            char *all = place(0, version % 2 == 0), *one = place(1, version % 3 == 0);
            if (test_rank == root)
                for (int r = 0; r < test_size; r++)
                    fill(all + (size_t)r * bytes, bytes, root, r, version);
            gasnet_coll_scatter(GASNET_TEAM_ALL, one, (gasnet_image_t)root, all, bytes, flags);
            check(one, bytes, root, test_rank, version);
            fill(one, bytes, test_rank, 1, version);
            gasnet_coll_handle_t h =
                gasnet_coll_gather_nb(GASNET_TEAM_ALL, (gasnet_image_t)root, all, one, bytes, flags);
            while (gasnet_coll_try_sync(h) != GASNET_OK)
                ;
            for (int r = 0; test_rank == root && r < test_size; r++)
                check(all + (size_t)r * bytes, bytes, r, 1, version);
        }
}

CASE(everybody_with_everybody) {
    for (int version = 0; version < 2 * SIZES; version++) {
        int flags = flags_of(version);
        size_t bytes = size_of(version % SIZES);
        char *dst = place(0, version % 2 == 0), *src = place(1, version % 3 == 0);
        fill(src, bytes, test_rank, 0, version);
        gasnet_coll_gather_all(GASNET_TEAM_ALL, dst, src, bytes, flags);
        for (int r = 0; r < test_size; r++)
            check(dst + (size_t)r * bytes, bytes, r, 0, version);
        for (int r = 0; r < test_size; r++)
            fill(src + (size_t)r * bytes, bytes, test_rank, r, version);
        gasnet_coll_exchange(GASNET_TEAM_ALL, dst, src, bytes, flags);
        for (int r = 0; r < test_size; r++)
            check(dst + (size_t)r * bytes, bytes, r, test_rank, version);
    }
}

/* With lists of addresses: one per rank, or only this rank's. */
CASE(lists) {
    void **dst = malloc((size_t)test_size * sizeof *dst), **src = malloc((size_t)test_size * sizeof *src);
    if (!dst || !src)
        abort();
    for (int single = 0; single < 2; single++) {
        int flags = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC |
                    (single ? GASNET_COLL_SINGLE : GASNET_COLL_LOCAL);
        for (int r = 0; r < test_size; r++) {
            dst[r] = single ? (void *)((char *)test_segments[r].addr + 4096 * r) : (void *)place(0, false);
            src[r] = single ? (void *)((char *)test_segments[r].addr + ROOM) : (void *)place(1, false);
        }
        char *my_dst = dst[single ? test_rank : 0], *my_src = src[single ? test_rank : 0];
        fill(place(2, false), 100, 0, 9, single);
        gasnet_coll_broadcastM(GASNET_TEAM_ALL, dst, 0, place(2, false), 100, flags);
        check(my_dst, 100, 0, 9, single);
        for (int r = 0; r < test_size; r++)
            fill(my_src + 100 * r, 100, test_rank, r, single);
        gasnet_coll_wait_sync(gasnet_coll_exchangeM_nb(GASNET_TEAM_ALL, dst, src, 100, flags));
        for (int r = 0; r < test_size; r++)
            check(my_dst + 100 * r, 100, r, test_rank, single);
        gasnet_coll_gather_allM(GASNET_TEAM_ALL, dst, src, 100, flags);
        for (int r = 0; r < test_size; r++)
            check(my_dst + 100 * r, 100, r, 0, single);
    }
    free(dst);
    free(src);
}

/* The other calls with lists, and those that only begin. */
CASE(lists_of_all_calls) {
    enum { BYTES = 100, FLAGS = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL };
    char *to = place(0, false), *from = place(1, false), *root = place(2, false);
    void *dst[] = {to}, *src[] = {from};
    gasnet_team_handle_t all = GASNET_TEAM_ALL;
    fill(root, BYTES, 0, 9, 1);
    gasnet_coll_wait_sync(gasnet_coll_broadcastM_nb(all, dst, 0, root, BYTES, FLAGS));
    check(to, BYTES, 0, 9, 1);
    for (int begins = 0; begins < 2; begins++) {
        for (int r = 0; r < test_size; r++) {
            fill(from + BYTES * r, BYTES, test_rank, r, begins);
            fill(root + BYTES * r, BYTES, 0, r, begins);
        }
        if (begins)
            gasnet_coll_wait_sync(gasnet_coll_scatterM_nb(all, dst, 0, root, BYTES, FLAGS));
        else
            gasnet_coll_scatterM(all, dst, 0, root, BYTES, FLAGS);
        check(to, BYTES, 0, test_rank, begins);
        if (begins)
            gasnet_coll_wait_sync(gasnet_coll_gatherM_nb(all, 0, root, src, BYTES, FLAGS));
        else
            gasnet_coll_gatherM(all, 0, root, src, BYTES, FLAGS);
        for (int r = 0; test_rank == 0 && r < test_size; r++)
            check(root + BYTES * r, BYTES, r, 0, begins);
        if (begins)
            gasnet_coll_wait_sync(gasnet_coll_gather_allM_nb(all, dst, src, BYTES, FLAGS));
        else
            gasnet_coll_wait_sync(gasnet_coll_gather_all_nb(all, to, from, BYTES, FLAGS));
        for (int r = 0; r < test_size; r++)
            check(to + BYTES * r, BYTES, r, 0, begins);
        if (begins)
            gasnet_coll_wait_sync(gasnet_coll_exchange_nb(all, to, from, BYTES, FLAGS));
        else
            gasnet_coll_exchangeM(all, dst, src, BYTES, FLAGS);
        for (int r = 0; r < test_size; r++)
            check(to + BYTES * r, BYTES, r, test_rank, begins);
    }
}

/* ---- reductions ---- */

static void add(void *results, size_t count, const void *left, size_t left_count, const void *right,
                size_t size, int flags, int arg) {
    (void)size, (void)flags;
    for (size_t i = 0; i < count; i++)
        ((int64_t *)results)[i] = ((const int64_t *)left)[i] + ((const int64_t *)right)[i] + arg;
    expect_eq(count, left_count);
}

/* Products of 2 x 2 matrices, which do not commute. */
struct matrix {
    uint64_t a, b, c, d;
};

static struct matrix times(struct matrix x, struct matrix y) {
    return (struct matrix){x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
                           x.c * y.b + x.d * y.d};
}

static void multiply(void *results, size_t count, const void *left, size_t left_count, const void *right,
                     size_t size, int flags, int arg) {
    (void)left_count, (void)size, (void)arg;
    expect(flags & GASNET_COLL_NONCOMM);
    for (size_t i = 0; i < count; i++)
        ((struct matrix *)results)[i] =
            times(((const struct matrix *)left)[i], ((const struct matrix *)right)[i]);
}

static void begin_reductions(void) {
    gasnet_coll_fn_entry_t table[] = {{add, 0}, {multiply, GASNET_COLL_NONCOMM}};
    gasnet_coll_init(NULL, 0, table, 2, 0);
}

CASE(sums) {
    begin_reductions();
    for (int version = 0; version < 18; version++)
        for (int root = 0; root < test_size; root++) {
            size_t count = version % 3 == 0 ? 1 : version % 3 == 1 ? 100 : 6000;
            int64_t *src = (int64_t *)(void *)place(0, version % 2 == 0),
                    *dst = (int64_t *)(void *)place(1, version % 2 == 1);
            for (size_t i = 0; i < count; i++)
                src[i] = (int64_t)i * (test_rank + 1);
            gasnet_coll_reduce(GASNET_TEAM_ALL, (gasnet_image_t)root, dst, src, 0, 0, 8, count, 0, version,
                               flags_of(version));
            int64_t ranks = (int64_t)test_size * (test_size + 1) / 2;
            for (size_t i = 0; test_rank == root && i < count; i++)
                if (!expect_eq(dst[i], (int64_t)i * ranks + (int64_t)version * (test_size - 1)))
                    break;
        }
}

CASE(sums_of_lists) {
    enum { COUNT = 10, FLAGS = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL };
    int64_t *src = (int64_t *)(void *)place(0, false), *dst = (int64_t *)(void *)place(1, false);
    void *list[] = {src};
    gasnet_team_handle_t all = GASNET_TEAM_ALL;
    begin_reductions();
    for (int way = 0; way < 3; way++) {
        for (int i = 0; i < COUNT; i++)
            src[i] = i * (test_rank + 1) + way;
        if (way == 0)
            gasnet_coll_reduceM(all, 0, dst, list, 0, 0, 8, COUNT, 0, 0, FLAGS);
        else if (way == 1)
            gasnet_coll_wait_sync(gasnet_coll_reduceM_nb(all, 0, dst, list, 0, 0, 8, COUNT, 0, 0, FLAGS));
        else
            gasnet_coll_wait_sync(gasnet_coll_reduce_nb(all, 0, dst, src, 0, 0, 8, COUNT, 0, 0, FLAGS));
        for (int i = 0; test_rank == 0 && i < COUNT; i++)
            expect_eq(dst[i], (int64_t)i * test_size * (test_size + 1) / 2 + (int64_t)way * test_size);
    }
}

static struct matrix matrix_of(int rank, int i) {
    return (struct matrix){test_number(rank, 0, i), test_number(rank, 1, i), test_number(rank, 2, i),
                           test_number(rank, 3, i)};
}

CASE(products_in_order) {
    begin_reductions();
    for (int root = 0; root < test_size; root++) {
        struct matrix src[10], dst[10];
        for (int i = 0; i < 10; i++)
            src[i] = matrix_of(test_rank, i);
        gasnet_coll_reduce(GASNET_TEAM_ALL, (gasnet_image_t)root, dst, src, 0, 0, sizeof *src, 10, 1, 0,
                           GASNET_COLL_LOCAL | GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC);
        for (int i = 0; test_rank == root && i < 10; i++) {
            struct matrix wanted = matrix_of(0, i);
            for (int r = 1; r < test_size; r++)
                wanted = times(wanted, matrix_of(r, i));
            expect_bytes(&dst[i], &wanted, sizeof wanted);
        }
    }
}

/* Also in place, by handles, and by lists of which only this rank's address is read. */
CASE(scans_in_order) {
    enum { COUNT = 10, FLAGS = GASNET_COLL_LOCAL | GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC };
    begin_reductions();
    for (int form = 0; form < 6; form++) {
        struct matrix src[COUNT], other[COUNT], *dst = form % 3 == 0 ? src : other;
        int last = test_rank - form % 2,
            flags = form % 2 ? GASNET_COLL_EXCLUSIVE_SCAN : GASNET_COLL_INCLUSIVE_SCAN;
        void *to[] = {dst}, *from[] = {src};
        memset(other, 0, sizeof other);
        for (int i = 0; i < COUNT; i++)
            src[i] = matrix_of(test_rank, i);
        if (form % 3 == 0)
            gasnet_coll_scan(GASNET_TEAM_ALL, dst, 0, 0, src, 0, 0, sizeof *src, COUNT, 1, 0, FLAGS | flags);
        else if (form % 3 == 1)
            gasnet_coll_wait_sync(gasnet_coll_scan_nb(GASNET_TEAM_ALL, dst, 0, 0, src, 0, 0, sizeof *src,
                                                      COUNT, 1, 0, FLAGS | flags));
        else if (form == 2)
            gasnet_coll_scanM(GASNET_TEAM_ALL, to, 0, 0, from, 0, 0, sizeof *src, COUNT, 1, 0, FLAGS | flags);
        else
            gasnet_coll_wait_sync(gasnet_coll_scanM_nb(GASNET_TEAM_ALL, to, 0, 0, from, 0, 0, sizeof *src,
                                                       COUNT, 1, 0, FLAGS | flags));
        for (int i = 0; last >= 0 && i < COUNT; i++) {
            struct matrix wanted = matrix_of(0, i);
            for (int r = 1; r <= last; r++)
                wanted = times(wanted, matrix_of(r, i));
            expect_bytes(&dst[i], &wanted, sizeof wanted);
        }
    }
}

/* ---- several at once ---- */

CASE(many_under_way) {
    enum { MANY = 100 };
    static int64_t values[MANY], wanted[MANY];
    gasnet_coll_handle_t handles[MANY];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < MANY; i++) {
            gasnet_image_t root = (gasnet_image_t)(i % test_size);
            wanted[i] = (int64_t)(test_number((int)root, (size_t)i, round) >> 1);
            values[i] = (int)root == test_rank ? wanted[i] : 0;
            handles[i] = i % 10 == 9 ? GASNET_COLL_INVALID_HANDLE
                                     : gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &values[i], root, &values[i],
                                                                8, flags_of(i));
            if (i % 10 == 9)
                (void)gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &values[i], root, &values[i], 8,
                                               flags_of(i) | GASNET_COLL_AGGREGATE);
        }
        if (round % 3 == 0)
            gasnet_coll_wait_sync_all(handles, MANY);
        else if (round % 3 == 1)
            while (gasnet_coll_try_sync_all(handles, MANY) != GASNET_OK)
                ;
        else
            for (int i = 0; i < MANY; i++)
                gasnet_coll_wait_sync_some(handles, MANY);
        for (int i = 0; i < MANY; i++) {
            expect(handles[i] == GASNET_COLL_INVALID_HANDLE);
            expect_eq(values[i], wanted[i]);
        }
    }
}

/* Some ranks call much later than others: data sent to them is kept. */
CASE(late_callers) {
    enum { MANY = 50 };
    int64_t value;
    for (int i = 0; i < MANY; i++) {
        value = test_rank == 0 ? i * 7 : -1;
        if (test_rank != 0 && i == 0)
            for (int k = 0; k < 20000; k++)
                gasnet_AMPoll();
        gasnet_coll_broadcast(GASNET_TEAM_ALL, &value, 0, &value, 8,
                              GASNET_COLL_LOCAL | GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_MYSYNC);
        expect_eq(value, i * 7);
    }
}

/* With IN_ALLSYNC, no data changes before all ranks have called; with OUT_ALLSYNC, no rank completes before all have
 * the data. */
CASE(synchronised_by_all) {
    for (int round = 0; round < 50; round++) {
        uint64_t *mine = (uint64_t *)test_segments[test_rank].addr, next = (uint64_t)round + 1;
        gasnet_node_t other = (gasnet_node_t)((test_rank + 1) % test_size);
        gasnet_coll_broadcast(GASNET_TEAM_ALL, mine, 0, &next, 8,
                              GASNET_COLL_LOCAL | GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC);
        expect(gasnet_get_val(other, test_segments[other].addr, 8) == next);
        /* IN_ALLSYNC keeps the next round's broadcast from writing before this get */
    }
}

/* ---- teams ---- */

static void use_team(gasnet_team_handle_t t, int version) {
    gasnet_node_t size = gasnet_coll_team_size(t), rank = gasnet_coll_team_rank(t);
    uint64_t *all = malloc(size * sizeof *all), mine = (uint64_t)test_rank * 1000 + (uint64_t)version;
    if (!all)
        abort();
    gasnet_coll_gather_all(t, all, &mine, 8, flags_of(version));
    for (gasnet_node_t i = 0; i < size; i++)
        expect_eq(all[i], (uint64_t)gasnet_coll_team_rank2node(t, (int)i) * 1000 + (uint64_t)version);
    expect_eq(gasnet_coll_team_rank2node(t, (int)rank), (gasnet_node_t)test_rank);
    expect_eq(gasnet_coll_team_node2rank(t, (gasnet_node_t)test_rank), rank);
    free(all);
}

CASE(team_of_all) {
    expect_eq(gasnet_coll_team_size(GASNET_TEAM_ALL), (gasnet_node_t)test_size);
    expect_eq(gasnet_coll_team_rank(GASNET_TEAM_ALL), (gasnet_node_t)test_rank);
    use_team(GASNET_TEAM_ALL, 0);
}

CASE(teams) {
    gasnet_seginfo_t scratch = {NULL, 0};
    for (int version = 0; version < 10; version++) {
        gasnet_team_handle_t halves = gasnet_coll_team_split(GASNET_TEAM_ALL, (gasnet_node_t)(test_rank % 2),
                                                             (gasnet_node_t)(test_rank / 2), &scratch);
        gasnet_team_handle_t reversed =
            gasnet_coll_team_split(GASNET_TEAM_ALL, 7, (gasnet_node_t)(test_size - 1 - test_rank), &scratch);
        expect_eq(gasnet_coll_team_size(halves), (gasnet_node_t)((test_size + (test_rank % 2 == 0)) / 2));
        expect_eq(gasnet_coll_team_rank(halves), (gasnet_node_t)(test_rank / 2));
        expect_eq(gasnet_coll_team_rank(reversed), (gasnet_node_t)(test_size - 1 - test_rank));
        expect_eq(gasnet_coll_team_node2rank(halves, (gasnet_node_t)(test_rank ^ 1)), (gasnet_node_t)-1);
        gasnet_team_handle_t alone =
            gasnet_coll_team_split(halves, (gasnet_node_t)test_rank, 0, &scratch); /* splits a smaller team */
        expect_eq(gasnet_coll_team_size(alone), 1);
        use_team(halves, version);
        use_team(reversed, version);
        use_team(alone, version);
        use_team(halves, version + 1);
        gasnet_coll_team_free(alone);
        gasnet_coll_team_free(reversed);
        gasnet_coll_team_free(halves);
    }
}

/* ---- barriers of teams ---- */

static int barrier_of(gasnet_team_handle_t t, int id, int flags) {
    gasnet_coll_barrier_notify(t, id, flags);
    return gasnet_coll_barrier_wait(t, id, flags);
}

CASE(barriers) {
    gasnet_team_handle_t t = GASNET_TEAM_ALL;
    expect_eq(barrier_of(t, 5, 0), GASNET_OK);
    expect_eq(barrier_of(t, test_rank, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
    expect_eq(barrier_of(t, 6, test_rank == 0 ? GASNET_BARRIERFLAG_ANONYMOUS : 0), GASNET_OK);
    expect_eq(barrier_of(t, 0, test_rank == test_size - 1 ? GASNET_BARRIERFLAG_MISMATCH : 0),
              GASNET_ERR_BARRIER_MISMATCH);
    if (test_size > 1)
        expect_eq(barrier_of(t, test_rank == 0, 0), GASNET_ERR_BARRIER_MISMATCH);
    gasnet_coll_barrier_notify(t, 3, 0);
    expect_eq(gasnet_coll_barrier_wait(t, 4, 0), GASNET_ERR_BARRIER_MISMATCH);
    gasnet_coll_barrier_notify(t, 3, 0);
    int status;
    while ((status = gasnet_coll_barrier_try(t, 3, 0)) == GASNET_ERR_NOT_READY)
        ;
    expect_eq(status, GASNET_OK);
}

/* No rank leaves before all have entered: each puts the round into its word on node 0 before the barrier, and then finds
 * the round in the words of all ranks. */
CASE(barriers_wait_for_all) {
    uint64_t *words = (uint64_t *)test_segments[0].addr;
    for (uint64_t round = 1; round <= 50; round++) {
        gasnet_put_val(0, words + test_rank, round, 8);
        expect_eq(barrier_of(GASNET_TEAM_ALL, (int)round, 0), GASNET_OK);
        for (int r = 0; r < test_size; r++)
            expect(gasnet_get_val(0, words + r, 8) >= round);
    }
}

/* ---- errors: each ends the job, see test_fail.sh ---- */

ON_CALL(image_that_is_not_there) {
    gasnet_coll_broadcast(GASNET_TEAM_ALL, place(0, true), (gasnet_image_t)test_size, place(0, true), 8,
                          flags_of(0));
}

ON_CALL(function_that_is_not_there) {
    begin_reductions();
    gasnet_coll_reduce(GASNET_TEAM_ALL, 0, place(0, true), place(1, true), 0, 0, 8, 1, 2, 0, flags_of(0));
}

ON_CALL(notify_twice) {
    gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 0, 0);
    gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 0, 0);
}

ON_CALL(different_calls) {
    if (test_rank == 0)
        gasnet_coll_broadcast(GASNET_TEAM_ALL, place(0, true), 0, place(1, true), 800, flags_of(4));
    else
        gasnet_coll_broadcast(GASNET_TEAM_ALL, place(0, true), 0, place(1, true), 8, flags_of(4));
}

ON_CALL(aggregate_that_blocks) {
    gasnet_coll_broadcast(GASNET_TEAM_ALL, place(0, true), 0, place(1, true), 8,
                          flags_of(4) | GASNET_COLL_AGGREGATE);
}

ON_CALL(scan_that_blocks_with_aggregate) {
    begin_reductions();
    gasnet_coll_scan(GASNET_TEAM_ALL, place(0, true), 0, 0, place(1, true), 0, 0, 8, 1, 0, 0,
                     flags_of(4) | GASNET_COLL_INCLUSIVE_SCAN | GASNET_COLL_AGGREGATE);
}

ON_CALL(split_of_no_team) {
    gasnet_coll_team_split(NULL, 0, 0, NULL);
}
