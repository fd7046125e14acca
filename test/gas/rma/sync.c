/* sync.c: tests handles, implicit operations and access regions. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT = 4 << 20, MANY = 65535 };
TEST_SEGMENT(SEGMENT)

static gasnet_node_t other(void) {
    return (gasnet_node_t)((test_rank + 1) % test_size);
}

/* Word i of the part of the other node's segment that this node writes; there are four parts. */
static uint64_t *word(size_t i) {
    return (uint64_t *)test_segments[other()].addr + (size_t)(test_rank % 4) * (SEGMENT / 4 / 8) + i;
}

CASE(an_invalid_handle_is_zero_and_complete) {
    gasnet_handle_t h, none[5];
    memset(&h, 0, sizeof h);
    memset(none, 0, sizeof none);
    expect(h == GASNET_INVALID_HANDLE);
    for (int i = 0; i < 2; i++) {
        gasnet_wait_syncnb(h);
        gasnet_wait_syncnb_nopoll(h);
        expect_eq(gasnet_try_syncnb(h), GASNET_OK);
        expect_eq(gasnet_try_syncnb_nopoll(h), GASNET_OK);
        gasnet_wait_syncnb_some(none, 5);
        gasnet_wait_syncnb_all(none, 5);
        gasnet_wait_syncnb_some_nopoll(none, 5);
        gasnet_wait_syncnb_all_nopoll(none, 5);
        expect_eq(gasnet_try_syncnb_some(none, 5), GASNET_OK);
        expect_eq(gasnet_try_syncnb_all(none, 5), GASNET_OK);
        expect_eq(gasnet_try_syncnb_some_nopoll(none, 5), GASNET_OK);
        expect_eq(gasnet_try_syncnb_all_nopoll(none, 0), GASNET_OK);
    }
    gasnet_wait_syncnbi_all();
    expect_eq(gasnet_try_syncnbi_gets(), GASNET_OK);
    expect_eq(gasnet_try_syncnbi_puts(), GASNET_OK);
    expect_eq(gasnet_try_syncnbi_all(), GASNET_OK);
}

static void start_some(gasnet_handle_t *handles, uint64_t *values, int count, int version) {
    for (int i = 0; i < count; i++) {
        values[i] = test_number(test_rank, (size_t)i, version);
        handles[i] =
            i % 3 == 1 ? GASNET_INVALID_HANDLE : gasnet_put_nb_bulk(other(), word((size_t)i), &values[i], 8);
    }
}

static void check_some(int count, int version) {
    for (int i = 0; i < count; i++)
        if (i % 3 != 1)
            expect(gasnet_get_val(other(), word((size_t)i), 8) == test_number(test_rank, (size_t)i, version));
}

static int valid(const gasnet_handle_t *handles, int count) {
    int n = 0;
    for (int i = 0; i < count; i++)
        n += handles[i] != GASNET_INVALID_HANDLE;
    return n;
}

/* Completed handles become invalid; invalid ones are ignored. */
CASE(some_and_all) {
    enum { COUNT = 100 };
    gasnet_handle_t handles[COUNT];
    uint64_t values[COUNT];
    for (int version = 0; version < 20; version++) {
        start_some(handles, values, COUNT, version);
        int left = valid(handles, COUNT);
        while (left > 0) {
            int now;
            if (version % 4 == 0)
                gasnet_wait_syncnb_some(handles, COUNT);
            else if (version % 4 == 1)
                gasnet_wait_syncnb_some_nopoll(handles, COUNT);
            else if (version % 4 == 2 && gasnet_try_syncnb_some(handles, COUNT) != GASNET_OK)
                continue;
            else if (version % 4 == 3 && gasnet_try_syncnb_all(handles, COUNT) != GASNET_OK)
                continue;
            now = valid(handles, COUNT);
            expect(now < left);
            expect(version % 4 != 3 || now == 0);
            left = now;
        }
        check_some(COUNT, version);
    }
}

