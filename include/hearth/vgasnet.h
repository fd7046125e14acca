/* vgasnet.h: vGASNet under its own name. Every call of GASNet also exists as vgasnet_X, which is the same call; types
 * and constants are GASNet's. The calls that GASNet does not have are at the end. */
#ifndef HEARTH_VGASNET_H
#define HEARTH_VGASNET_H

#if !defined(GASNET_SEQ) && !defined(GASNET_PARSYNC) && !defined(GASNET_PAR)
#define GASNET_PAR 1
#endif
#include "gasnet/gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- the job, messages and barrier: see gasnet.h ---- */

/* vgasnet_X is the same as gasnet_X: see gasnet.h. */

int vgasnet_init(int *argc, char ***argv);
int vgasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize, uintptr_t minheapoffset);
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void vgasnet_exit(int exitcode);
gasnet_node_t vgasnet_mynode(void);
gasnet_node_t vgasnet_nodes(void);
uintptr_t vgasnet_getMaxLocalSegmentSize(void);
uintptr_t vgasnet_getMaxGlobalSegmentSize(void);
int vgasnet_getSegmentInfo(gasnet_seginfo_t *table, int numentries);
int vgasnet_getNodeInfo(gasnet_nodeinfo_t *table, int numentries);
char *vgasnet_getenv(const char *name);
const char *vgasnet_ErrorName(int code);
const char *vgasnet_ErrorDesc(int code);
int vgasnet_set_waitmode(int mode);

size_t vgasnet_AMMaxArgs(void);
size_t vgasnet_AMMaxMedium(void);
size_t vgasnet_AMMaxLongRequest(void);
size_t vgasnet_AMMaxLongReply(void);
int vgasnet_AMPoll(void);
int vgasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex);
void vgasnet_hold_interrupts(void);
void vgasnet_resume_interrupts(void);
void vgasnet_hsl_init(gasnet_hsl_t *hsl);
void vgasnet_hsl_destroy(gasnet_hsl_t *hsl);
void vgasnet_hsl_lock(gasnet_hsl_t *hsl);
int vgasnet_hsl_trylock(gasnet_hsl_t *hsl);
void vgasnet_hsl_unlock(gasnet_hsl_t *hsl);
GASNETC_AM_ALL(vgasnet) /* vgasnet_AMRequestShort0 ... vgasnet_AMReplyLong16 */
int vgasnet_AMRequestShort(gasnet_node_t dest, gasnet_handler_t handler, int numargs, ...);
int vgasnet_AMRequestMedium(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                            int numargs, ...);
int vgasnet_AMRequestLong(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                          void *dest_addr, int numargs, ...);
int vgasnet_AMRequestLongAsync(gasnet_node_t dest, gasnet_handler_t handler, void *source, size_t nbytes,
                               void *dest_addr, int numargs, ...);
int vgasnet_AMReplyShort(gasnet_token_t token, gasnet_handler_t handler, int numargs, ...);
int vgasnet_AMReplyMedium(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                          int numargs, ...);
int vgasnet_AMReplyLong(gasnet_token_t token, gasnet_handler_t handler, void *source, size_t nbytes,
                        void *dest_addr, int numargs, ...);
#define VGASNET_BLOCKUNTIL(condition) GASNET_BLOCKUNTIL(condition)

void vgasnet_barrier_notify(int id, int flags);
int vgasnet_barrier_wait(int id, int flags);
int vgasnet_barrier_try(int id, int flags);
int vgasnet_barrier(int id, int flags);
int vgasnet_barrier_result(int *id);

/* ---- reading and writing: see gasnet_extended.h ---- */

/* vgasnet_X is the same as gasnet_X: see gasnet_extended.h. */

