/* small.c: remote operations of a process: each occupies one of the node's slots while it is under way.
 *
 * An operation that was begun keeps its slot until a thread collects its answer. To prevent operations that are not
 * waited for yet from holding all slots, a thread that finds no free slot collects the answers of all operations that
 * this process has begun. */
#include "pages/small.h"

#include <string.h>

#include "pages/pages_internal.h"

/* ---- operations that were begun ---- */

/* `to` may be NULL for the previous value of an updated word. */
static void small_take_answer(struct pages *p, int slot, void *to, size_t bytes) {
    const struct pool_small *m = &p->pool.smalls[slot];
    if (pages_pool_small_answer(m) > 0 && to)
        memcpy(to, pages_pool_small_data(&p->pool, slot), bytes);
}

/* Requires small_lock; the answer has arrived. */
static void small_collect(struct pages *p, int slot) {
    struct pages_op *op = p->small_ops[slot];
    p->small_ops[slot] = NULL;
    small_take_answer(p, slot, op->local, op->bytes);
    op->bytes = 0;
    op->slot = SMALL_NO_SLOT;
    p->small_begun--;
    pages_pool_small_give(&p->pool, slot);
}

static bool collect_all(struct pages *p) {
    bool some = false;
    pthread_mutex_lock(&p->small_lock);
    for (int i = 0; i < POOL_SMALLS; i++)
        if (p->small_ops[i] && pages_pool_small_is_done(&p->pool, i)) {
            small_collect(p, i);
            some = true;
        }
    pthread_mutex_unlock(&p->small_lock);
    return some;
}

bool pages_small_is_under_way(struct pages *p, struct pages_op *op) {
    pthread_mutex_lock(&p->small_lock);
    if (op->slot != SMALL_NO_SLOT && pages_pool_small_is_done(&p->pool, op->slot))
        small_collect(p, op->slot);
    bool under_way = op->slot != SMALL_NO_SLOT;
    pthread_mutex_unlock(&p->small_lock);
    return under_way;
}

/* Another thread may collect it at any time, so only `op` tells whether it is still under way. */
void pages_small_finish(struct pages *p, struct pages_op *op) {
    bool ourselves = false, tried = false;
    while (pages_small_is_under_way(p, op)) {
        pthread_mutex_lock(&p->small_lock);
        int slot = op->slot;
        pthread_mutex_unlock(&p->small_lock);
        if (slot == SMALL_NO_SLOT)
            continue;
        if (!tried)
            ourselves = p->serves && pages_progress_try_lock(&p->service);
        tried = true;
        ourselves = ourselves && pages_pool_small_drive(&p->pool, slot);
        if (!ourselves)
            pages_pool_small_wait_briefly(&p->pool, slot);
    }
    if (ourselves)
        pages_progress_unlock(&p->service);
}

void pages_small_forget(struct pages *p) {
    pthread_mutex_lock(&p->small_lock);
    for (int i = 0; i < POOL_SMALLS; i++)
        if (p->small_ops[i]) {
            pages_pool_small_wait(&p->pool, i);
            pages_pool_small_give(&p->pool, i);
            p->small_ops[i] = NULL;
            p->small_begun--;
        }
    pthread_mutex_unlock(&p->small_lock);
}

/* ---- requests ---- */

static int small_take_slot(struct pages *p) {
    for (;;) {
        uint32_t seen = pages_pool_small_turn(&p->pool);
        int slot = pages_pool_small_take(&p->pool);
        if (slot >= 0)
            return slot;
        if (!collect_all(p))
            pages_pool_small_wait_free(&p->pool, seen);
    }
}

static void small_fill(struct pages *p, int slot, const struct small_operation *s) {
    struct pool_small *m = &p->pool.smalls[slot];
    m->home = s->home;
    m->page = s->page;
    m->offset = s->offset;
    m->bytes = s->bytes;
    m->writes = s->writes;
    m->updates = s->updates;
    if (s->writes && s->from)
        memcpy(pages_pool_small_data(&p->pool, slot), s->from, s->bytes);
    else if (s->writes)
        memset(pages_pool_small_data(&p->pool, slot), s->value, s->bytes);
}

void pages_small_run(struct pages *p, const struct small_operation *s) {
    int slot = small_take_slot(p);
    small_fill(p, slot, s);
    bool ourselves = p->serves && pages_progress_try_lock(&p->service);
    pages_pool_small_ask(&p->pool, slot);
    pages_pool_small_wait(&p->pool, slot);
    if (ourselves)
        pages_progress_unlock(&p->service);
    small_take_answer(p, slot, s->to, s->updates ? ((const struct pages_update *)s->from)->bytes : s->bytes);
    pages_pool_small_give(&p->pool, slot);
}

/* Operations that are begun and not waited for leave half of the slots to others, whatever the processes of the node
 * do. */
static bool may_begin(struct pages *p, bool *is_only) {
    enum { ALL = (PAGES_WINDOW - POOL_FOR_EVICTION) / 2 };
    collect_all(p);
    pthread_mutex_lock(&p->small_lock);
    bool may = p->small_begun < ALL / (unsigned)p->world->local_count;
    p->small_begun += may;
    *is_only = p->small_begun == 1;
    pthread_mutex_unlock(&p->small_lock);
    return may;
}

/* The caller of a single operation probably waits for it next: it sends the request itself, which is sooner than the service's thread
 * would. Of several operations, the thread sends those that are there when it wakes, while the caller begins further ones. */
static void ask_alone(struct pages *p, int slot) {
    bool ourselves = p->serves && pages_progress_try_lock(&p->service);
    pages_pool_small_ask(&p->pool, slot);
    if (ourselves)
        pages_progress_unlock(&p->service); /* after a round of progress */
}

bool pages_small_begin(struct pages *p, struct pages_op *op, const struct small_operation *s) {
    bool is_only;
    if (!may_begin(p, &is_only)) {
        pages_small_run(p, s);
        op->bytes = 0;
        return true;
    }
    int slot = small_take_slot(p);
    small_fill(p, slot, s);
    pthread_mutex_lock(&p->small_lock);
    op->slot = slot;
    p->small_ops[slot] = op;
    pthread_mutex_unlock(&p->small_lock);
    if (is_only)
        ask_alone(p, slot);
    else
        pages_pool_small_ask(&p->pool, slot);
    return false;
}
