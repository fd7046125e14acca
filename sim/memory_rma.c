/* memory_rma.c: sizes of the structures of src/mpi/rma and src/mpi/serve, for scale.c. */
#include "memory.h"

#include "mpi/rma/window/window.h"
#include "mpi/rma/window_memory.h"
#include "mpi/serve/served.h"

size_t memory_window(uint32_t ranks, uint32_t used) {
    return sizeof(struct window) + rank_table_bytes(ranks, sizeof(struct rma_target), used);
}

/* Addresses of 47 bits, sizes of up to 256 TB, two units, all ranks of the job in reverse order. */
static struct rma_memory_table widest_table(int ranks, bool widest) {
    struct rma_memory_range range = rma_memory_no_range;
    struct rma_memory_table t;
    struct rma_memory
        first = {.base = 1 << 16, .bytes = 1, .unit = 1, .process = widest ? (uint64_t)ranks - 1 : 0},
        last = {.base = ((uint64_t)1 << 47) - 1, .bytes = 1, .unit = 1, .process = (uint64_t)ranks - 1};
    if (widest)
        last =
            (struct rma_memory){.base = last.base, .bytes = ((uint64_t)1 << 48) - 1, .unit = 2, .process = 0};
    rma_memory_extend(&range, &first, 0, ranks, true);
    rma_memory_extend(&range, &last, ranks - 1, ranks, true);
    rma_memory_plan(&t, ranks, true, &range);
    return t;
}

size_t memory_window_rows(int ranks, bool widest) {
    return (size_t)ranks * widest_table(ranks, widest).row_bytes;
}

size_t memory_window_creation(int ranks, int nodes) {
    struct rma_memory_table t = widest_table(ranks, true);
    return rma_window_memory_scratch(&t, nodes);
}

size_t memory_served_target(void) {
    return sizeof(struct served_target);
}
