/* armci_transfer.c: executes transfers: the caller itself accesses memory of this node at once; transfers to another node
 * become requests to its helper.
 *
 * Location consistency: a process sees its own operations on a location in the order in which it started them. On
 * this node they are complete when the call returns. On another node one helper executes them in order, and direct
 * operations are ordered with them (net/rpc/direct.h).
 *
 * A process may poll a flag with gets: if a get returns a value that was stored after a fence, later gets return what
 * was stored before it. On this node the copy is followed by an acquire fence; a helper executes gets in order. */
#include "armci/request/armci_transfer.h"

#include <stdatomic.h>

#include "armci/request/armci_count.h"
#include "armci/request/guard.h"
#include "armci/request/armci_handle.h"
#include "armci/request/armci_request.h"
#include "armci/job/sync_event.h"
#include "base/compiler.h"
#include "data/data.h"

_Static_assert((int)ACC_INT == (int)ARMCI_ACC_INT && (int)ACC_LONG == (int)ARMCI_ACC_LNG &&
                   (int)ACC_FLOAT == (int)ARMCI_ACC_FLT && (int)ACC_DOUBLE == (int)ARMCI_ACC_DBL &&
                   (int)ACC_COMPLEX == (int)ARMCI_ACC_CPL && (int)ACC_DOUBLE_COMPLEX == (int)ARMCI_ACC_DCP,
               "the types have ARMCI's numbers");

/* ---- on this node ---- */

static void do_local(const struct armci_transfer *t) {
    switch (t->kind) {
    case TRANSFER_PUT:
        data_patch_copy(&t->remote, &t->local);
        break;
    case TRANSFER_GET:
        data_patch_copy(&t->local, &t->remote);
        atomic_thread_fence(memory_order_acquire); /* a later get sees what was written before this value */
        armci_sync_event();
        break;
    case TRANSFER_ACC:
        data_accumulate_patch(armci_job.lock_table, t->type, t->scale, &t->remote, &t->local);
        break;
    }
}

static struct armci_transfer piece_of(const struct transfer_vector *v, const armci_giov_t *iov, int i) {
    bool get = v->kind == TRANSFER_GET;
    size_t bytes = (size_t)iov->bytes;
    return (struct armci_transfer){
        .kind = v->kind,
        .call = v->call,
        .proc = v->proc,
        .type = v->type,
        .scale = v->scale,
        .local = data_patch_row((get ? iov->dst_ptr_array : iov->src_ptr_array)[i], bytes),
        .remote = data_patch_row((get ? iov->src_ptr_array : iov->dst_ptr_array)[i], bytes)};
}

static void do_local_vector(const struct transfer_vector *v) {
    for (int list = 0; list < v->iov_count; list++)
        for (int i = 0; i < v->iov[list].ptr_array_len; i++) {
            struct armci_transfer t = piece_of(v, &v->iov[list], i);
            do_local(&t);
        }
}

/* ---- checks ---- */

static enum way check_patch(const struct armci_transfer *t) {
    if (t->kind == TRANSFER_ACC) {
        size_t grain = data_accumulate_grain(t->type);
        if (grain == 0)
            armci_fail(t->call, "type %d is not an accumulate type, ARMCI_ACC_*", t->type);
        if (t->local.count[0] % grain != 0)
            armci_fail(t->call, "rows of %llu bytes are not a multiple of the element size, %zu",
                       (unsigned long long)t->local.count[0], grain);
    }
    return armci_find_patch(t->call, t->proc, &t->remote);
}

static uint64_t vector_bytes(const struct transfer_vector *v) {
    uint64_t bytes = 0;
    for (int i = 0; i < v->iov_count; i++)
        bytes += (uint64_t)v->iov[i].bytes * (uint64_t)v->iov[i].ptr_array_len;
    return bytes;
}

static enum way check_vector(const struct transfer_vector *v) {
    enum way way = armci_find_way(v->call, v->proc);
    size_t grain = v->kind == TRANSFER_ACC ? data_accumulate_grain(v->type) : 1;
    if (grain == 0)
        armci_fail(v->call, "type %d is not an accumulate type, ARMCI_ACC_*", v->type);
    for (int list = 0; list < v->iov_count; list++) {
        const armci_giov_t *iov = &v->iov[list];
        if (iov->bytes < 0 || iov->ptr_array_len < 0 || (size_t)iov->bytes % grain != 0)
            armci_fail(v->call, "invalid vector: %d pieces of %d bytes", iov->ptr_array_len, iov->bytes);
        for (int i = 0; i < iov->ptr_array_len; i++)
            armci_find_row(v->call, v->proc,
                           (v->kind == TRANSFER_GET ? iov->src_ptr_array : iov->dst_ptr_array)[i],
                           (size_t)iov->bytes);
    }
    return way;
}

/* ---- the four forms: patch or vector, blocking or not ---- */

void armci_transfer_patch(const struct armci_transfer *t) {
    enum way way = check_patch(t);
    armci_count_transfer(t->kind, way, t->local.bytes);
    if (LIKELY(way != WAY_REMOTE)) {
        do_local(t);
        return;
    }
    if (t->local.bytes == 0)
        return;
    struct armci_request r;
    armci_request_patch(&r, t);
    armci_request_do(&r);
}

void armci_transfer_vector(const struct transfer_vector *v) {
    enum way way = check_vector(v);
    uint64_t bytes = vector_bytes(v);
    armci_count_transfer(v->kind, way, bytes);
    if (way != WAY_REMOTE) {
        do_local_vector(v);
        return;
    }
    if (bytes == 0)
        return;
    struct armci_request r;
    armci_request_vector(&r, v);
    armci_request_do(&r);
}

void armci_transfer_patch_start(const struct armci_transfer *t, armci_hdl_t *handle) {
    if (t->local.bytes == 0 || armci_find_way(t->call, t->proc) != WAY_REMOTE) {
        armci_transfer_patch(t);
        return;
    }
    check_patch(t);
    armci_count_transfer(t->kind, WAY_REMOTE, t->local.bytes);
    armci_guard_enter();
    struct armci_request *r = armci_handle_request(t->call, handle);
    armci_request_patch(r, t);
    armci_request_start(r);
    armci_guard_leave();
}

void armci_transfer_vector_start(const struct transfer_vector *v, armci_hdl_t *handle) {
    if (vector_bytes(v) == 0 || armci_find_way(v->call, v->proc) != WAY_REMOTE) {
        armci_transfer_vector(v);
        return;
    }
    check_vector(v);
    armci_count_transfer(v->kind, WAY_REMOTE, vector_bytes(v));
    struct transfer_vector copy = *v;
    void *lists = armci_request_copy_lists(v);
    if (!lists)
        armci_fail(v->call, "no memory for a copy of the lists of addresses");
    copy.iov = lists;
    armci_guard_enter();
    struct armci_request *r = armci_handle_request(v->call, handle);
    r->copy = lists;
    armci_request_vector(r, &copy);
    armci_request_start(r);
    armci_guard_leave();
}
