/* p2p_remote.c: processes that are reached through the host MPI.
 *
 * Headers and small messages travel on a communicator of Hearth's own. A number of receives from any source are
 * always posted there, so that MPI's own queues stay empty and need no search:
 *
 *      slots[]:   [posted] [posted] [posted] ...     MPI fills them in the order of posting; the oldest is tested
 *
 * They are tested even if no process is remote, because that makes MPI progress its own work. On Open MPI the oldest is
 * tested alone, on MPICH together with those after it. Two ranks on Neoverse N1, ns per message: MPI_Test 126 and 371,
 * MPI_Testsome 162 and 177.
 *
 * A message is copied after its header into a bounce buffer and passed to MPI immediately. A send is
 * complete when MPI has sent the bounce buffer: if the data left only in a later call, and the program made none, it
 * would never leave. The number of bounce buffers in flight is bounded; beyond that, or if there is no memory for another
 * one, messages wait in their peer's queue. The first is allocated at the start: one is always spare or in flight. Large
 * messages travel on a second communicator, by a receive that names sender and tag and is posted before
 * the CTS is sent. Nothing is searched there either, and nothing is copied. */
#include "mpi/p2p/transport/p2p_remote.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "mpi/p2p/transport/arrive.h"
#include "mpi/p2p/transport/p2p_channel.h"

enum { MOST_BOUNCES = 256, TESTS = 16, BOUNCE_TESTS = 4 /* tested per round: transfers, bounce buffers */ };
enum { SOME = 16 /* slots tested together */, NOT_YET = -1 };

struct p2p_bounce {
    MPI_Request request;
    struct p2p_bounce *next;
    struct p2p_request *owner; /* completes when the bounce buffer has been sent; or NULL */
    char bytes[];
};

uint64_t p2p_remote_eager;

static MPI_Comm heads = MPI_COMM_NULL, bulk = MPI_COMM_NULL;
/* Of each slot: its receive, and the source of the message in it, or NOT_YET. */
static MPI_Request *requests;
static int *sources;
static unsigned slot_count, oldest;
static char *memory;

static struct p2p_bounce *spare, *under_way, *last_under_way;
static unsigned bounces;

/* Transfers of large messages in flight; the next to test is the first. */
static struct p2p_request *transfers, *last_transfer;
static uint64_t next_tag;

/* ---- receiving ---- */

static size_t remote_slot_bytes(void) {
    return round_up(sizeof(struct header) + p2p_remote_eager, CACHE_LINE);
}

static char *remote_slot_buffer(unsigned slot) {
    return memory + slot * remote_slot_bytes();
}

/* Persistent, which saves 25 ns per receive in Open MPI. */
static int remote_prepare(unsigned slot) {
    return host_real.Recv_init(remote_slot_buffer(slot), (int)remote_slot_bytes(), MPI_BYTE, MPI_ANY_SOURCE,
                               0, heads, &requests[slot]);
}

static int remote_post(unsigned slot) {
    sources[slot] = NOT_YET;
    return host_real.Start(&requests[slot]);
}

static void test_oldest(void) {
    MPI_Status status;
    int flag;
    if (host_real.Test(&requests[oldest], &flag, &status) != MPI_SUCCESS)
        p2p_mpi_failed("receiving a message");
    if (flag)
        sources[oldest] = status.MPI_SOURCE;
}

/* Tests the oldest and those after it. They may complete in another order. */
static void test_some(void) {
    MPI_Status statuses[SOME];
    int done, which[SOME];
    unsigned rest = slot_count - oldest, count = rest < SOME ? rest : SOME;
    if (host_real.Testsome((int)count, requests + oldest, &done, which, statuses) != MPI_SUCCESS)
        p2p_mpi_failed("receiving a message");
    for (int i = 0; i < done; i++)
        sources[oldest + (unsigned)which[i]] = statuses[i].MPI_SOURCE;
}

static bool has_oldest_arrived(void) {
    if (sources[oldest] == NOT_YET)
        (host_is_open_mpi() ? test_oldest : test_some)();
    return sources[oldest] != NOT_YET;
}

static int poll_headers(int most) {
    int n = 0;
    for (; n < most && has_oldest_arrived(); n++) {
        const struct header *h = (const void *)remote_slot_buffer(oldest);
        p2p_arrive_message(p2p_peer_of(sources[oldest]), h, h + 1);
        if (remote_post(oldest) != MPI_SUCCESS)
            p2p_mpi_failed("posting a receive");
        oldest = oldest + 1 == slot_count ? 0 : oldest + 1;
    }
    return n;
}

