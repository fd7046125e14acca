/* fail_calls.h: makes the k-th call of the code under test fail: an allocation, a mapping, an operation on a file, a new
 * thread. The linker replaces these functions by those of fail_calls.c (--wrap); calls inside the C library do not count. */
#ifndef HEARTH_TEST_FAIL_CALLS_H
#define HEARTH_TEST_FAIL_CALLS_H

#include <stdbool.h>

/* Counts from here on, in this process; the k-th call fails. 0: none does. */
void fail_calls_at(unsigned k);

/* Ends it; returns whether the k-th call was made. */
bool fail_calls_end(void);

#endif
