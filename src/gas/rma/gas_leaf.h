/* gas_leaf.h: leaf events of GASNet-EX: the part of an operation, or of the operations of an access region, that belongs to
 * one category. A leaf is the address of its root with a tag in the low bits, so that it needs no memory, and ends with its
 * root. */
#ifndef HEARTH_GAS_LEAF_H
#define HEARTH_GAS_LEAF_H

#include "gas/rma/gas_handle.h"

enum leaf_tag { LEAF_NONE, LEAF_SOURCE, LEAF_GETS, LEAF_PUTS, LEAF_RMWS, LEAF_MASK = 7 };
_Static_assert(_Alignof(struct gasnet_operation) > LEAF_MASK, "the tag fits");

static inline enum leaf_tag gas_leaf_tag(gasnet_handle_t event) {
    return (enum leaf_tag)((uintptr_t)event & LEAF_MASK);
}

/* Returns GASNET_INVALID_HANDLE if the leaf is already complete. */
gasnet_handle_t gas_leaf_of(gasnet_handle_t root, enum leaf_tag tag);

/* Whether a leaf is complete. */
bool gas_leaf_is_complete(gasnet_handle_t leaf);
/* The same for the operations of a list. */
bool gas_leaf_list_is_complete(struct operations *list, enum leaf_tag tag);

#endif
