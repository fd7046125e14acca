/* gasnet_coll.h: collective operations and teams, as in GASNet-1, whose specification does not cover them.
 *
 * All members of a team call them in the same order. The members are images. By default there is one image per node,
 * whose number is the node's rank in the team. If gasnet_coll_init specifies several images per node, each image is a
 * thread and makes the calls itself. Addresses are those of the calling image, inside or outside of the node's segment.
 * The forms with M take lists of addresses: with GASNET_COLL_SINGLE one per image of the team, with GASNET_COLL_LOCAL
 * one per image on the node. Only the caller's own entry is used. There is no other difference between
 * GASNET_COLL_SINGLE and GASNET_COLL_LOCAL here. */
#ifndef GASNET_COLL_H
#define GASNET_COLL_H

#include "gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- flags ---- */

/* When data may be read and written: at any time (treated as MYSYNC here); after this node has entered; after all nodes
 * have entered. */
#define GASNET_COLL_IN_NOSYNC  (1 << 0)
#define GASNET_COLL_IN_MYSYNC  (1 << 1)
#define GASNET_COLL_IN_ALLSYNC (1 << 2)
/* The operation is complete when this node's data is complete (NOSYNC, MYSYNC), or that of all nodes (ALLSYNC). */
#define GASNET_COLL_OUT_NOSYNC  (1 << 3)
#define GASNET_COLL_OUT_MYSYNC  (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC (1 << 5)

#define GASNET_COLL_SINGLE                 (1 << 6)
#define GASNET_COLL_LOCAL                  (1 << 7)
#define GASNET_COLL_AGGREGATE              (1 << 8) /* _nb only: the call waits, and returns no handle */
#define GASNET_COLL_FIXED_THREADS_PER_NODE (1 << 9)
#define GASNET_COLL_DST_IN_SEGMENT         (1 << 10)
#define GASNET_COLL_SRC_IN_SEGMENT         (1 << 11)
#define GASNET_COLL_INCLUSIVE_SCAN         (1 << 16)
#define GASNET_COLL_EXCLUSIVE_SCAN         (1 << 17)
#define GASNET_COLL_DISABLE_AUTOTUNE       (1 << 18) /* nothing is tuned */
#define GASNET_COLL_NO_IMAGES                                                                                \
    (1 << 19) /* with GASNET_TEAM_ALL: one thread per node calls; image numbers are node numbers */
#define GASNET_COLL_SYNC_FLAG_MASK 0x3f

/* Flags of a function for gasnet_coll_reduce. */
#define GASNET_COLL_AMSAFE  (1 << 0)
#define GASNET_COLL_NONCOMM (1 << 1) /* keep operands in the order of their ranks */

/* ---- types ---- */

typedef uint32_t gasnet_image_t;
typedef struct gasnet_coll_operation *gasnet_coll_handle_t;
#define GASNET_COLL_INVALID_HANDLE ((gasnet_coll_handle_t)0)
typedef struct gasnet_team *gasnet_team_handle_t;
typedef gasnet_team_handle_t gasnete_coll_team_t; /* a name that programs use */

/* results[i] = left_operands[i] (function) right_operands[i], for result_count elements; left_count is the same. */
typedef void (*gasnet_coll_reduce_fn_t)(void *results, size_t result_count, const void *left_operands,
                                        size_t left_count, const void *right_operands, size_t elem_size,
                                        int flags, int arg);
typedef struct gasnet_coll_fn_entry {
    gasnet_coll_reduce_fn_t fnptr;
    unsigned int flags;
} gasnet_coll_fn_entry_t;
typedef gasnet_handlerarg_t gasnet_coll_fn_handle_t; /* index in the table given to gasnet_coll_init */

/* ---- initialisation and teams ---- */

/* images: the number of images of each node, the same on all nodes. my_image: the number of the calling thread's image
 * among all images of the job, which are numbered node by node. The thread of every image calls it. NULL: one image per
 * node, as without this call. The function table is that of the last call on the node. */
void gasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image, gasnet_coll_fn_entry_t fn_tbl[],
                      size_t fn_count, int init_flags);

gasnet_team_handle_t gasnetc_coll_team_all(void);
#define GASNET_TEAM_ALL (gasnetc_coll_team_all())

/* Collective over the team's images: images with the same color form a new team, in the order of relrank. Each image
 * gets its own handle. clientdata is ignored here. Sizes and ranks below are those of nodes. */
gasnet_team_handle_t gasnet_coll_team_split(gasnet_team_handle_t team, gasnet_node_t color,
                                            gasnet_node_t relrank, void *clientdata);
void gasnet_coll_team_free(gasnet_team_handle_t team); /* by each member, after its operations completed */
gasnet_node_t gasnet_coll_team_size(gasnet_team_handle_t team);
gasnet_node_t gasnet_coll_team_rank2node(gasnet_team_handle_t team, int rank);
gasnet_node_t gasnet_coll_team_node2rank(gasnet_team_handle_t team,
                                         gasnet_node_t node);   /* (gasnet_node_t)-1: none */
gasnet_node_t gasnet_coll_team_rank(gasnet_team_handle_t team); /* the caller's */

/* Internal names of GASNet that some programs use. */
#define gasnete_coll_team_split     gasnet_coll_team_split
#define gasnete_coll_team_free      gasnet_coll_team_free
#define gasnete_coll_team_size      gasnet_coll_team_size
#define gasnete_coll_team_rank2node gasnet_coll_team_rank2node
#define gasnete_coll_team_node2rank gasnet_coll_team_node2rank
#define gasnete_coll_team_all       GASNET_TEAM_ALL
#define gasnete_coll_init           gasnet_coll_init
#define gasnete_coll_barrier_notify gasnet_coll_barrier_notify
#define gasnete_coll_barrier_try    gasnet_coll_barrier_try
#define gasnete_coll_barrier_wait   gasnet_coll_barrier_wait
#define gasnete_coll_barrier        gasnet_coll_barrier
#define gasnete_coll_try_sync       gasnet_coll_try_sync
#define gasnete_coll_wait_sync      gasnet_coll_wait_sync
#define GASNETE_THREAD_GET          /* threads are identified without this */

/* ---- tuning: the algorithms are fixed, so nothing is read, written or set ---- */

typedef enum gasnet_coll_optype {
    GASNET_COLL_BROADCAST_OP,
    GASNET_COLL_BROADCASTM_OP,
    GASNET_COLL_SCATTER_OP,
    GASNET_COLL_SCATTERM_OP,
    GASNET_COLL_GATHER_OP,
    GASNET_COLL_GATHERM_OP,
    GASNET_COLL_GATHER_ALL_OP,
    GASNET_COLL_GATHER_ALLM_OP,
    GASNET_COLL_EXCHANGE_OP,
    GASNET_COLL_EXCHANGEM_OP,
    GASNET_COLL_REDUCE_OP,
    GASNET_COLL_REDUCEM_OP,
    GASNET_COLL_NUM_COLL_OPTYPES
} gasnet_coll_optype_t;
#define gasnet_coll_loadTuningState(filename, team) ((void)(filename), (void)(team))
#define gasnet_coll_dumpTuningState(filename, team) ((void)(filename), (void)(team))
#define gasnet_coll_dumpProfile(filename, team)     ((void)(filename), (void)(team))
#define gasnet_coll_set_tree_kind(team, tree, fanout, optype)                                                \
    ((void)(team), (void)(tree), (void)(fanout), (void)(optype))
#define gasnet_coll_set_dissem_limit(team, limit, optype) ((void)(team), (void)(limit), (void)(optype))
#define gasnet_coll_get_num_tree_classes(team, optype)    ((void)(team), (void)(optype), 0)

/* ---- synchronisation: as with gasnet_try_syncnb and related calls ---- */

/* Wait for collective operations (wait), or return GASNET_OK or GASNET_ERR_NOT_READY (try): for one operation, for at
 * least one of several (some), or for all of them. */
