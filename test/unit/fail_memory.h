/* fail_memory.h: makes mappings of base/memory.c fail: memory_open, and memory_resize to more. The build gives the calls of that
 * file to fail_memory.c (hearth_wrap_calls), so calls of the test's own do not count. */
#ifndef HEARTH_TEST_FAIL_MEMORY_H
#define HEARTH_TEST_FAIL_MEMORY_H

/* The n-th mapping from now on fails, and all after it; 0: none does. */
void fail_memory_at(unsigned n);

#endif
