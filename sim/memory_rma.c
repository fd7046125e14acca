#include "memory.h"

#include "mpi/rma/window.h"

size_t memory_window_target(void) {
    return sizeof(struct target);
}
