/* memory_rma.c: sizes of the structures of src/mpi/rma and src/mpi/serve, for scale.c. */
#include "memory.h"

#include "mpi/rma/window/window.h"
#include "mpi/serve/node_table.h"
#include "mpi/serve/served.h"

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

size_t memory_served_target(void) {
    return sizeof(struct served_target);
}
