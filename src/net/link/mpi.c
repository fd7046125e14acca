/* mpi.c: messages between nodes as MPI messages, for sites without UCX.
 *
 * Uses two communicators of its own, one for main ports and one for helpers, so that messages for one do not
 * obstruct the other. The tag is the port. A message is one MPI message:
 *
 *      what   header, to a multiple of 8   payload
 *      8      0 ... LINK_HEADER            0 ... most
 *
 * The parts are copied together into a slot, from which MPI sends them. Slots are reused; there are as many as were ever
 * in flight at once. Receiving uses MPI_Improbe and a free buffer. No call blocks: a large message needs its sender's
 * progress too, and a sender that computes makes none. Other messages do not wait for it: a buffer is made whenever all
 * others wait for their senders. The credits of the layer above limit their number. A few are kept for later.
 *
 * MPI has no call that sleeps: see wakeup.h. These messages are not the program's. So all calls have the prefix PMPI, for tools,
 * and those that send and receive are the MPI library's own where libhearth-mpi interposes both (link.h): it would count them
 * among the program's. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "net/link/mpi_link.h"
#include "net/link/peers.h"
#include "net/link/wakeup.h"

enum {
    SMALL = 4096,  /* bytes of a small slot */
    RECEIVES = 4,  /* buffers that a port keeps for later */
    TURNS = 64,    /* messages received in one call */
    MAIN_NAP = 50, /* microseconds: main ports get no wakeups */
    BUSY_NAP = 20, /* while MPI requests are pending */
};

struct what {
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

struct slot {
    struct slot *next; /* while free */
    bool large;
    _Alignas(16) char data[];
};

struct receive {
    struct receive *next; /* of the list that it is in */
    MPI_Request request;
    int source;
    _Alignas(64) char data[];
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

    struct slot *free_small, *free_large;
    struct slot **sending; /* [active], with their MPI requests */
    MPI_Request *requests;
    int *completed; /* scratch memory for MPI_Testsome */
    int active, room;

