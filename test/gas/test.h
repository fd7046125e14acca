/* test.h: what the GASNet tests share. They are plain GASNet programs: nothing but the public headers.
 *
 * A program is a list of cases, run in order by all nodes between gasnet_attach and gasnet_exit:
 *
 *      CASE(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * A failed expectation is printed and counted, and the case goes on, so that no node waits for one that left.
 * Cases begin and end with all nodes together. Options of every program: --seed N, --seconds N, and names of
 * cases to be run alone.
 *
 * Handlers and the size of the segment, if it is not the usual one, are given by TEST_SETUP. */
#ifndef HEARTH_TEST_GAS_H
#define HEARTH_TEST_GAS_H

#ifndef GASNET_SEQ
#ifndef GASNET_PARSYNC
#ifndef GASNET_PAR
#define GASNET_PAR 1
#endif
#endif
#endif
#include <gasnet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern int test_rank, test_size;
extern uint64_t test_seed;
extern double test_seconds; /* for the random tests */
extern gasnet_seginfo_t *test_segments;

struct test_setup {
    gasnet_handlerentry_t *handlers;
    int count;
    uintptr_t segment; /* bytes; 0: 1 MB */
};
extern const struct test_setup test_setup;
#define TEST_SETUP(table, segment_bytes)                                                                     \
    const struct test_setup test_setup = {table, sizeof table / sizeof table[0], segment_bytes}
#define HANDLER(index, function)                                                                             \
    { index, (void (*)())(function) }

typedef void test_case(void);
void test_register(const char *name, test_case *run, bool only_if_named);

#define CASE(name)    TEST_CASE(name, false)
#define ON_CALL(name) TEST_CASE(name, true) /* run only if it is named: ends the job, for instance */
#define TEST_CASE(name, only_if_named)                                                                       \
    static void case_##name(void);                                                                           \
    __attribute__((constructor)) static void register_##name(void) {                                         \
        test_register(#name, case_##name, only_if_named);                                                    \
    }                                                                                                        \
    static void case_##name(void)

/* Ends the case, on all nodes alike: the condition must be the same everywhere. */
#define SKIP_IF(condition, reason)                                                                           \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            test_skip(reason);                                                                               \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
void test_skip(const char *reason);

/* Each returns whether all was well. Any thread. */
bool test_expect(const char *file, int line, const char *text, bool holds);
bool test_expect_eq(const char *file, int line, const char *text, long long got, long long want);
bool test_expect_bytes(const char *file, int line, const void *got, const void *want, size_t bytes);
#define expect(x) test_expect(__FILE__, __LINE__, #x, (x))
#define expect_eq(got, want)                                                                                 \
    test_expect_eq(__FILE__, __LINE__, #got " == " #want, (long long)(got), (long long)(want))
#define expect_bytes(got, want, bytes) test_expect_bytes(__FILE__, __LINE__, got, want, bytes)

/* A number that depends on the seed and on all three: any node can tell what another has. */
uint64_t test_number(int rank, size_t index, int version);
void test_fill(void *to, size_t bytes, int rank, int version);

/* An anonymous barrier; that it is one is expected. */
void test_barrier(void);

/* Of the case that runs, and for how long it has. */
double test_elapsed(void);

#endif
