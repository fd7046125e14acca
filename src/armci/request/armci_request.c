/* armci_request.c: operations on other nodes: prepared, cut into blocks for the helper or passed to the network directly,
 * and waited for.
 *
 * A block of a patch is a range of its packed order. It carries the whole patch, so any range will do, and every
 * block is as full as possible. A block of a vector is a list of addresses with the data for each; a piece longer
 * than a block is cut. Blocks are cut at multiples of 64 bytes (pieces of a vector at multiples of 16) or at ends of
 * pieces, never inside an element. */
#include "armci/request/armci_request.h"

#include <stdlib.h>
#include <string.h>

#include "armci/request/armci_memory.h"
#include "armci/request/guard.h"
#include "armci/request/ops.h"
#include "armci/request/reach.h"
#include "armci/job/sync_event.h"
#include "base/compiler.h"
#include "base/settings.h"
#include "data/data.h"

enum { ZERO_COPY = 8192 }; /* bytes from which contiguous memory is sent in place */

static size_t smaller(uint64_t a, uint64_t b) {
    return (size_t)(a < b ? a : b);
}

/* ---- memory ---- */

static struct armci_request *free_list;

struct armci_request *armci_request_new(void) {
    struct armci_request *r = free_list;
    if (r)
        free_list = r->chain;
    else if (!(r = malloc(sizeof *r)))
        return NULL;
    r->chain = NULL;
    r->copy = NULL;
    return r;
}

void armci_request_free(struct armci_request *r) {
    free(r->copy);
    r->chain = free_list;
    free_list = r;
}

void armci_request_close_all(void) {
    while (free_list) {
        struct armci_request *r = free_list;
        free_list = r->chain;
        free(r);
    }
}

/* ---- patches ---- */

static size_t next_of_patch(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct armci_request *r = op->arg;
    struct op_patch *h = out->header;
    size_t bytes = smaller(op->left, op->fetches ? answer_room : room);
    h->from = r->done;
    h->type = r->type;
    memcpy(h->scale, r->scale, sizeof h->scale);
    out->header_bytes = offsetof(struct op_patch, patch) + data_patch_write(&r->remote, h->patch);
    if (op->fetches)
        out->answer_bytes = bytes;
    else {
        out->bytes = bytes;
        if (r->local.levels == 0 && bytes >= ZERO_COPY)
            out->payload = r->local.base + r->done;
        else
            data_patch_pack(&r->local, r->done, out->payload, bytes);
    }
    r->done += bytes;
    return bytes;
}

static void take_into_patch(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct armci_request *r = op->arg;
    data_patch_unpack(&r->local, offset, data, bytes);
}

static const uint8_t handler_of[2][3] = {{OP_PUT, OP_GET, OP_ACC}, {OP_PUTV, OP_GETV, OP_ACCV}};

static void request_prepare(struct armci_request *r, enum transfer_kind kind, int proc, int type,
                            const void *scale, bool is_vector) {
    r->proc = proc;
    r->node = (int)armci_job.world->node_of[proc];
    r->kind = kind;
    r->is_vector = is_vector;
    r->done = 0;
    r->type = (uint8_t)type;
    memset(r->scale, 0, sizeof r->scale);
    if (kind == TRANSFER_ACC)
        memcpy(r->scale, scale, data_accumulate_grain(type));
    r->op =
        (struct net_op){.handler = handler_of[is_vector][kind], .fetches = kind == TRANSFER_GET, .arg = r};
}

void armci_request_patch(struct armci_request *r, const struct armci_transfer *t) {
    request_prepare(r, t->kind, t->proc, t->type, t->scale, false);
    r->local = t->local;
    r->remote = t->remote;
    r->op.left = t->local.bytes;
    r->op.streams = r->op.fetches && settings_get()->size_hint; /* any range of a patch can be a piece */
    r->op.next = next_of_patch;
    r->op.take = take_into_patch;
}

/* ---- vectors ---- */

static void **remote_pointers(const struct armci_request *r, int list) {
    const armci_giov_t *iov = &r->iov[list];
    return r->kind == TRANSFER_GET ? iov->src_ptr_array : iov->dst_ptr_array;
}

static void **local_pointers(const struct armci_request *r, int list) {
    const armci_giov_t *iov = &r->iov[list];
    return r->kind == TRANSFER_GET ? iov->dst_ptr_array : iov->src_ptr_array;
}

/* Skips empty lists and pieces, to the next byte. */
static void request_settle(const struct armci_request *r, struct cursor *c) {
    while (c->list < r->iov_count) {
        const armci_giov_t *iov = &r->iov[c->list];
        if (iov->bytes > 0 && c->piece < iov->ptr_array_len)
            return;
        c->list++;
        c->piece = 0;
        c->offset = 0;
    }
}

static void request_advance(const struct armci_request *r, struct cursor *c, uint64_t bytes) {
    c->offset += bytes;
    c->at += bytes;
    if (c->offset < (uint64_t)r->iov[c->list].bytes)
        return;
    c->offset = 0;
    c->piece++;
    request_settle(r, c);
}

/* The number of whole pieces, or the part of one, that fits into a block with `room` bytes for addresses (and data,
 * unless it fetches) and `answer_room` bytes of answer. */
