/* coverage.h: included before every source of the coverage tree. Processes that end by _exit, as those of gasnet_exit and
 * forked children of tests do, write their counts first. */
#ifndef HEARTH_COVERAGE_H
#define HEARTH_COVERAGE_H

#include <unistd.h>

void __gcov_dump(void);
void test_fail_stop(void) __attribute__((weak)); /* of test/fault/calls/fail.c, where it is preloaded */

static inline __attribute__((unused)) void coverage_dump(void) {
    if (test_fail_stop)
        test_fail_stop();
    __gcov_dump();
}

static inline __attribute__((noreturn, unused)) void coverage_exit(int status) {
    coverage_dump();
    _exit(status);
}
#define _exit coverage_exit

#endif
