/* test.h: what the ARMCI tests share.
 *
 * They are plain programs for ARMCI: they run on ARMCI-MPI as well, and what they expect of both was seen there. What
 * ARMCI-MPI lacks, or does otherwise than it says, is asked only of ours (test_ours). A program is a list of cases, run
 * in order by all ranks between ARMCI_Init and ARMCI_Finalize:
 *
 *      CASE(what_is_shown) {
 *          expect_eq(a, b);
 *      }
 *
 * A failed expectation is printed and counted, and the case goes on, so that no rank waits for one that left. The counts
 * are added up over the ranks at the end of each case. Options of every program: --seed N, --seconds N, and names of
 * cases to be run alone. */
#ifndef HEARTH_TEST_ARMCI_H
#define HEARTH_TEST_ARMCI_H

#include <armci.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern int test_rank, test_size;
extern uint64_t test_seed;
extern double test_seconds; /* for the random tests */
extern bool test_ours;      /* HEARTH_TEST_CONFIG is set, as test/run does: not ARMCI-MPI */

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

/* Ends the case, on all ranks alike: the condition must be the same everywhere. */
#define SKIP_IF(condition, reason)                                                                           \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            test_skip(reason);                                                                               \
            return;                                                                                          \
        }                                                                                                    \
    } while (0)
#define SKIP_IF_STOCK() SKIP_IF(!test_ours, "not on ARMCI-MPI")
void test_skip(const char *reason);

/* Each returns whether all was well. */
bool test_expect(const char *file, int line, const char *text, bool holds);
bool test_expect_eq(const char *file, int line, const char *text, long long got, long long want);
bool test_expect_real(const char *file, int line, const char *text, double got, double want);
bool test_expect_bytes(const char *file, int line, const void *got, const void *want, size_t bytes);
#define expect(x) test_expect(__FILE__, __LINE__, #x, (x))
#define expect_eq(got, want)                                                                                 \
    test_expect_eq(__FILE__, __LINE__, #got " == " #want, (long long)(got), (long long)(want))
#define expect_real(got, want)         test_expect_real(__FILE__, __LINE__, #got " == " #want, got, want)
#define expect_bytes(got, want, bytes) test_expect_bytes(__FILE__, __LINE__, got, want, bytes)

/* A number that depends on the seed and on all three: any rank can tell what another has. */
uint64_t test_number(int rank, size_t index, int version);
void test_fill(void *to, size_t bytes, int rank, int version);

/* The node of a rank, as ARMCI ought to report it: one for each, or, with HEARTH_ARMCI_TOPOLOGY=real, that of
 * HEARTH_NODE_RANKS on one machine. */
int test_node(int rank);
int test_nodes(void);
int test_master(int node); /* its lowest rank */

#endif
