/* threads.c: one thread is notified, another reads, after a hand-over that MPI does not see. A helper thread executes
 * one task at a time; a mutex and a condition order both sides. */
#include "litmus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef void task(struct place p, uint64_t v);

static struct helper {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    task *task; /* NULL: nothing to do */
    struct place place;
    uint64_t value;
    bool stop;
} helper = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- hand-over ---- */

static void *help(void *arg) {
    pthread_mutex_lock(&helper.mutex);
    while (!helper.stop) {
        if (helper.task) {
            helper.task(helper.place, helper.value);
            helper.task = NULL;
            pthread_cond_broadcast(&helper.changed);
        }
        pthread_cond_wait(&helper.changed, &helper.mutex);
    }
    pthread_mutex_unlock(&helper.mutex);
    return arg;
}

/* Gives the helper a task, and waits until it is done. */
static void ask(task *what, struct place p, uint64_t v) {
    pthread_mutex_lock(&helper.mutex);
    helper.task = what;
    helper.place = p;
    helper.value = v;
    pthread_cond_broadcast(&helper.changed);
    while (helper.task)
        pthread_cond_wait(&helper.changed, &helper.mutex);
    pthread_mutex_unlock(&helper.mutex);
}

static void hire(void) {
    helper.stop = false;
    if (litmus_rank == READER && pthread_create(&helper.thread, NULL, help, NULL))
        abort();
}

static void dismiss(void) {
    if (litmus_rank != READER)
        return;
    pthread_mutex_lock(&helper.mutex);
    helper.stop = true;
    pthread_cond_broadcast(&helper.changed);
    pthread_mutex_unlock(&helper.mutex);
    pthread_join(helper.thread, NULL);
}

/* ---- the tasks ---- */

static void read_old(struct place p, uint64_t v) {
    expect_last(p);
}

static void hear(struct place p, uint64_t v) {
    receive_word(WRITER, TAG_NEWS);
}

static void here(task *what, struct place p, uint64_t v) {
    what(p, v);
}

/* Which thread executes each step: `ask` for the helper thread, `here` for this one. */
struct roles {
    void (*read_before)(task *what, struct place p, uint64_t v);
    void (*hear)(task *what, struct place p, uint64_t v);
    void (*read_after)(task *what, struct place p, uint64_t v);
};

static void write_and_tell(struct place p, uint64_t v) {
    receive_word(READER, TAG_READY);
    litmus_delay();
    place_write(p, v);
    send_word(READER, TAG_NEWS, v);
}

static void share_work(struct roles roles) {
    hire();
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER) {
            write_and_tell(p, v);
            continue;
        }
        roles.read_before(read_old, p, v);
        send_word(WRITER, TAG_READY, v);
        roles.hear(hear, p, v);
        roles.read_after(expect_value, p, v);
    }
    dismiss();
}

LITMUS_MARKED(threads_helper_reads, 2, MARK_CATCHES | MARK_THREADS) {
    share_work((struct roles){ask, here, ask});
}

LITMUS_MARKED(threads_helper_hears, 2, MARK_CATCHES | MARK_THREADS) {
    share_work((struct roles){here, ask, here});
}

LITMUS_MARKED(threads_helper_reads_late, 2, MARK_CATCHES | MARK_THREADS) {
    share_work((struct roles){here, here, ask});
}

LITMUS_MARKED(threads_helper_reads_before, 2, MARK_CATCHES | MARK_THREADS) {
    share_work((struct roles){ask, here, here});
}

/* ---- a second thread reads other places all the time ---- */

static _Atomic bool enough;

/* No rank writes these places; gets from them are pending whenever the sync event comes. */
static void *read_always(void *arg) {
    uint64_t line[LINE_WORDS];
    for (int i = 0; !enough; i = (i + 1) % FLAGS) {
        struct place f = place_flag(0, WRITER, i);
        place_get(f, line);
        MPI_Win_flush(f.home, f.win);
        if (line_value(line, LINE_WORDS) != 0)
            litmus_forbid("read what nobody wrote");
    }
    return arg;
}

LITMUS_MARKED(threads_reader_beside, 2, MARK_CATCHES | MARK_THREADS) {
    pthread_t beside;
    enough = false;
    if (litmus_rank == READER && pthread_create(&beside, NULL, read_always, NULL))
        abort();
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER) {
            write_and_tell(p, v);
            continue;
        }
        expect_last(p);
        send_word(WRITER, TAG_READY, v);
        receive_word(WRITER, TAG_NEWS);
        expect_value(p, v);
    }
    enough = true;
    if (litmus_rank == READER)
        pthread_join(beside, NULL);
}
