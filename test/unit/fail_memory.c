/* fail_memory.c: see fail_memory.h. */
#include "fail_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags);

static _Atomic unsigned countdown;

void fail_memory_at(unsigned n) {
    atomic_store(&countdown, n);
}

static bool fails(void) {
    unsigned left = atomic_load(&countdown);
    if (left > 1)
        atomic_store(&countdown, left - 1);
    errno = ENOMEM;
    return left == 1;
}

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : mmap(at, bytes, protection, flags, file, offset);
}

void *__wrap_mremap(void *old, size_t old_bytes, size_t bytes, int flags) {
    return bytes > old_bytes && fails() ? MAP_FAILED : mremap(old, old_bytes, bytes, flags);
}
