/* batch.c: short operations on another node; one message carries all that are queued.
 *
 * A block costs the network and the helper about the same whether it carries 8 bytes or thousands, and only a few may
 * be under way. An operation is therefore put into the queue of its node. A thread that finds no carrier for the queue
 * starts one, an operation of net/. When the carrier may send a block, which is immediately unless others are under
 * way, it takes everything that is in the queue by then:
 *
 *      queue of the node     op -> op -> op              appended by any thread, under the queue's lock
 *      carrier               block: record, record ...   made inside ask.h, when there is space at the helper
 *                            op -> op -> op              waiting for its answer, in the order of their answers
 *
 *      block      records of 16 bytes, each of a put followed by its data, rounded up to 8 bytes, of an update by its operands
 *      answer     for each record the bytes of a get, the previous value of an updated word, or one byte
 *
 * net/ may request an answer in several pieces, if the block has a grant from the credit pool. A block requests no more
 * than one piece holds, so that no word of a get is read in two steps; the helper nevertheless serves pieces of any size.
 *
 * A single operation is not delayed, and many operations fill blocks. Lock order: ask.h's, then the queue's. */
#include "gas/memory/batch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "gas/process/context.h"
#include "gas/memory/ask.h"
#include "gas/process/remote_op.h"
#include "gas/memory/gas_update.h"

struct batch_record {
    uint64_t address;
    uint32_t bytes;
    uint32_t what; /* rank << 10 | kind << 8 | value */
};
enum { SHORT = 8192, MOST_RANKS = 1 << 22 };

struct carrier {
    struct net_op op;
    struct batch_queue *queue;
    struct batch_op *first, *last; /* waiting for an answer */
    struct carrier *next;
};

struct batch_queue {
    pthread_mutex_t lock; /* protects the next three fields */
    struct batch_op *first, *last;
    bool taken;               /* a carrier that will empty the queue was, or is being, started */
    struct carrier *carriers; /* owned by the thread that has set `taken` */
    int node;
};

static struct batch_queue *queues; /* [nodes] */
static size_t most;
static size_t most_answer; /* maximum per block: one piece of the helper */

size_t gas_batch_most(void) {
    return most;
}

/* ---- making blocks: called inside ask.h ---- */

/* Of the data behind a record. */
static size_t data_bytes(uint32_t kind, uint32_t bytes) {
    return kind == BATCH_PUT ? round_up(bytes, 8) : kind == BATCH_UPDATE ? sizeof(struct pages_update) : 0;
}

static size_t record_bytes(const struct batch_op *op) {
    return sizeof(struct batch_record) + data_bytes(op->kind, op->bytes);
}

static size_t answer_bytes(uint32_t kind, uint32_t bytes) {
    return kind == BATCH_GET || kind == BATCH_UPDATE ? bytes : 1;
}

static void batch_write_record(const struct batch_op *op, char *to) {
    struct batch_record r = {.address = op->remote,
                             .bytes = op->bytes,
                             .what = op->rank << 10 | (uint32_t)op->kind << 8 | op->value};
    memcpy(to, &r, sizeof r);
    if (op->kind == BATCH_PUT)
        memcpy(to + sizeof r, op->local, op->bytes);
    else if (op->kind == BATCH_UPDATE)
        memcpy(to + sizeof r, &op->update, sizeof op->update);
}

static void batch_append(struct batch_op **first, struct batch_op **last, struct batch_op *op) {
    op->next = NULL;
    *(*first ? &(*last)->next : first) = op;
    *last = op;
}

/* Takes as many as fit; more blocks follow if some are left. `left` of the operation only tells whether there are any. */
static size_t batch_next(struct net_op *net, size_t room, size_t answer_room, struct net_out *out) {
    struct carrier *c = net->arg;
    struct batch_queue *q = c->queue;
    answer_room = answer_room < most_answer ? answer_room : most_answer;
    pthread_mutex_lock(&q->lock);
    while (q->first) {
        struct batch_op *op = q->first;
        size_t bytes = record_bytes(op), answer = answer_bytes(op->kind, op->bytes);
        if (out->bytes + bytes > room || out->answer_bytes + answer > answer_room)
            break;
        q->first = op->next;
        batch_write_record(op, (char *)out->payload + out->bytes);
        op->carrier = net;
        op->answer_at = net->asked + out->answer_bytes;
        batch_append(&c->first, &c->last, op);
        out->bytes += bytes;
        out->answer_bytes += answer;
    }
    q->taken = q->first != NULL;
    net->left = q->taken ? 2 : 1;
    pthread_mutex_unlock(&q->lock);
    return 1;
}

