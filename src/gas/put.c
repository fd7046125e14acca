/* Puts. Without "bulk" in its name, one that returns before it is complete leaves the source free. */
#include "gas/transfer.h"

static struct transfer put(const char *call, gasnet_node_t node, void *dest, const void *src, size_t nbytes,
                           bool keeps) {
    return (struct transfer){.call = call,
                             .kind = STATS_PUT,
                             .node = node,
                             .remote = dest,
                             .local = (void *)src,
                             .bytes = nbytes,
                             .keeps = keeps};
}

void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put", node, dest, src, nbytes, false);
    transfer_now(&x);
}
ALSO(void, put, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put_bulk", node, dest, src, nbytes, false);
    transfer_now(&x);
}
ALSO(void, put_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put_nb", node, dest, src, nbytes, true);
    return transfer_start(&x);
}
ALSO(gasnet_handle_t, put_nb, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put_nb_bulk", node, dest, src, nbytes, false);
    return transfer_start(&x);
}
ALSO(gasnet_handle_t, put_nb_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put_nbi", node, dest, src, nbytes, true);
    transfer_start_implicit(&x);
}
ALSO(void, put_nbi, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    struct transfer x = put("gasnet_put_nbi_bulk", node, dest, src, nbytes, false);
    transfer_start_implicit(&x);
}
ALSO(void, put_nbi_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));
