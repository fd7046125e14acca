/* memset.c: the memset calls. */
#include "gas/rma/transfer.h"

static struct transfer set(const char *call, gasnet_node_t node, void *dest, int val, size_t nbytes) {
    return (struct transfer){
        .call = call, .kind = STATS_SET, .node = node, .remote = dest, .value = val, .bytes = nbytes};
}

void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct transfer x = set("gasnet_memset", node, dest, val, nbytes);
    transfer_now(&x);
}
ALSO(void, memset, (gasnet_node_t node, void *dest, int val, size_t nbytes));

gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct transfer x = set("gasnet_memset_nb", node, dest, val, nbytes);
    return transfer_start(&x);
}
ALSO(gasnet_handle_t, memset_nb, (gasnet_node_t node, void *dest, int val, size_t nbytes));

void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes) {
    struct transfer x = set("gasnet_memset_nbi", node, dest, val, nbytes);
    transfer_start_implicit(&x);
}
ALSO(void, memset_nbi, (gasnet_node_t node, void *dest, int val, size_t nbytes));
