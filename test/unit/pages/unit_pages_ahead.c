/* unit_pages_ahead.c: tests which pages are prefetched ahead of a walk. */
#include "test.h"

#include <time.h>

#include "base/random.h"
#include "pages/pool/ahead.h"

static struct ahead ahead;

static void begin(void) {
    memset(&ahead, 0, sizeof(ahead));
}

static struct ahead_pages touch(uint16_t home, uint32_t page) {
    return pages_ahead_after(&ahead, home, page, 8);
}

#define expect_pages(pages_, first_, count_, step_)                                                          \
    do {                                                                                                     \
        struct ahead_pages p_ = (pages_);                                                                    \
        expect_eq(p_.count, count_);                                                                         \
        expect_eq(p_.first, first_);                                                                         \
        expect_eq(p_.step, step_);                                                                           \
    } while (0)

TEST(one_page_is_no_walk)
{
    begin();
    expect_eq(touch(1, 0).count, 0); /* nor does page 0 of an empty table match */
    expect_eq(touch(0, 1).count, 0);
    expect_eq(touch(0, 100).count, 0);
    expect_eq(touch(0, 100).count, 0);
    expect_eq(touch(0, 103).count, 0);
    expect_eq(touch(2, 101).count, 0);
}

TEST(the_window_doubles_up_to_the_most)
{
    begin();
    expect_eq(touch(3, 10).count, 0);
    expect_pages(touch(3, 11), 12, 1, 1);
    expect_pages(touch(3, 12), 13, 2, 1);
    expect_pages(touch(3, 13), 15, 3, 1); /* 14 to 17 are prefetched */
    expect_pages(touch(3, 14), 18, 5, 1); /* 15 to 22 */
    expect_pages(touch(3, 15), 23, 1, 1);
    expect_pages(touch(3, 16), 24, 1, 1);
}

TEST(backwards_as_well)
{
    begin();
    expect_eq(touch(3, 20).count, 0);
    expect_pages(touch(3, 19), 18, 1, -1);
    expect_pages(touch(3, 18), 17, 2, -1);
    expect_pages(touch(3, 17), 15, 3, -1);
}

TEST(pages_may_be_skipped_or_come_late)
{
    begin();
    touch(3, 10), touch(3, 11), touch(3, 12), touch(3, 13); /* 14 to 17 are prefetched */
    expect_pages(touch(3, 16), 18, 7, 1);                   /* 17 to 24 */
    expect_eq(touch(3, 15).count, 0);                       /* perhaps a new walk */
    expect_pages(touch(3, 17), 25, 1, 1);
}

TEST(nothing_before_the_first_page_or_after_the_last)
{
    begin();
    touch(3, 2);
    expect_pages(touch(3, 1), 0, 1, -1);
    expect_eq(touch(3, 0).count, 0);
    touch(4, UINT32_MAX - 3);
    expect_pages(touch(4, UINT32_MAX - 2), UINT32_MAX - 1, 1, 1);
    expect_pages(touch(4, UINT32_MAX - 1), UINT32_MAX, 1, 1);
    expect_eq(touch(4, UINT32_MAX).count, 0);
}

TEST(many_walks_side_by_side)
{
    begin();
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t walk = 0; walk < AHEAD_STREAMS; walk++) {
            struct ahead_pages pages = touch((uint16_t)(walk / 2), 1000 * walk + i);
            expect(i == 0 ? pages.count == 0 : pages.count > 0);
        }
}

TEST(a_walk_survives_single_pages)
{
    begin();
    for (uint32_t i = 0; i < 6; i++)
        touch(3, 10 + i);
    for (uint32_t i = 0; i < 2 * AHEAD_STREAMS; i++)
        expect_eq(touch(3, 1000 + 10 * i).count, 0);
    touch(3, 16);
    expect(touch(3, 17).count + touch(3, 18).count + touch(3, 19).count > 0);
}

TEST(but_not_for_ever)
{
    begin();
    for (uint32_t i = 0; i < 6; i++)
        touch(3, 10 + i);
    for (uint32_t i = 0; i < 8 * AHEAD_STREAMS; i++)
        touch(3, 1000 + 10 * i);
    expect_eq(touch(3, 16).count, 0);
}

TEST(none_at_most_is_none)
{
    begin();
    for (uint32_t i = 0; i < 6; i++)
        expect_eq(pages_ahead_after(&ahead, 3, i, 0).count, 0);
    for (uint32_t i = 0; i < 200; i++)
        expect(pages_ahead_after(&ahead, 3, i, 1000).count <= AHEAD_MOST);
}

/* A walk in which all pages are reported: each page is requested once, before it is reached, and never too far ahead,
 * whatever the limit is in each call. */
TEST(random_walks_ask_once_and_in_time)
{
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    struct random r;
    random_seed(&r, seed);
    for (int round = 0; round < 2000 && !test_failures; round++) {
        unsigned char asked[500] = {0};
        bool back = random_below(&r, 2);
        unsigned length = 3 + random_below(&r, 200);
        begin();
        for (unsigned i = 0; i < length; i++) {
            uint32_t page = back ? 499 - i : i;
            unsigned most = 1 + random_below(&r, 64);
            expect(i < 2 || asked[page] == 1);
            struct ahead_pages pages = pages_ahead_after(&ahead, 3, page, most);
            for (uint32_t k = 0; k < pages.count; k++) {
                uint32_t p = pages.first + (uint32_t)pages.step * k;
                expect(p < 500 && !asked[p]);
                expect((back ? page - p : p - page) <= most);
                if (p < 500)
                    asked[p]++;
            }
        }
    }
}
