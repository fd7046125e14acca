/* fail_system.c: system calls that fail, other than those for memory, files and threads. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fail.h"

static int refuse(int why) {
    errno = why;
    return -1;
}

#define SYSTEM_CALL(why, result, name, parameters, arguments)                                                \
    SHOWN result name parameters {                                                                           \
        NEXT(name);                                                                                          \
        return FAILS(FAIL_SYSTEM) ? (result)refuse(why) : next arguments;                                    \
    }

/* ---- descriptors ---- */

SYSTEM_CALL(EMFILE, int, pipe2, (int ends[2], int flags), (ends, flags))
SYSTEM_CALL(EMFILE, int, eventfd, (unsigned count, int flags), (count, flags))
SYSTEM_CALL(EMFILE, int, epoll_create1, (int flags), (flags))
SYSTEM_CALL(ENOSPC, int, epoll_ctl, (int epoll, int what, int fd, struct epoll_event *event),
            (epoll, what, fd, event))
SYSTEM_CALL(EMFILE, int, timerfd_create, (int clock, int flags), (clock, flags))
SYSTEM_CALL(EMFILE, int, socket, (int domain, int type, int protocol), (domain, type, protocol))
SYSTEM_CALL(EADDRNOTAVAIL, int, bind, (int fd, const struct sockaddr *address, socklen_t bytes),
            (fd, address, bytes))

/* ---- memory that exists ---- */

SYSTEM_CALL(ENOMEM, int, mprotect, (void *at, size_t bytes, int protection), (at, bytes, protection))

SHOWN void *mremap(void *at, size_t old, size_t bytes, int flags, ...) {
    NEXT(mremap);
    va_list rest;
    va_start(rest, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    if (!FAILS(FAIL_SYSTEM))
        return next(at, old, bytes, flags, to);
    errno = ENOMEM;
    return MAP_FAILED;
}

/* FIONREAD never fails: Hearth uses it to wait until the launcher has read its last line, which would be lost. */
SHOWN int ioctl(int fd, unsigned long what, ...) {
    NEXT(ioctl);
    va_list rest;
    va_start(rest, what);
    void *arg = va_arg(rest, void *);
    va_end(rest);
    return what != FIONREAD && FAILS(FAIL_SYSTEM) ? refuse(EIO) : next(fd, what, arg);
}

/* ---- other processes ---- */

SYSTEM_CALL(EPERM, ssize_t, process_vm_readv,
            (pid_t pid, const struct iovec *own, unsigned long owns, const struct iovec *other,
             unsigned long others, unsigned long flags),
            (pid, own, owns, other, others, flags))
SYSTEM_CALL(EPERM, ssize_t, process_vm_writev,
            (pid_t pid, const struct iovec *own, unsigned long owns, const struct iovec *other,
             unsigned long others, unsigned long flags),
            (pid, own, owns, other, others, flags))

/* ---- io_uring: its functions return the error ---- */

SHOWN int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
SHOWN int io_uring_queue_init(unsigned entries, void *ring, unsigned flags) {
    NEXT(io_uring_queue_init);
    return FAILS(FAIL_SYSTEM) ? -ENOMEM : next(entries, ring, flags);
}

SHOWN int io_uring_submit(void *ring);
SHOWN int io_uring_submit(void *ring) {
    NEXT(io_uring_submit);
    return FAILS(FAIL_SYSTEM) ? -EAGAIN : next(ring);
}
