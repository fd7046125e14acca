/* dram.c: segments entirely in memory: HEARTH_NVM=off.
 *
 * The segments of one node lie in one mapping, at the same address in all its ranks and in its helper (net/shm/shared.h):
 * inside the node a put is a memmove. A put to another node is an operation that the helper there executes:
 *
 *      short       several in one block (batch.c); also updates of words
 *      long get    requested in blocks, whose answers are copied to their destination
 *      long put    blocks without answers, sent from the user's memory; then a set of no bytes, which is answered. The
 *                  helper executes all requests of one rank in order, so the answer implies that the whole put is done
 *      long set    one block, answered
 *
 * A thread's later get or put must not overtake its put. A put is therefore followed by a fence that orders its stores
 * before later loads, and a get by a fence that orders its loads. The helper does the same. */
#include "gas/memory/dram.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/job_end.h"
#include "gas/memory/ask.h"
#include "gas/memory/gas_update.h"
#include "gas/process/remote_op.h"

/* Header of a block. */
struct range {
    uint64_t address, bytes;
    uint32_t rank, value;
};

static struct net_shared *shared; /* of this node */

/* ---- own node ---- */

static void has_put(void) {
    atomic_thread_fence(
        memory_order_seq_cst); /* pairs with has_got of a thread that reads this put or a later one */
}

static void has_got(void) {
    atomic_thread_fence(memory_order_acquire); /* pairs with has_put */
}

/* Source and destination may both be in the own segment and overlap: hence memmove. */
static void local_get(void *to, const void *from, size_t bytes) {
    memmove(to, from, bytes);
    has_got();
}

static void local_put(void *to, const void *from, size_t bytes) {
    memmove(to, from, bytes);
    has_put();
}

static void local_set(void *to, int value, size_t bytes) {
    memset(to, value, bytes);
    has_put();
}

/* ---- another node: requests ---- */

static void head(const struct dram_long *op, uint64_t offset, uint64_t bytes, struct net_out *out) {
    struct range r = {.address = op->remote + offset, .bytes = bytes, .rank = op->rank, .value = op->value};
    memcpy(out->header, &r, sizeof r);
    out->header_bytes = sizeof r;
}

static size_t next_of_get(struct net_op *net, size_t room, size_t answer_room, struct net_out *out) {
    struct dram_long *op = net->arg;
    size_t bytes = net->left < answer_room ? (size_t)net->left : answer_room;
    (void)room;
    head(op, op->sent, bytes, out);
    out->answer_bytes = bytes;
    op->sent += bytes;
    return bytes;
}

static void take_get(struct net_op *net, size_t offset, const void *data, size_t bytes) {
    struct dram_long *op = net->arg;
    memcpy(op->local + offset, data, bytes);
}

static size_t next_of_long(struct net_op *net, size_t room, size_t answer_room, struct net_out *out) {
    struct dram_long *op = net->arg;
    size_t bytes = net->left < room ? (size_t)net->left : room;
    (void)answer_room;
    head(op, op->sent, bytes, out);
    out->payload = op->local + op->sent;
    out->bytes = bytes;
    op->sent += bytes;
    return bytes;
}

static size_t next_of_set(struct net_op *net, size_t room, size_t answer_room, struct net_out *out) {
    struct dram_long *op = net->arg;
    (void)room, (void)answer_room;
    head(op, 0, op->bytes, out);
    out->answer_bytes = 1;
    return 1;
}

static size_t next_of_over(struct net_op *net, size_t room, size_t answer_room, struct net_out *out) {
    (void)room, (void)answer_room;
    head(net->arg, 0, 0, out);
    out->answer_bytes = 1;
    return 1;
}

/* The answer has no content. */
static void take_nothing(struct net_op *net, size_t offset, const void *data, size_t bytes) {
    (void)net, (void)offset, (void)data, (void)bytes;
}

static int dram_node_of(const struct dram_long *op) {
    return (int)gas_job.world->node_of[op->rank];
}

static void dram_prepare(struct dram_long *op, const void *local, int rank, const void *remote,
                         size_t bytes) {
    op->local = (char *)local;
    op->remote = (uint64_t)(uintptr_t)remote;
    op->bytes = bytes;
    op->sent = 0;
    op->rank = (uint32_t)rank;
    op->value = 0;
    op->is_put = false;
}

