/* remote_request.c: copies, updates and swaps at targets of other nodes.
 *
 * An operation is cut into blocks (net/rpc/call.h). A block carries the shape of the target's memory that it covers, in its
 * header if it fits, otherwise in front of the data. Contiguous memory of the origin is sent from where it lies.
 *
 * A put or an accumulate is over for the caller when it is sent; the helper executes all operations of a process in
 * order, and a flush waits for its acknowledgements. Gets stay in flight until a flush, too. Other operations that fetch
 * wait for the answer. In dynamic windows the memory may not exist: there each operation is followed by a question for its
 * status, which is answered in the same round trip. */
#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/windows/serving/remote/remote.h"
#include "tables/shape.h"

struct remote_op {
    struct net_op op;
    struct serve_domain *domain;
    int node;
    struct remote_head head;
    size_t unit; /* bytes of an element; 1 for copies */

    uint64_t offset; /* of the target's shape, from the beginning of its memory */
    struct data_cursor there;

    bool sends; /* data from the origin: `from` is its first byte */
    struct data_cursor here;
    const char *from;

    char *to; /* for answers */
    const struct shape *to_shape;
};

static struct remote_op remote_op_make(const struct served_target *t, enum remote_handler handler,
                                       uint64_t bytes) {
    struct served *s = t->remote;
    return (struct remote_op){.op = {.handler = (uint8_t)handler, .left = bytes},
                              .domain = s->domain,
                              .node = t->node,
                              .head = {.window = s->key, .target = (uint32_t)t->head.rank},
                              .unit = 1};
}

/* ---- blocks ---- */

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static size_t header_write(const struct remote_op *r, struct net_out *out, size_t shape_bytes) {
    memcpy(out->header, &r->head, sizeof r->head);
    return out->header_bytes = sizeof r->head + shape_bytes;
}

/* The bytes of a list's entries in front of the payload, so that the data for its blocks fits, too. No fewer than the header has
 * room for: the blocks in front of a long one may be short. */
static size_t list_room(const struct remote_op *r, size_t room) {
    enum {
        ENTRY = 8,
        HEAD = 16,
        LEAST = (REMOTE_HEADER_SHAPE + REMOTE_PAYLOAD - 1) / REMOTE_PAYLOAD * REMOTE_PAYLOAD
    };
    const struct shape *s = r->there.shape;
    uint64_t each = s->bytes / s->blocks + 1, most = REMOTE_LIST;
    if (r->sends)
        most = least(most, room / (each + ENTRY) + 1);
    size_t bytes = least(HEAD + most * ENTRY, room / (r->sends ? 2 : 1)) / REMOTE_PAYLOAD * REMOTE_PAYLOAD;
    return bytes < LEAST ? LEAST : bytes;
}

/* Writes the shape of the next bytes, at most `most`, a multiple of the unit. Returns how many it covers, and in
 * *payload the bytes that the shape takes there. */
static uint64_t shape_write(struct remote_op *r, uint64_t most, size_t room, struct net_out *out,
                            size_t *payload) {
    enum { WORTHWHILE = 1024 }; /* room for which a shape in the payload covers more */
    struct data_cursor start = r->there;
    uint64_t covered;
    char *follows = (char *)out->header + sizeof r->head;
    size_t length =
        data_shape_write(&r->there, r->offset, most, r->unit, follows, REMOTE_HEADER_SHAPE, &covered);
    *payload = 0;
    if (covered < most && room >= WORTHWHILE) {
        size_t list = list_room(r, room);
        r->there = start;
        most = least(most, r->sends ? room - list : most);
        length = data_shape_write(&r->there, r->offset, most - most % r->unit, r->unit, out->payload, list,
                                  &covered);
        *payload = round_up(length, REMOTE_PAYLOAD);
        memset((char *)out->payload + length, 0, *payload - length);
    }
    r->head.shape_bytes = (uint32_t)length;
    r->head.shape_follows = *payload == 0;
    header_write(r, out, *payload ? 0 : length);
    return covered;
}

/* The next block of a copy or an update. */
static size_t block_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_op *r = op->arg;
    uint64_t most = op->left;
    size_t payload;
    if (r->sends)
        most = least(most, room);
    if (op->fetches)
        most = least(most, r->unit == 1 ? answer_room : least(answer_room, room));
    uint64_t covered = shape_write(r, most - most % r->unit, room, out, &payload);
    out->bytes = payload + (r->sends ? covered : 0);
    out->answer_bytes = op->fetches ? covered : 0;
    if (!r->sends)
        return covered;
    if (payload == 0 && shape_is_contiguous(r->here.shape)) {
        out->payload = (void *)(uintptr_t)(r->from + r->here.within);
        data_cursor_skip(&r->here, covered);
    } else {
        data_cursor_gather(&r->here, (char *)out->payload + payload, r->from, covered);
    }
    return covered;
}

