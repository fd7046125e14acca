/* frame.h: what the tests that run as MPI jobs have in common, whichever interface they are about.
 *
 * A program is a list of cases, run in order by all ranks:
 *
 *      CASE(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * A failed expectation is printed and counted, and the case goes on, so that no rank waits for one that left. The counts
 * are added up over the ranks at the end of each case. Options of every program: --seed N, --seconds N, and names of cases
 * to be run alone.
 *
 * A launch takes longer than most programs, so the programs of a family are linked into one, a suite. It runs the cases of one file
 * after those of another, and says of each file what came out. Under the name FAMILY_FILE, which is a link to the suite, or
 * with --programs FILE,FILE, it runs those files only.
 *
 * How a job begins and ends is in test_job, which the folder of each interface has. */
#ifndef HEARTH_TEST_FRAME_H
#define HEARTH_TEST_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int test_rank, test_size;
extern uint64_t test_seed;
extern double test_seconds; /* for the random tests; 4 unless --seconds says otherwise */

/* Those that are NULL do nothing. */
struct test_job {
    const char *member; /* "rank" or "node" */
    unsigned seconds;   /* that a case may take, beside test_seconds */
    void (*begin)(int *argc,
                  char ***argv); /* then there are MPI, test_rank and test_size; the seed is not shared yet */
    void (*open)(int *argc, char ***argv); /* then cases can run */
    void (*settle)(void);                  /* at the end of each case */
    void (*end)(int status);               /* MPI too; it may exit with this status */
    const char *(*config)(void);           /* a word for the last line */
};
extern const struct test_job test_job;

typedef void test_case(void);
void test_register(const char *file, const char *name, test_case *run, bool only_if_named);

#define CASE(name)    TEST_CASE(name, false)
#define ON_CALL(name) TEST_CASE(name, true) /* run only if it is named: ends the job, for instance */
#define TEST_CASE(name, only_if_named)                                                                       \
    static void case_##name(void);                                                                           \
    __attribute__((constructor)) static void register_##name(void) {                                         \
        test_register(__FILE__, #name, case_##name, only_if_named);                                          \
    }                                                                                                        \
    static void case_##name(void)

/* Ends the case, on all ranks alike: the condition must be the same everywhere. */
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
bool test_expect_near(const char *file, int line, const char *text, double got, double want, double by);
bool test_expect_bytes(const char *file, int line, const void *got, const void *want, size_t bytes);
#define expect(x) test_expect(__FILE__, __LINE__, #x, (x))
#define expect_eq(got, want)                                                                                 \
    test_expect_eq(__FILE__, __LINE__, #got " == " #want, (long long)(got), (long long)(want))
#define expect_real(got, want)         test_expect_near(__FILE__, __LINE__, #got " == " #want, got, want, 0)
#define expect_near(got, want, by)     test_expect_near(__FILE__, __LINE__, #got " is " #want, got, want, by)
#define expect_bytes(got, want, bytes) test_expect_bytes(__FILE__, __LINE__, got, want, bytes)

/* A number that depends on the seed and on all three: any rank can tell what another has. */
uint64_t test_number(int rank, size_t index, int version);
void test_fill(void *to, size_t bytes, int rank, int version);

/* Seconds since the case that runs began. */
double test_elapsed(void);

#ifdef __cplusplus
}
#endif
#endif
