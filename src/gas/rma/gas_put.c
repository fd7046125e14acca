/* gas_put.c: puts. The program may change the source of a non-blocking put on return, unless its name has "bulk". */
#include "base/compiler.h"
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_transfer.h"

/* ---- slow path; separate functions, so that the calls need no stack frame ---- */

static DIRECT_SLOW void put_slow(const char *call, gasnet_node_t node, void *dest, const void *src,
                                 size_t nbytes) {
    if (direct_poll() && gas_direct_put(node, dest, src, nbytes))
        return;
    struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, false);
    gas_transfer_now(&x);
}

static DIRECT_SLOW gasnet_handle_t put_start_slow(const char *call, gasnet_node_t node, void *dest,
                                                  const void *src, size_t nbytes, bool keeps) {
    if (direct_poll() && gas_direct_put(node, dest, src, nbytes))
        return GASNET_INVALID_HANDLE;
    struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, keeps);
    return gas_transfer_start(&x);
}

static DIRECT_SLOW void put_implicit_slow(const char *call, gasnet_node_t node, void *dest, const void *src,
                                          size_t nbytes, bool keeps) {
    if (direct_poll() && gas_direct_put(node, dest, src, nbytes))
        return;
    struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, keeps);
    gas_transfer_start_implicit(&x);
}

/* ---- the calls ---- */

void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_put(node, dest, src, nbytes)))
        put_slow("gasnet_put", node, dest, src, nbytes);
}
ALSO(void, put, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_put(node, dest, src, nbytes)))
        put_slow("gasnet_put_bulk", node, dest, src, nbytes);
}
ALSO(void, put_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    return LIKELY(gas_direct_put(node, dest, src, nbytes))
               ? GASNET_INVALID_HANDLE
               : put_start_slow("gasnet_put_nb", node, dest, src, nbytes, true);
}
ALSO(gasnet_handle_t, put_nb, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    return LIKELY(gas_direct_put(node, dest, src, nbytes))
               ? GASNET_INVALID_HANDLE
               : put_start_slow("gasnet_put_nb_bulk", node, dest, src, nbytes, false);
}
ALSO(gasnet_handle_t, put_nb_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_put(node, dest, src, nbytes)))
        put_implicit_slow("gasnet_put_nbi", node, dest, src, nbytes, true);
}
ALSO(void, put_nbi, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));

void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_put(node, dest, src, nbytes)))
        put_implicit_slow("gasnet_put_nbi_bulk", node, dest, src, nbytes, false);
}
ALSO(void, put_nbi_bulk, (gasnet_node_t node, void *dest, const void *src, size_t nbytes));
