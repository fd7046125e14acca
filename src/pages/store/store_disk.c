/* store_disk.c: system calls of the store, with two hooks for tests: one makes any of them fail, the other observes
 * every write and sync, so that a power failure can be simulated afterwards. */
#include "pages/store/store_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/compiler.h"

enum { SECTOR = 512 };

/* ---- for tests ---- */

/* pages_disk_fault reads it without the lock, so that it is cheap while no fault is planned. */
static _Atomic unsigned countdown;
static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER; /* leaf lock */
static unsigned plan_times, plan_done;
static int plan_error;

unsigned pages_store_fail_at(unsigned n, unsigned times, int error) {
    pthread_mutex_lock(&plan_lock);
    unsigned done = plan_done;
    atomic_store(&countdown, n);
    plan_times = times;
    plan_error = error;
    plan_done = 0;
    pthread_mutex_unlock(&plan_lock);
    return done;
}

static int take_planned(void) {
    unsigned left = atomic_load(&countdown);
    if (left != 1) {
        atomic_store(&countdown, left ? left - 1 : 0);
        return 0;
    }
    plan_done++;
    if (plan_times && !--plan_times)
        atomic_store(&countdown, 0);
    return plan_error;
}

int pages_disk_fault(void) {
    if (LIKELY(!atomic_load_explicit(&countdown, memory_order_relaxed)))
        return 0;
    pthread_mutex_lock(&plan_lock);
    int error = take_planned();
    pthread_mutex_unlock(&plan_lock);
    return error;
}

/* Fault for calls that cannot be partial: they fail. */
static int whole_fault(void) {
    int error = pages_disk_fault();
    return error == STORE_SHORT ? EIO : error;
}

size_t pages_disk_short(size_t bytes) {
    return bytes / 2 < SECTOR ? bytes : bytes / 2 / SECTOR * SECTOR;
}

static void (*watcher)(void *arg, const struct store_event *event);
static void *watcher_arg;

void pages_store_watch(void (*watch)(void *arg, const struct store_event *event), void *arg) {
    watcher = watch;
    watcher_arg = arg;
}

void pages_disk_tell(int file, const void *data, size_t bytes, uint64_t offset) {
    if (UNLIKELY(watcher != NULL))
        watcher(watcher_arg, &(struct store_event){STORE_WROTE, file, offset, data, bytes});
}

void pages_disk_tell_failed(int file, size_t bytes, uint64_t offset) {
    if (UNLIKELY(watcher != NULL))
        watcher(watcher_arg, &(struct store_event){STORE_FAILED, file, offset, NULL, bytes});
}

/* ---- files ---- */

int pages_disk_open(int folder, const char *name, int flags, mode_t mode) {
    int error = whole_fault();
    int file = error ? -1 : openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    return error ? -error : file < 0 ? -errno : file;
}

int pages_disk_unlink(int folder, const char *name) {
    int error = whole_fault();
    return error ? -error : unlinkat(folder, name, 0) ? -errno : 0;
}

int pages_disk_resize(int file, uint64_t bytes) {
    int error = whole_fault();
    return error ? -error : ftruncate(file, (off_t)bytes) ? -errno : 0;
}

/* Best effort: where the filesystem does not support it, the space is allocated when it is written. */
int pages_disk_reserve(int file, uint64_t offset, uint64_t bytes) {
    int error = whole_fault();
    if (error)
        return -error;
    while (fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes))
        if (errno == EOPNOTSUPP)
            return 0;
        else if (errno != EINTR)
            return -errno;
    return 0;
}

/* The lock is released with the descriptor, and so with the process. */
int pages_disk_lock(int file) {
    int error = whole_fault();
    return error ? -error : flock(file, LOCK_EX | LOCK_NB) ? -errno : 0;
}

void pages_disk_unlock(int file) {
    (void)flock(file, LOCK_UN);
}

static int disk_set_flag(int file, bool direct) {
    int error = whole_fault(), flags = fcntl(file, F_GETFL);
    if (error)
        return -error;
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
    int error = pages_disk_fault();
    if (error == STORE_SHORT) {
        bytes = pages_disk_short(bytes);
    } else if (error) {
        errno = error;
        return -1;
    }
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
    pages_disk_tell(file, data, bytes, offset);
    int error = pages_disk_move(STORE_WRITE, file, (void *)(uintptr_t)data, bytes, offset);
    if (error)
        pages_disk_tell_failed(file, bytes, offset);
    return error;
}

int pages_disk_read(int file, void *data, size_t bytes, uint64_t offset) {
    return pages_disk_move(STORE_READ, file, data, bytes, offset);
}

int pages_disk_sync(int file) {
    int error = whole_fault();
    if (!error && fdatasync(file))
        error = errno;
    if (UNLIKELY(watcher != NULL))
        watcher(watcher_arg,
                &(struct store_event){.what = error ? STORE_NOT_SYNCED : STORE_SYNCED, .file = file});
    return -error;
}
