/* test.h: shared declarations of the MPI tests.
 *
 * The programs are plain MPI. They run with and without the cache and must give the same results. A program is a list
 * of cases (frame.h):
 *
 *      CASE(what_is_shown) {
 *          struct window w = make_window(4096, "always");
 *          ...
 *          expect_eq(a, b);
 *          free_window(&w);
 *      }
 *
 * Neither MPI serves a get while its target computes: a rank that others read from must be inside an MPI call. So all
 * ranks read from each other, and each case ends in a barrier, in which the ranks that are done serve the others.
 *
 * Tests check the cache's counters only where these are known: the library is loaded and HEARTH_TEST_CONFIG is "on",
 * "huge", "nodes2", "serve" or "serve1" (test_cached). */
#ifndef HEARTH_TEST_MPI_H
#define HEARTH_TEST_MPI_H

#include <mpi.h>
#include <string.h>

#include "hearth/clampi.h"
#include "frame/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program that needs more than MPI_THREAD_SINGLE declares it by TEST_THREADS(level). test_threads is the level that
 * MPI provides. */
extern int test_threads_wanted;
extern int test_threads;
#define TEST_THREADS(level)                                                                                  \
    __attribute__((constructor)) static void want_threads(void) {                                            \
        test_threads_wanted = (level);                                                                       \
    }

bool test_expect_pattern(const char *file, int line, const void *got, size_t bytes, int rank, size_t offset,
                         int version);
#define expect_pattern(got, bytes, rank, offset, version)                                                    \
    test_expect_pattern(__FILE__, __LINE__, got, bytes, rank, offset, version)

/* Windows are 64-byte aligned and a multiple of 64 bytes long on every rank: MPICH 4.0 needs it. */
struct window {
    MPI_Win win;
    unsigned char *base;
    size_t bytes;
};

/* MPI_Win_create on all ranks, disp_unit 1, filled with version 0 of the rank's pattern. The mode goes into the info
 * key clampi_mode; in configuration "off" it is replaced by "off". NULL: no info otherwise. Collective. */
struct window make_window(size_t bytes, const char *mode);
/* Collective. First checks that the window's counters add up. */
void free_window(struct window *w);
/* The same with an access epoch to all ranks; it ends when all ranks are done. */
struct window open_window(size_t bytes, const char *mode);
void close_window(struct window *w);
/* The info that make_window would use: MPI_INFO_NULL, or the caller frees it. */
MPI_Info make_info(const char *mode);
void *aligned_bytes(size_t bytes);

/* A byte that depends on all three arguments. */
unsigned char pattern(int rank, size_t offset, int version);
void fill_pattern(void *to, size_t bytes, int rank, size_t offset, int version);

/* Stores a new version of this rank's pattern into its own window, between two barriers, so that no rank reads
 * meanwhile. Call it inside an epoch of lock_all. */
void rewrite(struct window *w, int version);
/* The same, outside of any epoch. */
void rewrite_locked(struct window *w, int version);

void barrier(void);
int peer(void); /* the next rank */

/* Returns whether the windows are implemented by Open MPI's osc pt2pt, which lacks some features. */
bool over_pt2pt(void);

/* "bare" if the library is not loaded, else HEARTH_TEST_CONFIG. */
const char *test_config(void);
bool test_loaded(void);
bool test_cached(void);
/* Returns whether Hearth serves windows of MPI_Win_allocate. make_window then allocates its windows. */
bool test_served(void);

bool stats(MPI_Win win, CLAMPI_Stats *s);
bool counts_add_up(const CLAMPI_Stats *s);
#define expect_stat(window, field, want)                                                                     \
    do {                                                                                                     \
        CLAMPI_Stats stats_;                                                                                 \
        if (test_cached() && stats(window, &stats_))                                                         \
            test_expect_eq(__FILE__, __LINE__, #field " == " #want, (long long)stats_.field,                 \
                           (long long)(want));                                                               \
    } while (0)
#define expect_hits(window, at_least) test_expect_hits(__FILE__, __LINE__, window, at_least)
void test_expect_hits(const char *file, int line, MPI_Win win, uint64_t at_least);

/* Whether the MPI that runs the program is Open MPI, else MPICH; and the first number of Open MPI's version, 0 for MPICH. A program for the
 * standard ABI of MPI 5.0 runs under both. */
bool test_open_mpi(void);
int test_open_mpi_major(void);

/* Whether the MPI was built with Fortran. */
bool test_has_fortran(void);

/* Whether errors on MPI_COMM_WORLD, and those of calls without a communicator, are returned; otherwise they end the job. Since MPI 4 the
 * latter have the handler of MPI_COMM_SELF. MPICH 5 takes that of MPI_COMM_WORLD until MPI_COMM_SELF has got one; it does so in
 * MPI_Waitany, too. */
void test_return_errors(bool yes);

/* Whether a call returns its error if the program's error handler was called for it. MPICH 5.0.2 returns MPI_SUCCESS. */
bool test_errors_returned(void);

/* Whether MPI_Win_allocate_shared works, which Debian's MPICH 5.0.2 refuses on one node. Collective over all ranks. */
bool test_shared_windows(void);

/* The standard ABI has numbers of handles in place of those of Fortran. */
#if defined MPI_ABI_VERSION && !defined OPEN_MPI && !defined MPICH_VERSION
#define TEST_MPI_ABI 1
typedef int MPI_Fint;
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Win_c2f     MPI_Win_toint
#define MPI_Win_f2c     MPI_Win_fromint
#else
#define TEST_MPI_ABI 0
#endif

/* Calls with counts of 64 bits: MPI 4.1 deprecates the names that MPI 3 gave to some. */
#if MPI_VERSION >= 4
#define TEST_LARGE(name) MPI_##name##_c
#else
#define TEST_LARGE(name) MPI_##name##_x
#endif

#ifdef __cplusplus
}
#endif
#endif
