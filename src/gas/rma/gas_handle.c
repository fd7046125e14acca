/* gas_handle.c: operations under way: allocation and completion of their records.
 *
 *      gasnet_handle_t --> one operation
 *                      --> an access region --> operation --> operation ...
 *      thread          --> implicit gets    --> operation ...
 *                      --> implicit puts    --> operation ...
 *                      --> spare records
 *
 * A record belongs to one thread, so no lock is needed. Lists of implicit operations are in the order in which they
 * were started, which is roughly the order in which they complete. A thread that starts many and never synchronises
 * holds no more than about LOOK_FROM completed records, because the head of the list is checked whenever one is added.
 *
 * No put, get or set needs any action of another process to complete. So waiting for the first of several never takes
 * longer than waiting for all of them, and it may sleep. In pages, an operation may need its own thread: to update a page
 * that has arrived, or to ask again. Polls do that too (handle_tend), so that a program that starts an operation and
 * then only polls, for the answer of another process, say, does not wait for ever. Collective operations complete in
 * handlers: a wait for them polls. */
#include "gas/rma/gas_handle.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "gas/coll/coll.h"
#include "gas/memory/ask.h"
#include "gas/rma/gas_leaf.h"
#include "observe/live.h"

enum { SPARES = 1024 /* kept by a thread */, LOOK_FROM = 1024 };

/* ---- threads ---- */

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Protects the list of threads; taken before a thread's own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gas_thread *threads;

/* Without pages only the thread itself calls this: its list is then not protected by its lock. A thread that still runs may
 * be executing its updates: only the thread itself finishes them, as an update must not be executed twice. */
static void finish_open(struct gas_thread *t) {
    bool own = t == gas_am_context.thread;
    pthread_mutex_lock(&t->lock);
    for (struct gasnet_operation *o = t->open; o; o = o->open_next)
        if (o->kind == OPERATION_MEMORY && (own || !gas_memory_is_update(&o->memory)))
            gas_memory_finish(&o->memory);
    pthread_mutex_unlock(&t->lock);
}

void gas_handle_finish_all(void) {
    if (!gas_job.pages)
        return; /* the memory stays valid, and their lists are not locked */
    pthread_mutex_lock(&lock);
    for (struct gas_thread *t = threads; t; t = t->next)
        finish_open(t);
    pthread_mutex_unlock(&lock);
}

static void join(struct gas_thread *t) {
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_lock(&lock);
    t->next = threads;
    if (threads)
        threads->previous = t;
    threads = t;
    pthread_mutex_unlock(&lock);
}

static void handle_part(struct gas_thread *t) {
    pthread_mutex_lock(&lock);
    *(t->previous ? &t->previous->next : &threads) = t->next;
    if (t->next)
        t->next->previous = t->previous;
    pthread_mutex_unlock(&lock);
}

/* The thread ends. If the job has ended before, nothing is under way any more. */
static void forget_thread(void *arg) {
    struct gas_thread *t = arg;
    gas_am_context.thread = t; /* in case one of the calls below needs it */
    if (gas_is_attached()) {
        if (t->region)
            gas_operation_finish(t, t->region, false);
        gas_operations_finish(t, &t->gets, false);
        gas_operations_finish(t, &t->puts, false);
        gas_operations_finish(t, &t->rmws, false);
        finish_open(t); /* operations with handles, which no other thread may use */
    }
    for (struct gasnet_operation *o = t->open; o; o = o->open_next)
        o->owner = NULL;
    handle_part(t);
    while (t->spare) {
        struct gasnet_operation *o = t->spare;
        t->spare = o->next;
        free(o);
    }
    gas_stats_leave(&t->stats);
    gas_am_context.thread = NULL;
    live_free(t);
}

static void make_key(void) {
    if (pthread_key_create(&key, forget_thread) != 0)
        gas_fail("gasnet_attach", "no thread-specific data key is left (PTHREAD_KEYS_MAX)");
}

struct gas_thread *gas_thread_make(void) {
    pthread_once(&once, make_key);
    struct gas_thread *t = live_alloc(sizeof *t);
    if (!t || pthread_setspecific(key, t) != 0)
        gas_fail("gasnet", "no memory for the record of a thread");
    join(t);
    gas_stats_join(&t->stats);
    return gas_am_context.thread = t;
}

/* ---- records ---- */

struct gasnet_operation *gas_operation_new(struct gas_thread *t) {
    struct gasnet_operation *o = t->spare;
    if (LIKELY(o)) {
        t->spare = o->next;
        t->spares--;
    } else if (!(o = malloc(sizeof *o)))
        return NULL;
    o->next = NULL;
    o->region = (struct operations){0};
    o->kind = OPERATION_MEMORY;
    o->category = CATEGORY_GET;
    o->complete = o->polled = false;
    o->owner = NULL;
    o->copy = NULL;
    return o;
}

/* Only pages access the list of another thread, when they are closed. */
static void lock_open(struct gas_thread *t) {
    if (gas_job.pages)
        pthread_mutex_lock(&t->lock);
}

static void unlock_open(struct gas_thread *t) {
    if (gas_job.pages)
        pthread_mutex_unlock(&t->lock);
}

void gas_operation_opened(struct gas_thread *t, struct gasnet_operation *o) {
    lock_open(t);
    o->owner = t;
    o->open_previous = NULL;
    o->open_next = t->open;
    if (t->open)
        t->open->open_previous = o;
    t->open = o;
    unlock_open(t);
}

