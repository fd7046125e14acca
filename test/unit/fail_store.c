/* fail_store.c: see fail_store.h. */
#include "fail_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "pages/store/store_disk.h"
#include "pages/store/store_engine.h"

enum { SECTOR = 512 };

/* ---- the plan ---- */

static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER; /* leaf lock */
static unsigned countdown, plan_times, plan_done;
static int plan_error;

unsigned fail_store_at(unsigned n, unsigned times, int error) {
    pthread_mutex_lock(&plan_lock);
    unsigned done = plan_done;
    countdown = n;
    plan_times = times;
    plan_error = error;
    plan_done = 0;
    pthread_mutex_unlock(&plan_lock);
    return done;
}

static int take_planned(void) {
    if (countdown != 1) {
        countdown -= countdown > 0;
        return 0;
    }
    plan_done++;
    if (plan_times && !--plan_times)
        countdown = 0;
    return plan_error;
}

/* The fault of the next call: 0 for none, an errno, or FAIL_SHORT. */
static int fault(void) {
    pthread_mutex_lock(&plan_lock);
    int error = take_planned();
    pthread_mutex_unlock(&plan_lock);
    return error;
}

/* For calls that cannot be partial: they fail. */
static int whole_fault(void) {
    int error = fault();
    return error == FAIL_SHORT ? EIO : error;
}

static bool fails(void) {
    int error = whole_fault();
    if (error)
        errno = error;
    return error != 0;
}

/* Whole sectors. */
static size_t short_of(size_t bytes) {
    return bytes / 2 < SECTOR ? bytes : bytes / 2 / SECTOR * SECTOR;
}

/* ---- system calls ---- */

#define WRAP(result, name, parameters, arguments)                                                            \
    result __wrap_##name parameters;                                                                         \
    result __wrap_##name parameters {                                                                        \
        return fails() ? -1 : name arguments;                                                                \
    }

WRAP(int, unlinkat, (int folder, const char *name, int flags), (folder, name, flags))
WRAP(int, ftruncate, (int file, off_t bytes), (file, bytes))
WRAP(int, fallocate, (int file, int mode, off_t at, off_t bytes), (file, mode, at, bytes))
WRAP(int, fstat, (int file, struct stat *about), (file, about))
WRAP(int, fsync, (int file), (file))
WRAP(int, fdatasync, (int file), (file))
WRAP(ssize_t, getrandom, (void *to, size_t bytes, unsigned flags), (to, bytes, flags))
WRAP(int, eventfd, (unsigned count, int flags), (count, flags))
WRAP(int, timerfd_create, (int clock, int flags), (clock, flags))
WRAP(int, epoll_create1, (int flags), (flags))
WRAP(int, epoll_ctl, (int watcher, int what, int file, struct epoll_event *event),
     (watcher, what, file, event))
WRAP(int, open, (const char *path, int flags), (path, flags))

int __wrap_openat(int folder, const char *name, int flags, ...);
int __wrap_openat(int folder, const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t); /* the store always passes one */
    va_end(rest);
    return fails() ? -1 : openat(folder, name, flags, mode);
}

/* Unlocking cannot fail. */
int __wrap_flock(int file, int what);
int __wrap_flock(int file, int what) {
    return what != LOCK_UN && fails() ? -1 : flock(file, what);
}

/* Reading the flags is no request of its own. */
int __wrap_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    int value = command == F_SETFL ? va_arg(rest, int) : 0;
    va_end(rest);
    return command == F_SETFL && fails() ? -1 : fcntl(file, command, value);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *arg) {
    return whole_fault() ? EAGAIN : pthread_create(thread, attributes, start, arg);
}

/* ---- transfers ---- */

static int transfer_fault(size_t *bytes) {
    int error = fault();
    if (error == FAIL_SHORT)
        *bytes = short_of(*bytes);
    else if (error)
        errno = error;
    return error > 0 ? -1 : 0;
}

ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at) {
    return transfer_fault(&bytes) ? -1 : pread(file, to, bytes, at);
}

ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t at);
ssize_t __wrap_pwrite(int file, const void *from, size_t bytes, off_t at) {
    return transfer_fault(&bytes) ? -1 : pwrite(file, from, bytes, at);
}

#ifdef HEARTH_URING

#include <liburing.h>

