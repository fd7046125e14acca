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
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

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

/* The call may stop short at a page that is not mapped; the next call then returns the reason. */
int net_pull_copy(int process, uint64_t address, void *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        size_t part = bytes - done < MOST ? bytes - done : MOST;
        struct iovec local = {.iov_base = (char *)to + done, .iov_len = part};
        struct iovec remote = {.iov_base = (void *)(uintptr_t)(address + done), .iov_len = part};
        ssize_t n = process_vm_readv(process, &local, 1, &remote, 1, 0);
        if (n <= 0)
            return n ? -errno : -EFAULT;
        done += (size_t)n;
    }
    return 0;
}