    struct receive *receiving, *free_receives;
    int free_count;
    struct mpi_peer *failing; /* reported in progress */
    struct mpi_peer unknown;  /* stands for senders whose message was lost */
};

static size_t largest(const struct mpi_link *l) {
    return sizeof(struct what) + LINK_HEADER + l->most;
}

static MPI_Comm link_mpi_comm_of(const struct mpi_link *l, int port) {
    return l->comms[port != 0];
}

/* ---- peers ---- */

static uint64_t name_of(int rank, int port) {
    return (uint64_t)(uint32_t)rank << 32 | (uint32_t)port;
}

/* link_mpi_progress reports the failure later; see note_failure in ucx.c for the reason. */
static int note_failure(struct mpi_port *p, struct mpi_peer *peer, const char *why) {
    if (peer->failed)
        return -ECONNRESET;
    peer->failed = true;
    peer->why = why;
    peer->next_failing = p->failing;
    p->failing = peer;
    return -EIO;
}

/* Finds or creates a peer; NULL: no memory. */
static struct mpi_peer *link_mpi_peer_of(struct mpi_port *p, int rank, int number) {
    struct mpi_peer *peer = net_peers_find(&p->by_name, name_of(rank, number));
    if (LIKELY(peer != NULL))
        return peer;
    if (net_peers_reserve(&p->by_name) != 0 || !(peer = calloc(1, sizeof *peer)))
        return NULL;
    *peer = (struct mpi_peer){
        .base = {.network = &net_link_mpi}, .next = p->peers, .rank = rank, .number = number};
    p->peers = peer;
    net_peers_add(&p->by_name, name_of(rank, number), peer);
    return peer;
}

static int link_mpi_connect_to(struct link_port *port, const void *address, size_t bytes, int rank,
                               int number, struct link_peer **peer) {
    struct mpi_peer *to = link_mpi_peer_of((struct mpi_port *)port, rank, number);
    if (!to) {
        log_error("network mpi: no memory for rank %d, port %d", rank, number);
        return -ENOMEM;
    }
    if (bytes == sizeof to->wakeup)
        memcpy(&to->wakeup, address, bytes);
    *peer = &to->base;
    return 0;
}

static int link_mpi_port_address(struct link_port *port, void *into) {
    struct mpi_port *p = (struct mpi_port *)port;
    memcpy(into, &p->wakeup.address, sizeof p->wakeup.address);
    return sizeof p->wakeup.address;
}

/* ---- sending ---- */

static struct slot *link_mpi_take_slot(struct mpi_port *p, size_t bytes) {
    bool large = bytes > SMALL;
    struct slot **list = large ? &p->free_large : &p->free_small, *s = *list;
    if (LIKELY(s != NULL)) {
        *list = s->next;
        return s;
    }
    s = malloc(sizeof *s + (large ? largest(p->link) : SMALL));
    if (s)
        s->large = large;
    return s;
}

static void give_slot(struct mpi_port *p, struct slot *s) {
    struct slot **list = s->large ? &p->free_large : &p->free_small;
    s->next = *list;
    *list = s;
}

/* Room for one more message in flight. On failure, arrays that were enlarged stay so. */
static bool have_room(struct mpi_port *p) {
    if (LIKELY(p->active < p->room))
        return true;
    size_t room = p->room ? 2 * (size_t)p->room : 16;
    void *sending = realloc(p->sending, room * sizeof *p->sending);
    p->sending = sending ? sending : p->sending;
    void *requests = realloc(p->requests, room * sizeof *p->requests);
    p->requests = requests ? requests : p->requests;
    void *completed = realloc(p->completed, room * sizeof *p->completed);
    p->completed = completed ? completed : p->completed;
    if (!sending || !requests || !completed)
        return false;
    p->room = (int)room;
    return true;
}

static size_t link_mpi_fill(const struct mpi_port *p, struct slot *s, const void *header, size_t header_bytes,
                            const void *payload, size_t bytes) {
    struct what what = {.port = (uint32_t)p->number, .header_bytes = (uint32_t)header_bytes};
    size_t start = sizeof what + round_up(header_bytes, 8);
    memcpy(s->data, &what, sizeof what);
    if (header_bytes)
        memcpy(s->data + sizeof what, header, header_bytes);
    memset(s->data + sizeof what + header_bytes, 0, start - sizeof what - header_bytes);
    if (bytes)
        memcpy(s->data + start, payload, bytes);
    return start + bytes;
}

static int send_slot(struct mpi_port *p, struct mpi_peer *to, struct slot *s, size_t bytes) {
    MPI_Request request;
    int done = 0;
    int code = p->link->calls.isend(s->data, (int)bytes, MPI_BYTE, to->rank, to->number,
                                    link_mpi_comm_of(p->link, to->number), &request);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        give_slot(p, s);
        net_link_mpi_said(code, "MPI_Isend", to->rank);
        return note_failure(p, to, "MPI cannot send to it");
    }
    net_wakeup_send(&p->wakeup, &to->wakeup);
    p->link->calls.test(&request, &done, MPI_STATUS_IGNORE);
    if (LIKELY(done)) {
        give_slot(p, s);
        return 0;
    }
    p->sending[p->active] = s;
    p->requests[p->active++] = request;
    return 0;
}

static int link_mpi_send_message(struct link_port *port, struct link_peer *peer, const void *header,
                                 size_t header_bytes, const void *payload, size_t bytes,
                                 struct link_send *s) {
    struct mpi_port *p = (struct mpi_port *)port;
    struct mpi_peer *to = (struct mpi_peer *)peer;
    if (UNLIKELY(to->failed))
        return -ECONNRESET;
    struct slot *slot =
        have_room(p) ? link_mpi_take_slot(p, sizeof(struct what) + LINK_HEADER + bytes) : NULL;
    if (UNLIKELY(!slot))
        return note_failure(p, to, "no memory for a message to it");
    return send_slot(p, to, slot, link_mpi_fill(p, slot, header, header_bytes, payload, bytes));
}

/* Returns how many completed; compacts the arrays. */
static int complete_sends(struct mpi_port *p) {
    int count = 0, kept = 0;
    if (LIKELY(!p->active))
        return 0;
    int code = p->link->calls.testsome(p->active, p->requests, &count, p->completed, MPI_STATUSES_IGNORE);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_said(code, "MPI_Testsome", -1);
        note_failure(p, &p->unknown, "a message may not have left");
        return 0;
    }
    if (count == MPI_UNDEFINED || count == 0)
        return 0;
    for (int i = 0; i < p->active; i++) {
        if (p->requests[i] == MPI_REQUEST_NULL) {
            give_slot(p, p->sending[i]);
            continue;
        }
        p->requests[kept] = p->requests[i];
        p->sending[kept++] = p->sending[i];
    }
    p->active = kept;
    return count;
}

/* ---- receiving ---- */

