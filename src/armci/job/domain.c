/* domain.c: the node topology that ARMCI reports.
 *
 * ARMCI-MPI reports that each process has a node of its own. So common builds of Global Arrays have never run their
 * code for processes that share memory (mirrored arrays, two-level collectives); that code is slower or faster, and
 * has its own bugs. So the default reports the same as ARMCI-MPI, and HEARTH_ARMCI_TOPOLOGY=real reports the nodes
 * as net/ knows them. The reported topology does not affect how data is transferred. */
#include "armci/job/domain.h"

#include <stdlib.h>

#include "armci/job/armci_internal.h"
#include "base/settings.h"

enum topology { STOCK, REAL }; /* in the order of the setting's values */

static bool real_topology(void) {
    return settings_get()->armci_topology == REAL;
}

static bool is_process(int rank) {
    return rank >= 0 && rank < armci_job.size;
}

static int domain_node_of(int rank) {
    return real_topology() ? (int)armci_job.world->node_of[rank] : rank;
}

static int node_count(void) {
    return real_topology() ? armci_job.world->nodes : armci_job.size;
}

static int members_of(int node) {
    return real_topology() ? net_world_count(armci_job.world, node) : 1;
}

int armci_domain_place(int rank) {
    return real_topology() ? (int)armci_job.world->local_of[rank] : 0;
}

/* A negative id means this process's node. */
static int domain_resolve(int id) {
    return id < 0 ? domain_node_of(armci_job.rank) : id < node_count() ? id : -1;
}

int armci_domain_count(armci_domain_t domain) {
    armci_need_open("armci_domain_count");
    return node_count();
}

int armci_domain_my_id(armci_domain_t domain) {
    armci_need_open("armci_domain_my_id");
    return domain_node_of(armci_job.rank);
}

int armci_domain_id(armci_domain_t domain, int glob_proc_id) {
    armci_need_open("armci_domain_id");
    return is_process(glob_proc_id) ? domain_node_of(glob_proc_id) : -1;
}

int armci_domain_nprocs(armci_domain_t domain, int id) {
    armci_need_open("armci_domain_nprocs");
    int node = domain_resolve(id);
    return node < 0 ? -1 : members_of(node);
}

int armci_domain_glob_proc_id(armci_domain_t domain, int id, int loc_proc_id) {
    armci_need_open("armci_domain_glob_proc_id");
    int node = domain_resolve(id);
    if (node < 0 || loc_proc_id < 0 || loc_proc_id >= members_of(node))
        return -1;
    return real_topology() ? net_world_member(armci_job.world, node, loc_proc_id) : node;
}

int armci_domain_same_id(armci_domain_t domain, int proc) {
    armci_need_open("armci_domain_same_id");
    return is_process(proc) && domain_node_of(proc) == domain_node_of(armci_job.rank);
}

int ARMCI_Same_node(int proc) {
    return armci_domain_same_id(ARMCI_DOMAIN_SMP, proc);
}

/* Whether any processes share a node. */
int ARMCI_Uses_shm(void) {
    armci_need_open("ARMCI_Uses_shm");
    return node_count() < armci_job.size;
}

/* The same for the members of a group: whether a node occurs twice. */
int ARMCI_Uses_shm_grp(ARMCI_Group *group) {
    armci_need_open("ARMCI_Uses_shm_grp");
    if (!real_topology() || group->size < 2)
        return 0;
    char *seen = calloc((size_t)node_count(), 1);
    if (!seen)
        armci_fail("ARMCI_Uses_shm_grp", "no memory for %d bytes", node_count());
    int twice = 0;
    for (int i = 0; i < group->size && !twice; i++) {
        int node = domain_node_of(group->grp_to_abs[i]);
        twice = seen[node];
        seen[node] = 1;
    }
    free(seen);
    return twice;
}

/* Memory is allocated from the system on demand; there is no pool to limit. */
void ARMCI_Set_shm_limit(unsigned long shmemlimit) {
}
