/* fail_store.h: makes system calls of pages/store fail, and watches its writes and syncs, so that a power failure can be simulated
 * afterwards. The build gives the calls of that folder to fail_store.c (hearth_wrap_calls), so those of the test and of the rest of
 * the program do not count. */
#ifndef HEARTH_TEST_FAIL_STORE_H
#define HEARTH_TEST_FAIL_STORE_H

#include <stddef.h>
#include <stdint.h>

/* The n-th system call from now on and the `times` - 1 after it (0: all) fail with this error, or, of an asynchronous transfer, its
 * result. FAIL_SHORT: transfers are partial. n = 0: never. Returns the number of failures since the last call. */
enum { FAIL_SHORT = -1 };
unsigned fail_store_at(unsigned n, unsigned times, int error);

/* Called before every write, after a failed write, and after every sync. */
struct store_event {
    enum { STORE_WROTE, STORE_FAILED, STORE_SYNCED, STORE_NOT_SYNCED } what;
    int file;
    uint64_t offset;
    const void *data;
    size_t bytes;
};
void watch_store(void (*watch)(void *arg, const struct store_event *event), void *arg);

#endif
