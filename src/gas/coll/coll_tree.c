/* coll_tree.c: binomial trees of the members of a team, as steps of an operation (schedule.c).
 *
 * Ranks are counted from the root of the tree. Member r, whose lowest set bit is m, is a child of r - m; its own children are
 * r + m/2, r + m/4 ... r + 1, those of the root r + m with every power of two m. Each child heads the members from its own rank
 * to that of the next child. So partial results are combined in the order of the ranks. */
#include "gas/coll/coll.h"

void gas_tree_broadcast(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t root,
                        uint32_t tag, const void *from, void *at, size_t bytes) {
    gasnet_node_t size = team->size, rank = (team->rank + size - root) % size, mask = 1;
    for (; mask < size && !(rank & mask); mask <<= 1)
        ;
    if (rank > 0) {
        gas_schedule_receive(o, (rank - mask + root) % size, tag, at, bytes);
        gas_schedule_next_round(o);
    }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (rank + mask < size)
            gas_schedule_send(o, (rank + mask + root) % size, tag, rank > 0 ? at : from, bytes);
}

static void tree_send_result(struct gasnet_coll_operation *o, const struct tree_reduction *r,
                             gasnet_node_t to, uint32_t tag) {
    char *result = gas_schedule_memory(o, r->bytes);
    gas_schedule_run(o, r->settle, r->arg, result);
    gas_schedule_send(o, to, tag, result, r->bytes);
}

void gas_tree_reduce(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t first,
                     const struct tree_reduction *r) {
    gasnet_node_t size = team->size, rank = (team->rank + size - first) % size;
    for (gasnet_node_t mask = 1; mask < size && !(rank & (mask - 1)); mask <<= 1) {
        if (rank & mask) {
            tree_send_result(o, r, (rank - mask + first) % size, TAG_DATA);
        } else if (rank + mask < size) {
            char *part = gas_schedule_memory(o, r->bytes);
            gas_schedule_receive(o, (rank + mask + first) % size, TAG_DATA, part, r->bytes);
            gas_schedule_next_round(o);
            gas_schedule_run(o, r->add, r->arg, part);
        }
    }
}

void gas_tree_reduce_to(struct gasnet_coll_operation *o, const struct gasnet_team *team, gasnet_node_t first,
                        gasnet_node_t root, void *dst, const struct tree_reduction *r) {
    gas_tree_reduce(o, team, first, r);
    if (team->rank == first && team->rank == root)
        gas_schedule_run(o, r->settle, r->arg, dst);
    else if (team->rank == first)
        tree_send_result(o, r, root, TAG_RESULT);
    else if (team->rank == root)
        gas_schedule_receive(o, first, TAG_RESULT, dst, r->bytes);
}
