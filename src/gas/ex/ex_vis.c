/* ex_vis.c: non-contiguous memory in GASNet-EX. rma/vis_cut.c executes the calls. A call that exposes when its source is free
 * needs nothing more: the leaf of its event is tested on its pieces. A call that notifies its peer is complete on return
 * (ex_peer.c). */
#include "gas/ex/ex.h"

#include "base/compiler.h"
#include "gas/rma/vis_cut.h"

static struct vis_call vis_open(const char *name, enum stats_kind kind, enum vis_form form, gex_TM_t tm,
                                gex_Rank_t rank, gex_Flags_t flags) {
    bool leaves = kind == STATS_PUT && form != VIS_BLOCKING, notifies = gas_ex_peer_is_armed();
    gas_ex_flags(name, flags,
                 (notifies ? 0 : GEX_FLAG_IMMEDIATE) | (leaves ? GEX_FLAG_ENABLE_LEAF_LC : 0) |
                     EX_SEGMENT_FLAGS);
    return (struct vis_call){name, kind, notifies ? VIS_BLOCKING : form, gas_ex_rank(name, tm, rank)};
}

static gex_Event_t vis_run_lists(const struct vis_call *call, const struct vis_list *dst,
                                 const struct vis_list *src) {
    gex_Event_t event = gas_vis_lists(call, dst, src);
    if (UNLIKELY(gas_ex_peer_is_armed()))
        gas_ex_peer_notify(call->node);
    return event;
}

static gex_Event_t vis_run_grid(const struct vis_call *call, void *dst, void *src,
                                const struct vis_grid *shape) {
    gex_Event_t event = gas_vis_grid(call, dst, src, shape);
    if (UNLIKELY(gas_ex_peer_is_armed()))
        gas_ex_peer_notify(call->node);
    return event;
}

static struct vis_list list_of(size_t count, const gex_Memvec_t *vector) {
    return (struct vis_list){.vector = (const gasnet_memvec_t *)(const void *)vector, .count = count};
}

static struct vis_list list_of_addresses(size_t count, void *const *addresses, size_t length) {
    return (struct vis_list){.addresses = addresses, .length = length, .count = count};
}

int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                              size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorGetBlocking", STATS_GET, VIS_BLOCKING, tm, srcrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorGetNB", STATS_GET, VIS_NB, tm, srcrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    return vis_run_lists(&call, &dst, &src);
}

int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                         size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorGetNBI", STATS_GET, VIS_NBI, tm, srcrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],
                              size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorPutBlocking", STATS_PUT, VIS_BLOCKING, tm, dstrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorPutNB", STATS_PUT, VIS_NB, tm, dstrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    return vis_run_lists(&call, &dst, &src);
}

int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],
                         size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_VectorPutNBI", STATS_PUT, VIS_NBI, tm, dstrank, flags);
    struct vis_list dst = list_of(dstcount, dstlist), src = list_of(srccount, srclist);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                               gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                               gex_Flags_t flags) {
    struct vis_call call =
        vis_open("gex_VIS_IndexedGetBlocking", STATS_GET, VIS_BLOCKING, tm, srcrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                                 gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_IndexedGetNB", STATS_GET, VIS_NB, tm, srcrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    return vis_run_lists(&call, &dst, &src);
}

int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                          gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_IndexedGetNBI", STATS_GET, VIS_NBI, tm, srcrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                               size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                               gex_Flags_t flags) {
    struct vis_call call =
        vis_open("gex_VIS_IndexedPutBlocking", STATS_PUT, VIS_BLOCKING, tm, dstrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                                 size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                                 gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_IndexedPutNB", STATS_PUT, VIS_NB, tm, dstrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    return vis_run_lists(&call, &dst, &src);
}

int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                          size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_IndexedPutNBI", STATS_PUT, VIS_NBI, tm, dstrank, flags);
    struct vis_list dst = list_of_addresses(dstcount, dstlist, dstlen),
                    src = list_of_addresses(srccount, srclist, srclen);
    vis_run_lists(&call, &dst, &src);
    return 0;
}

int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                               void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                               const size_t count[], size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call =
        vis_open("gex_VIS_StridedGetBlocking", STATS_GET, VIS_BLOCKING, tm, srcrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    vis_run_grid(&call, dstaddr, srcaddr, &shape);
    return 0;
}

gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                                 void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                                 const size_t count[], size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_StridedGetNB", STATS_GET, VIS_NB, tm, srcrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    return vis_run_grid(&call, dstaddr, srcaddr, &shape);
}

int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                          void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                          size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_StridedGetNBI", STATS_GET, VIS_NBI, tm, srcrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    vis_run_grid(&call, dstaddr, srcaddr, &shape);
    return 0;
}

int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                               void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                               const size_t count[], size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call =
        vis_open("gex_VIS_StridedPutBlocking", STATS_PUT, VIS_BLOCKING, tm, dstrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    vis_run_grid(&call, dstaddr, srcaddr, &shape);
    return 0;
}

gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                                 void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                                 const size_t count[], size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_StridedPutNB", STATS_PUT, VIS_NB, tm, dstrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    return vis_run_grid(&call, dstaddr, srcaddr, &shape);
}

int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                          void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                          size_t stridelevels, gex_Flags_t flags) {
    struct vis_call call = vis_open("gex_VIS_StridedPutNBI", STATS_PUT, VIS_NBI, tm, dstrank, flags);
    struct vis_grid shape = {dststrides, srcstrides, elemsz, count, stridelevels};
    vis_run_grid(&call, dstaddr, srcaddr, &shape);
    return 0;
}
