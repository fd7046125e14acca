/* frame.h: the framework of all tests that run as MPI jobs, whichever interface they test.
 *
 * A program is a list of cases. All ranks run them in order:
 *
 *      CASE(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * A failed expectation is printed and counted, and the case continues, so that no rank waits for one that left. The
 * end of each case adds up the counts over all ranks. Every program takes the options --seed N and --seconds N, and
 * the names of the cases to run.
 *
 * An MPI launch takes longer than most programs, so the programs of a family are linked into one program, the suite.
 * It runs the cases of one file after those of another, and reports the result of each file. If it is started under
 * the name FAMILY_FILE, which is a link to the suite, or with --programs FILE,FILE, it runs only those files.
 *
 * Each interface defines in its folder, by test_job, how a job begins and ends. */
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
extern double test_seconds; /* duration of random tests; --seconds, default 4 */

/* The hooks of an interface. A hook that is NULL is not called. */
struct test_job {
    const char *member; /* "rank" or "node" */
    unsigned seconds;   /* time limit of a case, in addition to test_seconds; allows for busy cores */
    /* Sets up MPI, test_rank and test_size. The ranks have not agreed on the seed yet. */
    void (*begin)(int *argc, char ***argv);
    void (*open)(int *argc, char ***argv); /* cases can run when it returns */
    void (*settle)(void);                  /* at the end of each case */
    void (*end)(int status);               /* finalizes MPI too; may exit with this status */
    const char *(*config)(void);           /* name of the configuration, for the last line of output */
};
extern const struct test_job test_job;

typedef void test_case(void);
void test_register(const char *file, const char *name, test_case *run, bool only_if_named);

#define CASE(name)    TEST_CASE(name, false)
#define ON_CALL(name) TEST_CASE(name, true) /* run only if named, for example because it ends the job */
#define TEST_CASE(name, only_if_named)                                                                       \
    static void case_##name(void);                                                                           \
    __attribute__((constructor)) static void register_##name(void) {                                         \
        test_register(__FILE__, #name, case_##name, only_if_named);                                          \
    }                                                                                                        \
    static void case_##name(void)

/* Ends the case on all ranks. The condition must have the same value on all of them. */
#define SKIP_IF(condition, reason)                                                                           \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            test_skip(reason);                                                                               \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
void test_skip(const char *reason);

/* Each returns whether the expectation holds. Any thread may call them. */
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

/* A number that depends on the seed and on all arguments, so that any rank can compute the data of another. */
uint64_t test_number(int rank, size_t index, int version);
void test_fill(void *to, size_t bytes, int rank, int version);

/* How often something is repeated that is right or wrong each time: a quarter of this in the quick tier. */
int test_times(int full);

/* Seconds since the current case began. */
double test_elapsed(void);

#ifdef __cplusplus
}
#endif
#endif