static void start_get(struct dram_long *op) {
    op->move = (struct net_op){.handler = GAS_GET,
                               .fetches = true,
                               .left = op->bytes,
                               .next = next_of_get,
                               .take = take_get,
                               .arg = op};
    gas_ask_start(dram_node_of(op), &op->move);
}

static void dram_start_put(struct dram_long *op) {
    op->is_put = true;
    op->move = (struct net_op){.handler = GAS_PUT, .left = op->bytes, .next = next_of_long, .arg = op};
    op->over = (struct net_op){.handler = GAS_SET,
                               .fetches = true,
                               .left = 1,
                               .next = next_of_over,
                               .take = take_nothing,
                               .arg = op};
    gas_ask_start(dram_node_of(op), &op->move);
    gas_ask_start(dram_node_of(op), &op->over);
}

static void start_set(struct dram_long *op, int value) {
    op->value = (uint8_t)value;
    op->move = (struct net_op){
        .handler = GAS_SET, .fetches = true, .left = 1, .next = next_of_set, .take = take_nothing, .arg = op};
    gas_ask_start(dram_node_of(op), &op->move);
}

/* ---- operations in two steps ---- */

bool gas_dram_begin_get(struct dram_op *op, void *to, int rank, const void *from, size_t bytes) {
    if (gas_same_node((gasnet_node_t)rank) || bytes == 0) {
        local_get(to, from, bytes);
        return true;
    }
    op->is_short = bytes <= gas_batch_most();
    if (op->is_short) {
        gas_batch_start(&op->as.shorter, BATCH_GET, to, rank, (uint64_t)(uintptr_t)from, (uint32_t)bytes, 0);
        return false;
    }
    dram_prepare(&op->as.longer, to, rank, from, bytes);
    start_get(&op->as.longer);
    return false;
}

bool gas_dram_begin_put(struct dram_op *op, int rank, void *to, const void *from, size_t bytes) {
    if (gas_same_node((gasnet_node_t)rank) || bytes == 0) {
        local_put(to, from, bytes);
        return true;
    }
    op->is_short = bytes <= gas_batch_most();
    if (op->is_short) {
        gas_batch_start(&op->as.shorter, BATCH_PUT, (void *)from, rank, (uint64_t)(uintptr_t)to,
                        (uint32_t)bytes, 0);
        return false;
    }
    dram_prepare(&op->as.longer, from, rank, to, bytes);
    dram_start_put(&op->as.longer);
    return false;
}

bool gas_dram_begin_set(struct dram_op *op, int rank, void *to, int value, size_t bytes) {
    if (gas_same_node((gasnet_node_t)rank) || bytes == 0) {
        local_set(to, value, bytes);
        return true;
    }
    op->is_short = bytes <= BATCH_LONGEST_SET;
    if (op->is_short) {
        gas_batch_start(&op->as.shorter, BATCH_SET, NULL, rank, (uint64_t)(uintptr_t)to, (uint32_t)bytes,
                        value);
        return false;
    }
    dram_prepare(&op->as.longer, NULL, rank, to, bytes);
    start_set(&op->as.longer, value);
    return false;
}

bool gas_dram_begin_update(struct dram_op *op, void *old, int rank, void *at, const struct pages_update *u) {
    if (gas_same_node((gasnet_node_t)rank)) {
        uint64_t before = gas_update_apply(at, u);
        if (old)
            memcpy(old, &before, u->bytes);
        return true;
    }
    op->is_short = true;
    gas_batch_start_update(&op->as.shorter, old, rank, (uint64_t)(uintptr_t)at, u);
    return false;
}

/* The source of a short operation is copied when its block is made. That is not reported, so this waits for the whole
 * operation. */
void gas_dram_free_source(struct dram_op *op) {
    if (op->is_short)
        gas_batch_finish(&op->as.shorter);
    else
        gas_ask_wait_sent(dram_node_of(&op->as.longer), &op->as.longer.move);
}

bool gas_dram_source_is_free(struct dram_op *op) {
    return op->is_short ? gas_batch_is_done(&op->as.shorter) : gas_ask_is_sent(&op->as.longer.move);
}

/* A long put is complete at its target when the answer arrives. The local notice that its source was sent may come later. */
static bool try_long(struct dram_long *op) {
    return op->is_put ? gas_ask_is_done(&op->over) && gas_ask_is_sent(&op->move) : gas_ask_is_done(&op->move);
}