/* Whether the message has a valid header. *start: offset of its payload. */
static bool is_sound(const struct what *what, size_t bytes, size_t *start) {
    *start = sizeof *what + round_up(what->header_bytes, 8);
    return bytes >= sizeof *what && what->header_bytes <= LINK_HEADER && bytes >= *start &&
           what->port <= INT_MAX;
}

static void deliver(struct mpi_port *p, struct receive *r, size_t bytes) {
    struct what what;
    size_t start;
    memcpy(&what, r->data, sizeof what);
    if (UNLIKELY(p->shut))
        return;
    if (UNLIKELY(!is_sound(&what, bytes, &start))) {
        log_error("network mpi: a message of %zu bytes from rank %d is not one of ours; do all ranks run the "
                  "same version of "
                  "the library?",
                  bytes, r->source);
        note_failure(p, &p->unknown, "a message was thrown away");
        return;
    }
    struct mpi_peer *from = link_mpi_peer_of(p, r->source, (int)what.port);
    if (LIKELY(from))
        p->events.arrived(p->events.arg, &from->base, r->data + sizeof what, what.header_bytes,
                          r->data + start, bytes - start);
    else
        note_failure(p, &p->unknown, "no memory for a rank that sends here; its message is lost");
}

/* A free buffer, or a new one. NULL: no memory; messages wait until a buffer is free. */
static struct receive *take_receive(struct mpi_port *p) {
    struct receive *r = p->free_receives;
    if (UNLIKELY(!r))
        return aligned_alloc(64, round_up(sizeof *r + largest(p->link), 64));
    p->free_receives = r->next;
    p->free_count--;
    return r;
}

static void give_receive(struct mpi_port *p, struct receive *r) {
    if (p->free_count == RECEIVES) {
        free(r);
        return;
    }
    r->next = p->free_receives;
    p->free_receives = r;
    p->free_count++;
}

/* Whether the receive is complete; if so, delivers it, and frees the buffer. */
static bool complete_receive(struct mpi_port *p, struct receive *r) {
    MPI_Status status;
    int done = 0, bytes = 0;
    int code = p->link->calls.test(&r->request, &done, &status);
    if (LIKELY(code == MPI_SUCCESS) && !done)
        return false;
    if (LIKELY(code == MPI_SUCCESS)) {
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        net_wakeup_answered(&p->wakeup);
        deliver(p, r, (size_t)bytes);
    } else {
        net_link_mpi_said(code, "a message is lost", r->source);
        note_failure(p, &p->unknown, "a message is lost");
    }
    give_receive(p, r);
    return true;
}

static int complete_receives(struct mpi_port *p) {
    int happened = 0;
    for (struct receive **at = &p->receiving, *r; (r = *at);) {
        struct receive *next = r->next;
        if (complete_receive(p, r)) {
            *at = next;
            happened++;
        } else {
            at = &r->next;
        }
    }
    return happened;
}

/* Starts to receive the next message; returns whether there was one. */
static bool start_receive(struct mpi_port *p) {
    struct receive *r = take_receive(p);
    MPI_Message message;
    MPI_Status status;
    int there = 0;
    if (UNLIKELY(!r))
        return false;
    int code = p->link->calls.improbe(MPI_ANY_SOURCE, p->number, link_mpi_comm_of(p->link, p->number), &there,
                                      &message, &status);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_said(code, "MPI_Improbe", -1);
        note_failure(p, &p->unknown, "MPI cannot receive");
    }
    if (code != MPI_SUCCESS || !there) {
        give_receive(p, r);
        return false;
    }
    r->source = status.MPI_SOURCE;
    code = p->link->calls.imrecv(r->data, (int)largest(p->link), MPI_BYTE, &message, &r->request);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_said(code, "MPI_Imrecv", r->source);
        note_failure(p, &p->unknown, "a message is lost");
        give_receive(p, r);
        return false;
    }
    if (!complete_receive(p, r)) {
        r->next = p->receiving;
        p->receiving = r;
    }
    return true;
}

static int link_mpi_tell_failures(struct mpi_port *p) {
    int told = 0;
    for (; UNLIKELY(p->failing != NULL); told++) {
        struct mpi_peer *peer = p->failing;
        p->failing = peer->next_failing;
        p->events.failed(p->events.arg, peer == &p->unknown ? NULL : &peer->base, peer->why);
    }
    return told;
}

static int link_mpi_progress(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    int happened = complete_sends(p) + complete_receives(p);
    for (int i = 0; i < TURNS && start_receive(p); i++)
        happened++;
    return happened + link_mpi_tell_failures(p);
}

