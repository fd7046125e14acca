/* check.h: what the programs on Global Arrays share.
 *
 * They are plain programs on libga and know nothing of the ARMCI under it, so the same sources run on any:
 * on ours (see CMakeLists.txt) and on the one of the distribution (see stock.sh). A program is a list of
 * cases (frame.h):
 *
 *      CASE(what_is_shown) {
 *          int g = NGA_Create(...);
 *          ...
 *          expect_eq(a, b);
 *          GA_Destroy(g);
 *      }
 *
 * The truth is a serial computation that every rank makes for itself (grid.h). Numbers are small and
 * whole wherever the order of a sum is not given, so that they are exact in any order. */
#ifndef HEARTH_TEST_GA_CHECK_H
#define HEARTH_TEST_GA_CHECK_H

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#include "frame/frame.h"

extern int me, ranks; /* test_rank, test_size */

/* A program that begins or ends other than by GA_Initialize and GA_Terminate says so. The first gets what
 * main got. */
extern void (*test_begin)(int *argc, char ***argv);
extern void (*test_end)(void);
#define BEGIN_AND_END(begin, end)                                                                            \
    __attribute__((constructor)) static void set_begin_and_end(void) {                                       \
        test_begin = (begin);                                                                                \
        test_end = (end);                                                                                    \
    }

/* The same numbers on every rank, as long as it starts from the same state. */
uint64_t draw(uint64_t *state);
int draw_below(uint64_t *state, int limit);
int draw_between(uint64_t *state, int least, int most);

/* Changes with each call: programs that call by two names or in two widths take turns. */
bool turn(void);

void *need(size_t bytes); /* zeroed; ends the program if there is no memory */

#endif