bool gas_dram_try(struct dram_op *op) {
    if (!(op->is_short ? gas_batch_is_done(&op->as.shorter) : try_long(&op->as.longer)))
        return false;
    has_got();
    return true;
}

static void finish_long(struct dram_long *op) {
    if (op->is_put)
        gas_ask_wait_sent(dram_node_of(op), &op->move);
    gas_ask_wait_done(dram_node_of(op), op->is_put ? &op->over : &op->move);
}

void gas_dram_finish(struct dram_op *op) {
    if (op->is_short)
        gas_batch_finish(&op->as.shorter);
    else
        finish_long(&op->as.longer);
    has_got();
}

/* ---- blocking ---- */

void gas_dram_get(void *to, int rank, const void *from, size_t bytes) {
    struct dram_op op;
    if (!gas_dram_begin_get(&op, to, rank, from, bytes))
        gas_dram_finish(&op);
}

void gas_dram_put(int rank, void *to, const void *from, size_t bytes) {
    struct dram_op op;
    if (!gas_dram_begin_put(&op, rank, to, from, bytes))
        gas_dram_finish(&op);
}

void gas_dram_set(int rank, void *to, int value, size_t bytes) {
    struct dram_op op;
    if (!gas_dram_begin_set(&op, rank, to, value, bytes))
        gas_dram_finish(&op);
}

/* ---- another node: serving, in the helper ---- */

/* The requesting rank has checked the range. It is checked again, because no input from outside may fault this process. */
static char *dram_target_of(const char *what, const struct net_block *b, struct range *r) {
    if (b->header_bytes == sizeof *r) {
        memcpy(r, b->header, sizeof *r);
        if (r->rank < (uint32_t)gas_job.size && gas_same_node(r->rank)) {
            const gasnet_seginfo_t *s = &gas_job.segments[r->rank];
            uint64_t offset = r->address - (uint64_t)(uintptr_t)s->addr;
            if (r->bytes == 0 || (offset < s->size && r->bytes <= s->size - offset))
                return (char *)(uintptr_t)r->address;
        }
    }
    gas_lost(b->client, what);
    return NULL;
}

enum net_result gas_dram_serve_get(void *arg, struct net_block *b) {
    struct range r;
    const char *from = dram_target_of("invalid block: a get outside the segments of this node", b, &r);
    (void)arg;
    if (UNLIKELY(b->answer_offset + b->answer_bytes > r.bytes))
        gas_lost(b->client, "invalid block: a get longer than its header says");
    has_put();
    memcpy(b->answer, from + b->answer_offset, b->answer_bytes);
    return NET_DONE;
}

enum net_result gas_dram_serve_put(void *arg, struct net_block *b) {
    struct range r;
    char *to = dram_target_of("invalid block: a put outside the segments of this node", b, &r);
    (void)arg;
    if (UNLIKELY(b->bytes != r.bytes))
        gas_lost(b->client, "invalid block: the length of a put differs from its header");
    memcpy(to, b->payload, b->bytes);
    has_put();
    return NET_DONE;
}

/* A long set is done in parts, so that other requests get their turns. */
enum net_result gas_dram_serve_set(void *arg, struct net_block *b) {
    enum { PART = 1 << 20 };
    struct range r;
    char *to = dram_target_of("invalid block: a set outside the segments of this node", b, &r);
    uint64_t left = r.bytes - b->resume;
    (void)arg;
    if (UNLIKELY(b->answer_bytes == 0))
        gas_lost(b->client, "invalid block: a set that requests no answer");
    if (left > 0)
        memset(to + b->resume, (int)r.value, left < PART ? left : PART);
    if (left > PART) {
        b->resume += PART;
        return NET_LATER;
    }
    has_put();
    *(char *)b->answer = 0;
    return NET_DONE;
}

/* ---- opening and closing ---- */

int gas_dram_open(size_t bytes, char **base) {
    int status = gas_batch_open();
    if (status != 0)
        job_end(EXIT_FAILURE); /* other ranks wait for this one below */
    status = net_shared_open(&gas_job.node_boot, bytes, NULL, &shared);
    if (status == 0)
        *base = bytes > 0 ? shared->base + shared->parts[gas_job.node_boot.rank].offset : NULL;
    return status;
}

void gas_dram_close(void) {
    if (shared)
        net_shared_close(&gas_job.node_boot, NULL, shared);
    shared = NULL;
    gas_batch_close();
}