int gasnet_coll_try_sync(gasnet_coll_handle_t handle);
int gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
int gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);
void gasnet_coll_wait_sync(gasnet_coll_handle_t handle);
void gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
void gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);

/* ---- barriers of teams: as in gasnet.h ---- */

/* As gasnet_barrier_notify and related calls, for the members of a team. For GASNET_TEAM_ALL with several images on a
 * node: one thread per node calls, or with GASNET_BARRIERFLAG_IMAGES every image. */
void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags); /* notify and wait in one call */

/* ---- data ---- */

/* Calls with _nb start the operation and return a handle for gasnet_coll_wait_sync. */

/* Copies nbytes from src of one image to dst of all. */
void gasnet_coll_broadcast(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                           size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_broadcast_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                              void *src, size_t nbytes, int flags);
void gasnet_coll_broadcastM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                            void *src, size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_broadcastM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                               gasnet_image_t srcimage, void *src, size_t nbytes, int flags);

/* Copies block i of src of one image to dst of image i; blocks of nbytes. */
void gasnet_coll_scatter(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                         size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_scatter_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                            void *src, size_t nbytes, int flags);
void gasnet_coll_scatterM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                          void *src, size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_scatterM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                             gasnet_image_t srcimage, void *src, size_t nbytes, int flags);

/* Copies src of image i to block i of dst of one image. */
void gasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_gather_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t nbytes, int flags);
void gasnet_coll_gatherM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_gatherM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t nbytes, int flags);

/* Copies src of image i to block i of dst of all images. */
void gasnet_coll_gather_all(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_gather_all_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                               int flags);
void gasnet_coll_gather_allM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                             size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_gather_allM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                                void *const srclist[], size_t nbytes, int flags);

/* Copies block j of src of image i to block i of dst of image j. */
void gasnet_coll_exchange(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_exchange_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                             int flags);
void gasnet_coll_exchangeM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                           size_t nbytes, int flags);
gasnet_coll_handle_t gasnet_coll_exchangeM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                              void *const srclist[], size_t nbytes, int flags);

/* dst[k] of one image = src[k] of image 0 (func) src[k] of image 1 ...; src_blksz and src_offset are ignored. */
void gasnet_coll_reduce(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                        size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                        gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t gasnet_coll_reduce_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                           void *src, size_t src_blksz, size_t src_offset, size_t elem_size,
                                           size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
                                           int flags);
void gasnet_coll_reduceM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
                         size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                         gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t gasnet_coll_reduceM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *const srclist[], size_t src_blksz, size_t src_offset,
                                            size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                            int func_arg, int flags);

/* With GASNET_COLL_INCLUSIVE_SCAN: dst[k] of image i = src[k] of image 0 (func) ... src[k] of image i. With
 * GASNET_COLL_EXCLUSIVE_SCAN the last operand is that of image i - 1, and dst of image 0 is unchanged. Block sizes and
 * offsets are ignored. */
