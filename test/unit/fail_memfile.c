/* fail_memfile.c: see fail_memfile.h. Of the calls of fcntl only the one that seals a file counts; the others ask. */
#include "fail_memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

static _Atomic unsigned countdown;

void fail_memfile_at(unsigned n) {
    atomic_store(&countdown, n);
}

static bool fails(int error) {
    unsigned left = atomic_load(&countdown);
    if (left > 1)
        atomic_store(&countdown, left - 1);
    if (left == 1)
        errno = error;
    return left == 1;
}

#define WRAP(error, failure, result, name, parameters, arguments)                                            \
    result __wrap_##name parameters;                                                                         \
    result __wrap_##name parameters {                                                                        \
        return fails(error) ? (failure) : name arguments;                                                    \
    }

WRAP(ENOSYS, -1, ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags))
WRAP(EMFILE, -1, int, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(EFBIG, -1, int, ftruncate, (int file, off_t bytes), (file, bytes))
WRAP(ENOSPC, -1, int, fallocate, (int file, int mode, off_t at, off_t bytes), (file, mode, at, bytes))
WRAP(EACCES, -1, int, open, (const char *path, int flags), (path, flags))
WRAP(ENOMEM, MAP_FAILED, void *, mmap,
     (void *at, size_t bytes, int protection, int flags, int file, off_t offset),
     (at, bytes, protection, flags, file, offset))

int __wrap_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long value = va_arg(rest, long);
    va_end(rest);
    return command == F_ADD_SEALS && fails(EPERM) ? -1 : fcntl(file, command, value);
}
