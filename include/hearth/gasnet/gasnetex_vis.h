/* gasnetex_vis.h: puts and gets of non-contiguous memory, of GASNet-EX: vector, indexed and strided.
 *
 * The remote memory must lie entirely in the segment of one endpoint; local memory may be anywhere. Each byte of the
 * destination is written once. The source of a put and the destination of a get must not be changed until the call is
 * synchronised; lists of addresses, strides and counts may be changed on return. flags: 0, GEX_FLAG_IMMEDIATE, which
 * has no effect, or for puts GEX_FLAG_ENABLE_LEAF_LC: gex_Event_QueryLeaf and gex_NBI_Wait with GEX_EC_LC tell when the
 * source may be changed. Blocking and NBI forms return 0. Part of gasnetex.h. */
#ifndef HEARTH_GASNETEX_VIS_H
#define HEARTH_GASNETEX_VIS_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- non-contiguous memory ---- */

/* Vectors: the concatenated entries of one list are copied to those of the other. The lists may be divided differently,
 * but must have the same total number of bytes. */
int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                              size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);
gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank,
                         size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);
int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],
                              size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);
gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[],
                         size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags);

/* Indexed: the same for lists of addresses; each entry has dstlen bytes at the destination, srclen at the source. */
int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                               gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                               gex_Flags_t flags);
gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                                 gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen,
                          gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags);
int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                               size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                               gex_Flags_t flags);
gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                                 size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                                 gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[],
                          size_t dstlen, size_t srccount, void *const srclist[], size_t srclen,
                          gex_Flags_t flags);

/* Strided: elements of elemsz bytes; for each i below stridelevels, count[i] repetitions of the level before at distances
 * of dststrides[i] and srcstrides[i] bytes, which may be negative. */
int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                               void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                               const size_t count[], size_t stridelevels, gex_Flags_t flags);
gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                                 void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                                 const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank,
                          void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                          size_t stridelevels, gex_Flags_t flags);
int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                               void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                               const size_t count[], size_t stridelevels, gex_Flags_t flags);
gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                                 void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                                 const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags) GASNET_MUST_USE;
int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[],
                          void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                          size_t stridelevels, gex_Flags_t flags);

/* ---- notification of the peer ---- */

#define GEX_VIS_MAX_PEERCOMPLETION ((size_t)1024)

/* The next call above that this thread makes runs a handler at its peer, once the data movement is complete there:
 * `handler`, registered with GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY and no arguments, gets a copy of the nbytes bytes at
 * source_addr, which must stay unchanged until that call is synchronised. That call must not have GEX_FLAG_IMMEDIATE, and
 * is complete on return. handler 0: the next call runs none. flags must be 0. */
void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr, size_t nbytes,
                                      gex_Flags_t flags);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
