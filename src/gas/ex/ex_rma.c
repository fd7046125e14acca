/* ex_rma.c: puts and gets. Contiguous memory of the own node is copied at once (gas_direct.h); everything else is a transfer
 * of GASNet-1 (gas_transfer.h). Nothing waits for a resource that an immediate call could refuse to wait for, and where the
 * memory is takes one comparison: no flag has an effect. */
#include "gas/ex/ex.h"

#include "base/compiler.h"
#include "gas/rma/gas_direct.h"
#include "gas/rma/gas_leaf.h"
#include "gas/rma/gas_transfer.h"

/* ---- gets ---- */

static DIRECT_SLOW int get_blocking_slow(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes) {
    const char *call = "gex_RMA_GetBlocking";
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (direct_poll() && gas_direct_get(dest, node, src, nbytes))
        return 0;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    gas_transfer_now(&x);
    return 0;
}

int gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                        gex_Flags_t flags) {
    gas_ex_flags("gex_RMA_GetBlocking", flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank("gex_RMA_GetBlocking", tm, rank);
    return LIKELY(gas_direct_get(dest, node, src, nbytes)) ? 0
                                                           : get_blocking_slow(tm, dest, rank, src, nbytes);
}

int gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags) {
    const char *call = "gex_RMA_GetNBI";
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (gas_direct_get(dest, node, src, nbytes) || (direct_poll() && gas_direct_get(dest, node, src, nbytes)))
        return 0;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    gas_transfer_start_implicit(&x);
    return 0;
}

gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                          gex_Flags_t flags) {
    const char *call = "gex_RMA_GetNB";
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (gas_direct_get(dest, node, src, nbytes) || (direct_poll() && gas_direct_get(dest, node, src, nbytes)))
        return GEX_EVENT_INVALID;
    struct gas_transfer x = gas_transfer_get(call, dest, node, src, nbytes);
    return gas_transfer_start(&x);
}

/* ---- puts ---- */

static bool put_is_direct(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
    return gas_direct_put(node, dest, src, nbytes) ||
           (direct_poll() && gas_direct_put(node, dest, src, nbytes));
}

static DIRECT_SLOW int put_blocking_slow(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                         size_t nbytes) {
    const char *call = "gex_RMA_PutBlocking";
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (direct_poll() && gas_direct_put(node, dest, src, nbytes))
        return 0;
    struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, false);
    gas_transfer_now(&x);
    return 0;
}

int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                        gex_Flags_t flags) {
    gas_ex_flags("gex_RMA_PutBlocking", flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank("gex_RMA_PutBlocking", tm, rank);
    return LIKELY(gas_direct_put(node, dest, src, nbytes)) ? 0
                                                           : put_blocking_slow(tm, rank, dest, src, nbytes);
}

int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                   gex_Event_t *lc_opt, gex_Flags_t flags) {
    const char *call = "gex_RMA_PutNBI";
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    if (gas_ex_checks)
        gas_ex_check_lc(call, lc_opt, EX_NOW | EX_DEFER | EX_GROUP);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (put_is_direct(node, dest, src, nbytes))
        return 0;
    struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, lc_opt == GEX_EVENT_NOW);
    gas_transfer_start_implicit(&x);
    return 0;
}

gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Event_t *lc_opt, gex_Flags_t flags) {
    const char *call = "gex_RMA_PutNB";
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    if (gas_ex_checks)
        gas_ex_check_lc(call, lc_opt, EX_NOW | EX_DEFER | EX_EVENT);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    gex_Event_t root = GEX_EVENT_INVALID;
    if (!put_is_direct(node, dest, src, nbytes)) {
        struct gas_transfer x = gas_transfer_put(call, node, dest, src, nbytes, lc_opt == GEX_EVENT_NOW);
        root = gas_transfer_start(&x);
    }
    if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER)
        *lc_opt = gas_leaf_of(root, LEAF_SOURCE);
    return root;
}

/* ---- values: the low-order bytes of a register, which come last in memory on a big-endian machine ---- */

static char *value_bytes(const char *call, gex_RMA_Value_t *value, size_t bytes) {
    if (UNLIKELY(bytes == 0 || bytes > sizeof *value))
        gas_fail(call, "a value has 1 to %zu bytes, not %zu", sizeof *value, bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (char *)value + sizeof *value - bytes;
#else
    return (char *)value;
#endif
}

gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                       gex_Flags_t flags) {
    const char *call = "gex_RMA_GetBlockingVal";
    gex_RMA_Value_t value = 0;
    char *to = value_bytes(call, &value, nbytes);
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (gas_direct_get(to, node, src, nbytes))
        return value;
    struct gas_transfer x = gas_transfer_get(call, to, node, src, nbytes);
    gas_transfer_now(&x);
    return value;
}

int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                           gex_Flags_t flags) {
    const char *call = "gex_RMA_PutBlockingVal";
    const char *from = value_bytes(call, &value, nbytes);
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    if (put_is_direct(node, dest, from, nbytes))
        return 0;
    struct gas_transfer x = gas_transfer_put(call, node, dest, from, nbytes, false);
    gas_transfer_now(&x);
    return 0;
}

int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                      gex_Flags_t flags) {
    const char *call = "gex_RMA_PutNBIVal";
    const char *from = value_bytes(call, &value, nbytes);
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    struct gas_transfer x = gas_transfer_put(call, gas_ex_rank(call, tm, rank), dest, from, nbytes, true);
    gas_transfer_start_implicit(&x);
    return 0;
}

gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                             gex_Flags_t flags) {
    const char *call = "gex_RMA_PutNBVal";
    const char *from = value_bytes(call, &value, nbytes);
    gas_ex_flags(call, flags, EX_RMA_FLAGS);
    struct gas_transfer x = gas_transfer_put(call, gas_ex_rank(call, tm, rank), dest, from, nbytes, true);
    return gas_transfer_start(&x);
}
