/* coverage.h: included before every source of the coverage tree. Processes that end by _exit, as those of gasnet_exit and
 * forked children of tests do, write their counts first. */
#ifndef HEARTH_COVERAGE_H
#define HEARTH_COVERAGE_H

#include <unistd.h>

void __gcov_dump(void);

static inline __attribute__((noreturn, unused)) void coverage_exit(int status) {
    __gcov_dump();
    _exit(status);
}
#define _exit coverage_exit

#endif
