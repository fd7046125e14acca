/* gas_transfer.c: execution of a put, get or set: immediately, or as an operation that is waited for later.
 *
 * If the source must be free on return, and it is not known when it will be sent, a short source is copied; otherwise
 * the call waits until it has left. If there is no memory for the record of an operation, the operation is executed
 * immediately: that is always correct.
 *
 * GASNet's puts and gets poll, so that a program that does nothing else still runs its handlers. Here one in
 * TRANSFERS_TO_A_POLL does: a poll costs about as much as a get from local memory. */
#include "gas/rma/gas_transfer.h"

#include <string.h>

#include "gas/am/am.h"

/* Own memory outside of the segment: only GASNet's loopback reaches it. */
static void transfer_do_own(const struct gas_transfer *x) {
    if (x->kind == STATS_GET)
        memmove(x->local, x->remote, x->bytes);
    else if (x->kind == STATS_PUT)
        memmove(x->remote, x->local, x->bytes);
    else
        memset(x->remote, x->value, x->bytes);
    atomic_thread_fence(memory_order_seq_cst); /* as has_put in dram.c */
}

/* Not while this thread holds a lock: a handler could need the same one. */
__attribute__((noinline, cold)) void gas_transfer_poll_now(struct gas_thread *t) {
    t->until_poll = TRANSFERS_TO_A_POLL;
    if (gas_am_context.locks == 0 && gas_am_context.held == 0)
        gas_poll_quickly();
}

/* Checks and counts the transfer, and polls if it is time to. True: nothing is left to do. */
static bool transfer_is_over(const struct gas_transfer *x, struct gas_thread *t) {
    gas_need_free(x->call);
    gas_transfer_poll(t);
    bool plain = gas_memory_check(x->call, x->node, x->remote, x->bytes);
    gas_stats_count(&t->stats, x->kind, x->node, x->bytes);
    if (UNLIKELY(x->bytes == 0))
        return true;
    if (LIKELY(!plain))
        return false;
    transfer_do_own(x);
    return true;
}

static void do_now(const struct gas_transfer *x) {
    int rank = (int)x->node;
    if (x->kind == STATS_GET)
        gas_memory_get(x->local, rank, x->remote, x->bytes);
    else if (x->kind == STATS_PUT)
        gas_memory_put(rank, x->remote, x->local, x->bytes);
    else
        gas_memory_set(rank, x->remote, x->value, x->bytes);
}

void gas_transfer_now(const struct gas_transfer *x) {
    if (!transfer_is_over(x, gas_thread_mine()))
        do_now(x);
}

/* ---- operations in two steps ---- */

static bool begin_kept_put(const struct gas_transfer *x, struct gasnet_operation *o) {
    int rank = (int)x->node;
    if (x->bytes > COPY_MOST)
        return gas_memory_begin_put(&o->memory, rank, x->remote, x->local, x->bytes) ||
               gas_memory_free_source(&o->memory);
    const void *copy = gas_operation_copy(o, x->local, x->bytes);
    if (copy)
        return gas_memory_begin_put(&o->memory, rank, x->remote, copy, x->bytes);
    do_now(x);
    return true;
}

/* True: it is complete. */
static bool transfer_begin(const struct gas_transfer *x, struct gasnet_operation *o) {
    int rank = (int)x->node;
    if (x->kind == STATS_GET)
        return gas_memory_begin_get(&o->memory, x->local, rank, x->remote, x->bytes);
    if (x->kind == STATS_SET)
        return gas_memory_begin_set(&o->memory, rank, x->remote, x->value, x->bytes);
    return x->keeps ? begin_kept_put(x, o)
                    : gas_memory_begin_put(&o->memory, rank, x->remote, x->local, x->bytes);
}

/* Returns the operation, or NULL: it is complete. */
static struct gasnet_operation *transfer_start_one(const struct gas_transfer *x, struct gas_thread *t) {
    if (transfer_is_over(x, t))
        return NULL;
    if (!gas_job.pages && gas_same_node(x->node)) { /* a memcpy: not worth a record */
        do_now(x);
        return NULL;
    }
    struct gasnet_operation *o = gas_operation_new(t);
    if (!o) {
        do_now(x);
        return NULL;
    }
    o->category = x->kind == STATS_GET ? CATEGORY_GET : CATEGORY_PUT;
    gas_am_enter();
    bool complete = transfer_begin(x, o);
    gas_am_leave();
    if (complete) {
        gas_operation_free(t, o);
        return NULL;
    }
    gas_operation_opened(t, o);
    return o;
}

gasnet_handle_t gas_transfer_start(const struct gas_transfer *x) {
    return transfer_start_one(x, gas_thread_mine());
}

void gas_transfer_start_implicit(const struct gas_transfer *x) {
    struct gas_thread *t = gas_thread_mine();
    struct gasnet_operation *o = transfer_start_one(x, t);
    if (o)
        gas_operation_add(t, o);
}
