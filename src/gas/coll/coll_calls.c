/* coll_calls.c: the calls of collective operations, each in four forms: blocking or not, with one address or a list. */
#include "base/compiler.h"
#include "gas/coll/coll.h"

static gasnet_team_handle_t team_meant(const char *call, gasnet_team_handle_t team, int flags) {
    return gas_image_team(call, team, !(flags & GASNET_COLL_NO_IMAGES));
}

/* The caller's address in a list, which has one for every member, or for the members on this node. */
static void *own_of(void *const list[], gasnet_team_handle_t team, int flags) {
    team = team_meant("gasnet_coll", team, flags);
    return list[flags & GASNET_COLL_SINGLE ? team->rank : team->local];
}

static gasnet_coll_handle_t coll_call_begin(gasnet_coll_handle_t (*operation)(const struct collective *c),
                                            const char *call, gasnet_team_handle_t team, gasnet_image_t root,
                                            void *dst, void *src, size_t bytes, int flags) {
    struct collective c = {.call = call,
                           .team = team_meant(call, team, flags),
                           .root = root,
                           .dst = dst,
                           .src = src,
                           .bytes = bytes,
                           .flags = flags};
    return operation(&c);
}

struct reduction {
    size_t elem_size, elem_count;
    gasnet_coll_fn_handle_t func;
    int func_arg;
};

static gasnet_coll_handle_t coll_call_reduce(const char *call, gasnet_team_handle_t team, gasnet_image_t root,
                                             void *dst, void *src, int flags, struct reduction r) {
    struct collective c = {.call = call,
                           .team = team_meant(call, team, flags),
                           .root = root,
                           .dst = dst,
                           .src = src,
                           .bytes = r.elem_size * r.elem_count,
                           .flags = flags};
    return gas_coll_reduce(&c, r.elem_size, r.elem_count, r.func, r.func_arg);
}

/* ---- blocking ---- */

static void refuse_aggregate(const char *call, int flags) {
    if (UNLIKELY(flags & GASNET_COLL_AGGREGATE))
        gas_fail(call, "GASNET_COLL_AGGREGATE is for calls that return before they are complete (_nb)");
}

static void begin_and_wait(gasnet_coll_handle_t (*operation)(const struct collective *c), const char *call,
                           gasnet_team_handle_t team, gasnet_image_t root, void *dst, void *src, size_t bytes,
                           int flags) {
    refuse_aggregate(call, flags);
    gas_schedule_wait(coll_call_begin(operation, call, team, root, dst, src, bytes, flags));
}

static void reduce_and_wait(const char *call, gasnet_team_handle_t team, gasnet_image_t root, void *dst,
                            void *src, int flags, struct reduction r) {
    refuse_aggregate(call, flags);
    gas_schedule_wait(coll_call_reduce(call, team, root, dst, src, flags, r));
}

/* ---- the calls ---- */

