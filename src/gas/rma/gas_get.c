/* gas_get.c: gets. The bulk forms are the same: no alignment required. */
#include "base/compiler.h"
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_transfer.h"

/* ---- slow path; separate functions, so that the calls need no stack frame ---- */

static DIRECT_SLOW void get_slow(const char *call, void *dest, gasnet_node_t node, const void *src,
                                 size_t nbytes) {
    if (direct_poll() && gas_direct_get(dest, node, src, nbytes))
        return;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    gas_transfer_now(&x);
}

static DIRECT_SLOW gasnet_handle_t get_start_slow(const char *call, void *dest, gasnet_node_t node,
                                                  const void *src, size_t nbytes) {
    if (direct_poll() && gas_direct_get(dest, node, src, nbytes))
        return GASNET_INVALID_HANDLE;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    return gas_transfer_start(&x);
}

static DIRECT_SLOW void get_implicit_slow(const char *call, void *dest, gasnet_node_t node, const void *src,
                                          size_t nbytes) {
    if (direct_poll() && gas_direct_get(dest, node, src, nbytes))
        return;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    gas_transfer_start_implicit(&x);
}

/* ---- the calls ---- */

void gasnet_get(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_get(dest, node, src, nbytes)))
        get_slow("gasnet_get", dest, node, src, nbytes);
}
ALSO(void, get, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_get(dest, node, src, nbytes)))
        get_slow("gasnet_get_bulk", dest, node, src, nbytes);
}
ALSO(void, get_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    return LIKELY(gas_direct_get(dest, node, src, nbytes))
               ? GASNET_INVALID_HANDLE
               : get_start_slow("gasnet_get_nb", dest, node, src, nbytes);
}
ALSO(gasnet_handle_t, get_nb, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    return LIKELY(gas_direct_get(dest, node, src, nbytes))
               ? GASNET_INVALID_HANDLE
               : get_start_slow("gasnet_get_nb_bulk", dest, node, src, nbytes);
}
ALSO(gasnet_handle_t, get_nb_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_nbi(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_get(dest, node, src, nbytes)))
        get_implicit_slow("gasnet_get_nbi", dest, node, src, nbytes);
}
ALSO(void, get_nbi, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));

void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes) {
    if (UNLIKELY(!gas_direct_get(dest, node, src, nbytes)))
        get_implicit_slow("gasnet_get_nbi_bulk", dest, node, src, nbytes);
}
ALSO(void, get_nbi_bulk, (void *dest, gasnet_node_t node, const void *src, size_t nbytes));
