/* val.c: values in registers: the n low-order bytes of a value. They come first in memory on a little-endian machine,
 * last on a big-endian one. Values that are read are zero-extended. */
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_transfer.h"

#include <stdlib.h>

#include "base/compiler.h"

struct gasnet_value_operation {
    gasnet_register_value_t value;
    gasnet_handle_t handle; /* of the get that fills it */
};

static char *low_order(gasnet_register_value_t *value, size_t bytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (char *)value + sizeof *value - bytes;
#else
    (void)bytes;
    return (char *)value;
#endif
}

static void val_check_size(const char *call, size_t bytes) {
    if (UNLIKELY(bytes == 0 || bytes > sizeof(gasnet_register_value_t)))
        gas_fail(call, "a value has 1 to %zu bytes, not %zu", sizeof(gasnet_register_value_t), bytes);
}

/* ---- put ---- */

static struct gas_transfer val_put(const char *call, gasnet_node_t node, void *dest,
                                   gasnet_register_value_t *value, size_t bytes) {
    val_check_size(call, bytes);
    return gas_transfer_put(call, node, dest, low_order(value, bytes), bytes, true);
}

void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes) {
    val_check_size("gasnet_put_val", nbytes);
    if (LIKELY(gas_direct_put(node, dest, low_order(&value, nbytes), nbytes)))
        return;
    struct gas_transfer x = val_put("gasnet_put_val", node, dest, &value, nbytes);
    gas_transfer_now(&x);
}
ALSO(void, put_val, (gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes));

gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                  size_t nbytes) {
    struct gas_transfer x = val_put("gasnet_put_nb_val", node, dest, &value, nbytes);
    return gas_transfer_start(&x);
}
ALSO(gasnet_handle_t, put_nb_val,
     (gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes));

void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes) {
    struct gas_transfer x = val_put("gasnet_put_nbi_val", node, dest, &value, nbytes);
    gas_transfer_start_implicit(&x);
}
ALSO(void, put_nbi_val, (gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes));

/* ---- get ---- */

static struct gas_transfer val_get(const char *call, gasnet_node_t node, const void *src,
                                   gasnet_register_value_t *value, size_t bytes) {
    val_check_size(call, bytes);
    *value = 0;
    return gas_transfer_get(call, low_order(value, bytes), node, src, bytes);
}

gasnet_register_value_t gasnet_get_val(gasnet_node_t node, const void *src, size_t nbytes) {
    gasnet_register_value_t value = 0;
    val_check_size("gasnet_get_val", nbytes);
    if (LIKELY(gas_direct_get(low_order(&value, nbytes), node, src, nbytes)))
        return value;
    struct gas_transfer x = val_get("gasnet_get_val", node, src, &value, nbytes);
    gas_transfer_now(&x);
    return value;
}
ALSO(gasnet_register_value_t, get_val, (gasnet_node_t node, const void *src, size_t nbytes));

gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, const void *src, size_t nbytes) {
    const char *call = "gasnet_get_nb_val";
    gasnet_valget_handle_t v = malloc(sizeof *v);
    if (!v)
        gas_fail(call, "no memory for a pending value");
    struct gas_transfer x = val_get(call, node, src, &v->value, nbytes);
    v->handle = gas_transfer_start(&x);
    return v;
}
ALSO(gasnet_valget_handle_t, get_nb_val, (gasnet_node_t node, const void *src, size_t nbytes));

gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
    gasnet_wait_syncnb(handle->handle);
    gasnet_register_value_t value = handle->value;
    free(handle);
    return value;
}
ALSO(gasnet_register_value_t, wait_syncnb_valget, (gasnet_valget_handle_t handle));
