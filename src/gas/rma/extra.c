/* extra.c: the vgasnet_* calls that GASNet does not have. */
#include "gas/coll/barrier.h"
#include "gas/rma/gas_transfer.h"

#include <errno.h>

static bool has_pages(const char *call, gasnet_node_t node, const void *addr, size_t nbytes) {
    return !gas_memory_check(call, node, addr, nbytes) && gas_job.pages && nbytes > 0;
}

void vgasnet_prefetch(gasnet_node_t node, const void *addr, size_t nbytes) {
    if (has_pages("vgasnet_prefetch", node, addr, nbytes))
        pages_prefetch(gas_job.pages, (int)node, addr, nbytes);
}

int vgasnet_hint(gasnet_node_t node, const void *addr, size_t nbytes, int hint) {
    static const enum pages_hint hints[] = {[VGASNET_HINT_NORMAL] = PAGES_NORMAL,
                                            [VGASNET_HINT_READ_MOSTLY] = PAGES_READ_MOSTLY,
                                            [VGASNET_HINT_NO_CACHE] = PAGES_NO_CACHE};
    const char *call = "vgasnet_hint";
    if (hint < 0 || (size_t)hint >= sizeof hints / sizeof hints[0])
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "%d is not a hint", hint);
    if (!has_pages(call, node, addr, nbytes))
        return GASNET_OK;
    int status = pages_hint(gas_job.pages, (int)node, addr, nbytes, hints[hint]);
    if (status == -ENOSPC)
        return gas_refuse(GASNET_ERR_RESOURCE, call, "too many ranges have a hint");
    return status == 0 ? GASNET_OK : GASNET_ERR_BAD_ARG;
}

int vgasnet_checkpoint(uint64_t *epoch) {
    const char *call = "vgasnet_checkpoint";
    uint64_t number = 0;
    gas_need(call, 0);
    gas_need_free(call);
    if (!gas_job.pages)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "segments are not kept with HEARTH_NVM=off");
    gas_barrier(); /* polls until all ranks have called; pages_checkpoint, which does not poll, then need not wait for them */
    int status = pages_checkpoint(gas_job.pages, &gas_job.boot, &number);
    if (status != 0)
        return status == -EINVAL ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE;
    if (epoch)
        *epoch = number;
    return GASNET_OK;
}

int vgasnet_open(uint64_t epoch) {
    if (atomic_load(&gas_job.stage) == GAS_NOTHING || gas_memory_is_attached())
        return gas_refuse(GASNET_ERR_NOT_INIT, "vgasnet_open",
                          "it must be called between gasnet_init and gasnet_attach, or gex_Client_Init and "
                          "gex_Segment_Attach");
    pages_choose_epoch(epoch);
    return GASNET_OK;
}

uint64_t vgasnet_last_epoch(void) {
    gas_need("vgasnet_last_epoch", 0);
    return gas_job.pages ? pages_last_epoch(gas_job.pages) : 0;
}

uint64_t vgasnet_epoch(void) {
    gas_need("vgasnet_epoch", 0);
    return gas_job.pages ? pages_epoch(gas_job.pages) : 0;
}
