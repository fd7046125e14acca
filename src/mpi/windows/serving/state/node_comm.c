/* node_comm.c: keeps the part of a communicator on this node, and the communicator of the nodes' first processes, as attributes of
 * it: to make one takes longer than all the rest of creating a window. */
#include "mpi/windows/serving/state/node_comm.h"

#include <pthread.h>

#include "mpi/host/agreement.h"
#include "mpi/windows/serving/state/serve_agree.h"
#include "mpi/windows/serving/state/served.h"

enum kept { KEPT_NODE, KEPT_LEADERS, KEPT };

static int keyvals[KEPT] = {MPI_KEYVAL_INVALID, MPI_KEYVAL_INVALID};

/* The attribute is a pointer, which holds the handle itself: an int in one MPI, a pointer in the other. */
static void *pack_comm(MPI_Comm comm) {
    void *p = NULL;
    memcpy(&p, &comm, sizeof comm);
    return p;
}

static MPI_Comm unpack_comm(void *p) {
    MPI_Comm comm;
    memcpy(&comm, &p, sizeof comm);
    return comm;
}
_Static_assert(sizeof(MPI_Comm) <= sizeof(void *), "a handle fits into a pointer");

static bool is_predefined(MPI_Comm comm) {
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;
}

/* All processes free the communicator, so they free what is kept with it, too. MPI_Finalize does so for the predefined ones, when
 * communicators can no longer be freed. */
static int kept_delete(MPI_Comm comm, int key, void *value, void *state) {
    (void)key, (void)state;
    MPI_Comm kept = unpack_comm(value);
    if (!is_predefined(comm) && kept != MPI_COMM_NULL)
        host_real.Comm_free(&kept);
    return MPI_SUCCESS;
}

static void make_keyvals(void) {
    for (int i = 0; i < KEPT; i++)
        if (host_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, kept_delete, &keyvals[i], NULL) != MPI_SUCCESS)
            keyvals[i] = MPI_KEYVAL_INVALID;
}

static bool kept_find(MPI_Comm comm, enum kept what, MPI_Comm *found) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *value;
    int flag = 0;
    pthread_once(&once, make_keyvals);
    if (keyvals[what] == MPI_KEYVAL_INVALID ||
        host_Comm_get_attr(comm, keyvals[what], &value, &flag) != MPI_SUCCESS || !flag)
        return false;
    *found = unpack_comm(value);
    return true;
}

/* Keeps it on all ranks or on none: if one has none, those of the others are removed again. made: MPI made it here, or has made
 * MPI_COMM_NULL of it. */
static bool kept_add(MPI_Comm comm, enum kept what, bool made, MPI_Comm new) {
    if (made && new != MPI_COMM_NULL)
        host_Comm_set_errhandler(new, MPI_ERRORS_RETURN);
    bool kept = made && keyvals[what] != MPI_KEYVAL_INVALID &&
                host_Comm_set_attr(comm, keyvals[what], pack_comm(new)) == MPI_SUCCESS;
    if (serve_agree(kept, comm))
        return true;
    if (kept)
        host_Comm_delete_attr(comm, keyvals[what]);
    if (made && new != MPI_COMM_NULL && (!kept || is_predefined(comm))) /* else kept_delete has freed it */
        host_real.Comm_free(&new);
    return false;
}

/* Replaces the communicator of this process alone by that of all processes on its machine. */
static int split_by_machine(MPI_Comm comm, MPI_Comm *node) {
    struct net_boot boot;
    serve_node_boot(&comm, &boot);
    int lowest = net_machine_lowest(&boot);
    if (lowest < 0)
        return MPI_SUCCESS;
    host_real.Comm_free(node);
    int rc = host_real.Comm_split(comm, lowest, 0, node);
    if (rc != MPI_SUCCESS)
        *node = MPI_COMM_NULL;
    return rc;
}

int serve_node_split(MPI_Comm comm, MPI_Comm *node) {
    int all = 1, here = 0, most = 0;
    int rc = host_real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node);
    if (rc != MPI_SUCCESS)
        *node = MPI_COMM_NULL;
    else
        host_Comm_size(*node, &here);
    host_Comm_size(comm, &all);
    if (all == 1)
        return rc;
    int mine = rc == MPI_SUCCESS ? here : all; /* no second attempt if the first has failed on a rank */
    int exchanged = host_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm);
    if (exchanged != MPI_SUCCESS && rc == MPI_SUCCESS)
        host_real.Comm_free(node);
    if (exchanged != MPI_SUCCESS || rc != MPI_SUCCESS)
        return exchanged != MPI_SUCCESS ? exchanged : rc;
    return most == 1 ? split_by_machine(comm, node) : MPI_SUCCESS;
}

MPI_Comm serve_node_comm(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    if (kept_find(comm, KEPT_NODE, &node))
        return node;
    bool made = serve_node_split(comm, &node) == MPI_SUCCESS;
    return kept_add(comm, KEPT_NODE, made, node) ? node : MPI_COMM_NULL;
}

bool serve_node_is_whole(MPI_Comm comm, MPI_Comm node) {
    unsigned most = agreement_node_ranks();
    int all = 0, here = 0;
    host_Comm_size(comm, &all);
    host_Comm_size(node, &here);
    return all == here && (!most || (unsigned)all <= most);
}

bool serve_leader_comm(MPI_Comm comm, MPI_Comm *leaders) {
    int rank = 0;
    *leaders = MPI_COMM_NULL;
    if (kept_find(comm, KEPT_LEADERS, leaders))
        return true;
    host_Comm_rank(serve_node_comm(comm), &rank);
    bool made = host_real.Comm_split(comm, rank ? MPI_UNDEFINED : 0, 0, leaders) == MPI_SUCCESS;
    return kept_add(comm, KEPT_LEADERS, made, *leaders);
}

/* ---- start-up over a communicator ---- */

static int node_gather(void *arg, const void *mine, void *all, size_t bytes) {
    const MPI_Comm *comm = arg;
    int one = 1, sum, rc;
    if (bytes == 0)
        rc = host_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *comm);
    else
        rc = host_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *comm);
    if (rc != MPI_SUCCESS)
        serve_agree_broken("an exchange between the ranks");
    return 0;
}

void serve_node_boot(MPI_Comm *comm, struct net_boot *boot) {
    *boot = (struct net_boot){.arg = comm, .gather = node_gather};
    host_Comm_rank(*comm, &boot->rank);
    host_Comm_size(*comm, &boot->size);
}
