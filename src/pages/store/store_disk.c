/* store_disk.c: see store_disk.h. */
#include "pages/store/store_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- files ---- */

int pages_disk_open(int folder, const char *name, int flags, mode_t mode) {
    int file = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    return file < 0 ? -errno : file;
}

int pages_disk_unlink(int folder, const char *name) {
    return unlinkat(folder, name, 0) ? -errno : 0;
}

int pages_disk_resize(int file, uint64_t bytes) {
    return ftruncate(file, (off_t)bytes) ? -errno : 0;
}

/* Best effort: where the filesystem does not support it, the space is allocated when it is written. */
int pages_disk_reserve(int file, uint64_t offset, uint64_t bytes) {
    while (fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes))
        if (errno == EOPNOTSUPP)
            return 0;
        else if (errno != EINTR)
            return -errno;
    return 0;
}

/* The lock is released with the descriptor, and so with the process. */
int pages_disk_lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB) ? -errno : 0;
}

void pages_disk_unlock(int file) {
    (void)flock(file, LOCK_UN);
}

static int disk_set_flag(int file, bool direct) {
    int flags = fcntl(file, F_GETFL);
    flags = direct ? flags | O_DIRECT : flags & ~O_DIRECT;
    return fcntl(file, F_SETFL, flags) ? -errno : 0;
}

int pages_disk_go_direct(int file) {
    return disk_set_flag(file, true);
}

int pages_disk_go_buffered(int file) {
    return disk_set_flag(file, false);
}

/* ---- bytes ---- */

static ssize_t move_some(enum store_way way, int file, void *data, size_t bytes, uint64_t offset) {
    return way == STORE_READ ? pread(file, data, bytes, (off_t)offset)
                             : pwrite(file, data, bytes, (off_t)offset);
}

/* A partial transfer is continued; if that is not possible, the next call returns the reason. */
int pages_disk_move(enum store_way way, int file, void *data, size_t bytes, uint64_t offset) {
    for (size_t moved = 0; moved < bytes;) {
        ssize_t n = move_some(way, file, (char *)data + moved, bytes - moved, offset + moved);
        if (n > 0)
            moved += (size_t)n;
        else if (n == 0)
            return -EIO;
        else if (errno != EINTR)
            return moved && errno == EINVAL ? -EIO : -errno; /* direct I/O stopped within a block */
    }
    return 0;
}

int pages_disk_write(int file, const void *data, size_t bytes, uint64_t offset) {
    return pages_disk_move(STORE_WRITE, file, (void *)(uintptr_t)data, bytes, offset);
}

int pages_disk_read(int file, void *data, size_t bytes, uint64_t offset) {
    return pages_disk_move(STORE_READ, file, data, bytes, offset);
}

int pages_disk_sync(int file) {
    return fdatasync(file) ? -errno : 0;
}