/* ---- sleep ---- */

/* Receives wakeups before it probes: a wakeup that arrives later makes the descriptor readable. */
static int link_mpi_arm(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    int there = 0;
    if (p->failing)
        return -EAGAIN;
    net_wakeup_expects(&p->wakeup);
    p->link->calls.iprobe(MPI_ANY_SOURCE, p->number, link_mpi_comm_of(p->link, p->number), &there,
                          MPI_STATUS_IGNORE);
    return there ? -EAGAIN : 0;
}

static bool listens(const struct mpi_port *p) {
    return p->wakeup.address.any.sa_family != AF_UNSPEC;
}

static int link_mpi_descriptor(const struct link_port *port) {
    const struct mpi_port *p = (const struct mpi_port *)port;
    return listens(p) ? p->wakeup.socket : -1;
}

static uint64_t link_mpi_nap(const struct link_port *port) {
    const struct mpi_port *p = (const struct mpi_port *)port;
    if (p->active || p->receiving)
        return BUSY_NAP;
    return p->number == 0 ? MAIN_NAP : net_wakeup_nap(&p->wakeup);
}

/* ---- ports ---- */

static void link_mpi_port_close(struct link_port *port);

static int link_mpi_port_open(struct link *link, int number, const struct link_events *events,
                              struct link_port **port) {
    struct mpi_link *l = (struct mpi_link *)link;
    struct mpi_port *p = calloc(1, sizeof *p);
    if (!p)
        goto no_memory;
    *p =
        (struct mpi_port){.base = {.network = &net_link_mpi}, .link = l, .events = *events, .number = number};
    net_wakeup_open(&p->wakeup, number != 0, l->one_machine);
    struct receive *first = take_receive(p);
    if (!first)
        goto no_memory;
    give_receive(p, first);
    *port = &p->base;
    return 0;

no_memory:
    log_error("network mpi: no memory for port %d", number);
    if (p)
        link_mpi_port_close(&p->base);
    return -ENOMEM;
}

static void link_mpi_pause_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* The port completes its sends. It receives messages that arrive in the meantime, because their senders may wait for that. */
static void link_mpi_port_quiesce(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    uint64_t deadline = clock_ns() + LINK_CLOSE_NS;
    while (p->active && clock_ns() < deadline)
        if (link_mpi_progress(port) == 0)
            link_mpi_pause_a_little();
}

/* Receives messages that no caller waits for any more, such as the last acknowledgements: MPI would report a missing
 * receive. All messages to us were sent before the last barrier, but may still be in flight. */
static void link_mpi_port_shut(struct link_port *port) {
    enum { EMPTY = 5 };
    struct mpi_port *p = (struct mpi_port *)port;
    uint64_t deadline = clock_ns() + LINK_CLOSE_NS;
    p->shut = true;
    for (int empty = 0; empty < EMPTY && clock_ns() < deadline; empty++) {
        if (link_mpi_progress(port) > 0)
            empty = 0;
        else
            link_mpi_pause_a_little();
    }
}

static void free_slots(struct slot *s) {
    while (s) {
        struct slot *next = s->next;
        free(s);
        s = next;
    }
}

/* Buffers of unfinished MPI requests stay allocated: MPI may still read or write them. */
static void link_mpi_port_close(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    while (p->free_receives) {
        struct receive *r = p->free_receives;
        p->free_receives = r->next;
        free(r);
    }
    for (int i = 0; i < p->active; i++)
        PMPI_Request_free(&p->requests[i]);
    free_slots(p->free_small);
    free_slots(p->free_large);
    free(p->sending);
    free(p->requests);
    free(p->completed);
    while (p->peers) {
        struct mpi_peer *peer = p->peers;
        p->peers = peer->next;
        free(peer);
    }
    net_peers_close(&p->by_name);
    net_wakeup_close(&p->wakeup);
    free(p);
}

const struct link_network net_link_mpi = {
    .open = net_link_mpi_open,
    .close = net_link_mpi_close,
    .port_open = link_mpi_port_open,
    .port_quiesce = link_mpi_port_quiesce,
    .port_shut = link_mpi_port_shut,
    .port_close = link_mpi_port_close,
    .port_address = link_mpi_port_address,
    .connect = link_mpi_connect_to,
    .send = link_mpi_send_message,
    .progress = link_mpi_progress,
    .arm = link_mpi_arm,
    .descriptor = link_mpi_descriptor,
    .nap = link_mpi_nap,
};
