/* mutual.c: tests ports that connect to each other, as those of page services do: each port that sends a message is one
 * peer, whichever of the two has connected. Over TCP they then share a connection.
 *
 * ranks: 2 */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 200, SECONDS = 20 };

static struct link *link_of_all;
static struct link_port *port;
static struct link_peer *other; /* of the other rank */
static char address[LINK_ADDRESS];
static int address_bytes;
static uint64_t arrived, strangers, sum;

static void take(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                 const void *payload, size_t bytes) {
    uint64_t serial;
    expect_eq(header_bytes, sizeof serial);
    memcpy(&serial, header, sizeof serial);
    arrived++;
    sum += serial;
    strangers += other && from != other;
    if (!other) /* the other rank has connected first */
        other = from;
}

static void fail(void *arg, struct link_peer *from, const char *why) {
    printf("rank %d: a other failed: %s\n", test_rank, why);
    expect(!"a other failed");
}

static void open_port(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {
        .kind = over_ucx() ? LINK_UCX : LINK_MPI, .most = 4096, .ports = 2, .comm = &world};
    struct link_events events = {.arrived = take, .failed = fail};
    struct {
        int bytes;
        char data[LINK_ADDRESS];
    } mine = {0}, all[2];
    other = NULL;
    arrived = strangers = sum = 0;
    net_mpi_offer(NULL);
    if (!expect_eq(net_link_open(&options, &link_of_all), 0) ||
        !expect_eq(net_link_port_open(link_of_all, 1, &events, &port), 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    mine.bytes = net_link_port_address(port, mine.data);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    address_bytes = all[!test_rank].bytes;
    memcpy(address, all[!test_rank].data, sizeof address);
}

static struct link_peer *connect_to_other(void) {
    struct link_peer *made = NULL;
    expect_eq(net_link_connect(port, address, (size_t)address_bytes, !test_rank, 1, &made), 0);
    return made;
}

struct message {
    struct link_send send;
    uint64_t serial;
    bool left;
};

static void has_left(struct link_send *s, int status) {
    expect_eq(status, 0);
    ((struct message *)s)->left = true;
}

static void send_to_other(struct message *m, uint64_t serial) {
    *m = (struct message){.send.sent = has_left, .serial = serial};
    int status = net_link_send(port, other, &m->serial, sizeof m->serial, NULL, 0, &m->send);
    expect(status == 0 || status == 1);
    m->left = status == 0;
}

static void progress_until_left(const struct message *m) {
    for (double end = MPI_Wtime() + SECONDS; !m->left && MPI_Wtime() < end;)
        net_link_progress(port);
    expect(m->left);
}

static void progress_until_arrived(uint64_t count) {
    for (double end = MPI_Wtime() + SECONDS; arrived < count && MPI_Wtime() < end;)
        net_link_progress(port);
    expect(arrived >= count); /* the other rank may be ahead */
}

CASE(the_one_that_was_greeted_connects) {
    static struct message messages[MESSAGES];
    open_port();
    if (test_rank == 0)
        other = connect_to_other();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        if (test_rank == 1) {
            progress_until_arrived(i + 1);
            expect(connect_to_other() == other);
        }
        send_to_other(&messages[i], i);
        progress_until_left(&messages[i]);
        if (test_rank == 0)
            progress_until_arrived(i + 1);
    }
    expect_eq(strangers, 0);
    expect_eq(sum, MESSAGES * (MESSAGES - 1) / 2);
    barrier();
    close_only_port(link_of_all, port);
}

/* Neither has heard of the other when it connects. */
CASE(both_connect_at_once) {
    static struct message messages[2 * MESSAGES];
    open_port();
    other = connect_to_other();
    barrier();
    for (uint64_t i = 0; i < MESSAGES; i++)
        send_to_other(&messages[i], i);
    progress_until_arrived(MESSAGES);
    for (uint64_t i = MESSAGES; i < 2 * MESSAGES; i++) {
        send_to_other(&messages[i], i);
        progress_until_arrived(i + 1);
    }
    for (int i = 0; i < 2 * MESSAGES; i++)
        progress_until_left(&messages[i]);
    for (double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;) /* nothing arrives twice */
        net_link_progress(port);
    expect_eq(arrived, 2 * MESSAGES);
    expect_eq(sum, MESSAGES * (2 * MESSAGES - 1));
    expect_eq(strangers, 0);
    expect(connect_to_other() == other);
    barrier();
    close_only_port(link_of_all, port);
}
