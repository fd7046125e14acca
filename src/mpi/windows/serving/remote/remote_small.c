/* remote_small.c: short contiguous puts, gets and accumulates at targets of other nodes, several in one message.
 *
 * Each such operation is an entry of a batch, which is one block (net/rpc/call.h). A message costs some 4 us at the origin and
 * as much at the helper, an entry a tenth of a microsecond. So while a block is in flight to a node, further operations
 * are held back: they join one batch until it is full, or the caller waits or starts another operation on
 * the node. The first one is sent at once, so a single operation is not delayed; but if the program issued several of them
 * before its last flush, it probably does so again, and the first one is held back, too: one message less.
 *
 * A lock may be the first entry of a batch, which is then held back until the unlock or another reason to send it. There is at most
 * one such lock in a process.
 *
 * The data of puts and accumulates is copied into the batch, so these calls return at once. The helper executes
 * the operations of a process in order, so a batch is sent before any other request to its node. */
#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/windows/serving/remote/remote.h"

enum { MOST_ENTRIES = 128, ENTRY_ALIGN = 16 };

struct remote_batch {
    struct net_op op;
    int node;
    const struct served_target *lock; /* its first entry locks this target; or NULL */
    bool exclusive;
    int64_t granted; /* the lock was free */
    uint32_t count, bytes, answer_bytes, answers;
    struct remote_batch *next; /* in the list of the domain, or a spare one */
    struct {
        void *to;
        uint32_t bytes;
    } wanted[MOST_ENTRIES]; /* in the order of the answer */
    _Alignas(ENTRY_ALIGN) char data[REMOTE_BATCH];
};

/* The batch with the lock that is deferred; or NULL. */
static struct remote_batch *deferred;

/* ---- the batch as an operation ---- */

static size_t batch_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_batch *b = op->arg;
    const struct remote_batch_head head = {.count = b->count};
    (void)room, (void)answer_room;
    memcpy(out->header, &head, sizeof head);
    out->header_bytes = sizeof head;
    out->payload = b->data;
    out->bytes = b->bytes;
    out->answer_bytes = b->answer_bytes;
    return op->left;
}

static void batch_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    const struct remote_batch *b = op->arg;
    size_t at = 0;
    for (uint32_t i = 0; i < b->answers; i++) {
        size_t length = b->wanted[i].bytes;
        if (at >= offset && at + length <= offset + bytes) /* an answer of one buffer comes in one piece */
            memcpy(b->wanted[i].to, (const char *)data + (at - offset), length);
        at += length;
    }
}

static bool batch_is_over(const struct serve_domain *d, const struct remote_batch *b) {
    return b->op.fetches ? net_is_done(&b->op) : net_is_sent(&b->op);
}

/* ---- batches of a domain; with the guard held ---- */

static void batches_reclaim(struct serve_domain *d) {
    for (struct remote_batch **at = &d->batches; *at;) {
        struct remote_batch *b = *at;
        if (!batch_is_over(d, b)) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->next = d->spare_batches;
        d->spare_batches = b;
    }
}

static struct remote_batch *batch_make(struct serve_domain *d, int node) {
    if (!d->spare_batches)
        batches_reclaim(d);
    struct remote_batch *b = d->spare_batches;
    if (b)
        d->spare_batches = b->next;
    else if (!(b = malloc(sizeof *b)))
        return NULL;
    b->op =
        (struct net_op){.handler = RPC_BATCH, .left = 1, .next = batch_next, .take = batch_take, .arg = b};
    b->node = node;
    b->lock = NULL;
    b->count = b->bytes = b->answer_bytes = b->answers = 0;
    return b;
}