static void block_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    const struct remote_op *r = op->arg;
    struct data_cursor c;
    if (shape_is_contiguous(r->to_shape)) {
        memcpy(r->to + offset, data, bytes);
        return;
    }
    data_cursor_start(&c, r->to_shape, offset);
    data_cursor_scatter(&c, r->to, data, bytes);
}

/* ---- execution ---- */

/* Whether an operation failed in the helper; only in dynamic windows, where the memory may not exist. */
struct remote_status {
    struct remote_op base;
    int64_t status;
};

static size_t status_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_op *r = op->arg;
    (void)room, (void)answer_room;
    header_write(r, out, 0);
    out->answer_bytes = sizeof(int64_t);
    return sizeof(int64_t);
}

static void status_start(struct remote_status *q, const struct served_target *t) {
    static const struct shape word = {.bytes = 8, .blocks = 1, .block_bytes = 8};
    q->base = remote_op_make(t, RPC_STATUS, sizeof q->status);
    q->base.op.fetches = true;
    q->base.op.next = status_next;
    q->base.op.take = block_take;
    q->base.op.arg = &q->base;
    q->base.to = (char *)&q->status;
    q->base.to_shape = &word;
    serve_remote_start(q->base.domain, q->base.node, &q->base.op);
}

static int remote_execute(struct remote_op *r, const struct served_target *t) {
    struct serve_domain *d = r->domain;
    struct remote_status question = {.status = 0};
    bool asks = t->remote->dynamic;
    r->op.take = block_take;
    r->op.arg = r;
    serve_domain_enter(d);
    serve_remote_start(d, r->node, &r->op);
    if (asks)
        status_start(&question, t);
    if (r->op.fetches)
        net_wait_done(d->net, r->node, &r->op);
    else
        net_wait_sent(d->net, r->node, &r->op);
    if (asks)
        net_wait_done(d->net, r->node, &question.base.op);
    serve_domain_leave(d);
    return (int)question.status;
}

/* ---- gets in flight; with the guard held ---- */

struct remote_get {
    struct remote_op base;
    struct layout here, there;
    struct remote_get *next;
};

/* More in flight would not be faster, and take memory. */
enum { MOST_GETS = 256 };

static void get_free(struct remote_get *g) {
    layout_free(&g->here);
    layout_free(&g->there);
    free(g);
}

/* Waits for the gets from this node, -1: the oldest one, and frees all that are done. */
static void gets_wait(struct serve_domain *d, int node) {
    struct remote_get **at = &d->gets, *last = NULL;
    bool waits = d->gets;
    while (*at) {
        struct remote_get *g = *at;
        if (waits && (node < 0 || g->base.node == node))
            net_wait_done(d->net, g->base.node, &g->base.op);
        waits = waits && node >= 0;
        if (net_is_done(&g->base.op)) {
            *at = g->next;
            d->get_count--;
            get_free(g);
        } else {
            last = g;
            at = &g->next;
        }
    }
    d->last_get = last;
}

static void get_link(struct serve_domain *d, struct remote_get *g) {
    g->next = NULL;
    if (d->last_get)
        d->last_get->next = g;
    else
        d->gets = g;
    d->last_get = g;
    if (++d->get_count >= MOST_GETS)
        gets_wait(d, -1);
}

/* False: out of memory. */
static bool get_start(const struct remote_op *r, const struct remote_side *here,
                      const struct remote_side *there) {
    struct remote_get *g = malloc(sizeof *g);
    if (!g)
        return false;
    *g = (struct remote_get){.base = *r, .here = *here->layout, .there = *there->layout};
    *here->layout = *there->layout = (struct layout){.owned = NULL};
    g->base.there.shape = &g->there.shape;
    g->base.to_shape = &g->here.shape;
    g->base.op.take = block_take;
    g->base.op.arg = &g->base;
    serve_domain_enter(r->domain);
    serve_remote_start(r->domain, r->node, &g->base.op);
    get_link(r->domain, g);
    serve_domain_leave(r->domain);
    return true;
}

/* ---- copies and updates ---- */

int serve_remote_copy(const struct served_target *t, enum remote_direction direction,
                      const struct remote_side *here, const struct remote_side *there, uint64_t bytes) {
    struct remote_op r = remote_op_make(t, direction == REMOTE_GET ? RPC_GET : RPC_PUT, bytes);
    r.offset = there->first - t->base;
    data_cursor_start(&r.there, &there->layout->shape, 0);
    r.op.next = block_next;
    if (direction == REMOTE_GET) {
        r.op.fetches = r.op.streams = true;
        r.to = (char *)(uintptr_t)here->first;
        r.to_shape = &here->layout->shape;
        if (!t->remote->dynamic && get_start(&r, here, there))
            return 0;
    } else {
        r.sends = true;
        r.from = (const char *)(uintptr_t)here->first;
        data_cursor_start(&r.here, &here->layout->shape, 0);
    }
    return remote_execute(&r, t);
}

