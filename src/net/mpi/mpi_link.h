/* mpi_link.h: messages between nodes as MPI messages, for sites without UCX: declarations shared by mpi_*.c.
 *
 * The link uses two communicators of its own, one for main ports and one for helpers, so that messages for one do not
 * obstruct the other. The tag is the port. A message is one MPI message:
 *
 *      envelope   header, to a multiple of 8   payload
 *      8          0 ... LINK_HEADER            0 ... most
 *
 * No call blocks. MPI has no call that sleeps: see wakeup.h. These messages are not the program's. So all calls have the
 * prefix PMPI, for tools, and those that send and receive are the MPI library's own where libhearth-mpi interposes both
 * (link.h): it would count them among the program's. */
#ifndef HEARTH_NET_MPI_LINK_H
#define HEARTH_NET_MPI_LINK_H

#include <mpi.h>

#include "net/link/link_internal.h"
#include "net/link/peers.h"
#include "net/mpi/wakeup.h"

/* The calls that send and receive. */
struct link_mpi_calls {
    __typeof__(PMPI_Isend) *isend;
    __typeof__(PMPI_Improbe) *improbe;
    __typeof__(PMPI_Imrecv) *imrecv;
    __typeof__(PMPI_Iprobe) *iprobe;
    __typeof__(PMPI_Test) *test;
    __typeof__(PMPI_Testsome) *testsome;
};

struct mpi_link {
    struct link base;
    struct link_mpi_calls calls;
    MPI_Comm comms[2]; /* for main ports; for helpers */
    size_t most;
    bool one_machine;
};

/* The beginning of a message. */
struct mpi_envelope {
    uint32_t port; /* of the sender */
    uint32_t header_bytes;
};

struct mpi_peer {
    struct link_peer base;
    struct mpi_peer *next, *next_failing;
    int rank, number;
    bool failed;
    const char *why;
    union wakeup_address wakeup;
};

/* Messages that are being sent. */
struct mpi_sends {
    struct mpi_slot *free_small, *free_large;
    struct mpi_slot **slots; /* [active], with their MPI requests */
    MPI_Request *requests;
    int *completed; /* scratch memory for MPI_Testsome */
    int active, room;
};

/* Messages that are being received. */
struct mpi_receives {
    struct mpi_receive *pending, *free;
    int free_count;
};

struct mpi_port {
    struct link_port base;
    struct mpi_link *link;
    struct link_events events;
    int number;
    bool shut; /* arriving messages are discarded */
    struct wakeup wakeup;
    struct peers by_name;
    struct mpi_peer *peers;
    struct mpi_peer *failing; /* reported in progress */
    struct mpi_peer unknown;  /* stands for senders whose message was lost */
    struct mpi_sends sends;
    struct mpi_receives receives;
};

/* Bytes of the largest message. */
static inline size_t net_link_mpi_largest(const struct mpi_link *l) {
    return sizeof(struct mpi_envelope) + LINK_HEADER + l->most;
}

/* The communicator for messages to ports of this number. */
static inline MPI_Comm net_link_mpi_comm(const struct mpi_link *l, int port) {
    return l->comms[port != 0];
}

extern const struct link_network net_link_mpi;

/* mpi_open.c */
int net_link_mpi_open(const struct link_options *options, struct link **link);
void net_link_mpi_close(struct link *link);
/* Logs an error of MPI. Returns -EIO. */
int net_link_mpi_error(int code, const char *what, int rank);

/* mpi_peer.c */
/* Finds or creates a peer; NULL: no memory. */
struct mpi_peer *net_link_mpi_peer(struct mpi_port *p, int rank, int number);
int net_link_mpi_connect(struct link_port *port, const void *address, size_t bytes, int rank, int number,
                         struct link_peer **peer);
/* Notes that the peer has failed, for net_link_mpi_report_failures. Returns -EIO, or -ECONNRESET if that was known. */
int net_link_mpi_peer_fail(struct mpi_port *p, struct mpi_peer *peer, const char *why);
/* Returns how many failures were reported. */
int net_link_mpi_report_failures(struct mpi_port *p);
void net_link_mpi_free_peers(struct mpi_port *p);

/* mpi_send.c */
int net_link_mpi_send(struct link_port *port, struct link_peer *peer, const void *header, size_t header_bytes,
                      const void *payload, size_t bytes, struct link_send *s);
/* Returns how many sends have completed. */
int net_link_mpi_complete_sends(struct mpi_port *p);
/* Buffers of unfinished sends stay allocated: MPI may still read them. */
void net_link_mpi_free_sends(struct mpi_port *p);

/* mpi_receive.c */
/* Allocates the first buffer, so that the port can receive. Returns 0 or -ENOMEM. */
int net_link_mpi_prepare_receives(struct mpi_port *p);
/* Starts and completes as many receives as possible. Returns the number of events. */
int net_link_mpi_receive(struct mpi_port *p);
/* Buffers of unfinished receives stay allocated: MPI may still write them. */
void net_link_mpi_free_receives(struct mpi_port *p);

/* mpi_progress.c */
int net_link_mpi_progress(struct link_port *port);
int net_link_mpi_arm(struct link_port *port);
int net_link_mpi_descriptor(const struct link_port *port);
uint64_t net_link_mpi_nap(const struct link_port *port);

#endif
