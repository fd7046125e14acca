/* p2p_node.c: messages to the processes of this node, through the shared memory of net.h. If one of them cannot use it, all
 * use the host MPI instead. */
#include "mpi/messages/transport/p2p_node.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "mpi/host/agreement.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/windows/serving/state/node_comm.h"

struct net_node *p2p_node;
uint64_t p2p_node_eager, p2p_node_pull_from, p2p_node_share_from;
int p2p_node_rank = -1;
static struct p2p_peer **members; /* by rank on the node */
static int member_count;
static MPI_Comm here = MPI_COMM_NULL; /* the processes of this node, while they open the shared memory */

int p2p_node_count(void) {
    return member_count ? member_count : 1;
}

static void on_message(void *arg, int peer, const void *header, const void *payload, size_t bytes) {
    p2p_arrive_message(members[peer], header, payload);
}

int p2p_node_poll(void) {
    return net_node_poll(p2p_node, on_message, NULL);
}

/* Whether all are connected. They use the least of the sizes that they measured: a process that was disturbed measures
 * more. */
static int agree_on_pulls(MPI_Comm comm, int ok) {
    int mine[2] = {ok, INT_MAX}, least[2] = {0, INT_MAX};
    if (ok && net_node_can_pull(p2p_node))
        mine[1] = (int)net_node_pull_from(p2p_node);
    host_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, comm);
    p2p_node_pull_from = least[1] < INT_MAX ? (uint64_t)least[1] : UINT64_MAX;
    return least[0];
}

/* Exchanges the addresses of all members; all must be able to map them. */
static int connect(MPI_Comm comm, int count, struct net_address mine) {
    struct net_address *all = malloc((size_t)count * sizeof *all);
    int ok = p2p_node && all && members, every = 0;
    host_Allreduce(&ok, &every, 1, MPI_INT, MPI_MIN, comm);
    if (every) {
        host_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, comm);
        ok = !net_node_connect(p2p_node, all);
        every = agree_on_pulls(comm, ok);
    }
    free(all);
    return every;
}

static bool find_members(const int *world, int count) {
    for (int i = 0; i < count; i++)
        if (!(members[i] = p2p_peer_try(world[i])))
            return false;
    return true;
}

static void enlist(MPI_Comm comm, int count, int rank) {
    int *world = malloc((size_t)count * sizeof *world), ok = world != NULL, every = 0;
    host_Allreduce(&ok, &every, 1, MPI_INT, MPI_MIN, comm);
    if (every) {
        host_Allgather(&p2p_rank, 1, MPI_INT, world, 1, MPI_INT, comm);
        ok = find_members(world, count);
        host_Allreduce(&ok, &every, 1, MPI_INT, MPI_MIN, comm);
    }
    free(world);
    if (!every) {
        p2p_node_close();
        return;
    }
    for (int i = 0; i < count; i++)
        members[i]->node = i;
    member_count = count;
    p2p_node_rank = rank;
}

static void node_forget_comm(void) {
    if (here != MPI_COMM_NULL)
        host_real.Comm_free(&here);
}

/* A process that helps must be running: if processes share a core, the one that waits for the other's half may wait for
 * a time slice. */
static void set_limits(uint64_t most_eager, int count) {
    bool helps = p2p_node_pull_from < UINT64_MAX && count <= sysconf(_SC_NPROCESSORS_ONLN);
    p2p_node_share_from = helps ? 2 * p2p_node_pull_from : UINT64_MAX;
    p2p_node_eager = p2p_node ? net_node_eager(p2p_node) : 0;
    if (p2p_node_eager > most_eager)
        p2p_node_eager = most_eager;
    if (p2p_node_eager >= p2p_node_pull_from)
        p2p_node_eager = p2p_node_pull_from - 1;
    if (p2p_node_pull_from == UINT64_MAX)
        log_debug(LOG_MESSAGES, "large messages are sent in pieces, as the kernel allows no direct copies");
    else
        log_debug(LOG_MESSAGES, "messages of %llu bytes and more are copied from the sender's memory, %s",
                  (unsigned long long)p2p_node_pull_from,
                  helps ? "those of twice that size by both processes"
                        : "by the receiver, as processes share cores");
}

static void open_among(MPI_Comm comm) {
    const struct settings *s = settings_get();
    struct net_options options = {.limit = s->match_memory, .header_bytes = sizeof(struct header)};
    struct net_address mine = {{0}};
    host_Comm_rank(comm, &options.rank);
    host_Comm_size(comm, &options.count);
    if (options.count < 2) {
        log_debug(LOG_MESSAGES, "no shared memory for messages: this process is alone on its node");
        return;
    }
    members = calloc((size_t)options.count, sizeof *members);
    if (net_node_open(&options, &p2p_node, &mine))
        p2p_node = NULL;
    if (!connect(comm, options.count, mine)) {
        if (!options.rank)
            log_warn("no shared memory for messages among the %d processes of this node; they go through MPI",
                     options.count);
        p2p_node_close();
        return;
    }
    enlist(comm, options.count, options.rank);
    log_debug(LOG_MESSAGES, "%d processes of this node exchange messages in shared memory, %llu bytes each",
              options.count, (unsigned long long)options.limit);
    set_limits(s->match_eager, options.count);
}

/* Groups of HEARTH_NODE_RANKS ranks of this machine. */
static int split_into_nodes(unsigned node_ranks) {
    MPI_Comm machine = here;
    int rank = 0;
    host_Comm_rank(machine, &rank);
    int rc = host_real.Comm_split(machine, rank / (int)node_ranks, rank, &here);
    host_real.Comm_free(&machine);
    return rc;
}

int p2p_node_find(unsigned *count) {
    int members_here = 1;
    int rc = serve_node_split(MPI_COMM_WORLD, &here);
    if (rc == MPI_SUCCESS && agreement_node_ranks())
        rc = split_into_nodes(agreement_node_ranks());
    if (rc == MPI_SUCCESS)
        host_Comm_size(here, &members_here);
    *count = (unsigned)members_here;
    return rc;
}

void p2p_node_open(void) {
    if (agreement_matches_node())
        open_among(here);
    else
        log_debug(LOG_MESSAGES, "messages inside the node go through MPI (HEARTH_MATCH_NODE)");
    node_forget_comm();
}

void p2p_node_close(void) {
    node_forget_comm();
    if (p2p_node)
        net_node_close(p2p_node);
    p2p_node = NULL;
    free(members);
    members = NULL;
    member_count = 0;
    p2p_node_rank = -1;
}