/* Many operations at once, with handles and without. */
static void many_of_a_thread(size_t from, size_t count, int version) {
    gasnet_handle_t *handles = calloc(count, sizeof *handles);
    uint64_t *values = calloc(count, sizeof *values);
    if (!handles || !values)
        abort();
    for (size_t i = 0; i < count; i++) {
        values[i] = test_number(test_rank, from + i, version);
        handles[i] = gasnet_put_nb_bulk(other(), word(from + i), &values[i], 8);
    }
    gasnet_wait_syncnb_all(handles, count);
    expect_eq(valid(handles, count), 0);
    memset(values, 0, count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        gasnet_get_nbi(&values[i], other(), word(from + i), 8);
    gasnet_wait_syncnbi_gets();
    for (size_t i = 0; i < count; i++)
        if (!expect(values[i] == test_number(test_rank, from + i, version)))
            break;
    free(handles);
    free(values);
}

/* As many as there may be, by messages to remote memory and by remote pages; fewer in the other configurations of the quick tier. */
CASE(many_in_flight) {
    const char *config = getenv("HEARTH_TEST_CONFIG");
    bool all = !config || !strcmp(config, "off1") || !strcmp(config, "nodes1");
    many_of_a_thread(0, all ? MANY : (size_t)test_times(MANY), 1);
}

static void *second_thread(void *arg) {
    many_of_a_thread(*(size_t *)arg, (size_t)test_times(MANY), 2);
    return NULL;
}

CASE(many_in_flight_by_two_threads) {
    pthread_t thread;
    size_t from = MANY;
    pthread_create(&thread, NULL, second_thread, &from);
    many_of_a_thread(0, (size_t)test_times(MANY), 3);
    pthread_join(thread, NULL);
}

/* Operations in a region belong to its handle only. */
CASE(access_regions) {
    enum { COUNT = 200 };
    uint64_t got[COUNT], before = 17, after = 0;
    gasnet_handle_t h;
    for (int version = 0; version < 10; version++) {
        gasnet_put_nbi(other(), word(COUNT), &before, 8);
        gasnet_begin_nbi_accessregion();
        for (size_t i = 0; i < COUNT; i++)
            gasnet_put_nbi_val(other(), word(i), test_number(test_rank, i, version), 8);
        gasnet_memset_nbi(other(), word(COUNT + 1), version, 8);
        h = gasnet_end_nbi_accessregion();
        gasnet_wait_syncnbi_all(); /* does not wait for the operations of the region */
        if (version % 2 == 0)
            gasnet_wait_syncnb(h);
        else
            while (gasnet_try_syncnb(h) != GASNET_OK)
                ;
        gasnet_begin_nbi_accessregion();
        for (size_t i = 0; i < COUNT; i++)
            gasnet_get_nbi(&got[i], other(), word(i), 8);
        gasnet_get_nbi(&after, other(), word(COUNT + 1), 8);
        h = gasnet_end_nbi_accessregion();
        gasnet_wait_syncnb_all(&h, 1);
        expect(h == GASNET_INVALID_HANDLE);
        for (size_t i = 0; i < COUNT; i++)
            expect(got[i] == test_number(test_rank, i, version));
        expect(after == (uint64_t)version * 0x0101010101010101u);
    }
    gasnet_begin_nbi_accessregion();
    expect(gasnet_end_nbi_accessregion() == GASNET_INVALID_HANDLE);
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi(other(), word(0), &before, 0);
    expect_eq(gasnet_try_syncnb(gasnet_end_nbi_accessregion()), GASNET_OK);
}

/* Operations with handles inside a region do not belong to it. */
CASE(handles_inside_a_region) {
    uint64_t value = 5, got = 0;
    gasnet_begin_nbi_accessregion();
    gasnet_wait_syncnb(gasnet_put_nb(other(), word(0), &value, 8));
    gasnet_get(&got, other(), word(0), 8);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
    expect_eq(got, 5);
}

/* Regions and implicit operations are per thread. */
static void *opens_nothing(void *arg) {
    uint64_t value = 99;
    (void)arg;
    gasnet_put_nbi(other(), word(1), &value, 8);
    gasnet_wait_syncnbi_puts(); /* a region is open, but not in this thread */
    return NULL;
}

CASE(regions_of_one_thread) {
    pthread_t thread;
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi_val(other(), word(0), 98, 8);
    pthread_create(&thread, NULL, opens_nothing, NULL);
    pthread_join(thread, NULL);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
    expect_eq(gasnet_get_val(other(), word(0), 8), 98);
    expect_eq(gasnet_get_val(other(), word(1), 8), 99);
}

/* A thread that ends without synchronising: its operations complete all the same. */
static void *leaves(void *arg) {
    int version = *(int *)arg;
    for (size_t i = 0; i < 500; i++)
        gasnet_put_nbi_val(other(), word(i), test_number(test_rank, i, version), 8);
    if (version % 2 == 0) {
        gasnet_begin_nbi_accessregion();
        gasnet_put_nbi_val(other(), word(500), (gasnet_register_value_t)version, 8);
    }
    return NULL;
}

CASE(threads_that_end) {
    for (int version = 0; version < 20; version++) {
        pthread_t thread;
        pthread_create(&thread, NULL, leaves, &version);
        pthread_join(thread, NULL);
        for (size_t i = 0; i < 500; i += 7)
            expect(gasnet_get_val(other(), word(i), 8) == test_number(test_rank, i, version));
        expect_eq(gasnet_get_val(other(), word(500), 8), version / 2 * 2);
    }
}

/* A barrier completes no operation, and loses none. */
CASE(over_a_barrier) {
    enum { COUNT = 50 };
    gasnet_handle_t handles[COUNT];
    uint64_t values[COUNT];
    start_some(handles, values, COUNT, 7);
    gasnet_get_nbi(&values[1], other(), word(0), 8);
    test_barrier();
    gasnet_wait_syncnb_all(handles, COUNT);
    gasnet_wait_syncnbi_gets();
    check_some(COUNT, 7);
}

/* ---- errors: each ends the job, see test_fail.sh ---- */

ON_CALL(region_in_a_region) {
    gasnet_begin_nbi_accessregion();
    gasnet_begin_nbi_accessregion();
}

ON_CALL(implicit_sync_in_a_region) {
    gasnet_begin_nbi_accessregion();
    gasnet_wait_syncnbi_all();
}

ON_CALL(end_without_a_region) {
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
}
