/* check.h: shared declarations of the tests on Global Arrays.
 *
 * The tests are plain programs on libga and do not depend on the ARMCI below it, so the same sources run on any: on
 * ours (see CMakeLists.txt) and on the distribution's (see stock.sh). A program is a list of cases (frame.h):
 *
 *      CASE(what_is_shown) {
 *          int g = NGA_Create(...);
 *          ...
 *          expect_eq(a, b);
 *          GA_Destroy(g);
 *      }
 *
 * The expected result is a serial computation on every rank (grid.h). Numbers are small and whole wherever the order
 * of a sum is undefined, so that results are exact. */
#ifndef HEARTH_TEST_GA_CHECK_H
#define HEARTH_TEST_GA_CHECK_H

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>

#include "frame/frame.h"

extern int me, ranks; /* test_rank, test_size */

/* Set by a program that does not begin by GA_Initialize or end by GA_Terminate. The first gets the arguments of main. */
extern void (*test_begin)(int *argc, char ***argv);
extern void (*test_end)(void);
#define BEGIN_AND_END(begin, end)                                                                            \
    __attribute__((constructor)) static void set_begin_and_end(void) {                                       \
        test_begin = (begin);                                                                                \
        test_end = (end);                                                                                    \
    }

/* Returns the same numbers on every rank that starts from the same state. */
uint64_t draw(uint64_t *state);
int draw_below(uint64_t *state, int limit);
int draw_between(uint64_t *state, int least, int most);

/* Returns true and false in turn: tests that can use two names or two integer widths alternate between them. */
bool turn(void);

void *need(size_t bytes); /* zeroed; ends the program if there is no memory */

#endif