/* For the data of all gets from this node; with the guard held. */
static void remote_wait(struct serve_domain *d, int node) {
    serve_remote_small_flush(d, node);
    if (d->gets)
        gets_wait(d, node);
    if (d->batches)
        serve_remote_small_wait(d, node);
    if (d->directs)
        serve_remote_direct_wait(d, node);
}

void serve_remote_wait_gets(struct serve_domain *d, int node) {
    serve_domain_enter(d);
    if (d->gets)
        gets_wait(d, node);
    serve_domain_leave(d);
}

static void wait_node(struct serve_domain *d, int node) {
    serve_domain_enter(d);
    remote_wait(d, node);
    serve_domain_leave(d);
}

void serve_remote_wait(const struct served_target *t) {
    wait_node(t->remote->domain, t->node);
}

void serve_remote_wait_all(const struct served *s) {
    int nodes = s->domain->world->nodes;
    for (int n = serve_domain_next(s, 0); n < nodes; n = serve_domain_next(s, n + 1))
        wait_node(s->domain, n);
}

int serve_remote_update(const struct served_target *t, const struct data_update *u) {
    struct shape packed = shape_contiguous(u->bytes);
    struct remote_op r = remote_op_make(t, RPC_UPDATE, u->bytes);
    if (u->op == DATA_NO_OP && !u->old)
        return 0;
    if (!u->old && u->bytes <= REMOTE_SMALL && shape_is_contiguous(u->shape) &&
        serve_remote_small_update(t, u))
        return 0;
    r.unit = data_element_bytes(u->type);
    r.head.op = (uint8_t)u->op;
    r.head.type = (uint8_t)u->type;
    r.offset = (uint64_t)(uintptr_t)u->to - t->base;
    data_cursor_start(&r.there, u->shape, u->from);
    r.op.next = block_next;
    r.op.fetches = u->old != NULL;
    r.to = u->old;
    r.to_shape = &packed;
    r.sends = u->op != DATA_NO_OP;
    r.from = u->packed;
    data_cursor_start(&r.here, &packed, 0);
    return remote_execute(&r, t);
}

/* ---- compare and swap ---- */

struct remote_swap_op {
    struct remote_op base;
    struct remote_swap asked;
    size_t bytes;
};

static size_t swap_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct remote_swap_op *q = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &q->asked, sizeof q->asked);
    out->header_bytes = sizeof q->asked;
    out->answer_bytes = q->bytes;
    return q->bytes;
}

static void swap_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct remote_swap_op *q = op->arg;
    memcpy(q->base.to + offset, data, bytes);
}

int serve_remote_swap_if(const struct served_target *t, enum data_type type, uint64_t element,
                         const void *expected, const void *desired, void *old) {
    struct remote_swap_op q = {.bytes = data_element_bytes(type)};
    struct remote_status question = {.status = 0};
    struct serve_domain *d = t->remote->domain;
    q.base = remote_op_make(t, RPC_SWAP, q.bytes);
    q.asked = (struct remote_swap){.head = q.base.head, .offset = element - t->base};
    q.asked.head.type = (uint8_t)type;
    memcpy(q.asked.expected, expected, q.bytes);
    memcpy(q.asked.desired, desired, q.bytes);
    q.base.to = old;
    q.base.op.fetches = true;
    q.base.op.next = swap_next;
    q.base.op.take = swap_take;
    q.base.op.arg = &q;
    serve_domain_enter(d);
    serve_remote_start(d, t->node, &q.base.op);
    if (t->remote->dynamic)
        status_start(&question, t);
    net_wait_done(d->net, t->node, &q.base.op);
    if (t->remote->dynamic)
        net_wait_done(d->net, t->node, &question.base.op);
    serve_domain_leave(d);
    return (int)question.status;
}

/* ---- flushes ---- */

static void flush_node(struct serve_domain *d, int node) {
    serve_domain_enter(d);
    remote_wait(d, node);
    net_fence(d->net, node);
    serve_domain_leave(d);
}

void serve_remote_flush(const struct served_target *t) {
    flush_node(t->remote->domain, t->node);
}

void serve_remote_flush_all(const struct served *s) {
    const struct net_world *w = s->domain->world;
    for (int n = serve_domain_next(s, 0); n < w->nodes; n = serve_domain_next(s, n + 1))
        if (n != w->node)
            flush_node(s->domain, n);
}