/* The first entry was the lock, which is held now. */
static void batch_drop_lock(struct remote_batch *b) {
    b->count--;
    b->answers--;
    b->bytes -= (uint32_t)sizeof(struct remote_small);
    b->answer_bytes -= REMOTE_GRANT;
    memmove(b->data, b->data + sizeof(struct remote_small), b->bytes);
    memmove(b->wanted, b->wanted + 1, b->answers * sizeof b->wanted[0]);
    b->op = (struct net_op){.handler = RPC_BATCH,
                            .left = 1,
                            .fetches = b->answers > 0,
                            .next = batch_next,
                            .take = batch_take,
                            .arg = b};
}

/* Waits for the lock of a batch that was sent. If it was not free, nothing was executed. */
static void batch_await_lock(struct serve_domain *d, struct remote_batch *b) {
    const struct served_target *t = b->lock;
    b->lock = NULL;
    deferred = NULL;
    net_wait_done(d->net, b->node, &b->op);
    if (b->granted)
        return;
    serve_remote_lock_queue(t, b->exclusive);
    batch_drop_lock(b);
    net_start(d->net, b->node, &b->op);
}

void serve_remote_small_send(struct serve_domain *d, int node) {
    struct remote_batch *b = d->open_batch[node];
    if (!b)
        return;
    d->open_batch[node] = NULL;
    b->next = d->batches;
    d->batches = b;
    net_start(d->net, node, &b->op);
    if (b->lock)
        batch_await_lock(d, b);
}

/* The batch for the next entry. If the current one is full, waits until it is sent: the program may continue for long
 * without a flush. NULL: out of memory. */
static struct remote_batch *batch_for(struct serve_domain *d, int node, uint32_t bytes, uint32_t answer) {
    struct remote_batch *b = d->open_batch[node];
    if (b && (b->count == MOST_ENTRIES || b->bytes + bytes > d->batch_bytes ||
              b->answer_bytes + answer > d->batch_bytes)) {
        serve_remote_small_send(d, node);
        net_wait_sent(d->net, node, &b->op);
        b = NULL;
    }
    if (!b)
        b = d->open_batch[node] = batch_make(d, node);
    return b;
}

static void batch_want(struct remote_batch *b, void *to, uint32_t bytes) {
    b->wanted[b->answers].to = to;
    b->wanted[b->answers++].bytes = bytes;
    b->answer_bytes += bytes;
    b->op.fetches = true;
}

static void batch_add(struct remote_batch *b, const struct remote_small *entry, const void *from, void *to) {
    memcpy(b->data + b->bytes, entry, sizeof *entry);
    b->bytes += (uint32_t)sizeof *entry;
    if (from) {
        memcpy(b->data + b->bytes, from, entry->bytes);
        memset(b->data + b->bytes + entry->bytes, 0, round_up(entry->bytes, ENTRY_ALIGN) - entry->bytes);
        b->bytes += (uint32_t)round_up(entry->bytes, ENTRY_ALIGN);
    }
    if (to)
        batch_want(b, to, entry->bytes);
    b->count++;
}

/* MPI_Win_lock has locked this target, so an unlock or a flush follows soon. Puts and accumulates then need no message of
 * their own. */
static bool is_locked_alone(const struct served_target *t) {
    return t->held && !t->remote->locked_all;
}

/* `from`: data of the origin, or NULL; `to`: where the data of the target is wanted, or NULL. */
static bool small_start(const struct served_target *t, struct remote_small *entry, const void *from,
                        void *to) {
    struct served *s = t->remote;
    struct serve_domain *d = s->domain;
    uint32_t bytes = (uint32_t)(sizeof *entry + (from ? round_up(entry->bytes, ENTRY_ALIGN) : 0));
    if (s->dynamic || d->batch_bytes < REMOTE_SMALL_ROOM)
        return false;
    entry->window = s->key;
    entry->target = (uint32_t)t->head.rank;
    serve_domain_enter(d);
    struct remote_batch *b = batch_for(d, t->node, bytes, to ? entry->bytes : 0);
    if (b)
        batch_add(b, entry, from, to);
    bool held = entry->handler != RPC_GET && entry->handler != RPC_UNLOCK && is_locked_alone(t);
    struct remote_rhythm *rhythm = &d->rhythms[t->node];
    rhythm->since += entry->handler != RPC_UNLOCK;
    held |= rhythm->several && entry->handler != RPC_UNLOCK;
    if (b && !held && !b->lock && net_under_way(d->net, t->node) == 0)
        serve_remote_small_send(d, t->node);
    serve_domain_leave(d);
    return b;
}

