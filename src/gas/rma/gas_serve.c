/* gas_serve.c: the table of the helper's handlers, and the reaction to a lost peer. */
#include "gas/rma/gas_serve.h"

#include <stdlib.h>

#include "base/job_end.h"
#include "base/log.h"

static void service_failed(void *arg, int rank, const char *why) {
    (void)arg;
    if (atomic_load(&gas_job.stage) == GAS_LEAVING)
        job_end(EXIT_FAILURE); /* the failing rank has logged the cause */
    if (rank < 0)
        log_error("a node cannot be served: %s; the job is ended", why);
    else
        log_error("node %d cannot be reached: %s; the job is ended", rank, why);
    job_end(EXIT_FAILURE);
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