void vgasnet_get(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void vgasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void vgasnet_get_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void vgasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void vgasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes);
gasnet_handle_t vgasnet_get_nb(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
gasnet_handle_t vgasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
gasnet_handle_t vgasnet_get_nb_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
gasnet_handle_t vgasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
gasnet_handle_t vgasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes);
void vgasnet_wait_syncnb(gasnet_handle_t handle);
int vgasnet_try_syncnb(gasnet_handle_t handle);
void vgasnet_wait_syncnb_some(gasnet_handle_t *phandle, size_t numhandles);
int vgasnet_try_syncnb_some(gasnet_handle_t *phandle, size_t numhandles);
void vgasnet_wait_syncnb_all(gasnet_handle_t *phandle, size_t numhandles);
int vgasnet_try_syncnb_all(gasnet_handle_t *phandle, size_t numhandles);
void vgasnet_wait_syncnb_nopoll(gasnet_handle_t handle);
int vgasnet_try_syncnb_nopoll(gasnet_handle_t handle);
void vgasnet_wait_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles);
int vgasnet_try_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles);
void vgasnet_wait_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles);
int vgasnet_try_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles);
void vgasnet_get_nbi(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void vgasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void vgasnet_get_nbi_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes);
void vgasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes);
void vgasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes);
void vgasnet_wait_syncnbi_gets(void);
void vgasnet_wait_syncnbi_puts(void);
void vgasnet_wait_syncnbi_all(void);
int vgasnet_try_syncnbi_gets(void);
int vgasnet_try_syncnbi_puts(void);
int vgasnet_try_syncnbi_all(void);
void vgasnet_begin_nbi_accessregion(void);
gasnet_handle_t vgasnet_end_nbi_accessregion(void);
void vgasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes);
gasnet_handle_t vgasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                   size_t nbytes);
void vgasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes);
gasnet_register_value_t vgasnet_get_val(gasnet_node_t node, const void *src, size_t nbytes);
gasnet_valget_handle_t vgasnet_get_nb_val(gasnet_node_t node, const void *src, size_t nbytes);
gasnet_register_value_t vgasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

/* Collective operations are in gasnet_coll.h. */

/* ---- extensions to GASNet ---- */

/* [addr, addr + nbytes) must lie entirely in the segment of `node`. With HEARTH_NVM=off there is nothing to fetch or to
 * hint at: vgasnet_prefetch and vgasnet_hint then only check their arguments. */

/* Starts to fetch memory that will be read soon, as far as the pool has free frames. Does not wait. */
void vgasnet_prefetch(gasnet_node_t node, const void *addr, size_t nbytes);

/* Hints about the use of memory. They affect performance only, never results. */
#define VGASNET_HINT_NORMAL      0
#define VGASNET_HINT_READ_MOSTLY 1 /* a page is fetched at the first read of any size */
#define VGASNET_HINT_NO_CACHE    2 /* pages are not fetched: data is read and written remotely */
/* Declares how this process will use that memory. Returns GASNET_OK, GASNET_ERR_BAD_ARG, or GASNET_ERR_RESOURCE: too
 * many ranges. */
int vgasnet_hint(gasnet_node_t node, const void *addr, size_t nbytes, int hint);

/* Makes a checkpoint of the named segments (HEARTH_NVM_NAME), which outlive the job. Collective; all operations must be
 * synchronised, and no node may store meanwhile. A later job finds the current content, whatever happens to this one.
 * Returns GASNET_OK and, unless `epoch` is NULL, the number of the checkpoint; GASNET_ERR_BAD_ARG: the segments have no
 * name; GASNET_ERR_RESOURCE: it could not be written. */
int vgasnet_checkpoint(uint64_t *epoch);

/* Selects the checkpoint that gasnet_attach restores instead of the newest: an older one that the files still hold
 * (hearth info --nvm). Called between gasnet_init and gasnet_attach, or gex_Client_Init and gex_Segment_Attach, with the
 * same number on all nodes; newer checkpoints are discarded. 0: the newest, or that of HEARTH_NVM_EPOCH. Returns GASNET_OK, or GASNET_ERR_NOT_INIT:
 * called too early or too late. */
int vgasnet_open(uint64_t epoch);

/* The checkpoint that the segments were restored from at gasnet_attach; 0: they were new. */
uint64_t vgasnet_epoch(void);
/* The newest checkpoint: the last one that this job has made, or else vgasnet_epoch. */
uint64_t vgasnet_last_epoch(void);

typedef struct vgasnet_statistics {
    /* calls and bytes of this process; far_: those on other machines (or other nodes by HEARTH_NODE_RANKS) */
    uint64_t gets, puts, memsets, get_bytes, put_bytes, memset_bytes;
    uint64_t far_gets, far_puts, far_memsets, far_get_bytes, far_put_bytes, far_memset_bytes;
    /* page accesses of this process; 0 with HEARTH_NVM=off, as are all counters below */
    uint64_t hits, misses, smalls, prefetched, faults, write_faults;
    /* pages of its machine, all ranks together */
    uint64_t frames, frames_used, from_nvm, from_home, from_peers, served_peers, invalidated, evicted,
        written_back, nvm_reads, nvm_writes, nvm_holes, messages, message_bytes, unmapped;
} vgasnet_stats_t;

/* Returns the counters of this process, and of the pages of its machine. */
void vgasnet_stats(vgasnet_stats_t *stats);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
