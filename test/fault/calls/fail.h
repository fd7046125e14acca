/* fail.h: what the files of the fault injection share: fail.c for memory, files and threads, fail_system.c for the other
 * system calls, fail_ucx.c, fail_mpi.c. */
#ifndef TEST_FAIL_H
#define TEST_FAIL_H

#include <dlfcn.h>
#include <stdbool.h>

#define SHOWN __attribute__((visibility("default")))

enum fail_kind {
    FAIL_MEMORY,
    FAIL_FILES,
    FAIL_THREADS,
    FAIL_SYSTEM,    /* other system calls: descriptors, protection, other processes, asynchronous I/O */
    FAIL_UCX,       /* calls that set UCX up */
    FAIL_ENDPOINTS, /* connections */
    FAIL_SENDS,     /* messages and transfers over UCX, and flushes */
    FAIL_MPI,
    FAIL_POLLS,   /* MPI calls that are repeated until a message arrives or has left */
    FAIL_WINDOWS, /* windows over existing memory: some MPIs create none between hosts */
    FAIL_KINDS
};
#define FAIL_NAMES                                                                                           \
    "memory", "files", "threads", "system", "ucx", "endpoints", "sends", "mpi", "polls", "windows"

/* Counts the call; returns whether it must fail. name: of an MPI call, or NULL. */
bool fail_now(enum fail_kind kind, const char *name, const void *caller);
#define FAILS(kind)             fail_now(kind, NULL, __builtin_return_address(0))
#define FAILS_NAMED(kind, name) fail_now(kind, name, __builtin_return_address(0))

/* Declares `next`, the next definition of a function, which is looked up once. */
#define NEXT(name) NEXT_AS(__typeof__(&name), #name)
#define NEXT_AS(type, name)                                                                                  \
    static type next;                                                                                        \
    if (!next)                                                                                               \
    next = (type)dlsym(RTLD_NEXT, name)

#endif
