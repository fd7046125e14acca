/* unit_pages_store.c: tests writing pages to the file and reading them back, with all engines, on disk and in memory. */
#include "test.h"

#include "base/clock.h"
#include "fail_store.h"
#include "store_help.h"

static const struct help_way *fast = &help_ways[5]; /* memory, threads */

/* ---- pages ---- */

static void use_pages(const struct help_way *way, size_t page_bytes) {
    struct store_options o = help_options(way, STORE_TEMPORARY);
    struct store *s = NULL;
    o.page_bytes = page_bytes;
    o.bytes = 20 * page_bytes - 1;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    if (!s)
        return;
    for (uint64_t page = 0; page < 20; page += 2)
        expect_eq(help_put(s, page_bytes, page, 1), 0);
    expect_eq(help_put(s, page_bytes, 4, 2), 0);
    for (uint64_t page = 0; page < 20; page++)
        expect_eq(help_see(s, page_bytes, page, page % 2 ? 0 : page == 4 ? 2 : 1), 0);
    expect_eq(help_see(s, page_bytes, 20, 0), -EINVAL);
    expect_eq(pages_store_facts(s).holes, 10);
    expect_eq(pages_store_facts(s).reads, 10);
    expect_eq(pages_store_facts(s).writes, 11);
    expect(pages_store_check(s));
    expect_eq(pages_store_close(s), 0);
}

/* The largest pages take nearly all of the time: in the quick tier only the ways in memory have them. */
TEST(pages_come_back_by_all_ways)
{
    for (int i = 0; i < HELP_WAYS; i++)
        for (size_t bytes = STORE_SMALLEST_PAGE; bytes <= STORE_LARGEST_PAGE; bytes *= 32)
            if (help_can(&help_ways[i]) && !(test_is_quick() && i < 4 && bytes == STORE_LARGEST_PAGE))
                use_pages(&help_ways[i], bytes);
}

TEST(direct_where_the_filesystem_does_it)
{
    struct store *s;
    struct store_options o = help_options(&help_ways[2], STORE_TEMPORARY);
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    bool direct = pages_store_facts(s).direct;
    pages_store_close(s);
    o.buffered = true;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect(!pages_store_facts(s).direct);
    pages_store_close(s);
    printf("direct I/O: %s\n", direct ? "yes" : "no");
}

TEST(holes_are_zero_without_reading)
{
    struct store *s;
    struct store_options o = help_options(fast, STORE_TEMPORARY);
    o.bytes = 1ull << 40; /* sparse: takes no space */
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    uint64_t last = o.bytes / o.page_bytes - 1;
    expect(pages_store_is_hole(s, last));
    fail_store_at(1, 0, EIO); /* the disk must not be accessed */
    expect_eq(help_see(s, 4096, last, 0), 0);
    expect_eq(fail_store_at(0, 0, 0), 0);
    expect_eq(help_put(s, 4096, last, 3), 0);
    expect(!pages_store_is_hole(s, last));
    expect_eq(help_see(s, 4096, last, 3), 0);
    expect_eq(help_see(s, 4096, last - 1, 0), 0);
    pages_store_close(s);
}

TEST(a_temporary_one_has_no_name)
{
    struct store *s;
    for (int i = 0; i < 2; i++) {
        struct store_options o = help_options(&help_ways[i ? 5 : 2], STORE_TEMPORARY);
        expect_eq(pages_store_open(&o, &s, NULL), 0);
        expect_eq(help_put(s, 4096, 0, 1), 0);
        expect_eq(count_entries(o.folder), 0);
        pages_store_close(s);
    }
}

/* ---- requests ---- */

static void use_many(const struct help_way *way, unsigned depth) {
    enum { PAGES = 200 };
    struct store_options o = help_options(way, STORE_TEMPORARY);
    struct store_done done[7];
    struct store *s;
    char *buffer = help_buffer(PAGES * 4096);
    o.bytes = PAGES * 4096;
    o.depth = depth;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    for (int way_now = STORE_WRITE; way_now >= STORE_READ; way_now--) {
        unsigned begun = 0, ended = 0, full = 0;
        uint64_t seen = 0;
        while (ended < PAGES) {
            if (begun < PAGES && way_now == STORE_WRITE)
                help_fill(buffer + begun * 4096, 4096, begun, 9);
            int err =
                begun < PAGES ? pages_store_submit(s, way_now, begun, buffer + begun * 4096, begun) : -EAGAIN;
            begun += !err;
            full += err == -EAGAIN && begun < PAGES;
            unsigned n = err ? help_wait(s, done, 7) : pages_store_poll(s, done, begun % 3);
            for (unsigned i = 0; i < n; i++) {
                expect_eq(done[i].error, 0);
                expect(done[i].token < begun);
                seen += done[i].token;
            }
            ended += n;
            if (err && !n)
                break;
        }
        expect_eq(seen, PAGES * (PAGES - 1) / 2);
        expect(depth > 1 || full);
        expect(pages_store_check(s));
        if (way_now == STORE_WRITE)
            memset(buffer, 1, PAGES * 4096);
    }
    for (unsigned page = 0; page < PAGES; page++)
        expect(help_holds(buffer + page * 4096, 4096, page, 9));
    pages_store_close(s);
    free(buffer);
}