/* ---- sending ---- */

static struct p2p_bounce *bounce_make(void) {
    return malloc(sizeof(struct p2p_bounce) + remote_slot_bytes());
}

static struct p2p_bounce *take_bounce(void) {
    struct p2p_bounce *p = spare;
    if (!p)
        return bounce_make();
    spare = p->next;
    return p;
}

static void give_bounce(struct p2p_bounce *p) {
    p->next = spare;
    spare = p;
}

static void add_under_way(struct p2p_bounce *p) {
    p->next = NULL;
    if (under_way)
        last_under_way->next = p;
    else
        under_way = p;
    last_under_way = p;
}

int p2p_remote_try(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                   uint64_t bytes) {
    struct p2p_bounce *bounce = bounces < MOST_BOUNCES ? take_bounce() : NULL;
    int flag = 0;
    if (!bounce)
        return -EAGAIN;
    memcpy(bounce->bytes, h, sizeof *h);
    p2p_data_gather(bounce->bytes + sizeof *h, d, from, bytes);
    if (host_real.Isend(bounce->bytes, (int)(sizeof *h + bytes), MPI_BYTE, p->head.rank, 0, heads,
                        &bounce->request) != MPI_SUCCESS ||
        host_real.Test(&bounce->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        p2p_mpi_failed("sending a message");
    if (LIKELY(flag)) {
        give_bounce(bounce);
        return 0;
    }
    add_under_way(bounce);
    bounce->owner = NULL;
    bounces++;
    return 1;
}

void p2p_remote_own(struct p2p_request *r) {
    last_under_way->owner = r;
}

/* Unsent bounce buffers go to the end, so that one to a process that computes does not delay others. */
static int poll_bounces(void) {
    int n = 0, flag;
    for (unsigned left = bounces < BOUNCE_TESTS ? bounces : BOUNCE_TESTS; left; left--) {
        struct p2p_bounce *p = under_way;
        if (host_real.Test(&p->request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            p2p_mpi_failed("sending a message");
        under_way = p->next;
        if (!flag) {
            add_under_way(p);
            continue;
        }
        if (p->owner)
            p2p_request_finish(p->owner);
        give_bounce(p);
        bounces--;
        n++;
    }
    return n;
}

/* ---- large messages ---- */

/* MPI_BYTE if the data is contiguous, else a type for the shape, to be freed. */
static int type_for(const struct shape *s, int *count, MPI_Datatype *type) {
    *type = MPI_BYTE;
    *count = (int)s->bytes;
    if (shape_is_contiguous(s) && s->bytes <= INT_MAX)
        return MPI_SUCCESS;
    *count = 1;
    return layout_to_type(s, type);
}

static void add_transfer(struct p2p_request *r) {
    r->next = NULL;
    if (transfers)
        last_transfer->next = r;
    else
        transfers = r;
    last_transfer = r;
}

static void remote_start(struct p2p_request *r, void *first, const struct shape *s, bool receive, int tag) {
    MPI_Datatype type;
    int count, rc = type_for(s, &count, &type);
    if (rc == MPI_SUCCESS && receive)
        rc = host_real.Irecv(first, count, type, r->peer->head.rank, tag, bulk, &r->host);
    else if (rc == MPI_SUCCESS)
        rc = host_real.Isend(first, count, type, r->peer->head.rank, tag, bulk, &r->host);
    if (rc != MPI_SUCCESS)
        p2p_mpi_failed("transferring a large message");
    if (type != MPI_BYTE)
        host_real.Type_free(&type);
    add_transfer(r);
}

void p2p_remote_receive(struct p2p_request *r, struct p2p_peer *p, const struct header *h) {
    int tag = (int)(next_tag++ % ((uint64_t)p2p_tag_most + 1));
    struct shape whole = shape_contiguous(h->bytes);
    r->peer = p;
    if (h->bytes > p2p_data_bytes(&r->data)) { /* the excess must be received somewhere */
        r->spare = malloc(h->bytes);
        if (!r->spare)
            p2p_out_of_memory("a message that is larger than its receive");
        remote_start(r, r->spare, &whole, true, tag);
    } else {
        remote_start(r, r->data.first,
                     shape_is_contiguous(&r->data.layout.shape) ? &whole : &r->data.layout.shape, true, tag);
    }
    p2p_channel_control(p, HEADER_CTS, h->id, h->bytes, 0, (uint64_t)tag);
}

void p2p_remote_send_bulk(struct p2p_request *r, uint64_t tag) {
    remote_start(r, r->data.first, &r->data.layout.shape, false, (int)tag);
}

static void transferred(struct p2p_request *r) {
    if (r->spare)
        p2p_data_scatter(&r->data, 0, r->spare, p2p_data_bytes(&r->data));
    if (r->kind == REQUEST_RECV)
        p2p_channel_paid(r->peer);
    p2p_request_finish(r);
}

/* Incomplete transfers go to the end, so that each is tested however many there are. */
static int poll_transfers(void) {
    const struct p2p_request *last = last_transfer, *tested = NULL;
    for (int n = 0, flag, tests = TESTS;;) {
        struct p2p_request *r = transfers;
        if (tested == last || !tests--)
            return n;
        tested = r;
        if (host_real.Test(&r->host, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            p2p_mpi_failed("transferring a large message");
        transfers = r->next;
        if (flag)
            transferred(r);
        else
            add_transfer(r);
        n += flag;
    }
}

int p2p_remote_poll(bool one) {
    int n = poll_headers(one ? 1 : (int)slot_count);
    if (UNLIKELY(under_way != NULL))
        n += poll_bounces();
    if (UNLIKELY(transfers != NULL))
        n += poll_transfers();
    return n;
}

bool p2p_remote_is_idle(void) {
    return !under_way && !transfers;
}

int p2p_remote_barrier(MPI_Request *request) {
    return host_Ibarrier(bulk, request);
}

/* ---- start and end ---- */

/* Collective: both are made even if the first fails. */
int p2p_remote_open(void) {
    int rc = host_real.Comm_dup(MPI_COMM_WORLD, &heads), rc_bulk = host_real.Comm_dup(MPI_COMM_WORLD, &bulk);
    if (rc == MPI_SUCCESS)
        rc = rc_bulk;
    if (rc == MPI_SUCCESS)
        rc = host_Comm_set_errhandler(heads, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = host_Comm_set_errhandler(bulk, MPI_ERRORS_RETURN);
    p2p_remote_eager = settings_get()->match_remote_eager;
    return rc;
}

/* Without remote processes: one receive that never completes. */
int p2p_remote_start(void) {
    p2p_remote_is_used = p2p_node_count() < p2p_size;
    p2p_remote_eager = p2p_remote_is_used ? p2p_remote_eager : 0;
    slot_count = p2p_remote_is_used ? (unsigned)settings_get()->match_prepost : 1;
    requests = calloc(slot_count, sizeof *requests);
    sources = calloc(slot_count, sizeof *sources);
    memory = aligned_alloc(CACHE_LINE, slot_count * remote_slot_bytes());
    for (unsigned i = 0; requests && i < slot_count; i++)
        requests[i] = MPI_REQUEST_NULL; /* also if the rest fails: p2p_remote_close reads them */
    struct p2p_bounce *first = bounce_make();
    if (first)
        give_bounce(first);
    return requests && sources && memory && first ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void p2p_remote_listen(void) {
    for (unsigned i = 0; i < slot_count; i++)
        if (remote_prepare(i) != MPI_SUCCESS || remote_post(i) != MPI_SUCCESS)
            p2p_mpi_failed("posting a receive");
}

static void free_bounces(struct p2p_bounce *p) {
    for (struct p2p_bounce *next; p; p = next) {
        next = p->next;
        free(p);
    }
}

static void remote_withdraw(unsigned slot) {
    if (sources[slot] == NOT_YET) {
        host_real.Cancel(&requests[slot]);
        host_real.Wait(&requests[slot], MPI_STATUS_IGNORE);
    }
    host_real.Request_free(&requests[slot]);
}

/* All processes are done: no message can arrive any more. */
void p2p_remote_close(void) {
    for (unsigned i = 0; requests && i < slot_count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            remote_withdraw(i);
    free_bounces(spare);
    spare = NULL;
    free(requests);
    free(sources);
    free(memory);
    requests = NULL;
    sources = NULL;
    memory = NULL;
    slot_count = 0;
    if (heads != MPI_COMM_NULL)
        host_real.Comm_free(&heads);
    if (bulk != MPI_COMM_NULL)
        host_real.Comm_free(&bulk);
}