void gasnet_coll_broadcast(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                           size_t nbytes, int flags) {
    begin_and_wait(gas_coll_broadcast, "gasnet_coll_broadcast", team, srcimage, dst, src, nbytes, flags);
}
ALSO(void, coll_broadcast,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                              void *src, size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_broadcast, "gasnet_coll_broadcast_nb", team, srcimage, dst, src, nbytes,
                           flags);
}
ALSO(gasnet_coll_handle_t, coll_broadcast_nb,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

void gasnet_coll_broadcastM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                            void *src, size_t nbytes, int flags) {
    begin_and_wait(gas_coll_broadcast, "gasnet_coll_broadcastM", team, srcimage, own_of(dstlist, team, flags),
                   src, nbytes, flags);
}
ALSO(void, coll_broadcastM,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_broadcastM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                               gasnet_image_t srcimage, void *src, size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_broadcast, "gasnet_coll_broadcastM_nb", team, srcimage,
                           own_of(dstlist, team, flags), src, nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_broadcastM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

void gasnet_coll_scatter(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                         size_t nbytes, int flags) {
    begin_and_wait(gas_coll_scatter, "gasnet_coll_scatter", team, srcimage, dst, src, nbytes, flags);
}
ALSO(void, coll_scatter,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                            void *src, size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_scatter, "gasnet_coll_scatter_nb", team, srcimage, dst, src, nbytes,
                           flags);
}
ALSO(gasnet_coll_handle_t, coll_scatter_nb,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

void gasnet_coll_scatterM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                          void *src, size_t nbytes, int flags) {
    begin_and_wait(gas_coll_scatter, "gasnet_coll_scatterM", team, srcimage, own_of(dstlist, team, flags),
                   src, nbytes, flags);
}
ALSO(void, coll_scatterM,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_scatterM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                             gasnet_image_t srcimage, void *src, size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_scatter, "gasnet_coll_scatterM_nb", team, srcimage,
                           own_of(dstlist, team, flags), src, nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_scatterM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t nbytes, int flags) {
    begin_and_wait(gas_coll_gather, "gasnet_coll_gather", team, dstimage, dst, src, nbytes, flags);
}
ALSO(void, coll_gather,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_gather, "gasnet_coll_gather_nb", team, dstimage, dst, src, nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_gather_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_gatherM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t nbytes, int flags) {
    begin_and_wait(gas_coll_gather, "gasnet_coll_gatherM", team, dstimage, dst, own_of(srclist, team, flags),
                   nbytes, flags);
}
ALSO(void, coll_gatherM,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_gatherM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_gather, "gasnet_coll_gatherM_nb", team, dstimage, dst,
                           own_of(srclist, team, flags), nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_gatherM_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t nbytes,
      int flags));