TEST(many_requests_each_come_back_once)
{
    for (int i = 0; i < HELP_WAYS; i++)
        for (unsigned depth = 1; depth <= 64; depth *= 8)
            if (help_can(&help_ways[i]))
                use_many(&help_ways[i], depth);
}

TEST(a_page_has_one_writer_at_a_time)
{
    struct store *s;
    struct store_done done[4];
    struct store_options o = help_options(fast, STORE_TEMPORARY);
    char *buffer = help_buffer(2 * 4096);
    memset(buffer, 0, 2 * 4096);
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect_eq(pages_store_submit(s, STORE_WRITE, 3, buffer, 0), 0);
    expect_eq(pages_store_submit(s, STORE_WRITE, 3, buffer + 4096, 0), -EBUSY);
    expect_eq(pages_store_submit(s, STORE_READ, 3, buffer + 4096, 0), -EBUSY);
    expect_eq(pages_store_submit(s, STORE_READ, 4, buffer + 4096, 0), 0);
    for (unsigned n = 0, some; n < 2 && (some = help_wait(s, done, 4)); n += some)
        ;
    expect_eq(pages_store_submit(s, STORE_READ, 3, buffer, 0), 0);
    expect_eq(pages_store_submit(s, STORE_READ, 3, buffer + 4096, 0), 0);
    expect_eq(pages_store_submit(s, STORE_WRITE, 3, buffer + 4096, 0), -EBUSY);
    expect_eq(pages_store_submit(s, STORE_WRITE, 5, buffer + 8, 0), -EINVAL);
    pages_store_close(s); /* waits for them */
    free(buffer);
}

static double seconds_for(const struct help_way *way, uint64_t rate, unsigned depth, unsigned pages) {
    struct store_options o = help_options(way, STORE_TEMPORARY);
    struct store_done done[8];
    struct store *s;
    char *buffer = help_buffer(4096);
    memset(buffer, 1, 4096);
    o.throttle = rate;
    o.depth = depth;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    uint64_t start = clock_ns();
    for (unsigned begun = 0, ended = 0, n = 1; ended < pages && n; ended += n) {
        while (begun < pages && !pages_store_submit(s, STORE_WRITE, begun, buffer, begun))
            begun++;
        n = help_wait(s, done, 8);
    }
    uint64_t took = clock_ns() - start;
    pages_store_close(s);
    free(buffer);
    return (double)took * 1e-9;
}

TEST(a_throttle_makes_it_as_slow_as_wanted)
{
    for (int i = 0; i < HELP_WAYS; i++)
        for (unsigned depth = 1; depth <= 8; depth *= 8)
            if (help_can(&help_ways[i]))
                expect(seconds_for(&help_ways[i], 4096 * 200, depth, 20) >= 0.0999);
}

/* A descriptor that stays readable without work would make every sleeper spin. */
TEST(the_descriptor_rests_when_all_is_done)
{
    for (int i = 0; i < HELP_WAYS; i++)
        for (uint64_t rate = 0; rate <= 1 << 20; rate += 1 << 20) {
            struct store_options o = help_options(&help_ways[i], STORE_TEMPORARY);
            struct store *s;
            o.throttle = rate;
            if (!help_can(&help_ways[i]))
                continue;
            expect_eq(pages_store_open(&o, &s, NULL), 0);
            for (uint64_t page = 0; page < 3; page++)
                expect_eq(help_put(s, 4096, page, 1), 0);
            struct pollfd sleep = {.fd = pages_store_descriptor(s), .events = POLLIN};
            expect_eq(pages_store_arm(s), 0);
            expect_eq(poll(&sleep, 1, 20), 0);
            pages_store_close(s);
        }
}
