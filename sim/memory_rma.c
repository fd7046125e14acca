/* memory_rma.c: sizes of the structures of src/mpi/rma, for sim_memory. */
#include "memory.h"

#include "mpi/rma/window/window.h"

size_t memory_window_target(void) {
    return sizeof(struct rma_target);
}
