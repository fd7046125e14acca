/* vis.c: puts and gets of non-contiguous memory: cut into pieces that are contiguous on both sides, each of which is a
 * transfer of its own. Short pieces to another node share messages anyway (batch.c).
 *
 * The pieces of one call belong to an access region of their own, in addition to one that the program may have open. The
 * pieces of the implicit forms are implicit operations of the program. */
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_transfer.h"
#include "gasnet/gasnet_vis.h"

/* One call while it is being cut. */
struct vis {
    const char *call;
    enum stats_kind kind; /* STATS_PUT or STATS_GET */
    gasnet_node_t node;
    struct gas_thread *thread;
};

/* ---- pieces ---- */

static DIRECT_SLOW void piece_start(const struct vis *v, char *dst, char *src, size_t bytes) {
    bool get = v->kind == STATS_GET;
    struct gas_transfer x = {.call = v->call,
                             .kind = v->kind,
                             .node = v->node,
                             .remote = get ? src : dst,
                             .local = get ? dst : src,
                             .bytes = bytes};
    gas_transfer_start_implicit(&x);
}

static void piece(const struct vis *v, char *dst, char *src, size_t bytes) {
    bool done = v->kind == STATS_GET ? gas_direct_get(dst, v->node, src, bytes)
                                     : gas_direct_put(v->node, dst, src, bytes);
    if (!done)
        piece_start(v, dst, src, bytes);
}

/* A list of addresses, with one length each or one for all. */
struct side {
    const gasnet_memvec_t *vector; /* or NULL */
    void *const *addresses;
    size_t length, count, at, used; /* `used`: bytes of the entry `at` */
};

static size_t side_length(const struct side *s) {
    return s->vector ? s->vector[s->at].len : s->length;
}

static char *side_address(const struct side *s) {
    return (char *)(s->vector ? s->vector[s->at].addr : s->addresses[s->at]) + s->used;
}

/* Advances to an entry with bytes left; returns how many, or 0 at the end. */
static size_t side_left(struct side *s) {
    for (; s->at < s->count; s->at++, s->used = 0)
        if (side_length(s) > s->used)
            return side_length(s) - s->used;
    return 0;
}

static size_t side_total(const struct side *s) {
    size_t total = 0;
    if (!s->vector)
        return s->length * s->count;
    for (size_t i = 0; i < s->count; i++)
        total += s->vector[i].len;
    return total;
}

static void cut_lists(const struct vis *v, struct side *dst, struct side *src) {
    size_t to = side_total(dst), from = side_total(src), a, b;
    if (UNLIKELY(to != from))
        gas_fail(v->call, "the destination has %zu bytes and the source %zu: they must be the same", to,
                 from);
    while ((a = side_left(dst)) > 0 && (b = side_left(src)) > 0) {
        size_t bytes = a < b ? a : b;
        piece(v, side_address(dst), side_address(src), bytes);
        dst->used += bytes;
        src->used += bytes;
    }
}

/* Memory that is contiguous on both sides is one block: the lowest levels are merged as far as they are contiguous. */
struct grid {
    const size_t *dststrides, *srcstrides, *count;
    size_t block, first; /* bytes of a block; the lowest level that is not merged into it */
};

static void cut_level(const struct vis *v, const struct grid *g, size_t level, char *dst, char *src) {
    if (level < g->first) {
        piece(v, dst, src, g->block);
        return;
    }
    for (size_t i = 0; i < g->count[level]; i++)
        cut_level(v, g, level - 1, dst + i * g->dststrides[level - 1], src + i * g->srcstrides[level - 1]);
}

static void cut_grid(const struct vis *v, char *dst, const size_t *dststrides, char *src,
                     const size_t *srcstrides, const size_t *count, size_t levels) {
    struct grid g = {dststrides, srcstrides, count, count[0], 1};
    for (size_t i = 0; i <= levels; i++)
        if (count[i] == 0)
            return;
    for (; g.first <= levels; g.first++) {
        size_t i = g.first;
        if (count[i] != 1 && (dststrides[i - 1] != g.block || srcstrides[i - 1] != g.block))
            break;
        g.block *= count[i];
    }
    cut_level(v, &g, levels, dst, src);
}

/* ---- handles ---- */

static struct vis vis_begin(const char *call, enum stats_kind kind, gasnet_node_t node) {
    gas_need(call, node);
    gas_need_free(call);
    return (struct vis){.call = call, .kind = kind, .node = node, .thread = gas_thread_mine()};
}

/* Opens a region for the pieces; returns the program's region, which region_end restores. */
static struct gasnet_operation *region_begin(struct vis *v) {
    struct gasnet_operation *outer = v->thread->region, *own = gas_operation_new(v->thread);
    if (!own)
        gas_fail(v->call, "no memory for the record of an operation");
    own->is_region = true;
    v->thread->region = own;
    return outer;
}

