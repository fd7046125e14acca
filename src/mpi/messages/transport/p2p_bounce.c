/* p2p_bounce.c: bounce buffers, in which messages to other nodes leave through Hearth's network or the host MPI.
 *
 * A message is copied after its header into a bounce buffer and passed to the network immediately. A send is complete when the
 * network has sent the bounce buffer: if the data left only in a later call, and the program made none, it would never leave. The
 * number of bounce buffers that are filled or in flight is bounded; beyond that, or if there is no memory for another one,
 * messages wait in their peer's queue. The first is allocated at the start: one is always spare or in flight.
 *
 * Through Hearth's network a longer contiguous payload is sent from the program's memory, and only the header is copied. The program
 * may not touch that memory until its send is complete.
 *
 * A call that starts many messages gathers those to one process in a batch, because a message of its own costs a
 * system call on both sides over TCP. The batch leaves when the next message does not fit, and all batches leave before
 * the call returns: the program may then compute for long without calling MPI.
 *
 *      batch        header, without a message of its own
 *      bytes[]      [header, payload] [header, payload] ...     each header at a multiple of its alignment
 *
 * A message that is alone in its buffer is sent without the header of the batch. */
#include "mpi/messages/transport/p2p_bounce.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/messages/transport/p2p_count.h"
#include "mpi/messages/transport/p2p_link.h"
#include "tables/shape.h"

enum { MOST_BOUNCES = 256, TESTS = 4 /* per round */ };
enum { LEAST_IN_PLACE = 4 << 10 };
/* Both MPIs send a message of this size over TCP without an answer of the receiver, MPICH one of 32 KB does not. */
enum { MOST_BATCH = 16 << 10 };

struct p2p_bounce {
    struct link_send sending; /* through Hearth's network: must be first */
    MPI_Request request;      /* through MPI */
    struct p2p_bounce *next;
    struct p2p_peer *peer;      /* to which its messages are sent */
    struct p2p_request *owners; /* complete when the buffer has been sent */
    struct p2p_request *whole;  /* the transfer of which it is a piece, or NULL */
    unsigned messages;
    size_t used;  /* of bytes, without those before the first message */
    char bytes[]; /* [rank, header of the batch] [header, payload] [header, payload] ... */
};
/* Of the part before the first message. The rank is used through Hearth's network only, and stands before the header that is sent first. */
enum { BEFORE = sizeof(struct p2p_link_header), RANK = offsetof(struct p2p_link_header, header) };

unsigned p2p_bounce_count;

static MPI_Comm comm = MPI_COMM_NULL;
static size_t most_bytes, most_batch;
static struct p2p_bounce *spare, *under_way, *last_under_way;
static struct p2p_bounce *gathering;  /* batches to which messages are added */
static struct p2p_bounce *last_taken; /* the buffer of the message that was sent last */
static unsigned gatherers;            /* calls that gather batches */

/* ---- the buffers ---- */

static struct p2p_bounce *bounce_make(void) {
    return malloc(sizeof(struct p2p_bounce) + BEFORE + most_bytes);
}

static struct p2p_bounce *bounce_take(struct p2p_peer *p) {
    if (p2p_bounce_count == MOST_BOUNCES)
        return NULL;
    struct p2p_bounce *b = spare;
    if (b)
        spare = b->next;
    else if (!(b = bounce_make()))
        return NULL;
    b->peer = p;
    b->owners = NULL;
    b->whole = NULL;
    b->messages = 0;
    b->used = 0;
    p2p_bounce_count++;
    return b;
}

static void piece_gone(struct p2p_request *r) {
    ASSERT(r->flying > 0);
    if (!--r->flying && r->moved == r->wanted)
        p2p_request_finish(r);
}

static void bounce_give(struct p2p_bounce *b) {
    if (b->whole)
        piece_gone(b->whole);
    for (struct p2p_request *r = b->owners, *next; r; r = next) {
        next = r->next;
        p2p_request_finish(r);
    }
    b->next = spare;
    spare = b;
    p2p_bounce_count--;
}

static void add_under_way(struct p2p_bounce *b) {
    b->next = NULL;
    if (under_way)
        last_under_way->next = b;
    else
        under_way = b;
    last_under_way = b;
}

static void bounce_add(struct p2p_bounce *b, const struct header *h, struct data *d, uint64_t from,
                       uint64_t bytes) {
    size_t at = round_up(b->used, _Alignof(struct header));
    char *into = b->bytes + BEFORE + at;
    memcpy(into, h, sizeof *h);
    p2p_data_gather(into + sizeof *h, d, from, bytes);
    b->used = at + sizeof *h + bytes;
    b->messages++;
    last_taken = b;
}

/* Called by Hearth's network. If the receiver is lost, the job ends: see p2p_link.c. */
static void bounce_sent(struct link_send *sending, int status) {
    if (status == 0)
        bounce_give((struct p2p_bounce *)sending);
}

static bool leave_by_link(struct p2p_bounce *b, const void *header, size_t header_bytes, const void *payload,
                          uint64_t bytes) {
    b->sending.sent = bounce_sent;
    if (p2p_link_send(b->peer, header, header_bytes, payload, bytes, &b->sending))
        return false;
    bounce_give(b);
    return true;
}

/* UCX sends one piece of memory faster than a header and a payload. */
static bool leave_in_one(struct p2p_bounce *b, char *first, size_t bytes) {
    memcpy(first - RANK, &(int64_t){p2p_rank}, RANK);
    return leave_by_link(b, NULL, 0, first - RANK, RANK + bytes);
}

