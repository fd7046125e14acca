/* mpi_send.c: sends messages over MPI.
 *
 * The parts of a message are copied together into a slot, from which MPI sends them. Slots are reused; there are as many
 * as were ever in flight at once, in two sizes. A slot is either free or in flight, with an MPI request at the same index. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "net/mpi/mpi_link.h"

enum { SMALL = 4096 /* bytes of a small slot */ };

struct mpi_slot {
    struct mpi_slot *next; /* while free */
    bool large;
    _Alignas(16) char data[];
};

static struct mpi_slot *send_slot_take(struct mpi_port *p, size_t bytes) {
    bool large = bytes > SMALL;
    struct mpi_slot **list = large ? &p->sends.free_large : &p->sends.free_small, *s = *list;
    if (LIKELY(s != NULL)) {
        *list = s->next;
        return s;
    }
    s = malloc(sizeof *s + (large ? net_link_mpi_largest(p->link) : SMALL));
    if (s)
        s->large = large;
    return s;
}

static void send_slot_free(struct mpi_port *p, struct mpi_slot *s) {
    struct mpi_slot **list = s->large ? &p->sends.free_large : &p->sends.free_small;
    s->next = *list;
    *list = s;
}

/* Room for one more message in flight. On failure, arrays that were enlarged stay so. */
static bool sends_reserve(struct mpi_sends *sends) {
    if (LIKELY(sends->active < sends->room))
        return true;
    size_t room = sends->room ? 2 * (size_t)sends->room : 16;
    void *slots = realloc(sends->slots, room * sizeof *sends->slots);
    sends->slots = slots ? slots : sends->slots;
    void *requests = realloc(sends->requests, room * sizeof *sends->requests);
    sends->requests = requests ? requests : sends->requests;
    void *completed = realloc(sends->completed, room * sizeof *sends->completed);
    sends->completed = completed ? completed : sends->completed;
    if (!slots || !requests || !completed)
        return false;
    sends->room = (int)room;
    return true;
}

static size_t send_slot_fill(const struct mpi_port *p, struct mpi_slot *s, const void *header,
                             size_t header_bytes, const void *payload, size_t bytes) {
    struct mpi_envelope envelope = {.port = (uint32_t)p->number, .header_bytes = (uint32_t)header_bytes};
    size_t start = sizeof envelope + round_up(header_bytes, 8);
    memcpy(s->data, &envelope, sizeof envelope);
    if (header_bytes)
        memcpy(s->data + sizeof envelope, header, header_bytes);
    memset(s->data + sizeof envelope + header_bytes, 0, start - sizeof envelope - header_bytes);
    if (bytes)
        memcpy(s->data + start, payload, bytes);
    return start + bytes;
}

static int send_slot_start(struct mpi_port *p, struct mpi_peer *to, struct mpi_slot *s, size_t bytes) {
    MPI_Request request;
    int done = 0;
    int code = p->link->calls.isend(s->data, (int)bytes, MPI_BYTE, to->rank, to->number,
                                    net_link_mpi_comm(p->link, to->number), &request);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        send_slot_free(p, s);
        net_link_mpi_error(code, "MPI_Isend", to->rank);
        return net_link_mpi_peer_fail(p, to, "MPI cannot send to it");
    }
    net_wakeup_send(&p->wakeup, &to->wakeup);
    p->link->calls.test(&request, &done, MPI_STATUS_IGNORE);
    if (LIKELY(done)) {
        send_slot_free(p, s);
        return 0;
    }
    p->sends.slots[p->sends.active] = s;
    p->sends.requests[p->sends.active++] = request;
    return 0;
}

int net_link_mpi_send(struct link_port *port, struct link_peer *peer, const void *header, size_t header_bytes,
                      const void *payload, size_t bytes, struct link_send *s) {
    struct mpi_port *p = (struct mpi_port *)port;
    struct mpi_peer *to = (struct mpi_peer *)peer;
    if (UNLIKELY(to->failed))
        return -ECONNRESET;
    struct mpi_slot *slot = NULL;
    if (sends_reserve(&p->sends))
        slot = send_slot_take(p, sizeof(struct mpi_envelope) + LINK_HEADER + bytes);
    if (UNLIKELY(!slot))
        return net_link_mpi_peer_fail(p, to, "no memory for a message to it");
    return send_slot_start(p, to, slot, send_slot_fill(p, slot, header, header_bytes, payload, bytes));
}

/* Frees the slots whose requests are complete, and compacts the arrays. */
static void sends_compact(struct mpi_port *p) {
    struct mpi_sends *sends = &p->sends;
    int kept = 0;
    for (int i = 0; i < sends->active; i++) {
        if (sends->requests[i] == MPI_REQUEST_NULL) {
            send_slot_free(p, sends->slots[i]);
            continue;
        }
        sends->requests[kept] = sends->requests[i];
        sends->slots[kept++] = sends->slots[i];
    }
    sends->active = kept;
}

int net_link_mpi_complete_sends(struct mpi_port *p) {
    struct mpi_sends *sends = &p->sends;
    int count = 0;
    if (LIKELY(!sends->active))
        return 0;
    int code = p->link->calls.testsome(sends->active, sends->requests, &count, sends->completed,
                                       MPI_STATUSES_IGNORE);
    if (UNLIKELY(code != MPI_SUCCESS)) {
        net_link_mpi_error(code, "MPI_Testsome", -1);
        net_link_mpi_peer_fail(p, &p->unknown, "a message may not have left");
        return 0;
    }
    if (count == MPI_UNDEFINED || count == 0)
        return 0;
    sends_compact(p);
    return count;
}

static void send_slots_free(struct mpi_slot *s) {
    while (s) {
        struct mpi_slot *next = s->next;
        free(s);
        s = next;
    }
}

void net_link_mpi_free_sends(struct mpi_port *p) {
    struct mpi_sends *sends = &p->sends;
    for (int i = 0; i < sends->active; i++)
        PMPI_Request_free(&sends->requests[i]);
    send_slots_free(sends->free_small);
    send_slots_free(sends->free_large);
    free(sends->slots);
    free(sends->requests);
    free(sends->completed);
}
