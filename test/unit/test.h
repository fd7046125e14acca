/* test.h: the framework of unit tests. A test program is one .c file that includes this and contains tests:
 *
 *      TEST(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * Tests register themselves and run in the order of their definition; arguments that are names of tests select them.
 * Random tests call test_seed, which prints the seed; --seed N as the first argument repeats it.
 * A failed expectation is printed and the test continues. The exit status is 1 if any failed. */
#ifndef HEARTH_TEST_UNIT_H
#define HEARTH_TEST_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

/* Whether the quick tier runs this program. By hand it runs at full length. */
static inline bool test_is_quick(void) {
    const char *tier = getenv("HEARTH_TEST_TIER");
    return tier && !strcmp(tier, "quick");
}

#define TEST(name_)                                                                                          \
    static void name_(void);                                                                                 \
    static struct test name_##_test = {.name = #name_, .run = name_};                                        \
    __attribute__((constructor)) static void name_##_register(void) {                                        \
        test_register(&name_##_test);                                                                        \
    }                                                                                                        \
    static void name_(void)

static uint64_t test_seed_given;

/* The seed of this run: that of --seed, or a new one, which is printed. */
static inline uint64_t test_seed(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = test_seed_given ? test_seed_given : (uint64_t)now.tv_sec << 20 ^ (uint64_t)now.tv_nsec;
    printf("%s: --seed %llu\n", test_name, (unsigned long long)seed);
    return seed;
}

/* Bytes of a page of this system: 4 KB or 64 KB. */
static inline size_t test_page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

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

/* Returns how many arguments it took. */
static inline int test_take_seed(int argc, char **argv) {
    if (argc < 3 || strcmp(argv[1], "--seed") != 0)
        return 0;
    test_seed_given = strtoull(argv[2], NULL, 10);
    return 2;
}

static inline bool test_selected(const struct test *t, int count, char **names) {
    for (int i = 1; i < count; i++)
        if (!strcmp(names[i], t->name))
            return true;
    return count < 2;
}

static inline int test_main(int argc, char **argv) {
    unsigned passed = 0, failed = 0;
    int taken = test_take_seed(argc, argv);
    for (struct test *t = test_first; t; t = t->next)
        if (test_selected(t, argc - taken, argv + taken))
            *(test_run(t) ? &passed : &failed) += 1;
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}

#ifndef TEST_OWN_MAIN /* a program that uses only the expectations, or that may skip all tests */
int main(int argc, char **argv) {
    return test_main(argc, argv);
}
#endif

#endif
