/* unit_memory.c: tests memory, its budget, and injected failures. */
#include "test.h"

#include <errno.h>

#include "base/memory.h"
#include "fail_memory.h"

TEST(is_zeroed_and_keeps_its_contents_when_resized)
{
    struct memory m;
    expect_eq(memory_open(&m, 10000, NULL), 0);
    expect(m.bytes >= 10000);
    unsigned char *bytes = m.base;
    for (unsigned i = 0; i < 10000; i++) {
        expect_eq(bytes[i], 0);
        bytes[i] = (unsigned char)i;
    }
    expect_eq(memory_resize(&m, 10 << 20), 0);
    bytes = m.base;
    for (unsigned i = 0; i < 10000; i++)
        expect_eq(bytes[i], i & 255);
    expect_eq(bytes[(10 << 20) - 1], 0);
    expect_eq(memory_resize(&m, 5000), 0);
    bytes = m.base;
    for (unsigned i = 0; i < 5000; i++)
        expect_eq(bytes[i], i & 255);
    memory_close(&m);
    expect(!m.base && !m.bytes);
    memory_close(&m);
}

TEST(budget_is_kept)
{
    struct memory_budget budget = {.limit = 1 << 20};
    struct memory a, b;
    expect_eq(memory_open(&a, 1 << 19, &budget), 0);
    expect_eq(budget.used, 1 << 19);
    expect_eq(memory_open(&b, (1 << 19) + 1, &budget), -EDQUOT);
    expect_eq(budget.used, 1 << 19);
    expect_eq(memory_open(&b, 1 << 19, &budget), 0);
    expect_eq(memory_resize(&b, 1 << 20), -EDQUOT);
    expect_eq(b.bytes, 1 << 19);
    expect_eq(memory_resize(&a, test_page()), 0);
    expect_eq(memory_resize(&b, (1 << 20) - test_page()), 0);
    expect_eq(budget.used, budget.limit);
    memory_close(&a);
    memory_close(&b);
    expect_eq(budget.used, 0);
}

TEST(impossible_sizes_are_refused)
{
    struct memory_budget budget = {.limit = SIZE_MAX};
    struct memory m;
    expect_eq(memory_open(&m, SIZE_MAX, &budget), -ENOMEM);
    expect_eq(memory_open(&m, SIZE_MAX / 2, &budget), -ENOMEM);
    expect_eq(budget.used, 0);
    expect_eq(memory_open(&m, test_page(), &budget), 0);
    expect_eq(memory_resize(&m, SIZE_MAX / 2), -ENOMEM);
    expect_eq(m.bytes, test_page());
    expect_eq(budget.used, test_page());
    memory_close(&m);
}

TEST(fails_when_told_to)
{
    struct memory a, b;
    fail_memory_at(2);
    expect_eq(memory_open(&a, test_page(), NULL), 0);
    expect_eq(memory_resize(&a, 2 * test_page()), -ENOMEM);
    expect_eq(memory_open(&b, test_page(), NULL), -ENOMEM);
    expect_eq(memory_resize(&a, test_page()), 0);
    fail_memory_at(0);
    expect_eq(memory_resize(&a, 2 * test_page()), 0);
    memory_close(&a);
}
