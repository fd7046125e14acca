/* store_threads.c: I/O engine with threads, where io_uring is missing or forbidden.
 *
 *      give -> [todo] -> thread: pread, pwrite -> [done] -> take
 *
 * One lock protects both queues. `finished` can be read without it. The threads wait on a semaphore and not on a condition
 * variable: pthread_cond_signal of glibc before 2.41 may wake none of several waiting threads (its bug 25847), and the
 * request would wait until the next one. The descriptor is an eventfd: it is written only after arm, and read only if it
 * was written, so that a caller that polls without sleeping makes no system call. */
#include "pages/store/store_engine.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "pages/store/store_disk.h"

struct threads {
    struct store_engine engine;
    int file;
    unsigned count;
    pthread_t threads[STORE_MOST_THREADS];
    pthread_mutex_t lock; /* leaf lock */
    sem_t work;           /* requests in `todo`; at the end, one more for each thread */
    struct request_queue todo, done;
    bool armed, signalled;
    /* Requests in `done`. Modified under the lock. A read without the lock may be outdated; it is repeated by take at
     * the next poll, and by arm under the lock. */
    _Atomic unsigned finished;
};

static struct threads *threads_of(struct store_engine *engine) {
    return (struct threads *)engine;
}

/* ---- the threads ---- */

/* NULL: the end. */
static struct store_request *wait_for_work(struct threads *t) {
    while (sem_wait(&t->work) != 0) /* interrupted */
        ;
    pthread_mutex_lock(&t->lock);
    struct store_request *r = pages_store_queue_take(&t->todo);
    pthread_mutex_unlock(&t->lock);
    return r;
}

/* The eventfd is written under the lock: otherwise take could read it before, and it would stay readable. */
static void hand_back(struct threads *t, struct store_request *r) {
    pages_store_queue_add(&t->done, r);
    atomic_fetch_add_explicit(&t->finished, 1, memory_order_relaxed);
    if (t->armed) {
        t->armed = false;
        t->signalled = !eventfd_write(t->engine.descriptor, 1);
    }
}

static void *threads_serve(void *arg) {
    struct threads *t = arg;
    struct store_request *r;
    while ((r = wait_for_work(t)) != NULL) {
        r->result = pages_disk_move(r->way, t->file, r->buffer, r->bytes, r->offset);
        pthread_mutex_lock(&t->lock);
        hand_back(t, r);
        pthread_mutex_unlock(&t->lock);
    }
    return NULL;
}

/* ---- the caller ---- */

static void threads_give(struct store_engine *engine, struct store_request *r) {
    struct threads *t = threads_of(engine);
    pthread_mutex_lock(&t->lock);
    pages_store_queue_add(&t->todo, r);
    pthread_mutex_unlock(&t->lock);
    sem_post(&t->work);
}

static unsigned threads_take(struct store_engine *engine, struct store_request **done, unsigned most) {
    struct threads *t = threads_of(engine);
    unsigned n = 0;
    if (!atomic_load_explicit(&t->finished, memory_order_relaxed))
        return 0;
    pthread_mutex_lock(&t->lock);
    while (n < most && t->done.first)
        done[n++] = pages_store_queue_take(&t->done);
    atomic_fetch_sub_explicit(&t->finished, n, memory_order_relaxed);
    t->armed = false;
    if (t->signalled) {
        eventfd_t ignored;
        (void)eventfd_read(engine->descriptor, &ignored);
        t->signalled = false;
    }
    pthread_mutex_unlock(&t->lock);
    return n;
}

static bool threads_arm(struct store_engine *engine) {
    struct threads *t = threads_of(engine);
    pthread_mutex_lock(&t->lock);
    t->armed = !t->done.first;
    bool may_sleep = t->armed;
    pthread_mutex_unlock(&t->lock);
    return may_sleep;
}

/* A thread ends when it finds no request. Requests that were given before are still executed. */
static void stop(struct threads *t) {
    for (unsigned i = 0; i < t->count; i++)
        sem_post(&t->work);
    for (unsigned i = 0; i < t->count; i++)
        pthread_join(t->threads[i], NULL);
}

static void close_threads(struct store_engine *engine) {
    struct threads *t = threads_of(engine);
    stop(t);
    close(engine->descriptor);
    sem_destroy(&t->work);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* Signals are for the program's own threads. One thread is sufficient to continue. */
static int threads_start(struct threads *t, unsigned count) {
    sigset_t all, before;
    int err = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (t->count < count && !err) {
        err = pthread_create(&t->threads[t->count], NULL, threads_serve, t);
        t->count += !err;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t->count ? 0 : -err;
}

int pages_store_threads_open(int file, unsigned count, struct store_engine **engine) {
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->engine = (struct store_engine){.name = "threads",
                                      .give = threads_give,
                                      .take = threads_take,
                                      .arm = threads_arm,
                                      .close = close_threads};
    t->file = file;
    t->engine.descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&t->lock, NULL);
    sem_init(&t->work, 0, 0);
    int err = t->engine.descriptor < 0 ? -EMFILE : threads_start(t, count);
    if (err) {
        close_threads(&t->engine);
        return err;
    }
    *engine = &t->engine;
    return 0;
}