static void fit_pieces(const struct armci_request *r, size_t room, size_t answer_room, uint32_t *count,
                       uint32_t *bytes) {
    const armci_giov_t *iov = &r->iov[r->next.list];
    size_t address = sizeof(uint64_t), data_room = r->op.fetches ? answer_room : room - address;
    uint64_t rest = (uint64_t)iov->bytes - r->next.offset;
    if (r->next.offset > 0 || rest > data_room) {
        size_t part = data_room / 16 * 16; /* never inside an element */
        *count = 1;
        *bytes = (uint32_t)(rest <= data_room ? rest : part);
        return;
    }
    size_t fit = r->op.fetches ? smaller(room / address, answer_room / rest) : room / (address + rest);
    *count = (uint32_t)smaller(fit, (uint64_t)(iov->ptr_array_len - r->next.piece));
    *bytes = (uint32_t)rest;
}

static size_t next_of_vector(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct armci_request *r = op->arg;
    struct op_vector *h = out->header;
    request_settle(r, &r->next);
    *h = (struct op_vector){.type = r->type};
    memcpy(h->scale, r->scale, sizeof h->scale);
    fit_pieces(r, room, answer_room, &h->count, &h->bytes);
    out->header_bytes = sizeof *h;
    char *data = (char *)out->payload + h->count * sizeof(uint64_t);
    for (uint32_t i = 0; i < h->count; i++) {
        struct cursor *c = &r->next;
        uint64_t address = (uint64_t)(uintptr_t)remote_pointers(r, c->list)[c->piece] + c->offset;
        memcpy((char *)out->payload + i * sizeof address, &address, sizeof address);
        if (!op->fetches)
            memcpy(data + (size_t)i * h->bytes, (char *)local_pointers(r, c->list)[c->piece] + c->offset,
                   h->bytes);
        request_advance(r, c, h->bytes);
    }
    size_t covered = (size_t)h->count * h->bytes;
    out->bytes = h->count * sizeof(uint64_t) + (op->fetches ? 0 : covered);
    out->answer_bytes = op->fetches ? covered : 0;
    return covered;
}

/* Answers mostly arrive in order; for one before the cursor, the search restarts from the beginning. */
static void take_into_vector(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct armci_request *r = op->arg;
    struct cursor *c = &r->taken;
    if (offset < c->at)
        *c = (struct cursor){0};
    request_settle(r, c);
    while (c->at < offset)
        request_advance(r, c, smaller((uint64_t)r->iov[c->list].bytes - c->offset, offset - c->at));
    for (size_t done = 0; done < bytes;) {
        size_t part = smaller((uint64_t)r->iov[c->list].bytes - c->offset, bytes - done);
        memcpy((char *)local_pointers(r, c->list)[c->piece] + c->offset, (const char *)data + done, part);
        request_advance(r, c, part);
        done += part;
    }
}

void armci_request_vector(struct armci_request *r, const struct transfer_vector *v) {
    request_prepare(r, v->kind, v->proc, v->type, v->scale, true);
    r->iov = v->iov;
    r->iov_count = v->iov_count;
    r->next = r->taken = (struct cursor){0};
    for (int i = 0; i < v->iov_count; i++)
        r->op.left += (uint64_t)v->iov[i].bytes * (uint64_t)v->iov[i].ptr_array_len;
    r->op.next = next_of_vector;
    r->op.take = take_into_vector;
}

/* Copies the lists into one allocation: the records, then all pointers. */
void *armci_request_copy_lists(const struct transfer_vector *v) {
    size_t pointers = 0;
    for (int i = 0; i < v->iov_count; i++)
        pointers += 2 * (size_t)v->iov[i].ptr_array_len;
    size_t head = round_up((size_t)v->iov_count * sizeof(armci_giov_t), sizeof(void *));
    armci_giov_t *copy = malloc(head + pointers * sizeof(void *));
    if (!copy)
        return NULL;
    void **at = (void **)((char *)copy + head);
    for (int i = 0; i < v->iov_count; i++) {
        size_t count = (size_t)v->iov[i].ptr_array_len;
        copy[i] = v->iov[i];
        copy[i].src_ptr_array = memcpy(at, v->iov[i].src_ptr_array, count * sizeof(void *));
        copy[i].dst_ptr_array = memcpy(at + count, v->iov[i].dst_ptr_array, count * sizeof(void *));
        at += 2 * count;
    }
    return copy;
}

/* ---- start and completion ---- */

/* For transfers that are contiguous on both sides, if the network can access that memory directly. */
static struct link_window *request_window(const struct armci_request *r) {
    if (r->is_vector || r->kind == TRANSFER_ACC || r->local.levels > 0 || r->remote.levels > 0 ||
        !net_is_direct(armci_job.net))
        return NULL;
    return armci_reach_window(armci_memory_find(r->proc, r->remote.base, r->remote.base + r->remote.bytes),
                              r->node);
}

void armci_request_start(struct armci_request *r) {
    struct link_window *w = request_window(r);
    uint64_t remote = (uint64_t)(uintptr_t)r->remote.base;
    r->is_direct = w != NULL;
    if (!w)
        net_start(armci_job.net, r->node, &r->op);
    else if (r->kind == TRANSFER_PUT)
        net_put(armci_job.net, r->node, w, remote, r->local.base, r->local.bytes, &r->direct);
    else
        net_get(armci_job.net, r->node, w, r->local.base, remote, r->local.bytes, &r->direct);
}

void armci_request_wait(struct armci_request *r) {
    if (r->is_direct)
        net_wait_direct(armci_job.net, r->node, &r->direct);
    else if (r->op.fetches)
        net_wait_done(armci_job.net, r->node, &r->op);
    else
        net_wait_sent(armci_job.net, r->node, &r->op);
    if (r->kind == TRANSFER_GET)
        armci_sync_event();
}

void armci_request_do(struct armci_request *r) {
    armci_guard_enter();
    armci_request_start(r);
    armci_request_wait(r);
    armci_guard_leave();
}
