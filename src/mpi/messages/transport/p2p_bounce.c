/* p2p_bounce.c: bounce buffers, in which messages to other nodes leave through the host MPI.
 *
 * A message is copied after its header into a bounce buffer and passed to MPI immediately. A send is complete when MPI has
 * sent the bounce buffer: if the data left only in a later call, and the program made none, it would never leave. The
 * number of bounce buffers that are filled or in flight is bounded; beyond that, or if there is no memory for another one,
 * messages wait in their peer's queue. The first is allocated at the start: one is always spare or in flight.
 *
 * A call that starts many messages gathers those to one process in a batch, because a message of its own costs MPI a
 * system call on both sides over TCP. The batch leaves when the next message does not fit, and all batches leave before
 * the call returns: the program may then compute for long without calling MPI.
 *
 *      batch        header, without a message of its own
 *      bytes[]      [header, payload] [header, payload] ...     each header at a multiple of its alignment
 *
 * A message that is alone in its buffer is sent without the header of the batch. */
#include "mpi/messages/transport/p2p_bounce.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/messages/transport/p2p_count.h"

enum { MOST_BOUNCES = 256, TESTS = 4 /* per round */ };
/* Both MPIs send a message of this size over TCP without an answer of the receiver, MPICH one of 32 KB does not. */
enum { MOST_BATCH = 16 << 10 };

struct p2p_bounce {
    MPI_Request request;
    struct p2p_bounce *next;
    struct p2p_peer *peer;      /* to which its messages are sent */
    struct p2p_request *owners; /* complete when the buffer has been sent */
    unsigned messages;
    size_t used; /* of bytes */
    struct header batch;
    char bytes[];
};

unsigned p2p_bounce_count;

static MPI_Comm comm = MPI_COMM_NULL;
static size_t most_bytes, most_batch;
static struct p2p_bounce *spare, *under_way, *last_under_way;
static struct p2p_bounce *gathering;  /* batches to which messages are added */
static struct p2p_bounce *last_taken; /* the buffer of the message that was sent last */
static unsigned gatherers;            /* calls that gather batches */

/* ---- the buffers ---- */

static struct p2p_bounce *bounce_make(void) {
    return malloc(sizeof(struct p2p_bounce) + most_bytes);
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
    b->messages = 0;
    b->used = 0;
    p2p_bounce_count++;
    return b;
}

static void bounce_give(struct p2p_bounce *b) {
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
    char *at = b->bytes + round_up(b->used, _Alignof(struct header));
    memcpy(at, h, sizeof *h);
    p2p_data_gather(at + sizeof *h, d, from, bytes);
    b->used = (size_t)(at - b->bytes) + sizeof *h + bytes;
    b->messages++;
    last_taken = b;
}

/* Passes the buffer to MPI. Returns whether MPI has sent it: it is then spare again. */
static bool bounce_leave(struct p2p_bounce *b) {
    const void *first = b->bytes;
    size_t bytes = b->used;
    int sent = 0;
    if (b->messages > 1) {
        b->batch = (struct header){.kind = HEADER_BATCH, .bytes = b->used};
        first = &b->batch;
        bytes += sizeof b->batch;
        p2p_counted.of.batched += b->messages;
        log_trace(LOG_MESSAGES, "%u messages to rank %d leave together, in %zu bytes", b->messages,
                  b->peer->head.rank, bytes);
    }
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

int p2p_bounce_send(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes) {
    struct p2p_bounce *b = UNLIKELY(gatherers) ? batch_for(p, bytes) : bounce_take(p);
    if (!b)
        return -EAGAIN;
    bounce_add(b, h, d, from, bytes);
    return UNLIKELY(gatherers) || !bounce_leave(b);
}

void p2p_bounce_own(struct p2p_request *r) {
    r->next = last_taken->owners;
    last_taken->owners = r;
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
