/* armci_local.c: private allocations of a process, and the fences around a program's own loads and stores in ARMCI
 * memory. */
#include <stdatomic.h>
#include <stdlib.h>

#include "armci/job/armci_internal.h"
#include "base/compiler.h"

void *PARMCI_Malloc_local(armci_size_t bytes) {
    return bytes < 0 ? NULL
                     : aligned_alloc(CACHE_LINE, round_up(bytes > 0 ? (uint64_t)bytes : 1, CACHE_LINE));
}
ALIAS(void *, ARMCI_Malloc_local, (armci_size_t bytes));

int PARMCI_Free_local(void *pointer) {
    free(pointer);
    return 0;
}
ALIAS(int, ARMCI_Free_local, (void *pointer));

void PARMCI_Access_begin(void *pointer) {
    (void)pointer;
    atomic_thread_fence(memory_order_seq_cst);
}
ALIAS(void, ARMCI_Access_begin, (void *pointer));

void PARMCI_Access_end(void *pointer) {
    (void)pointer;
    atomic_thread_fence(memory_order_seq_cst);
}
ALIAS(void, ARMCI_Access_end, (void *pointer));
