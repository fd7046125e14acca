/* gasnet_vis.h: puts and gets of memory that is not contiguous: vectors, indexed and strided, as GASNet-1 has them
 * beside its specification.
 *
 * All of the remote memory lies in the segment of one node; local memory may lie anywhere. Each byte of the destination is written
 * once. The source of a put, and the destination of a get, stay as they are until the call is synchronised; the lists
 * of addresses may be changed on return. Calls with _nb return a handle for gasnet_wait_syncnb; those with _nbi are implicit. */
#ifndef GASNET_VIS_H
#define GASNET_VIS_H

#include "gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Vectors: the bytes of the entries of one list, one after the other, go to those of the other list. The lists may be cut
 * differently, but have the same number of bytes in all. */
void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                      size_t srccount, gasnet_memvec_t const srclist[]);
gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                                    size_t srccount, gasnet_memvec_t const srclist[]) GASNET_MUST_USE;
void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                          size_t srccount, gasnet_memvec_t const srclist[]);
void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                      size_t srccount, gasnet_memvec_t const srclist[]);
gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                                    size_t srccount, gasnet_memvec_t const srclist[]) GASNET_MUST_USE;
void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                          size_t srccount, gasnet_memvec_t const srclist[]);

/* Indexed: the same for lists of addresses of dstlen and srclen bytes each. */
void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                      size_t srccount, void *const srclist[], size_t srclen);
gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                    size_t dstlen, size_t srccount, void *const srclist[],
                                    size_t srclen) GASNET_MUST_USE;
void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                          size_t srccount, void *const srclist[], size_t srclen);
void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                      size_t srccount, void *const srclist[], size_t srclen);
gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                    gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                    size_t srclen) GASNET_MUST_USE;
void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                          size_t srccount, void *const srclist[], size_t srclen);

/* Strided: blocks of count[0] bytes; count[i] of what level i - 1 has, at distances of dststrides[i - 1] and
 * srcstrides[i - 1] bytes, for each i from 1 to stridelevels. */
void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels);
gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) GASNET_MUST_USE;
void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels);
void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels);
gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) GASNET_MUST_USE;
void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels);

/* ---- the same under the other name ---- */

/* vgasnet_X does what gasnet_X does. */

void vgasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                       size_t srccount, gasnet_memvec_t const srclist[]);
gasnet_handle_t vgasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                                     size_t srccount, gasnet_memvec_t const srclist[]);
void vgasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                           size_t srccount, gasnet_memvec_t const srclist[]);
void vgasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                       size_t srccount, gasnet_memvec_t const srclist[]);
gasnet_handle_t vgasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                                     size_t srccount, gasnet_memvec_t const srclist[]);
void vgasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                           size_t srccount, gasnet_memvec_t const srclist[]);
void vgasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                       size_t srccount, void *const srclist[], size_t srclen);
gasnet_handle_t vgasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                     size_t dstlen, size_t srccount, void *const srclist[], size_t srclen);
void vgasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                           size_t srccount, void *const srclist[], size_t srclen);
void vgasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                       size_t srccount, void *const srclist[], size_t srclen);
gasnet_handle_t vgasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                     gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                     size_t srclen);
void vgasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                           size_t srccount, void *const srclist[], size_t srclen);
void vgasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                       const size_t srcstrides[], const size_t count[], size_t stridelevels);
gasnet_handle_t vgasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                     void *srcaddr, const size_t srcstrides[], const size_t count[],
                                     size_t stridelevels);
void vgasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                           const size_t srcstrides[], const size_t count[], size_t stridelevels);
void vgasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                       const size_t srcstrides[], const size_t count[], size_t stridelevels);
gasnet_handle_t vgasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                     void *srcaddr, const size_t srcstrides[], const size_t count[],
                                     size_t stridelevels);
void vgasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                           const size_t srcstrides[], const size_t count[], size_t stridelevels);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
