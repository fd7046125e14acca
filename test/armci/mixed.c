/* mixed.c: tests nodes of which only some may access remote memory directly, as with different networks: all of them then
 * use the helpers, and allocations stay collective. configs: nodes1; timeout: 60 */
#include "test.h"

#include <stdlib.h>

/* Before ARMCI and MPI tell the rank. Where the launcher does not, all ranks have the same setting. */
__attribute__((constructor)) static void set_on_even_ranks(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    setenv("HEARTH_DIRECT", rank && atoi(rank) % 2 ? "off" : "on", 1);
}

CASE(direct_on_some_nodes_only) {
    enum { TIMES = 3 };
    SKIP_IF_STOCK();
    int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    void **parts = malloc((size_t)test_size * sizeof *parts);
    for (int i = 0; i < TIMES; i++) {
        expect_eq(ARMCI_Malloc(parts, 5000), 0);
        ARMCI_PutValueInt(test_rank + i, parts[right], right);
        ARMCI_Barrier();
        expect_eq(*(int *)parts[test_rank], left + i);
        expect_eq(ARMCI_GetValueInt(parts[right], right), test_rank + i);
        ARMCI_Barrier();
        expect_eq(ARMCI_Free(parts[test_rank]), 0);
    }
    free(parts);
}