static bool leave_by_mpi(struct p2p_bounce *b, const char *first, size_t bytes) {
    int sent = 0;
    if (host_real.Isend(first, (int)bytes, MPI_BYTE, b->peer->head.rank, 0, comm, &b->request) !=
            MPI_SUCCESS ||
        host_real.Test(&b->request, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        p2p_mpi_failed("sending a message");
    if (LIKELY(sent))
        bounce_give(b);
    else
        add_under_way(b);
    return sent;
}

/* Passes the buffer to the network. Returns whether it has been sent: it is then spare again. */
static bool bounce_leave(struct p2p_bounce *b) {
    char *first = b->bytes + BEFORE;
    size_t bytes = b->used;
    if (b->messages > 1) {
        first -= sizeof(struct header);
        memcpy(first, &(struct header){.kind = HEADER_BATCH, .bytes = b->used}, sizeof(struct header));
        bytes += sizeof(struct header);
        p2p_counted.of.batched += b->messages;
        log_trace(LOG_MESSAGES, "%u messages to rank %d leave together, in %zu bytes", b->messages,
                  b->peer->head.rank, bytes);
    }
    return p2p_link_is_used ? leave_in_one(b, first, bytes) : leave_by_mpi(b, first, bytes);
}

/* ---- batches ---- */

/* link: where the list of batches refers to it. */
static bool leave_at(struct p2p_bounce **link) {
    struct p2p_bounce *b = *link;
    *link = b->next;
    b->peer->batch = NULL;
    return bounce_leave(b);
}

static void leave_one(const struct p2p_bounce *b) {
    struct p2p_bounce **link = &gathering;
    while (*link != b)
        link = &(*link)->next;
    leave_at(link);
}

static int leave_all(void) {
    int n = 0;
    while (gathering)
        n += leave_at(&gathering);
    return n;
}

static bool has_room(const struct p2p_bounce *b, uint64_t bytes) {
    return round_up(b->used, _Alignof(struct header)) + sizeof(struct header) + bytes <= most_batch;
}

/* The batch to this process, replaced if the message does not fit. */
static struct p2p_bounce *batch_for(struct p2p_peer *p, uint64_t bytes) {
    struct p2p_bounce *b = p->batch;
    if (b && has_room(b, bytes))
        return b;
    if (b)
        leave_one(b);
    if (p2p_bounce_count == MOST_BOUNCES)
        leave_all();
    b = bounce_take(p);
    if (!b)
        return NULL;
    b->next = gathering;
    gathering = b;
    p->batch = b;
    return b;
}

void p2p_bounce_batch_begin(void) {
    gatherers++;
}

void p2p_bounce_batch_end(void) {
    gatherers--;
    leave_all();
}

/* ---- sending ---- */

/* The send is complete when the message has left, not when the receiver answers; and its bytes are those of the program, or of a
 * transfer whose request keeps them. */
static bool stays_in_place(const struct header *h, const struct data *d, uint64_t bytes) {
    return UNLIKELY(bytes >= LEAST_IN_PLACE) && p2p_link_is_used && h->kind != HEADER_SYNC &&
           shape_is_contiguous(&d->layout.shape) && (!d->opaque || h->kind == HEADER_DATA);
}

static int send_in_place(struct p2p_peer *p, const struct header *h, const char *payload, uint64_t bytes) {
    if (p->batch)
        leave_one(p->batch);
    struct p2p_bounce *b = bounce_take(p);
    if (!b)
        return -EAGAIN;
    last_taken = b;
    memcpy(b->bytes, &(struct p2p_link_header){.rank = p2p_rank, .header = *h}, BEFORE);
    return !leave_by_link(b, b->bytes, BEFORE, payload, bytes);
}

int p2p_bounce_send(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes) {
    if (stays_in_place(h, d, bytes))
        return send_in_place(p, h, d->first + from, bytes);
    bool joins =
        UNLIKELY(gatherers) && h->kind != HEADER_DATA; /* a piece is alone: see p2p_bounce_own_piece */
    struct p2p_bounce *b = joins ? batch_for(p, bytes) : bounce_take(p);
    if (!b)
        return -EAGAIN;
    bounce_add(b, h, d, from, bytes);
    return joins || !bounce_leave(b);
}

void p2p_bounce_own(struct p2p_request *r) {
    r->next = last_taken->owners;
    last_taken->owners = r;
}

void p2p_bounce_own_piece(struct p2p_request *r) {
    last_taken->whole = r;
    r->flying++;
}

/* Unsent bounce buffers go to the end, so that one to a process that computes does not delay others. */
int p2p_bounce_poll_slow(void) {
    int n = leave_all(), flag;
    const struct p2p_bounce *last = last_under_way;
    for (unsigned left = TESTS; left && under_way; left--) {
        struct p2p_bounce *b = under_way;
        if (host_real.Test(&b->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            p2p_mpi_failed("sending a message");
        under_way = b->next;
        if (flag)
            bounce_give(b);
        else
            add_under_way(b);
        n += flag;
        if (b == last)
            break;
    }
    return n;
}

bool p2p_bounce_is_idle(void) {
    return !p2p_bounce_count;
}

/* ---- start and end ---- */

int p2p_bounce_open(MPI_Comm on, size_t most) {
    comm = on;
    most_bytes = most;
    most_batch = most - sizeof(struct header) < MOST_BATCH ? most - sizeof(struct header) : MOST_BATCH;
    struct p2p_bounce *first = bounce_make();
    if (!first)
        return MPI_ERR_NO_MEM;
    first->next = NULL;
    spare = first;
    return MPI_SUCCESS;
}

void p2p_bounce_close(void) {
    for (struct p2p_bounce *b = spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    spare = NULL;
}