/* The operations of a block are adjacent in the list; blocks may be answered in any order. */
static void batch_take(struct net_op *net, size_t offset, const void *data, size_t bytes) {
    struct carrier *c = net->arg;
    struct batch_op **at = &c->first, *before = NULL;
    while (*at && (*at)->answer_at < offset)
        before = *at, at = &(*at)->next;
    while (*at && (*at)->answer_at < offset + bytes) {
        struct batch_op *op = *at;
        *at = op->next;
        if (c->last == op)
            c->last = before;
        if ((op->kind == BATCH_GET || op->kind == BATCH_UPDATE) && op->local)
            memcpy(op->local, (const char *)data + (op->answer_at - offset), op->bytes);
        atomic_store_explicit(&op->done, true, memory_order_release);
    }
}

/* ---- starting and waiting ---- */

static struct carrier *free_carrier(struct batch_queue *q) {
    for (struct carrier *c = q->carriers; c; c = c->next)
        if (gas_ask_is_done(&c->op))
            return c;
    struct carrier *c = calloc(1, sizeof *c);
    if (!c)
        gas_fail("gasnet", "no memory for a message to node %d", q->node);
    c->queue = q;
    c->next = q->carriers;
    return q->carriers = c;
}

static void start_carrier(struct batch_queue *q) {
    struct carrier *c = free_carrier(q);
    c->op = (struct net_op){
        .handler = GAS_BATCH, .fetches = true, .left = 1, .next = batch_next, .take = batch_take, .arg = c};
    gas_ask_start(q->node, &c->op);
}

static void batch_queue(struct batch_op *op) {
    struct batch_queue *q = &queues[gas_job.world->node_of[op->rank]];
    gas_am_enter();
    pthread_mutex_lock(&q->lock);
    batch_append(&q->first, &q->last, op);
    bool starts = !q->taken;
    q->taken = true;
    pthread_mutex_unlock(&q->lock);
    if (starts)
        start_carrier(q);
    gas_am_leave();
}

void gas_batch_start(struct batch_op *op, enum batch_kind kind, void *local, int rank, uint64_t remote,
                     uint32_t bytes, int value) {
    *op = (struct batch_op){.local = local,
                            .remote = remote,
                            .bytes = bytes,
                            .rank = (uint32_t)rank,
                            .kind = (uint8_t)kind,
                            .value = (uint8_t)value};
    batch_queue(op);
}

void gas_batch_start_update(struct batch_op *op, void *old, int rank, uint64_t remote,
                            const struct pages_update *u) {
    *op = (struct batch_op){.local = old,
                            .remote = remote,
                            .bytes = u->bytes,
                            .rank = (uint32_t)rank,
                            .kind = BATCH_UPDATE,
                            .update = *u};
    batch_queue(op);
}

void gas_batch_finish(struct batch_op *op) {
    if (!gas_batch_is_done(op))
        gas_ask_wait_carried((int)gas_job.world->node_of[op->rank], &op->done, &op->carrier);
}

/* ---- serving, in the helper ---- */

static bool batch_is_inside(const struct batch_record *r, uint32_t rank) {
    if (rank >= (uint32_t)gas_job.size || !gas_same_node(rank))
        return false;
    uint64_t offset = r->address - (uint64_t)(uintptr_t)gas_job.segments[rank].addr;
    return offset <= gas_job.segments[rank].size && r->bytes <= gas_job.segments[rank].size - offset;
}

/* The piece of the answer that is requested, and the current position of the records in the whole answer. */
struct answer {
    char *to;
    size_t from, until; /* bytes of the whole answer */
    size_t at;
};