int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags);
int __wrap_io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags) {
    return whole_fault() ? -ENOSYS : io_uring_queue_init(entries, ring, flags);
}

int __wrap_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring) {
    int error = fault();
    return error > 0 ? -error : io_uring_submit(ring);
}

/* The result of a transfer, in the ring, before the store reads it. */
static void change_result(struct io_uring_cqe *cqe) {
    int error = cqe->user_data ? fault() : 0;
    if (error && cqe->res >= 0)
        cqe->res = error == FAIL_SHORT ? (int)short_of((size_t)cqe->res) : -error;
}

unsigned __wrap_io_uring_peek_batch_cqe(struct io_uring *ring, struct io_uring_cqe **cqes, unsigned count);
unsigned __wrap_io_uring_peek_batch_cqe(struct io_uring *ring, struct io_uring_cqe **cqes, unsigned count) {
    unsigned got = io_uring_peek_batch_cqe(ring, cqes, count);
    for (unsigned i = 0; i < got; i++)
        change_result(cqes[i]);
    return got;
}

#endif

/* ---- the watcher ---- */

static void (*watcher)(void *arg, const struct store_event *event);
static void *watcher_arg;

void watch_store(void (*watch)(void *arg, const struct store_event *event), void *arg) {
    watcher = watch;
    watcher_arg = arg;
}

static void tell(struct store_event event) {
    if (watcher)
        watcher(watcher_arg, &event);
}

/* Of what the store writes by itself; pages go through its engine. */
int __wrap_pages_disk_write(int file, const void *data, size_t bytes, uint64_t offset);
int __wrap_pages_disk_write(int file, const void *data, size_t bytes, uint64_t offset) {
    tell((struct store_event){STORE_WROTE, file, offset, data, bytes});
    int error = pages_disk_write(file, data, bytes, offset);
    if (error)
        tell((struct store_event){STORE_FAILED, file, offset, NULL, bytes});
    return error;
}

int __wrap_pages_disk_sync(int file);
int __wrap_pages_disk_sync(int file) {
    int error = pages_disk_sync(file);
    tell((struct store_event){.what = error ? STORE_NOT_SYNCED : STORE_SYNCED, .file = file});
    return error;
}

/* ---- a watched engine ---- */

/* Stands before the store's engine, and passes everything on. */
struct watched {
    struct store_engine engine, *real;
    int file;
};

static struct watched *watched_of(struct store_engine *engine) {
    return (struct watched *)engine;
}

static void watched_give(struct store_engine *engine, struct store_request *r) {
    struct watched *w = watched_of(engine);
    if (r->way == STORE_WRITE)
        tell((struct store_event){STORE_WROTE, w->file, r->offset, r->buffer, r->bytes});
    w->real->give(w->real, r);
}

static unsigned watched_take(struct store_engine *engine, struct store_request **done, unsigned most) {
    struct watched *w = watched_of(engine);
    unsigned n = w->real->take(w->real, done, most);
    for (unsigned i = 0; i < n; i++)
        if (done[i]->way == STORE_WRITE && done[i]->result)
            tell((struct store_event){STORE_FAILED, w->file, done[i]->offset, NULL, done[i]->bytes});
    return n;
}

static bool watched_arm(struct store_engine *engine) {
    struct watched *w = watched_of(engine);
    return w->real->arm(w->real);
}

static void watched_close(struct store_engine *engine) {
    struct watched *w = watched_of(engine);
    w->real->close(w->real);
    free(w);
}

static int watch_engine(int error, int file, struct store_engine **engine) {
    if (error)
        return error;
    struct watched *w = malloc(sizeof *w);
    if (!w)
        abort();
    *w = (struct watched){.engine = {.name = (*engine)->name,
                                     .descriptor = (*engine)->descriptor,
                                     .give = watched_give,
                                     .take = watched_take,
                                     .arm = watched_arm,
                                     .close = watched_close},
                          .real = *engine,
                          .file = file};
    *engine = &w->engine;
    return 0;
}

#define WRAP_ENGINE(name)                                                                                    \
    int __wrap_##name(int file, unsigned count, struct store_engine **engine);                               \
    int __wrap_##name(int file, unsigned count, struct store_engine **engine) {                              \
        return watch_engine(name(file, count, engine), file, engine);                                        \
    }

WRAP_ENGINE(pages_store_uring_open)
WRAP_ENGINE(pages_store_threads_open)
