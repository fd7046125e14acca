/* region.c: implicit operations, of a thread or of its open access region. */
#include "base/compiler.h"
#include "gas/rma/gas_handle.h"

/* ---- synchronisation of the thread's implicit operations ---- */

struct gas_thread *gas_region_none(const char *call) {
    if (UNLIKELY(!gas_is_attached()))
        gas_not_attached(call);
    gas_need_free(call);
    struct gas_thread *t = gas_thread_mine();
    if (UNLIKELY(t->region))
        gas_fail(call, "an access region is open: end it first, and wait for its handle");
    return t;
}

void gasnet_wait_syncnbi_gets(void) {
    struct gas_thread *t = gas_region_none("gasnet_wait_syncnbi_gets");
    gas_poll();
    gas_operations_finish(t, &t->gets, true);
}
ALSO(void, wait_syncnbi_gets, (void));

void gasnet_wait_syncnbi_puts(void) {
    struct gas_thread *t = gas_region_none("gasnet_wait_syncnbi_puts");
    gas_poll();
    gas_operations_finish(t, &t->puts, true);
}
ALSO(void, wait_syncnbi_puts, (void));

void gasnet_wait_syncnbi_all(void) {
    struct gas_thread *t = gas_region_none("gasnet_wait_syncnbi_all");
    gas_poll();
    gas_operations_finish(t, &t->gets, true);
    gas_operations_finish(t, &t->puts, true);
    gas_operations_finish(t, &t->rmws, true);
}
ALSO(void, wait_syncnbi_all, (void));

int gasnet_try_syncnbi_gets(void) {
    struct gas_thread *t = gas_region_none("gasnet_try_syncnbi_gets");
    gas_poll();
    return gas_operations_try(t, &t->gets) ? GASNET_OK : gas_operation_not_ready();
}
ALSO(int, try_syncnbi_gets, (void));

int gasnet_try_syncnbi_puts(void) {
    struct gas_thread *t = gas_region_none("gasnet_try_syncnbi_puts");
    gas_poll();
    return gas_operations_try(t, &t->puts) ? GASNET_OK : gas_operation_not_ready();
}
ALSO(int, try_syncnbi_puts, (void));

int gasnet_try_syncnbi_all(void) {
    struct gas_thread *t = gas_region_none("gasnet_try_syncnbi_all");
    gas_poll();
    bool gets = gas_operations_try(t, &t->gets), puts = gas_operations_try(t, &t->puts),
         rmws = gas_operations_try(t, &t->rmws);
    return gets && puts && rmws ? GASNET_OK : gas_operation_not_ready();
}
ALSO(int, try_syncnbi_all, (void));

/* ---- access regions ---- */

void gas_region_begin(const char *call) {
    struct gas_thread *t = gas_region_none(call); /* also reports that regions do not nest */
    t->region = gas_operation_new(t);
    if (!t->region)
        gas_fail(call, "no memory for an access region");
    t->region->kind = OPERATION_REGION;
}

gasnet_handle_t gas_region_end(const char *call) {
    struct gas_thread *t = gas_thread_mine();
    gasnet_handle_t handle = t->region;
    if (!handle)
        gas_fail(call, "no access region is open in this thread");
    t->region = NULL;
    if (handle->region.first)
        return handle;
    gas_operation_free(t, handle); /* all completed immediately */
    return GASNET_INVALID_HANDLE;
}

void gasnet_begin_nbi_accessregion(void) {
    gas_region_begin("gasnet_begin_nbi_accessregion");
}
ALSO(void, begin_nbi_accessregion, (void));

gasnet_handle_t gasnet_end_nbi_accessregion(void) {
    return gas_region_end("gasnet_end_nbi_accessregion");
}
ALSO(gasnet_handle_t, end_nbi_accessregion, (void));
