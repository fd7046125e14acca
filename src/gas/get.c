/* Gets. Those of bulk data are the same: no address is too crooked for any of them. */
#include "gas/transfer.h"

static struct transfer get(const char *call, void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    return (struct transfer){
        .call = call, .kind = STATS_GET, .node = node, .remote = (char *)src, .local = dest, .bytes = nbytes};
}

void gasnet_get(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get", dest, node, src, nbytes);
    transfer_now(&x);
}
ALSO(void, get, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get_bulk", dest, node, src, nbytes);
    transfer_now(&x);
}
ALSO(void, get_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get_nb", dest, node, src, nbytes);
    return transfer_start(&x);
}
ALSO(gasnet_handle_t, get_nb, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get_nb_bulk", dest, node, src, nbytes);
    return transfer_start(&x);
}
ALSO(gasnet_handle_t, get_nb_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_nbi(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get_nbi", dest, node, src, nbytes);
    transfer_start_implicit(&x);
}
ALSO(void, get_nbi, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    struct transfer x = get("gasnet_get_nbi_bulk", dest, node, src, nbytes);
    transfer_start_implicit(&x);
}
ALSO(void, get_nbi_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));
