/* small.c: remote operations of a process: each occupies one of the node's slots while it is under way.
 *
 * An operation that was begun keeps its slot until a thread collects its answer. To prevent operations that are not
 * waited for yet from holding all slots, a thread that finds no free slot collects the answers of all operations that
 * this process has begun. */
#include "pages/small.h"

#include <string.h>

#include "pages/inside.h"

/* ---- operations that were begun ---- */

/* Requires small_lock; the answer has arrived. */
static void collect(struct pages *p, int slot) {
    struct pages_op *op = p->small_ops[slot];
    p->small_ops[slot] = NULL;
    if (!p->pool.smalls[slot].writes)
        memcpy(op->local, pool_small_data(&p->pool, slot), op->bytes);
    op->bytes = 0;
    op->slot = SMALL_NO_SLOT;
    p->small_begun--;
    pool_small_give(&p->pool, slot);
}

static bool collect_all(struct pages *p) {
    bool some = false;
    pthread_mutex_lock(&p->small_lock);
    for (int i = 0; i < POOL_SMALLS; i++)
        if (p->small_ops[i] && pool_small_is_done(&p->pool, i)) {
            collect(p, i);
            some = true;
        }
    pthread_mutex_unlock(&p->small_lock);
    return some;
}

bool pages_small_is_under_way(struct pages *p, struct pages_op *op) {
    pthread_mutex_lock(&p->small_lock);
    if (op->slot != SMALL_NO_SLOT && pool_small_is_done(&p->pool, op->slot))
        collect(p, op->slot);
    bool under_way = op->slot != SMALL_NO_SLOT;
    pthread_mutex_unlock(&p->small_lock);
    return under_way;
}

/* Another thread may collect it at any time, so only `op` tells whether it is still under way. */
void pages_small_finish(struct pages *p, struct pages_op *op) {
    while (pages_small_is_under_way(p, op)) {
        pthread_mutex_lock(&p->small_lock);
        int slot = op->slot;
        pthread_mutex_unlock(&p->small_lock);
        if (slot != SMALL_NO_SLOT)
            pool_small_wait_briefly(&p->pool, slot);
    }
}

void pages_small_forget(struct pages *p) {
    pthread_mutex_lock(&p->small_lock);
    for (int i = 0; i < POOL_SMALLS; i++)
        if (p->small_ops[i]) {
            pool_small_wait(&p->pool, i);
            pool_small_give(&p->pool, i);
            p->small_ops[i] = NULL;
            p->small_begun--;
        }
    pthread_mutex_unlock(&p->small_lock);
}

/* ---- requests ---- */

static int take_slot(struct pages *p) {
    for (;;) {
        uint32_t seen = pool_small_turn(&p->pool);
        int slot = pool_small_take(&p->pool);
        if (slot >= 0)
            return slot;
        if (!collect_all(p))
            pool_small_wait_free(&p->pool, seen);
    }
}

static void fill(struct pages *p, int slot, const struct small_operation *s) {
    struct pool_small *m = &p->pool.smalls[slot];
    m->home = s->home;
    m->page = s->page;
    m->offset = s->offset;
    m->bytes = s->bytes;
    m->writes = s->writes;
    if (s->writes && s->from)
        memcpy(pool_small_data(&p->pool, slot), s->from, s->bytes);
    else if (s->writes)
        memset(pool_small_data(&p->pool, slot), s->value, s->bytes);
}

void pages_small(struct pages *p, const struct small_operation *s) {
    int slot = take_slot(p);
    fill(p, slot, s);
    bool ourselves = p->serves && service_take_over(&p->service);
    pool_small_ask(&p->pool, slot);
    pool_small_wait(&p->pool, slot);
    if (ourselves)
        service_give_back(&p->service);
    if (!s->writes)
        memcpy(s->to, pool_small_data(&p->pool, slot), s->bytes);
    pool_small_give(&p->pool, slot);
}

/* Operations that are begun and not waited for leave half of the slots to others, whatever the processes of the node
 * do. */
static bool may_begin(struct pages *p) {
    enum { ALL = (PAGES_WINDOW - POOL_FOR_EVICTION) / 2 };
    collect_all(p);
    pthread_mutex_lock(&p->small_lock);
    bool may = p->small_begun < ALL / (unsigned)p->world->local_count;
    p->small_begun += may;
    pthread_mutex_unlock(&p->small_lock);
    return may;
}

void pages_small_begin(struct pages *p, struct pages_op *op, const struct small_operation *s) {
    if (!may_begin(p)) {
        pages_small(p, s);
        op->bytes = 0;
        return;
    }
    int slot = take_slot(p);
    fill(p, slot, s);
    pthread_mutex_lock(&p->small_lock);
    op->slot = slot;
    p->small_ops[slot] = op;
    pthread_mutex_unlock(&p->small_lock);
    pool_small_ask(&p->pool, slot);
}
