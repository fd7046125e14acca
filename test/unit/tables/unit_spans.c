/* unit_spans.c: compares a set of ranges with a plain array of them. */
#include "test.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "fail_memory.h"
#include "tables/spans.h"

enum { MEMBERS = 300 };

struct range {
    bool there;
    uint32_t space;
    uint64_t lo, hi;
};

static struct random dice;
static struct spans spans;
static struct range model[MEMBERS];
static unsigned seen[MEMBERS];

static uint64_t roll(uint64_t n) {
    return random_below(&dice, (uint32_t)n);
}

/* Lengths of all classes, at places near each other, near 0 and near the end of the space. */
static struct range any_range(void) {
    uint64_t length = 1 + (random_next(&dice) >> roll(64)), lo = random_next(&dice) >> roll(64);
    switch (roll(4)) {
    case 0:
        lo = UINT64_MAX - lo;
        break;
    case 1:
        lo = roll(10000);
        length = 1 + roll(3000);
        break;
    default:
        break;
    }
    uint64_t hi = lo + length < lo ? UINT64_MAX : lo + length;
    lo -= lo == hi;
    return (struct range){.there = true, .space = (uint32_t)roll(3), .lo = lo, .hi = hi};
}

static void add(uint32_t id, struct range r) {
    model[id] = r;
    spans_add(&spans, id, r.space, r.lo, r.hi);
}

static void drop(uint32_t id) {
    model[id].there = false;
    spans_remove(&spans, id);
}

static void see(void *arg, uint32_t id) {
    seen[id]++;
}

static void see_and_drop(void *arg, uint32_t id) {
    seen[id]++;
    if (id % 2)
        drop(id);
}

static void query(spans_visit *visit, unsigned members) {
    struct range q = any_range();
    bool expected[MEMBERS];
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < members; i++)
        expected[i] = model[i].there && model[i].space == q.space && model[i].lo < q.hi && q.lo < model[i].hi;
    spans_overlapping(&spans, q.space, q.lo, q.hi, visit, NULL);
    for (unsigned i = 0; i < members; i++)
        expect_eq(seen[i], expected[i]);
}

static void clear(void) {
    spans_clear(&spans);
    memset(model, 0, sizeof model);
}

static void step(unsigned members) {
    uint32_t id = (uint32_t)roll(members);
    switch (roll(8)) {
    case 0:
        query(see, members);
        break;
    case 1:
        query(see_and_drop, members);
        break;
    default:
        if (model[id].there)
            drop(id);
        else
            add(id, any_range());
    }
    expect_eq(spans_has(&spans, id), model[id].there);
    if (!roll(2000))
        clear();
    if (!roll(100))
        expect_eq(spans_check(&spans), 0);
}

TEST(finds_what_overlaps_and_nothing_else)
{
    random_seed(&dice, 1);
    memset(model, 0, sizeof model);
    expect_eq(spans_open(&spans, MEMBERS, NULL), 0);
    for (int i = 0; i < 200000; i++)
        step(MEMBERS);
    spans_close(&spans);
}

TEST(growing_keeps_the_members)
{
    random_seed(&dice, 2);
    memset(model, 0, sizeof model);
    expect_eq(spans_open(&spans, 1, NULL), 0);
    for (unsigned members = 1; members <= MEMBERS; members++) {
        expect_eq(spans_resize(&spans, members), 0);
        expect_eq(spans_check(&spans), 0);
        for (int i = 0; i < 100; i++)
            step(members);
    }
    spans_close(&spans);
}

TEST(without_memory_nothing_changes)
{
    struct memory_budget budget = {.limit = 1 << 20};
    random_seed(&dice, 3);
    memset(model, 0, sizeof model);
    for (unsigned n = 1; n <= 2; n++) {
        fail_memory_at(n);
        expect(spans_open(&spans, MEMBERS, &budget) < 0);
        expect_eq(budget.used, 0);
    }
    fail_memory_at(0);
    expect_eq(spans_open(&spans, MEMBERS, &budget), 0);
    for (int i = 0; i < 1000; i++)
        step(MEMBERS);
    for (unsigned n = 1; n <= 2; n++) {
        fail_memory_at(n);
        expect(spans_resize(&spans, 100 * MEMBERS) < 0);
        expect_eq(spans_check(&spans), 0);
        query(see, MEMBERS);
    }
    fail_memory_at(0);
    for (int i = 0; i < 1000; i++)
        step(MEMBERS);
    spans_close(&spans);
    expect_eq(budget.used, 0);
}

TEST(clearing_takes_constant_time)
{
    enum { MANY = 100000 };
    expect_eq(spans_open(&spans, MANY, NULL), 0);
    for (uint32_t id = 0; id < MANY; id++)
        spans_add(&spans, id, 0, 64 * id, 64 * id + 64);
    uint64_t start = clock_ns();
    for (int i = 0; i < 1000000; i++)
        spans_clear(&spans);
    expect(clock_ns() - start < 1000000000u);
    expect_eq(spans.count, 0);
    expect(!spans_has(&spans, 5));
    spans_close(&spans);
}
