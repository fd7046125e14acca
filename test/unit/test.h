/* test.h: the framework of unit tests. A test program is one .c file that includes this and contains tests:
 *
 *      TEST(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * Tests register themselves and run in the order of their definition; arguments that are names of tests select them.
 * A failed expectation is printed and the test continues. The exit status is 1 if any failed. */
#ifndef HEARTH_TEST_UNIT_H
#define HEARTH_TEST_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};

static struct test *test_first, **test_last = &test_first;
static const char *test_name = "";
static unsigned test_failures; /* of the current test */

static inline void test_register(struct test *t) {
    *test_last = t;
    test_last = &t->next;
}

#define TEST(name_)                                                                                          \
    static void name_(void);                                                                                 \
    static struct test name_##_test = {.name = #name_, .run = name_};                                        \
    __attribute__((constructor)) static void name_##_register(void) {                                        \
        test_register(&name_##_test);                                                                        \
    }                                                                                                        \
    static void name_(void)

/* Counts a failure; returns whether it is one of the first, which are printed. */
static inline bool test_failed(const char *file, int line) {
    if (++test_failures > 5)
        return false;
    printf("FAIL %s %s:%d: ", test_name, file, line);
    return true;
}

#define expect(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition) && test_failed(__FILE__, __LINE__))                                                 \
            printf("not so: %s\n", #condition);                                                              \
    } while (0)

#define expect_eq(a, b)                                                                                      \
    do {                                                                                                     \
        long long a_ = (long long)(a), b_ = (long long)(b);                                                  \
        if (a_ != b_ && test_failed(__FILE__, __LINE__))                                                     \
            printf("%s != %s (%lld, %lld)\n", #a, #b, a_, b_);                                               \
    } while (0)

#define expect_text(a, b)                                                                                    \
    do {                                                                                                     \
        const char *a_ = (a), *b_ = (b);                                                                     \
        if (strcmp(a_, b_) && test_failed(__FILE__, __LINE__))                                               \
            printf("%s != %s (\"%s\", \"%s\")\n", #a, #b, a_, b_);                                           \
    } while (0)

static inline bool test_run(struct test *t) {
    test_name = t->name;
    test_failures = 0;
    t->run();
    if (test_failures > 5)
        printf("FAIL %s: and %u more\n", t->name, test_failures - 5);
    else if (!test_failures)
        printf("ok %s\n", t->name);
    fflush(stdout);
    return !test_failures;
}

static inline bool test_selected(const struct test *t, int count, char **names) {
    for (int i = 1; i < count; i++)
        if (!strcmp(names[i], t->name))
            return true;
    return count < 2;
}

#ifndef TEST_OWN_MAIN /* a program that uses only the expectations */
int main(int argc, char **argv) {
    unsigned passed = 0, failed = 0;
    for (struct test *t = test_first; t; t = t->next)
        if (test_selected(t, argc, argv))
            *(test_run(t) ? &passed : &failed) += 1;
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}
#endif

#endif
