/* process.c: the state of this process, and of its threads. job/gas_init.c fills it in. */
#include "gas/process/process.h"

#include "gas/process/context.h"
#include "gas/process/gas_comm.h"

struct gas gas_job;
struct gas_comm gas_comm;

_Thread_local struct am_context gas_am_context;

void gas_job_nodes(gasnet_nodeinfo_t *table, int count) {
    for (int i = 0; i < count; i++)
        table[i] = (gasnet_nodeinfo_t){.host = (gasnet_node_t)gas_job.hosts[i],
                                       .supernode = gas_job.world->node_of[i]};
}
