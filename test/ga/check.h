/* check.h: what the programs on Global Arrays share.
 *
 * They are plain programs on libga and know nothing of the ARMCI under it, so the same sources run on any:
 * on ours (see CMakeLists.txt) and on the one of the distribution (see stock.sh). A program is a list of
 * cases, run in order by all ranks:
 *
 *      CASE(what_is_shown) {
 *          int g = NGA_Create(...);
 *          ...
 *          expect_eq(a, b);
 *          GA_Destroy(g);
 *      }
 *
 * A failed expectation is printed and counted, and the case goes on, so that no rank waits for one that
 * left. The truth is a serial computation that every rank makes for itself (grid.h). Numbers are small and
 * whole wherever the order of a sum is not given, so that they are exact in any order.
 *
 * Options of every program: --seed N, and names of cases to be run alone. */
#ifndef HEARTH_TEST_GA_CHECK_H
#define HEARTH_TEST_GA_CHECK_H

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern int me, ranks;
extern uint64_t test_seed;

typedef void test_case(void);
void test_register(const char *name, test_case *run);

#define CASE(name)                                                                                           \
    static void case_##name(void);                                                                           \
    __attribute__((constructor)) static void register_##name(void) {                                         \
        test_register(#name, case_##name);                                                                   \
    }                                                                                                        \
    static void case_##name(void)

/* A program that begins or ends other than by GA_Initialize and GA_Terminate says so. The first gets what
 * main got. */
extern void (*test_begin)(int *argc, char ***argv);
extern void (*test_end)(void);
#define BEGIN_AND_END(begin, end)                                                                            \
    __attribute__((constructor)) static void set_begin_and_end(void) {                                       \
        test_begin = (begin);                                                                                \
        test_end = (end);                                                                                    \
    }

/* Ends the case, on all ranks alike: the condition must be the same everywhere. */
#define SKIP_IF(condition, reason)                                                                           \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            test_skip(reason);                                                                               \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
void test_skip(const char *reason);

/* Each returns whether all was well. */
bool test_expect(const char *file, int line, const char *text, bool holds);
bool test_expect_eq(const char *file, int line, const char *text, long long got, long long want);
bool test_expect_near(const char *file, int line, const char *text, double got, double want, double by);
#define expect(x) test_expect(__FILE__, __LINE__, #x, (x))
#define expect_eq(got, want)                                                                                 \
    test_expect_eq(__FILE__, __LINE__, #got " == " #want, (long long)(got), (long long)(want))
#define expect_near(got, want, by) test_expect_near(__FILE__, __LINE__, #got " is " #want, got, want, by)

/* The same numbers on every rank, as long as it starts from the same state. */
uint64_t draw(uint64_t *state);
int draw_below(uint64_t *state, int limit);
int draw_between(uint64_t *state, int least, int most);

/* Changes with each call: programs that call by two names or in two widths take turns. */
bool turn(void);

void *need(size_t bytes); /* zeroed; ends the program if there is no memory */

#endif
