/* gasnet_vis.h: puts and gets of non-contiguous memory: vector, indexed and strided, as in GASNet-1, whose
 * specification does not cover them.
 *
 * The remote memory must lie entirely in the segment of one node; local memory may be anywhere. Each byte of the
 * destination is written once. The source of a put and the destination of a get must not be changed until the call is
 * synchronised; the lists of addresses may be changed on return. Calls with _nb return a handle for gasnet_wait_syncnb;
 * those with _nbi are implicit. */
#ifndef GASNET_VIS_H
#define GASNET_VIS_H

#include "gasnet.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Vectors: the concatenated entries of one list are copied to those of the other. The lists may be divided differently,
 * but must have the same total number of bytes. */
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

/* Indexed: the same for lists of addresses; each entry has dstlen bytes at the destination, srclen at the source. */
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

/* Strided: blocks of count[0] bytes; for each i from 1 to stridelevels, count[i] repetitions of level i - 1 at
 * distances of dststrides[i - 1] and srcstrides[i - 1] bytes. */
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

/* ---- the same calls as vgasnet_X ---- */

/* vgasnet_X is the same as gasnet_X. */

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