/* ---- operations ---- */

bool serve_remote_small_copy(const struct served_target *t, enum remote_direction direction, void *here,
                             uint64_t there, uint64_t bytes) {
    struct remote_small entry = {.handler = direction == REMOTE_GET ? RPC_GET : RPC_PUT,
                                 .offset = there - t->base,
                                 .bytes = (uint16_t)bytes};
    return small_start(t, &entry, direction == REMOTE_PUT ? here : NULL,
                       direction == REMOTE_GET ? here : NULL);
}

bool serve_remote_small_update(const struct served_target *t, const struct data_update *u) {
    struct remote_small entry = {.handler = RPC_UPDATE,
                                 .offset = (uint64_t)(uintptr_t)u->to - t->base + u->from,
                                 .bytes = (uint16_t)u->bytes,
                                 .op = (uint8_t)u->op,
                                 .type = (uint8_t)u->type};
    return small_start(t, &entry, u->packed, NULL);
}

bool serve_remote_small_lock(const struct served_target *t, bool exclusive) {
    struct served *s = t->remote;
    struct serve_domain *d = s->domain;
    const struct remote_small entry = {
        .handler = RPC_LOCK, .window = s->key, .target = (uint32_t)t->head.rank, .op = exclusive};
    if (s->dynamic || d->batch_bytes < REMOTE_SMALL_ROOM + sizeof entry)
        return false;
    serve_remote_small_send(d, t->node);
    struct remote_batch *b = d->open_batch[t->node] = deferred = batch_make(d, t->node);
    if (!b)
        return false;
    b->lock = t;
    b->exclusive = exclusive;
    b->granted = 0;
    batch_want(b, &b->granted, REMOTE_GRANT);
    batch_add(b, &entry, NULL, NULL);
    return true;
}

void serve_remote_small_settle(void) {
    if (deferred)
        serve_remote_small_send(deferred->lock->remote->domain, deferred->node);
}

bool serve_remote_small_unlock(const struct served_target *t, bool exclusive) {
    struct remote_small entry = {.handler = RPC_UNLOCK, .op = exclusive};
    return small_start(t, &entry, NULL, NULL);
}

/* ---- completion; with the guard held ---- */

void serve_remote_small_flush(struct serve_domain *d, int node) {
    struct remote_rhythm *rhythm = &d->rhythms[node];
    if (rhythm->since)
        rhythm->several = rhythm->since > 1;
    rhythm->since = 0;
    serve_remote_small_send(d, node);
}

void serve_remote_small_wait(struct serve_domain *d, int node) {
    for (struct remote_batch *b = d->batches; b; b = b->next)
        if (b->node == node && b->op.fetches)
            net_wait_done(d->net, node, &b->op);
    batches_reclaim(d);
}

bool serve_remote_small_open(struct serve_domain *d) {
    d->open_batch = calloc((size_t)d->world->nodes, sizeof(struct remote_batch *));
    d->rhythms = calloc((size_t)d->world->nodes, sizeof *d->rhythms);
    return d->open_batch && d->rhythms;
}

void serve_remote_small_close(struct serve_domain *d) {
    for (int i = 0; d->open_batch && i < d->world->nodes; i++)
        free(d->open_batch[i]);
    while (d->batches || d->spare_batches) {
        struct remote_batch **list = d->batches ? &d->batches : &d->spare_batches, *b = *list;
        *list = b->next;
        free(b);
    }
    free(d->open_batch);
    free(d->rhythms);
}