static void close_operation(struct gasnet_operation *o) {
    struct gas_thread *t = o->owner;
    lock_open(t);
    if (t->tended == o)
        t->tended = o->open_next;
    *(o->open_previous ? &o->open_previous->open_next : &t->open) = o->open_next;
    if (o->open_next)
        o->open_next->open_previous = o->open_previous;
    unlock_open(t);
}

void gas_operation_free(struct gas_thread *t, struct gasnet_operation *o) {
    if (o->owner)
        close_operation(o);
    if (o->copy && o->copy != o->inside)
        free(o->copy);
    if (t->spares >= SPARES) {
        free(o);
        return;
    }
    o->next = t->spare;
    t->spare = o;
    t->spares++;
}

const void *gas_operation_copy(struct gasnet_operation *o, const void *from, size_t bytes) {
    o->copy = bytes <= COPY_INSIDE ? o->inside : malloc(bytes);
    return o->copy ? memcpy(o->copy, from, bytes) : NULL;
}

/* ---- lists ---- */

static struct gasnet_operation *take_first(struct operations *list) {
    struct gasnet_operation *o = list->first;
    list->first = o->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    return o;
}

static void handle_append(struct operations *list, struct gasnet_operation *o) {
    o->next = NULL;
    if (list->last)
        list->last->next = o;
    else
        list->first = o;
    list->last = o;
    list->count++;
}

/* ---- testing ---- */

bool gas_operation_is_complete(struct gasnet_operation *o) {
    if (!o->complete)
        o->complete =
            LIKELY(o->kind == OPERATION_MEMORY) ? gas_memory_try(&o->memory) : gas_schedule_try(o->coll);
    return o->complete;
}

/* A copied source is free from the start. */
bool gas_operation_source_is_free(struct gasnet_operation *o) {
    if (o->copy || o->complete)
        return true;
    if (o->kind == OPERATION_MEMORY && gas_memory_source_is_free(&o->memory))
        return true;
    return gas_operation_is_complete(o);
}

/* A bounded number per poll, in turn: a thread may have many. */
static void handle_tend(void) {
    enum { MOST = 8 };
    struct gas_thread *t = gas_am_context.thread;
    if (LIKELY(!t || !t->open || !gas_job.pages))
        return;
    pthread_mutex_lock(&t->lock);
    struct gasnet_operation *o = t->tended ? t->tended : t->open;
    for (int i = 0; o && i < MOST; i++, o = o->open_next)
        if (o->kind == OPERATION_MEMORY)
            gas_operation_is_complete(o);
    t->tended = o;
    pthread_mutex_unlock(&t->lock);
}

void gas_handle_open(void) {
    gas_tended.operations = handle_tend;
}

/* Stops at the first incomplete operation; the operations behind it are tested only after it is complete. */
bool gas_operations_try(struct gas_thread *t, struct operations *list) {
    while (list->first) {
        if (!gas_operation_is_complete(list->first))
            return false;
        gas_operation_free(t, take_first(list));
    }
    return true;
}

bool gas_operation_try(struct gas_thread *t, gasnet_handle_t o) {
    if (UNLIKELY(gas_leaf_tag(o) != LEAF_NONE))
        return gas_leaf_is_complete(o);
    if (!(o->kind == OPERATION_REGION ? gas_operations_try(t, &o->region) : gas_operation_is_complete(o)))
        return false;
    gas_operation_free(t, o);
    return true;
}

void gas_operation_add(struct gas_thread *t, struct gasnet_operation *o) {
    struct operations *list = t->region                     ? &t->region->region
                              : o->category == CATEGORY_GET ? &t->gets
                              : o->category == CATEGORY_PUT ? &t->puts
                                                            : &t->rmws;
    handle_append(list, o);
    if (t->region)
        t->region->polled |= o->polled;
    for (int i = 0; i < 2 && list->count > LOOK_FROM && gas_operation_is_complete(list->first); i++)
        gas_operation_free(t, take_first(list));
}

int gas_operation_not_ready(void) {
    sched_yield();
    return GASNET_ERR_NOT_READY;
}

/* ---- waiting ---- */

static void operation_wait(struct gasnet_operation *o, bool polls) {
    unsigned round = 0;
    if (gas_operation_is_complete(o))
        return;
    if (o->kind == OPERATION_MEMORY) {
        if (polls)
            gas_poll();
        gas_memory_finish(&o->memory);
        return;
    }
    while (!gas_operation_is_complete(o))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
}

/* The source may leave before the operation is complete: the network is polled. */
static void leaf_wait(gasnet_handle_t leaf) {
    unsigned round = 0;
    while (!gas_leaf_is_complete(leaf))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
}

void gas_operations_finish(struct gas_thread *t, struct operations *list, bool polls) {
    while (list->first) {
        operation_wait(list->first, polls);
        gas_operation_free(t, take_first(list));
    }
}

void gas_operation_finish(struct gas_thread *t, gasnet_handle_t o, bool polls) {
    if (UNLIKELY(gas_leaf_tag(o) != LEAF_NONE)) {
        leaf_wait(o);
        return;
    }
    if (o->kind == OPERATION_REGION)
        gas_operations_finish(t, &o->region, polls);
    else
        operation_wait(o, false);
    gas_operation_free(t, o);
}
