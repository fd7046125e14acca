/* memset.c: the memset calls. */
#include "gas/rma/gas_transfer.h"

static struct gas_transfer memset_start(const char *call, gasnet_node_t node, void *dest, int val,
                                        size_t nbytes) {
    return (struct gas_transfer){
        .call = call, .kind = STATS_SET, .node = node, .remote = dest, .value = val, .bytes = nbytes};
}

void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct gas_transfer x = memset_start("gasnet_memset", node, dest, val, nbytes);
    gas_transfer_now(&x);
}
ALSO(void, memset, (gasnet_node_t node, void *dest, int val, size_t nbytes));

gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct gas_transfer x = memset_start("gasnet_memset_nb", node, dest, val, nbytes);
    return gas_transfer_start(&x);
}
ALSO(gasnet_handle_t, memset_nb, (gasnet_node_t node, void *dest, int val, size_t nbytes));

void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct gas_transfer x = memset_start("gasnet_memset_nbi", node, dest, val, nbytes);
    gas_transfer_start_implicit(&x);
}
ALSO(void, memset_nbi, (gasnet_node_t node, void *dest, int val, size_t nbytes));
