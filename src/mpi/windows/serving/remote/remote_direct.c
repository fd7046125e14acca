/* remote_direct.c: contiguous puts and gets at targets of other nodes that bypass the helpers, on networks that access
 * remote memory by themselves (net/rpc/direct.h).
 *
 * The process with the helper of each node exposes the memory that MPI_Win_allocate has made there: one mapping, at the same
 * address in all its processes. A rank asks the helper for the key when it first uses the node (RPC_KEY). Other memory, datatypes with
 * gaps, and everything that is atomic are left to the helpers: an element is atomic only if all accumulates take the same locks.
 *
 * net keeps direct operations and those of the helper in order towards a node, and a fence waits for both. So unlock, complete,
 * fence and flush need no rules of their own: whatever follows them at the target finds the direct operations complete.
 *
 * The network reads the buffer of a put after the call has returned. A local flush waits until it has done so. */
#include <stdlib.h>

#include "base/compiler.h"
#include "mpi/windows/serving/remote/remote.h"
#include "tables/rank_table.h"

/* As the helper sends it. */
struct direct_key {
    int32_t length; /* 0: no direct access */
    char key[NET_KEY];
};

/* A node that was used. */
struct direct_node {
    struct rank_record head;
    struct link_window *window; /* NULL: no direct access */
};

struct serve_direct {
    struct link_memory *exposed; /* in processes with a helper */
    struct direct_key key;       /* of it */
    struct rank_table nodes;     /* of struct direct_node, by the node's number; the guard protects it */
};

static struct direct_node no_node = {.head = {.rank = -1}};

struct remote_direct {
    struct net_direct direct;
    int node;
    struct remote_direct *next;
};

/* ---- opening and closing ---- */

static struct serve_direct *direct_make(const struct served *s) {
    struct serve_direct *r = calloc(1, sizeof *r);
    if (r && rank_table_open(&r->nodes, (uint32_t)s->domain->world->nodes, sizeof(struct direct_node),
                             &no_node.head) == 0)
        return r;
    free(r);
    return NULL;
}

static void direct_expose(struct served *s) {
    struct serve_domain *d = s->domain;
    struct serve_direct *r = s->direct;
    if (d->world->local != 0 || !s->shared->base)
        return;
    serve_domain_enter(d);
    int length = net_expose(d->net, s->shared->base, s->shared->bytes, &r->exposed, r->key.key);
    serve_domain_leave(d);
    r->key.length = length > 0 ? length : 0;
}

int serve_remote_direct_open(struct served *s, const struct net_boot *boot) {
    if (!net_is_direct(s->domain->net))
        return 0;
    s->direct = direct_make(s);
    int status = net_agree_on_memory(boot, s->direct, "the keys of a window");
    if (status == 0)
        direct_expose(s);
    return status;
}

void serve_remote_direct_close(struct served *s) {
    struct serve_domain *d = s->domain;
    struct serve_direct *r = s->direct;
    if (!r)
        return;
    serve_domain_enter(d);
    for (uint32_t i = 0; i < r->nodes.count; i++) {
        const struct direct_node *n = (struct direct_node *)(void *)rank_table_at(&r->nodes, i);
        if (n->window)
            net_window_close(n->window);
    }
    if (r->exposed)
        net_hide(d->net, r->exposed);
    serve_domain_leave(d);
    rank_table_close(&r->nodes);
    free(r);
    s->direct = NULL;
}

/* ---- keys ---- */

bool serve_remote_direct_key(const struct served *s, size_t offset, void *to, size_t bytes) {
    if (!s->direct || offset > sizeof s->direct->key || bytes > sizeof s->direct->key - offset)
        return false;
    memcpy(to, (const char *)&s->direct->key + offset, bytes);
    return true;
}

struct key_op {
    struct net_op op;
    struct remote_head head;
    struct direct_key key;
};

static size_t key_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    const struct key_op *q = op->arg;
    (void)room, (void)answer_room;
    memcpy(out->header, &q->head, sizeof q->head);
    out->header_bytes = sizeof q->head;
    return out->answer_bytes = sizeof q->key;
}

static void key_take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct key_op *q = op->arg;
    memcpy((char *)&q->key + offset, data, bytes);
}

/* With the guard held. */
static struct link_window *window_ask(const struct served *s, int node) {
    struct serve_domain *d = s->domain;
    struct link_window *w;
    struct key_op q = {.op = {.handler = RPC_KEY,
                              .fetches = true,
                              .streams = true,
                              .left = sizeof q.key,
                              .next = key_next,
                              .take = key_take,
                              .arg = &q},
                       .head = {.window = s->key, .target = REMOTE_ALL}};
    serve_remote_start(d, node, &q.op);
    net_wait_done(d->net, node, &q.op);
    return q.key.length && net_window_open(d->net, node, q.key.key, &w) == 0 ? w : NULL;
}

/* ---- operations; with the guard held ---- */

/* NULL: no direct access. */
static struct link_window *direct_window(const struct served *s, int node) {
    struct rank_table *nodes = &s->direct->nodes;
    struct direct_node *n = (struct direct_node *)(void *)rank_table_find(nodes, node);
    if (LIKELY(n->head.rank >= 0))
        return n->window;
    n = (struct direct_node *)(void *)rank_table_prepare(nodes, node);
    if (!n)
        return NULL;
    n->window = window_ask(s, node);
    rank_table_add(nodes, &n->head);
    return n->window;
}

static void directs_reclaim(struct serve_domain *d) {
    for (struct remote_direct **at = &d->directs; *at;) {
        struct remote_direct *o = *at;
        if (!o->direct.over) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        o->next = d->spare_directs;
        d->spare_directs = o;
    }
}

static struct remote_direct *direct_begin(struct serve_domain *d, int node) {
    if (!d->spare_directs)
        directs_reclaim(d);
    struct remote_direct *o = d->spare_directs;
    if (o)
        d->spare_directs = o->next;
    else if (!(o = malloc(sizeof *o)))
        return NULL;
    o->node = node;
    o->next = d->directs;
    d->directs = o;
    d->direct_count++;
    return o;
}

bool serve_remote_direct_copy(const struct served_target *t, enum remote_direction direction, void *here,
                              uint64_t there, uint64_t bytes) {
    struct served *s = t->remote;
    struct serve_domain *d = s->domain;
    serve_domain_enter(d);
    struct link_window *w = direct_window(s, t->node);
    struct remote_direct *o = w ? direct_begin(d, t->node) : NULL;
    if (o && d->open_batch[t->node])
        serve_remote_small_send(d, t->node);
    if (o && direction == REMOTE_PUT)
        net_put(d->net, t->node, w, there, here, bytes, &o->direct);
    else if (o)
        net_get(d->net, t->node, w, here, there, bytes, &o->direct);
    serve_domain_leave(d);
    return o;
}

void serve_remote_direct_wait(struct serve_domain *d, int node) {
    for (struct remote_direct *o = d->directs; o; o = o->next)
        if (o->node == node)
            net_wait_direct(d->net, node, &o->direct);
    directs_reclaim(d);
}

void serve_remote_direct_free(struct serve_domain *d) {
    while (d->directs || d->spare_directs) {
        struct remote_direct **list = d->directs ? &d->directs : &d->spare_directs, *o = *list;
        *list = o->next;
        free(o);
    }
}
