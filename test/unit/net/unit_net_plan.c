/* unit_net_plan.c: tests that segments are divided so that everything fits, for any limit and number of processes. */
#include "test.h"

#include <errno.h>

#include "base/compiler.h"
#include "net/node/plan.h"

static const int counts[] = {1, 2, 3, 8, 9, 16, 32, 33, 64, 65, 128, 1000, 65536};
enum { COUNTS = sizeof counts / sizeof *counts };

static int make(struct plan *p, int count, size_t limit, size_t header) {
    struct net_options o = {.rank = 0, .count = count, .limit = limit, .header_bytes = header};
    return net_plan_make(p, &o);
}

static void expect_fits(const struct plan *p, size_t limit) {
    size_t record = net_record_size(net_plan_header_room(p), net_plan_eager(p));
    expect(net_plan_bytes(p) <= limit);
    expect(net_plan_is_valid(p, net_plan_bytes(p)));
    expect(!net_plan_is_valid(p, net_plan_bytes(p) - 1));
    expect(record <= net_queue_most(p->queue_bytes));
    expect(!p->boxes || record <= net_box_most(p->box_bytes));
    expect(net_plan_eager(p) >= 1024);
    expect(p->boxes < p->count);
}

static void expect_apart(const struct plan *p) {
    char *base = NULL;
    expect((char *)net_plan_doorbells(p, base) - base >= (long)sizeof(struct control));
    expect((char *)net_plan_boxes(p, base) >= (char *)(net_plan_doorbells(p, base) + p->boxes));
    expect(net_plan_queue(p, base) >= (char *)(net_plan_boxes(p, base) + p->boxes));
    expect(net_plan_box(p, base, 0) == net_plan_queue(p, base) + p->queue_bytes);
    expect((size_t)(net_plan_box(p, base, p->boxes) - base) == net_plan_bytes(p));
    expect_eq((uintptr_t)net_plan_queue(p, base) % CACHE_LINE, 0);
    expect_eq(p->box_bytes % CACHE_LINE, 0);
    expect_eq(sizeof(struct control) % (2 * CACHE_LINE), 0);
}

TEST(everything_fits)
{
    struct plan p;
    size_t least = test_page() > 16 << 10 ? test_page() : 16 << 10;
    for (int i = 0; i < COUNTS; i++)
        for (size_t limit = least; limit <= 64 << 20; limit += limit / 3)
            for (size_t header = 0; header <= 64; header += 13) {
                expect_eq(make(&p, counts[i], limit, header), 0);
                expect_fits(&p, limit);
                expect_apart(&p);
            }
}

TEST(few_have_a_box_each_and_many_share)
{
    struct plan p;
    expect_eq(make(&p, 2, 1 << 20, 24), 0);
    expect_eq(p.boxes, 1);
    expect_eq(net_plan_eager(&p), 16384);
    expect(net_plan_bytes(&p) <= 640 << 10); /* no more than is useful */
    expect_eq(make(&p, 32, 1 << 20, 24), 0);
    expect_eq(p.boxes, 31);
    expect_eq(net_plan_eager(&p), 8192);
    expect_eq(make(&p, 256, 1 << 20, 24), 0);
    expect(p.boxes >= 30 && p.boxes <= 32); /* one line of doorbells */
    expect_eq(net_plan_eager(&p), 8192);
}

TEST(what_cannot_be_is_refused)
{
    struct plan p;
    struct net_options o = {.rank = 2, .count = 2, .limit = 1 << 20};
    expect_eq(net_plan_make(&p, &o), -EINVAL);
    expect_eq(make(&p, 0, 1 << 20, 0), -EINVAL);
    expect_eq(make(&p, 65537, 1 << 20, 0), -EINVAL);
    expect_eq(make(&p, 2, 1 << 20, 65), -EINVAL);
    expect_eq(make(&p, 2, 8192, 0), -EINVAL);
    expect_eq(make(&p, 2, 0, 0), -EINVAL);
}

TEST(broken_plans_are_not_valid)
{
    struct plan good, p;
    expect_eq(make(&good, 8, 1 << 20, 24), 0);
    size_t bytes = net_plan_bytes(&good);
    expect(net_plan_is_valid(&good, bytes));
    p = good, p.queue_bytes--;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.queue_bytes = 0;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.boxes = UINT32_MAX;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.box_bytes = UINT32_MAX;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.box_bytes -= 8;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.box_bytes = 64;
    expect(!net_plan_is_valid(&p, bytes));
    p = good, p.header_bytes = 65;
    expect(!net_plan_is_valid(&p, bytes));
}
