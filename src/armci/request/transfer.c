/* transfer.c: executes transfers: the caller itself accesses memory of this node at once; transfers to another node
 * become requests to its helper.
 *
 * Location consistency: a process sees its own operations on a location in the order in which it started them. On
 * this node they are complete when the call returns; on another node one helper executes them in order. A process is
 * always reached in the same way. */
#include "armci/request/transfer.h"

#include "armci/data/accumulate.h"
#include "armci/request/count.h"
#include "armci/request/guard.h"
#include "armci/request/handle.h"
#include "armci/request/memory.h"
#include "armci/news.h"
#include "armci/request/reach.h"

_Static_assert((int)ACC_INT == (int)ARMCI_ACC_INT && (int)ACC_LONG == (int)ARMCI_ACC_LNG &&
                   (int)ACC_FLOAT == (int)ARMCI_ACC_FLT && (int)ACC_DOUBLE == (int)ARMCI_ACC_DBL &&
                   (int)ACC_COMPLEX == (int)ARMCI_ACC_CPL && (int)ACC_DOUBLE_COMPLEX == (int)ARMCI_ACC_DCP,
               "the types have ARMCI's numbers");

/* ---- on this node ---- */

static void do_near(const struct transfer *t) {
    switch (t->kind) {
    case TRANSFER_PUT:
        patch_copy(&t->remote, &t->local);
        break;
    case TRANSFER_GET:
        patch_copy(&t->local, &t->remote);
        news();
        break;
    case TRANSFER_ACC:
        accumulate_patch(armci.stripes, t->type, t->scale, &t->remote, &t->local);
        break;
    }
}

static struct transfer piece_of(const struct transfer_vector *v, const armci_giov_t *iov, int i) {
    bool get = v->kind == TRANSFER_GET;
    size_t bytes = (size_t)iov->bytes;
    return (struct transfer){.kind = v->kind,
                             .call = v->call,
                             .proc = v->proc,
                             .type = v->type,
                             .scale = v->scale,
                             .local = patch_row((get ? iov->dst_ptr_array : iov->src_ptr_array)[i], bytes),
                             .remote = patch_row((get ? iov->src_ptr_array : iov->dst_ptr_array)[i], bytes)};
}

static void do_near_vector(const struct transfer_vector *v) {
    for (int list = 0; list < v->iov_count; list++)
        for (int i = 0; i < v->iov[list].ptr_array_len; i++) {
            struct transfer t = piece_of(v, &v->iov[list], i);
            do_near(&t);
        }
}

/* ---- checks ---- */

static enum way check_patch(const struct transfer *t) {
    if (t->kind == TRANSFER_ACC) {
        size_t grain = accumulate_grain(t->type);
        if (grain == 0)
            armci_fail(t->call, "type %d is not an accumulate type, ARMCI_ACC_*", t->type);
        if (t->local.count[0] % grain != 0)
            armci_fail(t->call, "rows of %llu bytes are not a multiple of the element size, %zu",
                       (unsigned long long)t->local.count[0], grain);
    }
    return find_patch(t->call, t->proc, &t->remote);
}

static uint64_t vector_bytes(const struct transfer_vector *v) {
    uint64_t bytes = 0;
    for (int i = 0; i < v->iov_count; i++)
        bytes += (uint64_t)v->iov[i].bytes * (uint64_t)v->iov[i].ptr_array_len;
    return bytes;
}

static enum way check_vector(const struct transfer_vector *v) {
    enum way way = way_of(v->call, v->proc);
    size_t grain = v->kind == TRANSFER_ACC ? accumulate_grain(v->type) : 1;
    if (grain == 0)
        armci_fail(v->call, "type %d is not an accumulate type, ARMCI_ACC_*", v->type);
    for (int list = 0; list < v->iov_count; list++) {
        const armci_giov_t *iov = &v->iov[list];
        if (iov->bytes < 0 || iov->ptr_array_len < 0 || (size_t)iov->bytes % grain != 0)
            armci_fail(v->call, "invalid vector: %d pieces of %d bytes", iov->ptr_array_len, iov->bytes);
        for (int i = 0; i < iov->ptr_array_len; i++)
            find_row(v->call, v->proc, (v->kind == TRANSFER_GET ? iov->src_ptr_array : iov->dst_ptr_array)[i],
                     (size_t)iov->bytes);
    }
    return way;
}

