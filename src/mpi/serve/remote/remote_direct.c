/* remote_direct.c: contiguous puts and gets at targets of other nodes that bypass the helpers, on networks that access
 * remote memory by themselves (net/rpc/direct.h).
 *
 * The process with the helper of each node exposes the memory that MPI_Win_allocate has made there: one mapping, at the same
 * address in all its processes. All ranks of the window get the keys. Other memory,
 * datatypes with gaps, and everything that is atomic are left to the helpers: an element is atomic only if all accumulates
 * take the same locks.
 *
 * net keeps direct operations and those of the helper in order towards a node, and a fence waits for both. So unlock, complete,
 * fence and flush need no rules of their own: whatever follows them at the target finds the direct operations complete.
 *
 * The network reads the buffer of a put after the call has returned. A local flush waits until it has done so. */
#include <stdlib.h>

#include "mpi/serve/remote/remote.h"

struct direct_node {
    int length; /* of the key; 0: no direct access */
    char key[NET_KEY];
    struct link_window *window; /* NULL: not used yet */
};

struct serve_direct {
    struct link_memory *exposed; /* in processes with a helper */
    struct direct_node *nodes;   /* of the domain */
};

struct direct_offer {
    int32_t node, length; /* of the key of this node */
    char key[NET_KEY];
};

struct remote_direct {
    struct net_direct direct;
    int node;
    struct remote_direct *next;
};

/* ---- opening and closing ---- */

static struct serve_direct *direct_make(const struct served *s) {
    struct serve_direct *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->nodes = calloc((size_t)s->domain->world->nodes, sizeof *r->nodes);
    if (r->nodes)
        return r;
    free(r);
    return NULL;
}

static struct direct_offer direct_offer_make(struct served *s) {
    struct serve_domain *d = s->domain;
    struct direct_offer own = {.node = d->world->node};
    if (d->world->local != 0 || !s->shared->base)
        return own;
    serve_domain_enter(d);
    own.length = d->rpc->expose(d->net, s->shared->base, s->shared->bytes, &s->direct->exposed, own.key);
    serve_domain_leave(d);
    return own;
}

int serve_remote_direct_open(struct served *s, const struct net_boot *boot) {
    struct direct_offer *all;
    if (!s->domain->rpc->is_direct(s->domain->net))
        return 0;
    s->direct = direct_make(s);
    all = malloc((size_t)s->size * sizeof *all);
    int status = net_agree_on_memory(boot, s->direct && all, "the keys of a window");
    if (status == 0) {
        const struct direct_offer own = direct_offer_make(s);
        status = net_boot_gather(boot, &own, all, sizeof own);
    }
    for (int i = 0; status == 0 && i < s->size; i++) {
        if (all[i].length <= 0)
            continue;
        struct direct_node *node = &s->direct->nodes[all[i].node];
        node->length = all[i].length;
        memcpy(node->key, all[i].key, sizeof node->key);
    }
    free(all);
    return status;
}

void serve_remote_direct_close(struct served *s) {
    struct serve_domain *d = s->domain;
    struct serve_direct *r = s->direct;
    if (!r)
        return;
    serve_domain_enter(d);
    for (int i = 0; i < d->world->nodes; i++)
        if (r->nodes[i].window)
            d->rpc->window_close(r->nodes[i].window);
    if (r->exposed)
        d->rpc->hide(d->net, r->exposed);
    serve_domain_leave(d);
    free(r->nodes);
    free(r);
    s->direct = NULL;
}

/* ---- operations; with the guard held ---- */

static struct link_window *direct_window(struct serve_domain *d, struct serve_direct *r, int node) {
    struct direct_node *n = &r->nodes[node];
    if (!n->window && n->length && d->rpc->window_open(d->net, node, n->key, &n->window) != 0)
        n->length = 0;
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
    struct link_window *w = direct_window(d, s->direct, t->node);
    struct remote_direct *o = w ? direct_begin(d, t->node) : NULL;
    if (o && d->open_batch[t->node])
        serve_remote_small_send(d, t->node);
    if (o && direction == REMOTE_PUT)
        d->rpc->put(d->net, t->node, w, there, here, bytes, &o->direct);
    else if (o)
        d->rpc->get(d->net, t->node, w, here, there, bytes, &o->direct);
    serve_domain_leave(d);
    return o;
}

void serve_remote_direct_wait(struct serve_domain *d, int node) {
    for (struct remote_direct *o = d->directs; o; o = o->next)
        if (o->node == node)
            d->rpc->wait_direct(d->net, node, &o->direct);
    directs_reclaim(d);
}

void serve_remote_direct_free(struct serve_domain *d) {
    while (d->directs || d->spare_directs) {
        struct remote_direct **list = d->directs ? &d->directs : &d->spare_directs, *o = *list;
        *list = o->next;
        free(o);
    }
}
