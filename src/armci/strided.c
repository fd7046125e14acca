/* strided.c: strided transfers.
 *
 * HEARTH_ARMCI_STRIDED selects how they go to another node: packed, to its helper (the default); row by row; or as
 * lists of rows. The last two are what a network without a helper would do, and exist for comparison. */
#include <stdlib.h>

#include "armci/request/armci_transfer.h"
#include "base/compiler.h"
#include "base/settings.h"

static struct armci_transfer strided_transfer(enum transfer_kind kind, const char *call, void *local,
                                              int local_strides[], void *remote, int remote_strides[],
                                              int counts[], int levels, int proc) {
    struct armci_transfer t = {.kind = kind, .call = call, .proc = proc};
    if (data_patch_make_pair(&t.local, local, local_strides, &t.remote, remote, remote_strides, counts,
                             levels) != 0)
        armci_fail(call, "invalid patch: %d levels of strides (0 ... %d are allowed), or a negative count",
                   levels, PATCH_LEVELS);
    return t;
}

/* ---- row by row, or as lists of rows ---- */

struct rows {
    const struct armci_transfer *whole;
    bool lists;
    armci_hdl_t handle;
    void **local, **remote;
    int count;
};

static bool do_row(void *arg, char *place, uint64_t offset, size_t bytes) {
    struct rows *rows = arg;
    const struct armci_transfer *t = rows->whole;
    char *local = NULL;
    /* Both patches have the same counts, so the row at the same offset is the same row. */
    for (uint64_t row = offset / t->local.count[0], level = 0; level <= t->local.levels; level++) {
        if (level == 0)
            local = t->local.base;
        else {
            local += (int64_t)(row % t->local.count[level]) * t->local.stride[level - 1];
            row /= t->local.count[level];
        }
    }
    if (rows->lists) {
        rows->local[rows->count] = local;
        rows->remote[rows->count++] = place;
        return true;
    }
    struct armci_transfer one = *t;
    one.local = data_patch_row(local, bytes);
    one.remote = data_patch_row(place, bytes);
    armci_transfer_patch_start(&one, &rows->handle);
    return true;
}

static void send_lists(struct rows *rows) {
    const struct armci_transfer *t = rows->whole;
    bool get = t->kind == TRANSFER_GET;
    armci_giov_t iov = {.src_ptr_array = get ? rows->remote : rows->local,
                        .dst_ptr_array = get ? rows->local : rows->remote,
                        .bytes = (int)t->local.count[0],
                        .ptr_array_len = rows->count};
    struct transfer_vector v = {.kind = t->kind,
                                .call = t->call,
                                .proc = t->proc,
                                .type = t->type,
                                .scale = t->scale,
                                .iov = &iov,
                                .iov_count = 1};
    armci_transfer_vector(&v);
}

static void transfer_rows(const struct armci_transfer *t, bool lists) {
    struct rows rows = {.whole = t, .lists = lists};
    size_t count = (size_t)(t->local.bytes / t->local.count[0]);
    if (lists) {
        rows.local = malloc(2 * count * sizeof(void *));
        if (!rows.local)
            armci_fail(t->call, "no memory for a list of %zu rows", count);
        rows.remote = rows.local + count;
    }
    data_patch_walk(&t->remote, 0, t->remote.bytes, do_row, &rows);
    if (lists)
        send_lists(&rows);
    PARMCI_Wait(&rows.handle);
    free(rows.local);
}

/* ---- the calls ---- */

static void strided_transfer_now(const struct armci_transfer *t) {
    int way = settings_get()->armci_strided;
    if (LIKELY(way == 0) || t->local.levels == 0 || t->local.bytes == 0 ||
        armci_find_way(t->call, t->proc) != WAY_REMOTE)
        armci_transfer_patch(t);
    else
        transfer_rows(t, way == 2);
}

int PARMCI_PutS(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                int proc) {
    struct armci_transfer t = strided_transfer(TRANSFER_PUT, "ARMCI_PutS", src, src_strides, dst, dst_strides,
                                               counts, levels, proc);
    strided_transfer_now(&t);
    return 0;
}
ALIAS(int, ARMCI_PutS,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int proc));

int PARMCI_GetS(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                int proc) {
    struct armci_transfer t = strided_transfer(TRANSFER_GET, "ARMCI_GetS", dst, dst_strides, src, src_strides,
                                               counts, levels, proc);
    strided_transfer_now(&t);
    return 0;
}
ALIAS(int, ARMCI_GetS,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int proc));

int PARMCI_AccS(int type, void *scale, void *src, int src_strides[], void *dst, int dst_strides[],
                int counts[], int levels, int proc) {
    struct armci_transfer t = strided_transfer(TRANSFER_ACC, "ARMCI_AccS", src, src_strides, dst, dst_strides,
                                               counts, levels, proc);
    t.type = type;
    t.scale = scale;
    strided_transfer_now(&t);
    return 0;
}
ALIAS(int, ARMCI_AccS,
      (int type, void *scale, void *src, int src_strides[], void *dst, int dst_strides[], int counts[],
       int levels, int proc));

int PARMCI_NbPutS(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t *handle) {
    struct armci_transfer t = strided_transfer(TRANSFER_PUT, "ARMCI_NbPutS", src, src_strides, dst,
                                               dst_strides, counts, levels, proc);
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbPutS,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int proc,
       armci_hdl_t *handle));

int PARMCI_NbGetS(void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t *handle) {
    struct armci_transfer t = strided_transfer(TRANSFER_GET, "ARMCI_NbGetS", dst, dst_strides, src,
                                               src_strides, counts, levels, proc);
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbGetS,
      (void *src, int src_strides[], void *dst, int dst_strides[], int counts[], int levels, int proc,
       armci_hdl_t *handle));

int PARMCI_NbAccS(int type, void *scale, void *src, int src_strides[], void *dst, int dst_strides[],
                  int counts[], int levels, int proc, armci_hdl_t *handle) {
    struct armci_transfer t = strided_transfer(TRANSFER_ACC, "ARMCI_NbAccS", src, src_strides, dst,
                                               dst_strides, counts, levels, proc);
    t.type = type;
    t.scale = scale;
    armci_transfer_patch_start(&t, handle);
    return 0;
}
ALIAS(int, ARMCI_NbAccS,
      (int type, void *scale, void *src, int src_strides[], void *dst, int dst_strides[], int counts[],
       int levels, int proc, armci_hdl_t *handle));

/* ---- local ---- */

static struct patch local_patch(const char *call, void *base, int levels, int strides[], int counts[]) {
    struct patch p;
    if (data_patch_make(&p, base, strides, counts, levels) != 0)
        armci_fail(call, "invalid patch: %d levels of strides, or a negative count", levels);
    return p;
}

void armci_write_strided(void *base, int levels, int strides[], int counts[], char *buffer) {
    struct patch p = local_patch("armci_write_strided", base, levels, strides, counts);
    data_patch_pack(&p, 0, buffer, p.bytes);
}

void armci_read_strided(void *base, int levels, int strides[], int counts[], char *buffer) {
    struct patch p = local_patch("armci_read_strided", base, levels, strides, counts);
    data_patch_unpack(&p, 0, buffer, p.bytes);
}
