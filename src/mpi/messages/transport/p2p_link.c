/* p2p_link.c: processes of other nodes, through Hearth's own network.
 *
 * Each process has one port, to which all others connect when they first send to it. The addresses of all ports are exchanged in
 * MPI_Init, because a job in which only some processes could use the network would need both transports everywhere:
 *
 *      addresses[rank]     [bytes, address] [bytes, address] ...       each in as much room as the longest needs
 *
 * A message of the link is a header with the sender's rank, and a payload. Neither MPI nor the sender's answer is needed to receive
 * it, and the link keeps nothing back: what its connection does not take at once stays in flight, in the memory of the sender.
 *
 * The link is used only where it is as fast as the network of the MPI: over RDMA, or if the machine has nothing but Ethernet. A
 * fabric that UCX does not know is left to the MPI.
 *
 * A process that is lost usually ends the job by its launcher. Hearth does so if the launcher has not after some seconds. */
#include "mpi/messages/transport/p2p_link.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/job_end.h"
#include "base/log.h"
#include "mpi/host/agreement.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_node.h"

/* A port other than 0, which does not wait for the other side when it closes. */
enum { PORT = 1, PATIENCE_S = 5 };

/* From this size on both MPIs carry a payload over TCP faster than pieces do: their handshake takes longer, and each byte less. */
enum { LEAST_BY_MPI = 512 << 10 };

bool p2p_link_is_used;

static struct link *network;
static struct link_port *port;
static char *addresses;
static size_t address_room; /* of each in `addresses` */
static bool has_rdma;
static uint64_t lost_since; /* a process was lost at this time; 0: none */
static int lost_rank;
static char lost_why[128];

/* ---- events ---- */

static void link_arrived(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                         const void *payload, size_t bytes) {
    struct p2p_link_header h;
    memcpy(&h, header_bytes ? header : payload, sizeof h);
    p2p_arrive_packet(p2p_peer_of((int)h.rank), &h.header,
                      header_bytes ? payload : (const char *)payload + sizeof h);
}

static int rank_of(const struct link_peer *peer) {
    for (int i = 0; peer && i < p2p_size; i++)
        if (((struct p2p_peer *)(void *)rank_table_find(&p2p_peers, i))->link == peer)
            return i;
    return -1;
}

static void link_failed(void *arg, struct link_peer *peer, const char *why) {
    if (lost_since)
        return;
    lost_since = clock_ns();
    lost_rank = rank_of(peer);
    snprintf(lost_why, sizeof lost_why, "%s", why);
    log_debug(LOG_MESSAGES, "rank %d (-1: unknown) cannot be reached: %s", lost_rank, why);
}

/* Answers of a process that is lost never come. */
static void end_if_abandoned(void) {
    if (clock_ns() - lost_since < PATIENCE_S * 1000000000ull)
        return;
    if (lost_rank < 0)
        log_error("messages: a rank cannot be reached: %s; the job is ended", lost_why);
    else
        log_error("messages: rank %d cannot be reached: %s; the job is ended", lost_rank, lost_why);
    job_end(MPI_ERR_INTERN);
}

/* ---- messages ---- */

static void link_connect(struct p2p_peer *p) {
    const char *at = addresses + (size_t)p->head.rank * address_room;
    uint16_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    if (net_link_connect(port, at + sizeof bytes, bytes, p->head.rank, PORT, &p->link) != 0)
        p2p_out_of_memory("a connection to another node");
}

/* A peer that has failed takes no message: link_failed is called for it. */
int p2p_link_send(struct p2p_peer *p, const void *header, size_t header_bytes, const void *payload,
                  uint64_t bytes, struct link_send *s) {
    if (UNLIKELY(!p->link))
        link_connect(p);
    return net_link_send(port, p->link, header, header_bytes, payload, bytes, s) != 0;
}

int p2p_link_poll(void) {
    int n = net_link_progress(port);
    if (UNLIKELY(lost_since))
        end_if_abandoned();
    return n;
}

bool p2p_link_carries(uint64_t bytes) {
    return p2p_link_is_used && !has_rdma && bytes < LEAST_BY_MPI;
}

/* ---- start ---- */

static bool has_entries(const char *folder) {
    DIR *d = opendir(folder);
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        found = e->d_name[0] != '.';
    if (d)
        closedir(d);
    return found;
}

static bool is_fast_enough(void) {
    has_rdma = net_link_is_direct(network);
    return has_rdma || !(has_entries("/sys/class/infiniband") || has_entries("/sys/class/cxi"));
}

static bool open_port(void) {
    struct link_options options = {.kind = LINK_UCX,
                                   .most = sizeof(struct p2p_link_header) + P2P_LINK_MOST,
                                   .ports = 1,
                                   .anonymous = true};
    struct link_events events = {.arrived = link_arrived, .failed = link_failed};
    return net_link_open(&options, &network) == 0 && is_fast_enough() &&
           net_link_port_open(network, PORT, &events, &port) == 0;
}

/* Collective. bytes: of this process's address. Returns whether all have memory for the addresses of all. */
static bool make_table(int bytes) {
    host_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    address_room = sizeof(uint16_t) + (size_t)bytes;
    addresses = malloc((size_t)p2p_size * address_room);
    int has = addresses != NULL, all = 0;
    host_Allreduce(&has, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* The exchange of the addresses. Collective. */
static bool exchange(void) {
    char mine[sizeof(uint16_t) + LINK_ADDRESS] = {0};
    int bytes = port ? net_link_port_address(port, mine + sizeof(uint16_t)) : -1;
    int opened = bytes > 0, all = 0;
    host_Allreduce(&opened, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all || !make_table(bytes))
        return false;
    uint16_t brief = (uint16_t)bytes;
    memcpy(mine, &brief, sizeof brief);
    return host_Allgather(mine, (int)address_room, MPI_BYTE, addresses, (int)address_room, MPI_BYTE,
                          MPI_COMM_WORLD) == MPI_SUCCESS;
}

/* Where the processes of a node cannot share memory, all messages go through MPI: it may have other means inside a node. */
void p2p_link_open(unsigned on_node) {
    if (on_node == (unsigned)p2p_size || agreement_net() != LINK_OVER_UCX || !agreement_matches_node())
        return;
    if (p2p_node_count() == (int)on_node)
        open_port();
    p2p_link_is_used = exchange();
    log_debug(LOG_MESSAGES, "messages between nodes go %s",
              !p2p_link_is_used ? "through MPI"
              : has_rdma        ? "through UCX, payloads above the eager limit through MPI"
                                : "through UCX, payloads of 512 KB and more through MPI");
    if (!p2p_link_is_used)
        p2p_link_close();
}

/* ---- end ---- */

void p2p_link_shut(void) {
    net_link_port_quiesce(port);
    net_link_port_shut(port);
}

void p2p_link_close(void) {
    if (port)
        net_link_port_close(port);
    if (network)
        net_link_close(network);
    free(addresses);
    port = NULL;
    network = NULL;
    addresses = NULL;
    p2p_link_is_used = false;
    lost_since = 0;
}