void gasnet_coll_scan(gasnet_team_handle_t team, void *dst, size_t dst_blksz, size_t dst_offset, void *src,
                      size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                      gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t gasnet_coll_scan_nb(gasnet_team_handle_t team, void *dst, size_t dst_blksz,
                                         size_t dst_offset, void *src, size_t src_blksz, size_t src_offset,
                                         size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                         int func_arg, int flags);
void gasnet_coll_scanM(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz, size_t dst_offset,
                       void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size,
                       size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t gasnet_coll_scanM_nb(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz,
                                          size_t dst_offset, void *const srclist[], size_t src_blksz,
                                          size_t src_offset, size_t elem_size, size_t elem_count,
                                          gasnet_coll_fn_handle_t func, int func_arg, int flags);

/* ---- the same calls as vgasnet_coll_X ---- */

/* vgasnet_coll_X is the same as gasnet_coll_X. */

void vgasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image,
                       gasnet_coll_fn_entry_t fn_tbl[], size_t fn_count, int init_flags);
gasnet_team_handle_t vgasnet_coll_team_split(gasnet_team_handle_t team, gasnet_node_t color,
                                             gasnet_node_t relrank, void *clientdata);
void vgasnet_coll_team_free(gasnet_team_handle_t team);
gasnet_node_t vgasnet_coll_team_size(gasnet_team_handle_t team);
gasnet_node_t vgasnet_coll_team_rank2node(gasnet_team_handle_t team, int rank);
gasnet_node_t vgasnet_coll_team_node2rank(gasnet_team_handle_t team, gasnet_node_t node);
gasnet_node_t vgasnet_coll_team_rank(gasnet_team_handle_t team);
int vgasnet_coll_try_sync(gasnet_coll_handle_t handle);
int vgasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
int vgasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);
void vgasnet_coll_wait_sync(gasnet_coll_handle_t handle);
void vgasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles);
void vgasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles);
void vgasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
int vgasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
int vgasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
int vgasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
void vgasnet_coll_broadcast(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                            size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_broadcast_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                               void *src, size_t nbytes, int flags);
void vgasnet_coll_broadcastM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                             void *src, size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_broadcastM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                                gasnet_image_t srcimage, void *src, size_t nbytes, int flags);
void vgasnet_coll_scatter(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src,
                          size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_scatter_nb(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,
                                             void *src, size_t nbytes, int flags);
void vgasnet_coll_scatterM(gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
                           void *src, size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_scatterM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                              gasnet_image_t srcimage, void *src, size_t nbytes, int flags);
void vgasnet_coll_gather(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                         size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_gather_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *src, size_t nbytes, int flags);
void vgasnet_coll_gatherM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                          void *const srclist[], size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_gatherM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                             void *const srclist[], size_t nbytes, int flags);
void vgasnet_coll_gather_all(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_gather_all_nb(gasnet_team_handle_t team, void *dst, void *src,
                                                size_t nbytes, int flags);
void vgasnet_coll_gather_allM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                              size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_gather_allM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                                 void *const srclist[], size_t nbytes, int flags);
void vgasnet_coll_exchange(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_exchange_nb(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes,
                                              int flags);
void vgasnet_coll_exchangeM(gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
                            size_t nbytes, int flags);
gasnet_coll_handle_t vgasnet_coll_exchangeM_nb(gasnet_team_handle_t team, void *const dstlist[],
                                               void *const srclist[], size_t nbytes, int flags);
void vgasnet_coll_reduce(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src,
                         size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                         gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t vgasnet_coll_reduce_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                            void *src, size_t src_blksz, size_t src_offset, size_t elem_size,
                                            size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg,
                                            int flags);
void vgasnet_coll_reduceM(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                          void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size,
                          size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t vgasnet_coll_reduceM_nb(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,
                                             void *const srclist[], size_t src_blksz, size_t src_offset,
                                             size_t elem_size, size_t elem_count,
                                             gasnet_coll_fn_handle_t func, int func_arg, int flags);
void vgasnet_coll_scan(gasnet_team_handle_t team, void *dst, size_t dst_blksz, size_t dst_offset, void *src,
                       size_t src_blksz, size_t src_offset, size_t elem_size, size_t elem_count,
                       gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t vgasnet_coll_scan_nb(gasnet_team_handle_t team, void *dst, size_t dst_blksz,
                                          size_t dst_offset, void *src, size_t src_blksz, size_t src_offset,
                                          size_t elem_size, size_t elem_count, gasnet_coll_fn_handle_t func,
                                          int func_arg, int flags);
void vgasnet_coll_scanM(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz, size_t dst_offset,
                        void *const srclist[], size_t src_blksz, size_t src_offset, size_t elem_size,
                        size_t elem_count, gasnet_coll_fn_handle_t func, int func_arg, int flags);
gasnet_coll_handle_t vgasnet_coll_scanM_nb(gasnet_team_handle_t team, void *const dstlist[], size_t dst_blksz,
                                           size_t dst_offset, void *const srclist[], size_t src_blksz,
                                           size_t src_offset, size_t elem_size, size_t elem_count,
                                           gasnet_coll_fn_handle_t func, int func_arg, int flags);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
