/* userfault.c: page faults by userfaultfd: an access to an inaccessible page stops its thread in the kernel, which reports
 * the fault through a descriptor. This includes system calls: read(2) and write(2) work on the segment.
 *
 * USERFAULT_THREADS threads get the pages, so that faults of several threads can wait concurrently. No page can be
 * readable without being writable, so each is fetched for writing. mapping.c describes how a page becomes inaccessible. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/job_end.h"
#include "base/log.h"
#include "net/net.h"
#include "pages/local/local_internal.h"

static int userfault_watch(const struct local *l, char *at, size_t bytes, uint64_t mode) {
    struct uffdio_register r = {.range = {.start = (uintptr_t)at, .len = bytes}, .mode = mode};
    return ioctl(l->userfault, UFFDIO_REGISTER, &r) ? -errno : 0;
}

int pages_userfault_watch_missing(const struct local *l, char *at, size_t bytes) {
    return userfault_watch(l, at, bytes, UFFDIO_REGISTER_MODE_MISSING);
}

int pages_userfault_watch_minor(const struct local *l, char *at, size_t bytes) {
    return userfault_watch(l, at, bytes, UFFDIO_REGISTER_MODE_MINOR);
}

/* ---- faults ---- */

static void userfault_wake(const struct local *l, uint32_t page) {
    struct uffdio_range range = {.start = (uintptr_t)(l->base + (size_t)page * l->page_bytes),
                                 .len = l->page_bytes};
    ioctl(l->userfault, UFFDIO_WAKE, &range);
}

static void userfault_take(struct local *l, const struct uffd_msg *m) {
    if (m->event != UFFD_EVENT_PAGEFAULT)
        return;
    uint32_t page = pages_local_page(l, (const void *)(uintptr_t)m->arg.pagefault.address);
    enum local_result result =
        pages_local_resolve(l, page, m->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE, NULL);
    if (result == LOCAL_FAILED)
        job_end(EXIT_FAILURE); /* the error is logged; the thread that faulted cannot be woken otherwise */
    if (result == LOCAL_DONE)  /* otherwise the thread waits until the process exits */
        userfault_wake(l, page);
}

static void *userfault_run(void *arg) {
    struct local *l = arg;
    struct pollfd polled[] = {{.fd = l->userfault, .events = POLLIN},
                              {.fd = l->userfault_stop, .events = POLLIN}};
    job_end_by_exit();
    for (;;) {
        struct uffd_msg m;
        if (read(l->userfault, &m, sizeof(m)) == (ssize_t)sizeof(m)) {
            userfault_take(l, &m);
            continue;
        }
        poll(polled, 2, -1);
        if (polled[1].revents)
            return NULL;
    }
}

/* ---- open and close ---- */

/* The descriptor also reports faults inside the kernel, which an unprivileged process may be denied. */
static int open_descriptor(void) {
    int descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0)
        return descriptor;
    int err = -errno, device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return err;
    descriptor = ioctl(device, USERFAULTFD_IOC_NEW, O_CLOEXEC | O_NONBLOCK);
    close(device);
    return descriptor >= 0 ? descriptor : err;
}

static int shake_hands(const struct local *l) {
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_MINOR_SHMEM};
    return ioctl(l->userfault, UFFDIO_API, &api) ? -errno : 0;
}

static int userfault_prepare(struct local *l) {
    l->userfault = open_descriptor();
    if (l->userfault < 0)
        return l->userfault;
    int err = shake_hands(l);
    if (!err)
        err = pages_userfault_watch_missing(l, l->base, l->options.bytes);
    if (!err && mprotect(l->base, l->options.bytes, PROT_READ | PROT_WRITE))
        err = -errno;
    return err;
}

int pages_userfault_open(struct local *l) {
    int err = userfault_prepare(l);
    if (!err)
        return 0;
    log_warn(
        "segment: userfaultfd is not available (%s): using SIGSEGV; system calls on the segment fail; see "
        "vm.unprivileged_userfaultfd",
        strerror(-err));
    if (l->userfault >= 0)
        close(l->userfault);
    l->userfault = -1;
    mprotect(l->base, l->options.bytes, PROT_NONE);
    return -ENOSYS;
}

int pages_userfault_start(struct local *l) {
    l->userfault_stop = eventfd(0, EFD_CLOEXEC);
    if (l->userfault_stop < 0)
        return -errno;
    for (; l->userfault_started < USERFAULT_THREADS; l->userfault_started++) {
        int err = pages_local_start_thread(&l->userfault_threads[l->userfault_started], userfault_run, l);
        if (err)
            return err;
    }
    return 0;
}

void pages_userfault_close(struct local *l) {
    uint64_t one = 1;
    while (l->userfault_started && write(l->userfault_stop, &one, sizeof(one)) < 0)
        if (errno != EINTR)
            net_wake_failed("the thread that maps pages");
    while (l->userfault_started)
        pthread_join(l->userfault_threads[--l->userfault_started], NULL);
    if (l->userfault_stop >= 0)
        close(l->userfault_stop);
    if (l->userfault >= 0)
        close(l->userfault);
    l->userfault = l->userfault_stop = -1;
}
