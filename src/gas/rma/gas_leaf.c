/* gas_leaf.c: completion of leaf events. A leaf is tested by testing the operations of its root that belong to its
 * category. */
#include "gas/rma/gas_leaf.h"

static bool leaf_covers(const struct gasnet_operation *o, enum leaf_tag tag) {
    switch (tag) {
    case LEAF_GETS:
        return o->category == CATEGORY_GET;
    case LEAF_RMWS:
        return o->category == CATEGORY_RMW;
    default:
        return o->category == CATEGORY_PUT;
    }
}

static bool leaf_part_is_complete(struct gasnet_operation *o, enum leaf_tag tag) {
    if (!leaf_covers(o, tag))
        return true;
    return tag == LEAF_SOURCE ? gas_operation_source_is_free(o) : gas_operation_is_complete(o);
}

bool gas_leaf_list_is_complete(struct operations *list, enum leaf_tag tag) {
    for (struct gasnet_operation *o = list->first; o; o = o->next)
        if (!leaf_part_is_complete(o, tag))
            return false;
    return true;
}

bool gas_leaf_is_complete(gasnet_handle_t leaf) {
    enum leaf_tag tag = gas_leaf_tag(leaf);
    struct gasnet_operation *o = (struct gasnet_operation *)(void *)((char *)leaf - tag);
    return o->kind == OPERATION_REGION ? gas_leaf_list_is_complete(&o->region, tag)
                                       : leaf_part_is_complete(o, tag);
}

gasnet_handle_t gas_leaf_of(gasnet_handle_t root, enum leaf_tag tag) {
    if (root == GASNET_INVALID_HANDLE)
        return root;
    gasnet_handle_t leaf = (gasnet_handle_t)(void *)((char *)root + tag);
    return gas_leaf_is_complete(leaf) ? GASNET_INVALID_HANDLE : leaf;
}
