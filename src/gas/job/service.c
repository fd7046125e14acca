/* service.c: the table of the helper's handlers. */
#include "gas/job/service.h"

#include "gas/am/am_remote.h"
#include "gas/memory/batch.h"
#include "gas/memory/dram.h"
#include "gas/process/process.h"
#include "gas/process/remote_op.h"

static void service_failed(void *arg, int rank, const char *why) {
    (void)arg;
    gas_lost(rank, why);
}

const struct net_service gas_service = {
    .handlers = {[GAS_AM_PART] = gas_am_serve_part,
                 [GAS_AM] = gas_am_serve,
                 [GAS_AM_PULL] = gas_am_serve_pull,
                 [GAS_AM_REPLY] = gas_am_serve_reply,
                 [GAS_GET] = gas_dram_serve_get,
                 [GAS_PUT] = gas_dram_serve_put,
                 [GAS_SET] = gas_dram_serve_set,
                 [GAS_BATCH] = gas_dram_serve_batch},
    .failed = service_failed,
};
