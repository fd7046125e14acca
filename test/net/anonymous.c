/* anonymous.c: tests a link whose messages tell their sender by their content alone, short ones without a header, and long ones with
 * one.
 *
 * ranks: 2 */
#include "node.h"

#include <stdlib.h>

enum { MESSAGES = 400, MOST = 65536, SECONDS = 20 };

/* Begins the payload, or is the header. */
struct label {
    uint64_t sender, serial, bytes; /* of the payload behind the label */
};

struct parcel {
    struct link_send send;
    struct label label;
    char payload[];
};

static struct link *link_of_all;
static struct link_port *port;
static struct link_peer *other;
static uint64_t arrived, wrong, named, in_flight;

static void take(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                 const void *payload, size_t bytes) {
    struct label l;
    memcpy(&l, header_bytes ? header : payload, sizeof l);
    const char *content = header_bytes ? payload : (const char *)payload + sizeof l;
    char *copy = malloc(l.bytes + 8); /* aligned */
    memcpy(copy, content, l.bytes);
    arrived++;
    named += from != NULL;
    wrong += l.sender != (uint64_t)!test_rank || bytes != l.bytes + (header_bytes ? 0 : sizeof l) ||
             !is_random(copy, l.bytes, seed_of((int)l.sender, l.serial));
    free(copy);
}

static void lost(void *arg, struct link_peer *from, const char *why) {
    expect(!"a rank is lost");
}

static void parcel_left(struct link_send *s, int status) {
    expect_eq(status, 0);
    in_flight--;
    free(s);
}

static void open_port(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {.kind = over_ucx() ? LINK_UCX : LINK_MPI,
                                   .most = sizeof(struct label) + MOST,
                                   .ports = 2,
                                   .comm = &world,
                                   .anonymous = true};
    struct link_events events = {.arrived = take, .failed = lost};
    struct {
        int bytes;
        char data[LINK_ADDRESS];
    } mine = {0}, all[2];
    net_mpi_offer(NULL);
    if (!expect_eq(net_link_open(&options, &link_of_all), 0) ||
        !expect_eq(net_link_port_open(link_of_all, 1, &events, &port), 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    mine.bytes = net_link_port_address(port, mine.data);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    expect_eq(
        net_link_connect(port, all[!test_rank].data, (size_t)all[!test_rank].bytes, !test_rank, 1, &other),
        0);
}

static void send_one(uint64_t serial, size_t bytes, bool with_header) {
    struct parcel *p = malloc(sizeof *p + bytes + 8);
    *p = (struct parcel){.send = {.sent = parcel_left},
                         .label = {.sender = (uint64_t)test_rank, .serial = serial, .bytes = bytes}};
    fill_random(p->payload, bytes, seed_of(test_rank, serial));
    int rc = with_header ? net_link_send(port, other, &p->label, sizeof p->label, p->payload, bytes, &p->send)
                         : net_link_send(port, other, NULL, 0, &p->label, sizeof p->label + bytes, &p->send);
    expect(rc >= 0);
    in_flight += rc == 1;
    if (rc != 1)
        free(p);
}

CASE(all_sizes_with_and_without_a_header) {
    static const size_t sizes[] = {0, 1, 8, 63, 1000, 4096, 8191, 8192, 20000, MOST - 1, MOST};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    double end = MPI_Wtime() + SECONDS;
    arrived = wrong = named = in_flight = 0;
    open_port();
    for (uint64_t i = 0; i < MESSAGES; i++) {
        send_one(i, sizes[i % SIZES], i % 2);
        net_link_progress(port);
    }
    while ((arrived < MESSAGES || in_flight) && MPI_Wtime() < end)
        net_link_progress(port);
    expect_eq(arrived, MESSAGES);
    expect_eq(wrong, 0);
    expect_eq(in_flight, 0);
    expect(!over_ucx() || named == 0);
    barrier();
    close_only_port(link_of_all, port);
}