/* ---- the four forms: patch or vector, blocking or not ---- */

/* For transfers that are contiguous on both sides, if the network can access that memory directly. */
static struct link_window *window_for(const struct request *r) {
    if (r->is_vector || r->kind == TRANSFER_ACC || r->local.levels > 0 || r->remote.levels > 0 ||
        !net_is_direct(armci.net))
        return NULL;
    return reach_window(memory_find(r->proc, r->remote.base, r->remote.base + r->remote.bytes), r->node);
}

void request_start(struct request *r) {
    struct link_window *w = window_for(r);
    uint64_t remote = (uint64_t)(uintptr_t)r->remote.base;
    r->is_direct = w != NULL;
    if (!w)
        net_start(armci.net, r->node, &r->op);
    else if (r->kind == TRANSFER_PUT)
        net_put(armci.net, r->node, w, remote, r->local.base, r->local.bytes, &r->direct);
    else
        net_get(armci.net, r->node, w, r->local.base, remote, r->local.bytes, &r->direct);
}

void request_wait(struct request *r) {
    if (r->is_direct)
        net_wait_direct(armci.net, r->node, &r->direct);
    else if (r->op.fetches)
        net_wait_done(armci.net, r->node, &r->op);
    else
        net_wait_sent(armci.net, r->node, &r->op);
    if (r->kind == TRANSFER_GET)
        news();
}

static void request_do(struct request *r) {
    guard_enter();
    request_start(r);
    request_wait(r);
    guard_leave();
}

void transfer_patch(const struct transfer *t) {
    enum way way = check_patch(t);
    count_transfer(t->kind, way, t->local.bytes);
    if (LIKELY(way != WAY_FAR)) {
        do_near(t);
        return;
    }
    if (t->local.bytes == 0)
        return;
    struct request r;
    request_patch(&r, t);
    request_do(&r);
}

void transfer_vector(const struct transfer_vector *v) {
    enum way way = check_vector(v);
    uint64_t bytes = vector_bytes(v);
    count_transfer(v->kind, way, bytes);
    if (way != WAY_FAR) {
        do_near_vector(v);
        return;
    }
    if (bytes == 0)
        return;
    struct request r;
    request_vector(&r, v);
    request_do(&r);
}

void transfer_patch_start(const struct transfer *t, armci_hdl_t *handle) {
    if (t->local.bytes == 0 || way_of(t->call, t->proc) != WAY_FAR) {
        transfer_patch(t);
        return;
    }
    check_patch(t);
    count_transfer(t->kind, WAY_FAR, t->local.bytes);
    guard_enter();
    struct request *r = handle_request(t->call, handle);
    request_patch(r, t);
    request_start(r);
    guard_leave();
}

void transfer_vector_start(const struct transfer_vector *v, armci_hdl_t *handle) {
    if (vector_bytes(v) == 0 || way_of(v->call, v->proc) != WAY_FAR) {
        transfer_vector(v);
        return;
    }
    check_vector(v);
    count_transfer(v->kind, WAY_FAR, vector_bytes(v));
    struct transfer_vector copy = *v;
    void *lists = request_copy_lists(v);
    if (!lists)
        armci_fail(v->call, "no memory for a copy of the lists of addresses");
    copy.iov = lists;
    guard_enter();
    struct request *r = handle_request(v->call, handle);
    r->copy = lists;
    request_vector(r, &copy);
    request_start(r);
    guard_leave();
}
