/* vis.c: the calls of GASNet-1 for non-contiguous memory: vectors, lists of addresses, strided blocks. vis_cut.c executes
 * them. */
#include "gas/rma/vis_cut.h"
#include "hearth/gasnet/gasnet_vis.h"

static gasnet_handle_t vis_vector(struct vis_call call, size_t dstcount, const gasnet_memvec_t *dstlist,
                                  size_t srccount, const gasnet_memvec_t *srclist) {
    struct vis_list dst = {.vector = dstlist, .count = dstcount},
                    src = {.vector = srclist, .count = srccount};
    return gas_vis_lists(&call, &dst, &src);
}

static gasnet_handle_t vis_indexed(struct vis_call call, size_t dstcount, void *const *dstlist, size_t dstlen,
                                   size_t srccount, void *const *srclist, size_t srclen) {
    struct vis_list dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                    src = {.addresses = srclist, .length = srclen, .count = srccount};
    return gas_vis_lists(&call, &dst, &src);
}

/* count[0] is the length of a block. A stride beyond PTRDIFF_MAX cannot occur: a segment is smaller. */
static gasnet_handle_t vis_strided(struct vis_call call, void *dst, const size_t *dststrides, void *src,
                                   const size_t *srcstrides, const size_t *count, size_t levels) {
    struct vis_grid shape = {.dststrides = (const ptrdiff_t *)dststrides,
                             .srcstrides = (const ptrdiff_t *)srcstrides,
                             .bytes = count[0],
                             .count = count + 1,
                             .levels = levels};
    return gas_vis_grid(&call, dst, src, &shape);
}

void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                      size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_putv_bulk", STATS_PUT, VIS_BLOCKING, dstnode};
    vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(void, putv_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                                    size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_putv_nb_bulk", STATS_PUT, VIS_NB, dstnode};
    return vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(gasnet_handle_t, putv_nb_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                          size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_putv_nbi_bulk", STATS_PUT, VIS_NBI, dstnode};
    vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(void, putv_nbi_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                      size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_getv_bulk", STATS_GET, VIS_BLOCKING, srcnode};
    vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(void, getv_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                                    size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_getv_nb_bulk", STATS_GET, VIS_NB, srcnode};
    return vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(gasnet_handle_t, getv_nb_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                          size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis_call call = {"gasnet_getv_nbi_bulk", STATS_GET, VIS_NBI, srcnode};
    vis_vector(call, dstcount, dstlist, srccount, srclist);
}
ALSO(void, getv_nbi_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                      size_t srccount, void *const srclist[], size_t srclen) {
    struct vis_call call = {"gasnet_puti_bulk", STATS_PUT, VIS_BLOCKING, dstnode};
    vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(void, puti_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                    size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
    struct vis_call call = {"gasnet_puti_nb_bulk", STATS_PUT, VIS_NB, dstnode};
    return vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(gasnet_handle_t, puti_nb_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                          size_t srccount, void *const srclist[], size_t srclen) {
    struct vis_call call = {"gasnet_puti_nbi_bulk", STATS_PUT, VIS_NBI, dstnode};
    vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(void, puti_nbi_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                      size_t srccount, void *const srclist[], size_t srclen) {
    struct vis_call call = {"gasnet_geti_bulk", STATS_GET, VIS_BLOCKING, srcnode};
    vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(void, geti_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                    gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                    size_t srclen) {
    struct vis_call call = {"gasnet_geti_nb_bulk", STATS_GET, VIS_NB, srcnode};
    return vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(gasnet_handle_t, geti_nb_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                          size_t srccount, void *const srclist[], size_t srclen) {
    struct vis_call call = {"gasnet_geti_nbi_bulk", STATS_GET, VIS_NBI, srcnode};
    vis_indexed(call, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
ALSO(void, geti_nbi_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis_call call = {"gasnet_puts_bulk", STATS_PUT, VIS_BLOCKING, dstnode};
    vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, puts_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
    struct vis_call call = {"gasnet_puts_nb_bulk", STATS_PUT, VIS_NB, dstnode};
    return vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(gasnet_handle_t, puts_nb_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis_call call = {"gasnet_puts_nbi_bulk", STATS_PUT, VIS_NBI, dstnode};
    vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, puts_nbi_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis_call call = {"gasnet_gets_bulk", STATS_GET, VIS_BLOCKING, srcnode};
    vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, gets_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
    struct vis_call call = {"gasnet_gets_nb_bulk", STATS_GET, VIS_NB, srcnode};
    return vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(gasnet_handle_t, gets_nb_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis_call call = {"gasnet_gets_nbi_bulk", STATS_GET, VIS_NBI, srcnode};
    vis_strided(call, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, gets_nbi_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));