static gasnet_handle_t region_end(struct vis *v, struct gasnet_operation *outer) {
    gasnet_handle_t own = v->thread->region;
    v->thread->region = outer;
    if (own->region.first)
        return own;
    gas_operation_free(v->thread, own); /* all completed immediately */
    return GASNET_INVALID_HANDLE;
}

static void region_wait(gasnet_handle_t handle) {
    if (handle != GASNET_INVALID_HANDLE)
        gasnet_wait_syncnb(handle);
}

/* ---- the calls ---- */

void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                      size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_putv_bulk", STATS_PUT, dstnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    region_wait(region_end(&v, outer));
}
ALSO(void, putv_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                                    size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_putv_nb_bulk", STATS_PUT, dstnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, putv_nb_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
                          size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_putv_nbi_bulk", STATS_PUT, dstnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    cut_lists(&v, &dst, &src);
}
ALSO(void, putv_nbi_bulk,
     (gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                      size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_getv_bulk", STATS_GET, srcnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    region_wait(region_end(&v, outer));
}
ALSO(void, getv_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                                    size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_getv_nb_bulk", STATS_GET, srcnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, getv_nb_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
                          size_t srccount, gasnet_memvec_t const srclist[]) {
    struct vis v = vis_begin("gasnet_getv_nbi_bulk", STATS_GET, srcnode);
    struct side dst = {.vector = dstlist, .count = dstcount}, src = {.vector = srclist, .count = srccount};
    cut_lists(&v, &dst, &src);
}
ALSO(void, getv_nbi_bulk,
     (size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount,
      gasnet_memvec_t const srclist[]));

void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                      size_t srccount, void *const srclist[], size_t srclen) {
    struct vis v = vis_begin("gasnet_puti_bulk", STATS_PUT, dstnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    region_wait(region_end(&v, outer));
}
ALSO(void, puti_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
                                    size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
    struct vis v = vis_begin("gasnet_puti_nb_bulk", STATS_PUT, dstnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, puti_nb_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
                          size_t srccount, void *const srclist[], size_t srclen) {
    struct vis v = vis_begin("gasnet_puti_nbi_bulk", STATS_PUT, dstnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    cut_lists(&v, &dst, &src);
}
ALSO(void, puti_nbi_bulk,
     (gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                      size_t srccount, void *const srclist[], size_t srclen) {
    struct vis v = vis_begin("gasnet_geti_bulk", STATS_GET, srcnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    region_wait(region_end(&v, outer));
}
ALSO(void, geti_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen,
                                    gasnet_node_t srcnode, size_t srccount, void *const srclist[],
                                    size_t srclen) {
    struct vis v = vis_begin("gasnet_geti_nb_bulk", STATS_GET, srcnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    struct gasnet_operation *outer = region_begin(&v);
    cut_lists(&v, &dst, &src);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, geti_nb_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
                          size_t srccount, void *const srclist[], size_t srclen) {
    struct vis v = vis_begin("gasnet_geti_nbi_bulk", STATS_GET, srcnode);
    struct side dst = {.addresses = dstlist, .length = dstlen, .count = dstcount},
                src = {.addresses = srclist, .length = srclen, .count = srccount};
    cut_lists(&v, &dst, &src);
}
ALSO(void, geti_nbi_bulk,
     (size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount,
      void *const srclist[], size_t srclen));

void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis v = vis_begin("gasnet_puts_bulk", STATS_PUT, dstnode);
    struct gasnet_operation *outer = region_begin(&v);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
    region_wait(region_end(&v, outer));
}
ALSO(void, puts_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
    struct vis v = vis_begin("gasnet_puts_nb_bulk", STATS_PUT, dstnode);
    struct gasnet_operation *outer = region_begin(&v);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, puts_nb_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis v = vis_begin("gasnet_puts_nbi_bulk", STATS_PUT, dstnode);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, puts_nbi_bulk,
     (gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                      const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis v = vis_begin("gasnet_gets_bulk", STATS_GET, srcnode);
    struct gasnet_operation *outer = region_begin(&v);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
    region_wait(region_end(&v, outer));
}
ALSO(void, gets_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
                                    void *srcaddr, const size_t srcstrides[], const size_t count[],
                                    size_t stridelevels) {
    struct vis v = vis_begin("gasnet_gets_nb_bulk", STATS_GET, srcnode);
    struct gasnet_operation *outer = region_begin(&v);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
    return region_end(&v, outer);
}
ALSO(gasnet_handle_t, gets_nb_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));

void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
                          const size_t srcstrides[], const size_t count[], size_t stridelevels) {
    struct vis v = vis_begin("gasnet_gets_nbi_bulk", STATS_GET, srcnode);
    cut_grid(&v, dstaddr, dststrides, srcaddr, srcstrides, count, stridelevels);
}
ALSO(void, gets_nbi_bulk,
     (void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
      const size_t srcstrides[], const size_t count[], size_t stridelevels));
