/* team.c: threads that execute a list of tasks together. They wait at a barrier, take tasks from a common
 * counter until none is left, and return to the barrier; the caller is one of them. The barriers order the
 * writes of one list's tasks before the reads of the next list's. */
#include "halo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct halo_team {
    size_t threads; /* including the caller */
    size_t started;
    pthread_t *ids;
    pthread_barrier_t meet;
    atomic_size_t next; /* reset between barriers, then only incremented: relaxed order suffices */
    halo_task *task;    /* written between barriers; NULL: the end */
    void *work;
    const uint32_t *order;
    size_t count;
};

static void do_tasks(struct halo_team *t) {
    size_t i;
    while ((i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed)) < t->count)
        t->task(t->work, t->order ? t->order[i] : i);
}

static void *take_part(void *arg) {
    struct halo_team *t = arg;
    for (;;) {
        pthread_barrier_wait(&t->meet);
        if (!t->task)
            return NULL;
        do_tasks(t);
        pthread_barrier_wait(&t->meet);
    }
}

void halo_team_run(struct halo_team *t, halo_task *task, void *work, const uint32_t *order, size_t count) {
    t->task = task;
    t->work = work;
    t->order = order;
    t->count = count;
    atomic_store_explicit(&t->next, 0, memory_order_relaxed);
    if (t->threads > 1)
        pthread_barrier_wait(&t->meet);
    do_tasks(t);
    if (t->threads > 1)
        pthread_barrier_wait(&t->meet);
}

/* The barrier counts all threads. If one cannot be started, the threads already started wait at it forever, and
 * end with the program. */
static int start(struct halo_team *t) {
    pthread_attr_t small;
    int error = 0;
    pthread_barrier_init(&t->meet, NULL, (unsigned)t->threads);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    while (!error && t->started + 1 < t->threads)
        if (!(error = pthread_create(&t->ids[t->started], &small, take_part, t)))
            t->started++;
    pthread_attr_destroy(&small);
    if (error)
        app_complain("the system allows no more than %zu threads: use fewer (--threads)", t->started + 1);
    return error ? APP_FAILED : APP_OK;
}

int halo_team_open(struct halo_team **team, size_t threads) {
    struct halo_team *t = calloc(1, sizeof *t);
    *team = t;
    if (t) {
        t->threads = threads;
        t->ids = calloc(threads, sizeof *t->ids);
    }
    if (!t || !t->ids) {
        app_complain("no memory for %zu threads: use fewer (--threads)", threads);
        return APP_FAILED;
    }
    return threads > 1 ? start(t) : APP_OK;
}

void halo_team_close(struct halo_team *t) {
    if (!t)
        return;
    if (t->started + 1 < t->threads)
        return; /* see start */
    if (t->threads > 1) {
        t->task = NULL;
        pthread_barrier_wait(&t->meet);
        for (size_t i = 0; i < t->started; i++)
            pthread_join(t->ids[i], NULL);
        pthread_barrier_destroy(&t->meet);
    }
    free(t->ids);
    free(t);
}
