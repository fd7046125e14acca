/* remote_lock.c: locks at targets of other nodes. The helper of the target's node queues at the gate on behalf of this
 * process, and replies when the lock is held.
 *
 * Most epochs are short, such as one get between lock and unlock. Then the lock is deferred: it travels with the operations and
 * the unlock, in one message (remote_small.c). If it is not free, the helper executes nothing, and the origin queues for the lock
 * and sends the operations again. */
#include "base/settings.h"
#include "mpi/host/progress.h"
#include "mpi/windows/serving/remote/remote.h"

struct remote_lock_op {
    struct net_op op;
    struct remote_head head;
};

static size_t lock_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    const struct remote_lock_op *q = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &q->head, sizeof q->head);
    out->header_bytes = sizeof q->head;
    return 0;
}

static void lock_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    (void)op, (void)offset, (void)data, (void)bytes;
}

/* The holder of the lock may be another thread of this process, which needs `net` to release it, or may wait for a message
 * of this process: so this one holds the guard only for a moment, and lets messages progress. */
static void lock_wait(struct serve_domain *d, struct remote_lock_op *q) {
    enum { SPINS = 200, LONGEST_US = 1000, THREADED_US = 50 };
    for (unsigned round = 0;; round++) {
        serve_domain_enter(d);
        net_progress(d->net);
        bool done = net_is_done(&q->op);
        if (!done && round >= SPINS)
            net_nap(d->net, serve_is_threaded ? THREADED_US : LONGEST_US);
        serve_domain_leave(d);
        if (done)
            return;
        if (round >= SPINS)
            progress_make();
    }
}

/* Only the first helper of a node serves locks: it alone changes the queues at the gates. */
static void lock_call(struct serve_domain *d, int node, enum remote_handler handler,
                      const struct remote_head *head) {
    struct remote_lock_op q = {.op = {.handler = (uint8_t)handler,
                                      .waits = handler == RPC_LOCK,
                                      .first_helper = true,
                                      .next = lock_next,
                                      .take = lock_take},
                               .head = *head};
    q.op.arg = &q;
    serve_domain_enter(d);
    serve_remote_start(d, node, &q.op);
    if (handler == RPC_UNLOCK)
        net_wait_sent(d->net, node, &q.op);
    serve_domain_leave(d);
    if (handler == RPC_LOCK)
        lock_wait(d, &q);
}

static void lock_target(const struct served_target *t, bool exclusive, enum remote_handler handler) {
    const struct served *s = t->remote;
    struct remote_head head = {.window = s->key, .target = (uint32_t)t->head.rank, .exclusive = exclusive};
    lock_call(s->domain, t->node, handler, &head);
}

void serve_remote_lock_queue(const struct served_target *t, bool exclusive) {
    lock_target(t, exclusive, RPC_LOCK);
}

/* Another thread would have to wait for the deferred lock. */
void serve_remote_lock(const struct served_target *t, bool exclusive, bool defers) {
    if (!defers || serve_is_threaded || !serve_remote_unlocks_in_order() ||
        !serve_remote_small_lock(t, exclusive))
        serve_remote_lock_queue(t, exclusive);
}

/* A helper executes the requests of a process in order, so an unlock may follow operations that are not complete yet: all of them
 * are then complete after one round trip. Several helpers of a node know no common order. Long gets must have arrived: the next
 * holder of the lock may change their data before it has left. */
bool serve_remote_unlocks_in_order(void) {
    return settings_get()->helpers == 1;
}

void serve_remote_unlock(const struct served_target *t, bool exclusive) {
    bool in_order = serve_remote_unlocks_in_order();
    if (in_order)
        serve_remote_wait_gets(t->remote->domain, t->node);
    else
        serve_remote_flush(t);
    if (!in_order || !serve_remote_small_unlock(t, exclusive))
        lock_target(t, exclusive, RPC_UNLOCK);
    if (in_order)
        serve_remote_flush(t);
}

void serve_remote_lock_node(struct served *s, int node) {
    lock_call(s->domain, node, RPC_LOCK, &(struct remote_head){.window = s->key, .target = REMOTE_ALL});
}

void serve_remote_unlock_node(struct served *s, int node) {
    serve_remote_wait_gets(s->domain, node);
    lock_call(s->domain, node, RPC_UNLOCK, &(struct remote_head){.window = s->key, .target = REMOTE_ALL});
}
