/* vis_cut.c: puts and gets of non-contiguous memory: cut into pieces that are contiguous on both sides, each of which is a
 * transfer of its own. Short pieces to another node share messages anyway (batch.c).
 *
 * The pieces of one call belong to an access region of their own, in addition to one that the program may have open. The
 * pieces of the implicit forms are implicit operations of the program. */
#include "gas/rma/vis_cut.h"

#include "base/compiler.h"
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_sync.h"
#include "gas/rma/gas_transfer.h"

/* ---- pieces ---- */

static DIRECT_SLOW void piece_start(const struct vis_call *v, char *dst, char *src, size_t bytes) {
    bool get = v->kind == STATS_GET;
    struct gas_transfer x = {.call = v->name,
                             .kind = v->kind,
                             .node = v->node,
                             .remote = get ? src : dst,
                             .local = get ? dst : src,
                             .bytes = bytes};
    gas_transfer_start_implicit(&x);
}

static void piece_move(const struct vis_call *v, char *dst, char *src, size_t bytes) {
    bool done = v->kind == STATS_GET ? gas_direct_get(dst, v->node, src, bytes)
                                     : gas_direct_put(v->node, dst, src, bytes);
    if (!done)
        piece_start(v, dst, src, bytes);
}

/* ---- lists ---- */

/* Position in a list: `used` bytes of the entry `at`. */
struct side {
    const struct vis_list *list;
    size_t at, used;
};

static size_t side_length(const struct side *s) {
    return s->list->vector ? s->list->vector[s->at].len : s->list->length;
}

static char *side_address(const struct side *s) {
    return (char *)(s->list->vector ? s->list->vector[s->at].addr : s->list->addresses[s->at]) + s->used;
}

/* Advances to an entry with bytes left; returns how many, or 0 at the end. */
static size_t side_left(struct side *s) {
    for (; s->at < s->list->count; s->at++, s->used = 0)
        if (side_length(s) > s->used)
            return side_length(s) - s->used;
    return 0;
}

static size_t list_total(const struct vis_list *list) {
    size_t total = 0;
    if (!list->vector)
        return list->length * list->count;
    for (size_t i = 0; i < list->count; i++)
        total += list->vector[i].len;
    return total;
}

static void cut_lists(const struct vis_call *v, const struct vis_list *dst, const struct vis_list *src) {
    struct side to = {.list = dst}, from = {.list = src};
    size_t dst_bytes = list_total(dst), src_bytes = list_total(src), a, b;
    if (UNLIKELY(dst_bytes != src_bytes))
        gas_fail(v->name, "the destination has %zu bytes and the source %zu: they must be the same",
                 dst_bytes, src_bytes);
    while ((a = side_left(&to)) > 0 && (b = side_left(&from)) > 0) {
        size_t bytes = a < b ? a : b;
        piece_move(v, side_address(&to), side_address(&from), bytes);
        to.used += bytes;
        from.used += bytes;
    }
}

/* ---- grids ---- */

/* Memory that is contiguous on both sides is one block: the lowest levels are merged as far as they are contiguous. */
struct grid {
    const struct vis_grid *shape;
    size_t block, merged; /* bytes of a block; the number of levels that are merged into it */
};

/* The addresses are numbers: with strides in either direction, those between two elements may lie outside of any object. */
static void cut_level(const struct vis_call *v, const struct grid *g, size_t level, uintptr_t dst,
                      uintptr_t src) {
    if (level <= g->merged) {
        piece_move(v, (char *)dst, (char *)src, g->block);
        return;
    }
    for (size_t i = 0; i < g->shape->count[level - 1]; i++)
        cut_level(v, g, level - 1, dst + i * (uintptr_t)g->shape->dststrides[level - 1],
                  src + i * (uintptr_t)g->shape->srcstrides[level - 1]);
}

static void cut_grid(const struct vis_call *v, char *dst, char *src, const struct vis_grid *shape) {
    struct grid g = {.shape = shape, .block = shape->bytes};
    if (shape->bytes == 0)
        return;
    for (size_t i = 0; i < shape->levels; i++)
        if (shape->count[i] == 0)
            return;
    for (; g.merged < shape->levels; g.merged++) {
        size_t i = g.merged;
        if (shape->count[i] != 1 &&
            (shape->dststrides[i] != (ptrdiff_t)g.block || shape->srcstrides[i] != (ptrdiff_t)g.block))
            break;
        g.block *= shape->count[i];
    }
    cut_level(v, &g, shape->levels, (uintptr_t)dst, (uintptr_t)src);
}

/* ---- the operation as a whole ---- */

/* Opens a region for the pieces; returns the program's region, which cut_end restores. */
static struct gasnet_operation *cut_begin(const struct vis_call *v) {
    gas_need(v->name, v->node);
    gas_need_free(v->name);
    struct gas_thread *t = gas_thread_mine();
    struct gasnet_operation *outer = t->region;
    if (v->form == VIS_NBI)
        return outer;
    t->region = gas_operation_new(t);
    if (!t->region)
        gas_fail(v->name, "no memory for the record of an operation");
    t->region->kind = OPERATION_REGION;
    return outer;
}

static gasnet_handle_t cut_end(const struct vis_call *v, struct gasnet_operation *outer) {
    struct gas_thread *t = gas_thread_mine();
    gasnet_handle_t own = t->region;
    if (v->form == VIS_NBI)
        return GASNET_INVALID_HANDLE;
    t->region = outer;
    if (!own->region.first) {
        gas_operation_free(t, own); /* all completed immediately */
        return GASNET_INVALID_HANDLE;
    }
    if (v->form == VIS_NB)
        return own;
    gas_sync_wait(v->name, own, true);
    return GASNET_INVALID_HANDLE;
}

gasnet_handle_t gas_vis_lists(const struct vis_call *call, const struct vis_list *dst,
                              const struct vis_list *src) {
    struct gasnet_operation *outer = cut_begin(call);
    cut_lists(call, dst, src);
    return cut_end(call, outer);
}

gasnet_handle_t gas_vis_grid(const struct vis_call *call, char *dst, char *src,
                             const struct vis_grid *shape) {
    struct gasnet_operation *outer = cut_begin(call);
    cut_grid(call, dst, src, shape);
    return cut_end(call, outer);
}
