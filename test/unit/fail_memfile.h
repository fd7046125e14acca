/* fail_memfile.h: makes system calls of net/shm/memfile.c fail: those that make, find and map shared memory. The build gives the calls
 * of that file to fail_memfile.c (hearth_wrap_calls). */
#ifndef HEARTH_TEST_FAIL_MEMFILE_H
#define HEARTH_TEST_FAIL_MEMFILE_H

/* The n-th call from now on fails, and all after it; 0: none does. */
void fail_memfile_at(unsigned n);

#endif