void gasnet_coll_gather_all(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags) {
    begin_and_wait(gas_coll_gather_all, "gasnet_coll_gather_all", team, 0, dst, src, nbytes, flags);
}
ALSO(void, coll_gather_all, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                               int flags) {
    return coll_call_begin(gas_coll_gather_all, "gasnet_coll_gather_all_nb", team, 0, dst, src, nbytes,
                           flags);
}
ALSO(gasnet_coll_handle_t, coll_gather_all_nb,
     (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_gather_allM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                             size_t nbytes, int flags) {
    begin_and_wait(gas_coll_gather_all, "gasnet_coll_gather_allM", team, 0, own_of(dstlist, team, flags),
                   own_of(srclist, team, flags), nbytes, flags);
}
ALSO(void, coll_gather_allM,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_allM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                                void *const srclist[], size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_gather_all, "gasnet_coll_gather_allM_nb", team, 0,
                           own_of(dstlist, team, flags), own_of(srclist, team, flags), nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_gather_allM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

void gasnet_coll_exchange(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags) {
    begin_and_wait(gas_coll_exchange, "gasnet_coll_exchange", team, 0, dst, src, nbytes, flags);
}
ALSO(void, coll_exchange, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                             int flags) {
    return coll_call_begin(gas_coll_exchange, "gasnet_coll_exchange_nb", team, 0, dst, src, nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_exchange_nb,
     (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_exchangeM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                           size_t nbytes, int flags) {
    begin_and_wait(gas_coll_exchange, "gasnet_coll_exchangeM", team, 0, own_of(dstlist, team, flags),
                   own_of(srclist, team, flags), nbytes, flags);
}
ALSO(void, coll_exchangeM,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_exchangeM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                              void *const srclist[], size_t nbytes, int flags) {
    return coll_call_begin(gas_coll_exchange, "gasnet_coll_exchangeM_nb", team, 0,
                           own_of(dstlist, team, flags), own_of(srclist, team, flags), nbytes, flags);
}
ALSO(gasnet_coll_handle_t, coll_exchangeM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

void gasnet_coll_reduce(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                        gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    (void)src_blksz, (void)src_offset;
    reduce_and_wait("gasnet_coll_reduce", team, dstimage, dst, src, flags,
                    (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(void, coll_reduce,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

gasnet_coll_handle_t gasnet_coll_reduce_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t src_blksz, size_t src_offset, size_t elem_size,
                                           size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
                                           int flags) {
    (void)src_blksz, (void)src_offset;
    return coll_call_reduce("gasnet_coll_reduce_nb", team, dstimage, dst, src, flags,
                            (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(gasnet_coll_handle_t, coll_reduce_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

void gasnet_coll_reduceM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                         gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    (void)src_blksz, (void)src_offset;
    reduce_and_wait("gasnet_coll_reduceM", team, dstimage, dst, own_of(srclist, team, flags), flags,
                    (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(void, coll_reduceM,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

gasnet_coll_handle_t gasnet_coll_reduceM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t src_blksz, size_t src_offset,
                                            size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                            int func_arg, int flags) {
    (void)src_blksz, (void)src_offset;
    return coll_call_reduce("gasnet_coll_reduceM_nb", team, dstimage, dst, own_of(srclist, team, flags),
                            flags, (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(gasnet_coll_handle_t, coll_reduceM_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

static gasnet_coll_handle_t scan(const char *call, gasnet_team_handle_t team, void *dst, void *src, int flags,
                                 struct reduction r) {
    struct collective c = {.call = call,
                           .team = team_meant(call, team, flags),
                           .dst = dst,
                           .src = src,
                           .bytes = r.elem_size * r.elem_count,
                           .flags = flags};
    return gas_coll_scan(&c, r.elem_size, r.elem_count, r.func, r.func_arg);
}

static void scan_and_wait(const char *call, gasnet_team_handle_t team, void *dst, void *src, int flags,
                          struct reduction r) {
    refuse_aggregate(call, flags);
    gas_schedule_wait(scan(call, team, dst, src, flags, r));
}

void gasnet_coll_scan(gasnet_team_handle_t team, void *dst, size_t dst_blksz, size_t dst_offset, void *src,
                      size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                      gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    (void)dst_blksz, (void)dst_offset, (void)src_blksz, (void)src_offset;
    scan_and_wait("gasnet_coll_scan", team, dst, src, flags,
                  (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(void, coll_scan,
     (gasnet_team_handle_t team, void *dst, size_t dst_blksz, size_t dst_offset, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

gasnet_coll_handle_t gasnet_coll_scan_nb(gasnet_team_handle_t team, void *dst, size_t dst_blksz,
                                         size_t dst_offset, void *src, size_t src_blksz, size_t src_offset,
                                         size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                         int func_arg, int flags) {
    (void)dst_blksz, (void)dst_offset, (void)src_blksz, (void)src_offset;
    return scan("gasnet_coll_scan_nb", team, dst, src, flags,
                (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(gasnet_coll_handle_t, coll_scan_nb,
     (gasnet_team_handle_t team, void *dst, size_t dst_blksz, size_t dst_offset, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

void gasnet_coll_scanM(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz, size_t dst_offset,
                       void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size,
                       size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    (void)dst_blksz, (void)dst_offset, (void)src_blksz, (void)src_offset;
    scan_and_wait("gasnet_coll_scanM", team, own_of(dstlist, team, flags), own_of(srclist, team, flags),
                  flags, (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(void, coll_scanM,
     (gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz, size_t dst_offset,
      void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
      gasnet_coll_fn_handle_t func, int func_arg, int flags));

gasnet_coll_handle_t gasnet_coll_scanM_nb(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz,
                                          size_t dst_offset, void *const srclist[], size_t src_blksz,
                                          size_t src_offset, size_t elem_size, size_t elem_count,
                                          gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    (void)dst_blksz, (void)dst_offset, (void)src_blksz, (void)src_offset;
    return scan("gasnet_coll_scanM_nb", team, own_of(dstlist, team, flags), own_of(srclist, team, flags),
                flags, (struct reduction){elem_size, elem_count, func, func_arg});
}
ALSO(gasnet_coll_handle_t, coll_scanM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz, size_t dst_offset,
      void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
      gasnet_coll_fn_handle_t func, int func_arg, int flags));
