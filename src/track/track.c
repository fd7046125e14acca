/* track.c: see track.h. */
#include "track/track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers may be older than the kernel. */
#define WP_UNPOPULATED ((uint64_t)1 << 13)
#define WP_ASYNC       ((uint64_t)1 << 15)

struct pagemap_scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
        category_anyof_mask, return_mask;
};

#define PAGEMAP_SCAN _IOWR('f', 16, struct pagemap_scan)
enum { WP_MATCHING = 1, CHECK_WPASYNC = 2 /* fail if some of the memory is not tracked */ };
enum { PAGE_IS_WRITTEN = 2 };

int track_open(void) {
    int tracker = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (tracker < 0)
        return -errno;
    struct uffdio_api api = {.api = UFFD_API, .features = WP_ASYNC | WP_UNPOPULATED};
    if (!ioctl(tracker, UFFDIO_API, &api))
        return tracker;
    close(tracker);
    return -ENOSYS;
}

int track_add(int tracker, void *base, size_t bytes) {
    struct uffdio_range range = {.start = (uintptr_t)base, .len = bytes};
    struct uffdio_register wanted = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (ioctl(tracker, UFFDIO_REGISTER, &wanted))
        return -errno;
    if (!ioctl(tracker, UFFDIO_WRITEPROTECT, &protect))
        return 0;
    int err = -errno;
    track_remove(tracker, base, bytes);
    return err;
}

void track_remove(int tracker, void *base, size_t bytes) {
    struct uffdio_range range = {.start = (uintptr_t)base, .len = bytes};
    ioctl(tracker, UFFDIO_UNREGISTER, &range);
}

int track_watch(int process) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/pagemap", process);
    int watch = open(path, O_RDONLY | O_CLOEXEC);
    return watch < 0 ? -errno : watch;
}

int track_scan(int watch, uint64_t begin, uint64_t end, struct track_range *ranges, size_t most,
               uint64_t *reached) {
    struct pagemap_scan scan = {.size = sizeof scan,
                                .flags = WP_MATCHING | CHECK_WPASYNC,
                                .start = begin,
                                .end = end,
                                .vec = (uintptr_t)ranges,
                                .vec_len = most,
                                .category_mask = PAGE_IS_WRITTEN,
                                .return_mask = PAGE_IS_WRITTEN};
    int count = ioctl(watch, PAGEMAP_SCAN, &scan);
    *reached = count < 0 ? begin : scan.walk_end;
    return count < 0 ? -errno : count;
}
