/* fail_calls.c: see fail_calls.h. */
#include "fail_calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static _Atomic unsigned calls, failing;

void fail_calls_at(unsigned k) {
    atomic_store(&calls, 0);
    atomic_store(&failing, k);
}

bool fail_calls_end(void) {
    bool happened = atomic_load(&calls) >= atomic_load(&failing);
    atomic_store(&failing, 0);
    return happened;
}

static bool fails_with(int error) {
    unsigned k = atomic_load(&failing);
    if (!k || atomic_fetch_add(&calls, 1) + 1 != k)
        return false;
    errno = error;
    return true;
}

#define WRAP(error, failure, result, name, parameters, arguments)                                            \
    result __real_##name parameters;                                                                         \
    result __wrap_##name parameters;                                                                         \
    result __wrap_##name parameters {                                                                        \
        return fails_with(error) ? (failure) : __real_##name arguments;                                      \
    }

WRAP(ENOMEM, NULL, void *, malloc, (size_t bytes), (bytes))
WRAP(ENOMEM, NULL, void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(ENOMEM, NULL, void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(ENOMEM, NULL, void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
WRAP(ENOMEM, MAP_FAILED, void *, mmap,
     (void *at, size_t bytes, int protection, int flags, int fd, off_t offset),
     (at, bytes, protection, flags, fd, offset))
WRAP(EMFILE, -1, int, memfd_create, (const char *name, unsigned flags), (name, flags))
WRAP(ENOMEM, NULL, FILE *, open_memstream, (char **text, size_t *bytes), (text, bytes))
WRAP(EIO, -1, ssize_t, read, (int fd, void *to, size_t bytes), (fd, to, bytes))
WRAP(ENOSPC, -1, ssize_t, write, (int fd, const void *from, size_t bytes), (fd, from, bytes))
WRAP(EIO, -1, ssize_t, pread, (int fd, void *to, size_t bytes, off_t at), (fd, to, bytes, at))
WRAP(ENOSPC, -1, ssize_t, pwrite, (int fd, const void *from, size_t bytes, off_t at), (fd, from, bytes, at))
WRAP(ENOSPC, -1, int, ftruncate, (int fd, off_t bytes), (fd, bytes))
WRAP(ENOSPC, -1, int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes))
WRAP(EPERM, -1, int, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(EIO, -1, int, fstat, (int fd, struct stat *about), (fd, about))
WRAP(EACCES, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(EACCES, -1, int, rename, (const char *from, const char *to), (from, to))
WRAP(EMFILE, NULL, FILE *, fopen, (const char *path, const char *mode), (path, mode))
WRAP(EMFILE, NULL, FILE *, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(EACCES, -1, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(EMFILE, NULL, DIR *, opendir, (const char *path), (path))
WRAP(ENOMEM, NULL, DIR *, fdopendir, (int folder), (folder))
WRAP(EMFILE, -1, int, eventfd, (unsigned count, int flags), (count, flags))
WRAP(EMFILE, -1, int, pipe2, (int ends[2], int flags), (ends, flags))
WRAP(EMFILE, -1, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
WRAP(EADDRNOTAVAIL, -1, int, bind, (int fd, const struct sockaddr *address, socklen_t bytes),
     (fd, address, bytes))
WRAP(EAGAIN, EAGAIN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg),
     (thread, attributes, start, arg))
WRAP(ENOMEM, ENOMEM, int, pthread_atfork, (void (*before)(void), void (*after)(void), void (*child)(void)),
     (before, after, child))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails_with(EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails_with(EMFILE) ? -1 : __real_openat(folder, path, flags, mode);
}

/* All commands take a number or nothing. */
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long value = va_arg(rest, long);
    va_end(rest);
    return fails_with(EPERM) ? -1 : __real_fcntl(fd, command, value);
}