/* Copies the bytes from a->at on of the whole answer, as far as they are in the piece. */
static void answer_with(const struct answer *a, const char *data, size_t bytes) {
    size_t from = a->at > a->from ? a->at : a->from;
    size_t until = a->at + bytes < a->until ? a->at + bytes : a->until;
    if (from < until)
        memcpy(a->to + (from - a->from), data + (from - a->at), until - from);
}

/* Executed with the piece that contains its answer: once. False: an invalid record, also one whose answer is divided, which
 * no block requests. */
static bool serve_update(const struct batch_record *r, const char *data, const struct answer *a) {
    struct pages_update u;
    memcpy(&u, data, sizeof u);
    if (u.bytes != r->bytes || !gas_update_is_sound(r->address, &u))
        return false;
    if (a->at + r->bytes <= a->from)
        return true;
    if (a->at < a->from || a->at + r->bytes > a->until)
        return false;
    uint64_t old = gas_update_apply((void *)(uintptr_t)r->address, &u);
    answer_with(a, (const char *)&old, r->bytes);
    return true;
}

/* A put or set is executed with the piece that contains its byte of the answer: once. */
static void serve_write(const struct batch_record *r, uint32_t kind, const char *data, struct answer *a) {
    char *memory = (char *)(uintptr_t)r->address;
    bool now = a->at >= a->from && a->at < a->until;
    if (now && kind == BATCH_PUT)
        memcpy(memory, data, r->bytes);
    else if (now)
        memset(memory, (int)(r->what & 0xff), r->bytes);
    answer_with(a, "", 1);
}

/* False: an invalid record. The requesting rank has checked it, and this one checks it again: no input from outside may
 * fault this process. */
static bool serve_record(const struct batch_record *r, const char *data, size_t left, struct answer *a) {
    uint32_t kind = r->what >> 8 & 3;
    if (!batch_is_inside(r, r->what >> 10) || data_bytes(kind, r->bytes) > left)
        return false;
    if (kind == BATCH_UPDATE && !serve_update(r, data, a))
        return false;
    if (kind == BATCH_GET)
        answer_with(a, (const char *)(uintptr_t)r->address, r->bytes);
    else if (kind != BATCH_UPDATE)
        serve_write(r, kind, data, a);
    a->at += answer_bytes(kind, r->bytes);
    return true;
}

enum net_result gas_dram_serve_batch(void *arg, struct net_block *b) {
    const char *from = b->payload, *end = from + b->bytes;
    struct answer a = {
        .to = b->answer, .from = b->answer_offset, .until = b->answer_offset + b->answer_bytes};
    struct batch_record r;
    (void)arg;
    atomic_thread_fence(memory_order_seq_cst); /* pairs with has_put in dram.c of ranks of this node */
    while ((size_t)(end - from) >= sizeof r && a.at < a.until) {
        memcpy(&r, from, sizeof r);
        from += sizeof r;
        if (!serve_record(&r, from, (size_t)(end - from), &a)) {
            gas_lost(b->client, "invalid block: an access outside the segments of this node");
            break;
        }
        from += data_bytes(r.what >> 8 & 3, r.bytes);
    }
    atomic_thread_fence(memory_order_seq_cst); /* before the answer leaves; pairs with has_got */
    return NET_DONE;
}

/* ---- opening and closing ---- */

int gas_batch_open(void) {
    struct net_counts counts;
    gas_ask_count(&counts);
    most = (counts.buffer_bytes - sizeof(struct batch_record)) / 8 * 8;
    most = most < SHORT ? most : SHORT;
    most_answer = (size_t)(counts.pool_buffers > 0 ? counts.pool_buffer_bytes : counts.buffer_bytes);
    queues = calloc((size_t)gas_job.world->nodes, sizeof *queues);
    if (!queues || gas_job.size > MOST_RANKS) {
        log_error("gasnet_attach: no memory for queues to %d nodes", gas_job.world->nodes);
        return -ENOMEM;
    }
    for (int i = 0; i < gas_job.world->nodes; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        queues[i].node = i;
    }
    return 0;
}

void gas_batch_close(void) {
    for (int i = 0; queues && i < gas_job.world->nodes; i++)
        while (queues[i].carriers) {
            struct carrier *c = queues[i].carriers;
            queues[i].carriers = c->next;
            free(c);
        }
    free(queues);
    queues = NULL;
}
