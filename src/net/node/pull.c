/* pull.c: process_vm_readv copies from the sender's buffer into the receiver's once, where a ring takes two copies
 * and the sender's time.
 *
 * The kernel allows it to processes that may trace the sender. With Yama's ptrace_scope at 1, Ubuntu's default, these
 * are the sender's ancestors, one process that the sender names by prctl, and the descendants of that process. Ranks
 * are siblings. So each names its parent, the launcher, which admits the other ranks, and no process that could not
 * kill them anyway. If a rank runs in a shell of its own, its parent is not the launcher, and pulling does not work:
 * the test in net_node_connect detects that. */
#include "net/node/pull.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"

enum { MOST = 1 << 30 }; /* bytes per call; the kernel stops a little below 2 GB */

static char yama_scope(void) {
    char scope = '0';
    int file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return scope;
    if (read(file, &scope, 1) != 1)
        scope = '0';
    close(file);
    return scope;
}

void net_pull_allow(void) {
    if (yama_scope() == '1')
        (void)prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
}

/* One call, of at most MOST bytes. */
typedef ssize_t vm_call(pid_t process, const struct iovec *local, unsigned long locals,
                        const struct iovec *remote, unsigned long remotes, unsigned long flags);

/* The call may stop short at a page that is not mapped; the next call then returns the reason. */
static int copy_by(vm_call *call, int process, uint64_t address, void *here, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < MOST ? bytes - done : MOST;
        struct iovec local = {.iov_base = (char *)here + done, .iov_len = part};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)(address + done), .iov_len = part};
        ssize_t n = call(process, &local, 1, &remote, 1, 0);
        if (n <= 0)
            return n ? -errno : -EFAULT;
        done += (size_t)n;
    }
    return 0;
}

int net_pull_copy(int process, uint64_t address, void *to, size_t bytes) {
    return copy_by(process_vm_readv, process, address, to, bytes);
}

int net_pull_push(int process, uint64_t address, const void *from, size_t bytes) {
    return copy_by(process_vm_writev, process, address, (void *)(uintptr_t)from, bytes);
}

/* ---- from which size ----
 *
 * A pull is a system call and one copy. A message is copied twice, and each line of the ring moves from the writer's cache
 * to the reader's, and back when the ring is written again: together about three times as long as to copy memory that
 * another process has written. So that copy is timed, and pulls of a few sizes. */

enum { PART = 16 << 10, PARTS = 4, TRIES = 3, COPIES = 3, NEVER_FASTER = 4 << 20 };

/* The fastest of several copies of PART bytes that this process has not read before. */
static uint64_t copy_ticks(char *to, const char *from) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < PARTS * PART; i += 4096)
        (void)*(const volatile char *)(from + i); /* maps the page */
    for (int i = 0; i < PARTS; i++) {
        uint64_t begin = clock_ticks();
        memcpy(to, from + (size_t)i * PART, PART);
        uint64_t ticks = clock_ticks_since(begin);
        least = ticks < least ? ticks : least;
    }
    return least;
}

static uint64_t pull_ticks(int process, uint64_t address, char *to, size_t bytes) {
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = clock_ticks();
        if (net_pull_copy(process, address, to, bytes))
            return UINT64_MAX;
        uint64_t ticks = clock_ticks_since(begin);
        least = ticks < least ? ticks : least;
    }
    return least;
}

uint64_t net_pull_least(int process, uint64_t address, const char *here, size_t bytes) {
    char *to = bytes >= PARTS * PART ? malloc(PARTS * PART) : NULL;
    if (!to)
        return PART;
    memset(to, 0, PARTS * PART);
    uint64_t message = COPIES * copy_ticks(to, here);
    size_t n = PART;
    while (n <= PARTS * PART && pull_ticks(process, address, to, n) > message * (n / PART))
        n *= 2;
    free(to);
    return n <= PARTS * PART ? n : NEVER_FASTER;
}
