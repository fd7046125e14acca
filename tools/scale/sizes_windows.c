/* sizes_windows.c: sizes of the structures of src/mpi/windows/caching and src/mpi/windows/serving, for scale.c. */
#include "scale/sizes.h"

#include "mpi/windows/caching/window/window.h"
#include "mpi/windows/serving/state/node_table.h"
#include "mpi/windows/serving/remote/domain.h"
#include "mpi/windows/serving/state/served.h"
#include "tables/rank_table.h"

size_t memory_window(uint32_t ranks, uint32_t used) {
    return sizeof(struct window) + rank_table_bytes(ranks, sizeof(struct rma_target), used);
}

/* Addresses of 47 bits, sizes of up to 256 TB, two units, all ranks of the job in reverse order. */
static struct memory_table widest_table(int ranks, bool widest) {
    struct memory_table_range range = memory_table_no_range;
    struct memory_table t;
    struct rank_memory
        first = {.base = 1 << 16, .bytes = 1, .unit = 1, .process = widest ? (uint64_t)ranks - 1 : 0},
        last = {.base = ((uint64_t)1 << 47) - 1, .bytes = 1, .unit = 1, .process = (uint64_t)ranks - 1};
    if (widest)
        last = (struct rank_memory){
            .base = last.base, .bytes = ((uint64_t)1 << 48) - 1, .unit = 2, .process = 0};
    memory_table_extend(&range, &first, 0, ranks, true);
    memory_table_extend(&range, &last, ranks - 1, ranks, true);
    memory_table_plan(&t, ranks, true, &range);
    return t;
}

size_t memory_window_rows(int ranks, bool widest) {
    return (size_t)ranks * widest_table(ranks, widest).row_bytes;
}

size_t memory_window_creation(int ranks, int nodes) {
    struct memory_table t = widest_table(ranks, true);
    return serve_node_table_scratch(&t, nodes);
}

size_t memory_served(uint32_t ranks, uint32_t used, uint32_t per_node, int nodes) {
    uint32_t records = used + per_node < ranks ? used + per_node : ranks;
    return sizeof(struct served) + rank_table_bytes(ranks, sizeof(struct served_target), records) +
           per_node * sizeof(struct served_target *) + node_set_bytes(nodes);
}

/* Ranks of the window in the domain, while its nodes are looked up. */
size_t memory_served_creation(int ranks) {
    return 2 * (size_t)ranks * sizeof(int);
}

size_t memory_domain(int nodes) {
    return sizeof(struct serve_domain) +
           (size_t)nodes * (sizeof(struct remote_rhythm) + sizeof(struct remote_batch *));
}

size_t memory_domain_faults(int ranks) {
    return (size_t)ranks * sizeof *((struct serve_domain *)0)->faults;
}
