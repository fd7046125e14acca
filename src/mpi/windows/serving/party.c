/* party.c: finds the processes of a window on this node, and the domain for those of other nodes; see party.h. */
#include "mpi/windows/serving/party.h"

#include <stdlib.h>

#include "base/log.h"
#include "mpi/windows/serving/state/node_comm.h"
#include "mpi/windows/serving/state/serve_agree.h"

void serve_party_close(struct party *p) {
    if (p->local_comm != MPI_COMM_NULL)
        host_real.Comm_free(&p->local_comm);
    if (p->comm != MPI_COMM_NULL && !p->keeps_comm)
        host_real.Comm_free(&p->comm);
    free(p->nodes);
}

/* Finds a domain for processes on several nodes, and the processes of this node. */
static bool party_open_nodes(struct party *p, MPI_Comm machine) {
    int lowest, rank;
    if (!serve_agree_copy(p->program, &p->comm))
        return false;
    serve_node_boot(&p->comm, &p->boot);
    rank = p->boot.rank;
    if (host_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, machine) != MPI_SUCCESS)
        serve_agree_broken("MPI_Allreduce");
    p->domain = serve_domain_of(p->comm, &p->boot, lowest);
    if (!p->domain) {
        log_debug(LOG_WINDOWS, "a window of %d ranks on several nodes has no helpers", p->boot.size);
        return false;
    }
    p->nodes = serve_domain_nodes(p->domain, p->comm, p->boot.size);
    if (net_agree_on_memory(&p->boot, p->nodes, "the nodes") != 0)
        return false;
    bool ok = host_real.Comm_split(p->comm, p->domain->world->node, 0, &p->local_comm) == MPI_SUCCESS;
    if (!ok)
        p->local_comm = MPI_COMM_NULL;
    if (!serve_agree(ok, p->comm))
        return false;
    host_Comm_set_errhandler(p->local_comm, MPI_ERRORS_RETURN);
    serve_node_boot(&p->local_comm, &p->local);
    return true;
}

bool serve_party_open(struct party *p, MPI_Comm comm) {
    MPI_Comm machine = serve_node_comm(comm);
    *p = (struct party){.program = comm, .comm = MPI_COMM_NULL, .local_comm = MPI_COMM_NULL};
    if (machine == MPI_COMM_NULL) {
        log_debug(LOG_WINDOWS, "MPI does not tell which ranks share a node: no communicator for them");
        return false;
    }
    if (serve_node_is_whole(comm, machine)) {
        p->comm = machine;
        p->keeps_comm = true;
        serve_node_boot(&p->comm, &p->boot);
        p->local = p->boot;
        return true;
    }
    bool opened = party_open_nodes(p, machine);
    if (!opened)
        serve_party_close(p);
    return opened;
}
