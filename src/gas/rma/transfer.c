/* transfer.c: execution of a put, get or set: immediately, or as an operation that is waited for later.
 *
 * If the source must be free on return, and it is not known when it will be sent, a short source is copied; otherwise
 * the call waits until it has left. If there is no memory for the record of an operation, the operation is executed
 * immediately: that is always correct.
 *
 * GASNet's puts and gets poll, so that a program that does nothing else still runs its handlers. Here one in
 * TRANSFERS_TO_A_POLL does: a poll costs about as much as a get from local memory. */
#include "gas/rma/transfer.h"

#include <string.h>

#include "gas/am/am.h"

/* Own memory outside of the segment: only GASNet's loopback reaches it. */
static void do_plain(const struct transfer *x) {
    if (x->kind == STATS_GET)
        memmove(x->local, x->remote, x->bytes);
    else if (x->kind == STATS_PUT)
        memmove(x->remote, x->local, x->bytes);
    else
        memset(x->remote, x->value, x->bytes);
    atomic_thread_fence(memory_order_seq_cst); /* as a put in the segment: pairs with any reader of it */
}

/* Not while this thread holds a lock: a handler could need the same one. */
static __attribute__((noinline, cold)) void poll_now(void) {
    if (am_context.locks == 0 && am_context.held == 0)
        gas_poll_quickly();
}

/* Checks and counts it. True: nothing is left to do. */
static bool is_over(const struct transfer *x, struct gas_thread *t) {
    gas_need_free(x->call);
    if (UNLIKELY(t->until_poll == 0)) {
        t->until_poll = TRANSFERS_TO_A_POLL;
        poll_now();
    }
    t->until_poll--;
    bool plain = memory_check(x->call, x->node, x->remote, x->bytes);
    stats_count(&t->stats, x->kind, x->node, x->bytes);
    if (UNLIKELY(x->bytes == 0))
        return true;
    if (LIKELY(!plain))
        return false;
    do_plain(x);
    return true;
}

static void do_now(const struct transfer *x) {
    int rank = (int)x->node;
    if (x->kind == STATS_GET)
        memory_get(x->local, rank, x->remote, x->bytes);
    else if (x->kind == STATS_PUT)
        memory_put(rank, x->remote, x->local, x->bytes);
    else
        memory_set(rank, x->remote, x->value, x->bytes);
}

void transfer_now(const struct transfer *x) {
    if (!is_over(x, thread_mine()))
        do_now(x);
}

/* ---- operations in two steps ---- */

static bool begin_kept_put(const struct transfer *x, struct gasnet_operation *o) {
    int rank = (int)x->node;
    if (x->bytes > COPY_MOST)
        return memory_begin_put(&o->memory, rank, x->remote, x->local, x->bytes) ||
               memory_free_source(&o->memory);
    const void *copy = operation_copy(o, x->local, x->bytes);
    if (copy)
        return memory_begin_put(&o->memory, rank, x->remote, copy, x->bytes);
    do_now(x);
    return true;
}

/* True: it is complete. */
static bool begin(const struct transfer *x, struct gasnet_operation *o) {
    int rank = (int)x->node;
    if (x->kind == STATS_GET)
        return memory_begin_get(&o->memory, x->local, rank, x->remote, x->bytes);
    if (x->kind == STATS_SET)
        return memory_begin_set(&o->memory, rank, x->remote, x->value, x->bytes);
    return x->keeps ? begin_kept_put(x, o)
                    : memory_begin_put(&o->memory, rank, x->remote, x->local, x->bytes);
}

/* Returns the operation, or NULL: it is complete. */
static struct gasnet_operation *start(const struct transfer *x, struct gas_thread *t) {
    if (is_over(x, t))
        return NULL;
    if (!gas.pages && gas_same_node(x->node)) { /* a memcpy: not worth a record */
        do_now(x);
        return NULL;
    }
    struct gasnet_operation *o = operation_new(t);
    if (!o) {
        do_now(x);
        return NULL;
    }
    am_enter();
    bool complete = begin(x, o);
    am_leave();
    if (complete) {
        operation_free(t, o);
        return NULL;
    }
    operation_opened(t, o);
    return o;
}

gasnet_handle_t transfer_start(const struct transfer *x) {
    return start(x, thread_mine());
}

void transfer_start_implicit(const struct transfer *x) {
    struct gas_thread *t = thread_mine();
    struct gasnet_operation *o = start(x, t);
    if (o)
        operation_add(t, x->kind == STATS_GET ? &t->gets : &t->puts, o);
}
