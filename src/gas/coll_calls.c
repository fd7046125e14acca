/* The calls of collective operations: each in four forms, blocking or not, with an address or a list of them. */
#include "gas/coll.h"

/* Of a list, the address that is the caller's. */
static void *own_of(void *const list[], gasnet_team_handle_t team, int flags) {
    return list[flags & GASNET_COLL_SINGLE ? team->rank : 0];
}

void gasnet_coll_broadcast(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                           size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_broadcast",
                           .team = team,
                           .root = srcimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_broadcast(&c));
}
ALSO(void, coll_broadcast,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                              void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_broadcast_nb",
                           .team = team,
                           .root = srcimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_broadcast(&c);
}
ALSO(gasnet_coll_handle_t, coll_broadcast_nb,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

void gasnet_coll_broadcastM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                            void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_broadcastM",
                           .team = team,
                           .root = srcimage,
                           .dst = own_of(dstlist, team, flags),
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_broadcast(&c));
}
ALSO(void, coll_broadcastM,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_broadcastM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                               gasnet_image_t srcimage, void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_broadcastM_nb",
                           .team = team,
                           .root = srcimage,
                           .dst = own_of(dstlist, team, flags),
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_broadcast(&c);
}
ALSO(gasnet_coll_handle_t, coll_broadcastM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

void gasnet_coll_scatter(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                         size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_scatter",
                           .team = team,
                           .root = srcimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_scatter(&c));
}
ALSO(void, coll_scatter,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                            void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_scatter_nb",
                           .team = team,
                           .root = srcimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_scatter(&c);
}
ALSO(gasnet_coll_handle_t, coll_scatter_nb,
     (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes, int flags));

void gasnet_coll_scatterM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                          void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_scatterM",
                           .team = team,
                           .root = srcimage,
                           .dst = own_of(dstlist, team, flags),
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_scatter(&c));
}
ALSO(void, coll_scatterM,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_scatterM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                             gasnet_image_t srcimage, void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_scatterM_nb",
                           .team = team,
                           .root = srcimage,
                           .dst = own_of(dstlist, team, flags),
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_scatter(&c);
}
ALSO(gasnet_coll_handle_t, coll_scatterM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage, void *src, size_t nbytes,
      int flags));

void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gather",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_gather(&c));
}
ALSO(void, coll_gather,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gather_nb",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_gather(&c);
}
ALSO(gasnet_coll_handle_t, coll_gather_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_gatherM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gatherM",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_gather(&c));
}
ALSO(void, coll_gatherM,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t nbytes,
      int flags));

gasnet_coll_handle_t gasnet_coll_gatherM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gatherM_nb",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    return coll_gather(&c);
}
ALSO(gasnet_coll_handle_t, coll_gatherM_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t nbytes,
      int flags));

void gasnet_coll_gather_all(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gather_all",
                           .team = team,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_gather_all(&c));
}
ALSO(void, coll_gather_all, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                               int flags) {
    struct collective c = {.call = "gasnet_coll_gather_all_nb",
                           .team = team,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_gather_all(&c);
}
ALSO(gasnet_coll_handle_t, coll_gather_all_nb,
     (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_gather_allM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                             size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gather_allM",
                           .team = team,
                           .dst = own_of(dstlist, team, flags),
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_gather_all(&c));
}
ALSO(void, coll_gather_allM,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_gather_allM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                                void *const srclist[], size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_gather_allM_nb",
                           .team = team,
                           .dst = own_of(dstlist, team, flags),
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    return coll_gather_all(&c);
}
ALSO(gasnet_coll_handle_t, coll_gather_allM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

void gasnet_coll_exchange(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_exchange",
                           .team = team,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_exchange(&c));
}
ALSO(void, coll_exchange, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                             int flags) {
    struct collective c = {.call = "gasnet_coll_exchange_nb",
                           .team = team,
                           .dst = dst,
                           .src = src,
                           .bytes = nbytes,
                           .flags = flags};
    return coll_exchange(&c);
}
ALSO(gasnet_coll_handle_t, coll_exchange_nb,
     (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags));

void gasnet_coll_exchangeM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                           size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_exchangeM",
                           .team = team,
                           .dst = own_of(dstlist, team, flags),
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    schedule_wait(coll_exchange(&c));
}
ALSO(void, coll_exchangeM,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

gasnet_coll_handle_t gasnet_coll_exchangeM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                              void *const srclist[], size_t nbytes, int flags) {
    struct collective c = {.call = "gasnet_coll_exchangeM_nb",
                           .team = team,
                           .dst = own_of(dstlist, team, flags),
                           .src = own_of(srclist, team, flags),
                           .bytes = nbytes,
                           .flags = flags};
    return coll_exchange(&c);
}
ALSO(gasnet_coll_handle_t, coll_exchangeM_nb,
     (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[], size_t nbytes, int flags));

void gasnet_coll_reduce(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                        gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    struct collective c = {.call = "gasnet_coll_reduce",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = src,
                           .bytes = elem_size * elem_count,
                           .flags = flags};
    (void)src_blksz, (void)src_offset;
    schedule_wait(coll_reduce(&c, elem_size, elem_count, func, func_arg));
}
ALSO(void, coll_reduce,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

gasnet_coll_handle_t gasnet_coll_reduce_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t src_blksz, size_t src_offset, size_t elem_size,
                                           size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
                                           int flags) {
    struct collective c = {.call = "gasnet_coll_reduce_nb",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = src,
                           .bytes = elem_size * elem_count,
                           .flags = flags};
    (void)src_blksz, (void)src_offset;
    return coll_reduce(&c, elem_size, elem_count, func, func_arg);
}
ALSO(gasnet_coll_handle_t, coll_reduce_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

void gasnet_coll_reduceM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                         gasnet_coll_fn_handle_t func, int func_arg, int flags) {
    struct collective c = {.call = "gasnet_coll_reduceM",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = own_of(srclist, team, flags),
                           .bytes = elem_size * elem_count,
                           .flags = flags};
    (void)src_blksz, (void)src_offset;
    schedule_wait(coll_reduce(&c, elem_size, elem_count, func, func_arg));
}
ALSO(void, coll_reduceM,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));

gasnet_coll_handle_t gasnet_coll_reduceM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t src_blksz, size_t src_offset,
                                            size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                            int func_arg, int flags) {
    struct collective c = {.call = "gasnet_coll_reduceM_nb",
                           .team = team,
                           .root = dstimage,
                           .dst = dst,
                           .src = own_of(srclist, team, flags),
                           .bytes = elem_size * elem_count,
                           .flags = flags};
    (void)src_blksz, (void)src_offset;
    return coll_reduce(&c, elem_size, elem_count, func, func_arg);
}
ALSO(gasnet_coll_handle_t, coll_reduceM_nb,
     (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[], size_t src_blksz,
      size_t src_offset, size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
      int flags));
