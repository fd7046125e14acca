/* vis_cut.h: puts and gets of non-contiguous memory, for the calls of both interfaces. */
#ifndef HEARTH_GAS_VIS_CUT_H
#define HEARTH_GAS_VIS_CUT_H

#include "gas/rma/gas_handle.h"

/* What a call returns: nothing, as it is complete; a handle; nothing, as it is implicit. */
enum vis_form { VIS_BLOCKING, VIS_NB, VIS_NBI };

struct vis_call {
    const char *name;
    enum stats_kind kind; /* STATS_PUT or STATS_GET */
    enum vis_form form;
    gasnet_node_t node;
};

/* A list of addresses, with one length each or one for all. */
struct vis_list {
    const gasnet_memvec_t *vector; /* or NULL */
    void *const *addresses;
    size_t length, count;
};

/* Elements of `bytes` bytes; count[i] repetitions of level i - 1 at these distances. */
struct vis_grid {
    const ptrdiff_t *dststrides, *srcstrides; /* [levels] */
    size_t bytes;
    const size_t *count; /* [levels] */
    size_t levels;
};

/* The lists and arrays may be changed on return. */
gasnet_handle_t gas_vis_lists(const struct vis_call *call, const struct vis_list *dst,
                              const struct vis_list *src);
gasnet_handle_t gas_vis_grid(const struct vis_call *call, char *dst, char *src, const struct vis_grid *shape);

#endif
