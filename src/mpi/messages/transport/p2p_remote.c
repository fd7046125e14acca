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
 * They are sent from bounce buffers (p2p_bounce.c). Large messages travel on a second communicator, by a receive that
 * names sender and tag and is posted before the CTS is sent. Nothing is searched there either, and nothing is copied. */
#include "mpi/messages/transport/p2p_remote.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/host/agreement.h"
#include "mpi/messages/transport/arrive.h"
#include "mpi/messages/transport/p2p_bounce.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/p2p_link.h"
#include "tables/shape.h"

enum { PREPOSTED = 16 /* receives */, TESTS = 16 /* of transfers, per round */ };
enum { MOST_EAGER = 16 << 10 /* both MPIs send so many bytes over TCP without an answer of the receiver */ };
enum { SOME = 16 /* slots tested together */, NOT_YET = -1 };

uint64_t p2p_remote_eager;
static uint64_t slot_payload; /* the largest that arrives through MPI */

static MPI_Comm heads = MPI_COMM_NULL, bulk = MPI_COMM_NULL;
/* Of each slot: its receive, and the source of the message in it, or NOT_YET. */
static MPI_Request *requests;
static int *sources;
static unsigned slot_count, oldest;
static char *memory;

/* Transfers of large messages in flight; the next to test is the first. */
static struct p2p_request *transfers, *last_transfer;
static uint64_t next_tag;

/* ---- receiving ---- */

static size_t remote_slot_bytes(void) {
    return round_up(sizeof(struct header) + slot_payload, CACHE_LINE);
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
        p2p_arrive_packet(p2p_peer_of(sources[oldest]), h, h + 1);
        if (remote_post(oldest) != MPI_SUCCESS)
            p2p_mpi_failed("posting a receive");
        oldest = oldest + 1 == slot_count ? 0 : oldest + 1;
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
    n += p2p_bounce_poll();
    if (UNLIKELY(transfers != NULL))
        n += poll_transfers();
    return n;
}

bool p2p_remote_transfers(void) {
    return transfers != NULL;
}

bool p2p_remote_is_idle(void) {
    return p2p_bounce_is_idle() && !transfers;
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
    p2p_remote_eager = agreement_match_eager();
    return rc;
}

/* Without remote processes, or if Hearth's network reaches them: one receive that never completes. */
int p2p_remote_start(void) {
    p2p_remote_is_used = p2p_node_count() < p2p_size;
    bool is_listening = p2p_remote_is_used && !p2p_link_is_used;
    const uint64_t most = p2p_link_is_used ? P2P_LINK_MOST : (uint64_t)MOST_EAGER;
    if (p2p_remote_eager > most)
        p2p_remote_eager = most;
    slot_payload = is_listening ? p2p_remote_eager : 0;
    slot_count = is_listening ? PREPOSTED : 1;
    requests = calloc(slot_count, sizeof *requests);
    sources = calloc(slot_count, sizeof *sources);
    memory = aligned_alloc(CACHE_LINE, slot_count * remote_slot_bytes());
    for (unsigned i = 0; requests && i < slot_count; i++)
        requests[i] = MPI_REQUEST_NULL; /* also if the rest fails: p2p_remote_close reads them */
    int rc = p2p_bounce_open(heads,
                             p2p_link_is_used ? sizeof(struct header) + P2P_LINK_MOST : remote_slot_bytes());
    return requests && sources && memory ? rc : MPI_ERR_NO_MEM;
}

void p2p_remote_listen(void) {
    for (unsigned i = 0; i < slot_count; i++)
        if (remote_prepare(i) != MPI_SUCCESS || remote_post(i) != MPI_SUCCESS)
            p2p_mpi_failed("posting a receive");
}

static void slot_withdraw(unsigned slot) {
    if (sources[slot] == NOT_YET) {
        host_real.Cancel(&requests[slot]);
        host_real.Wait(&requests[slot], MPI_STATUS_IGNORE);
    }
    host_real.Request_free(&requests[slot]);
}

void p2p_remote_withdraw(void) {
    for (unsigned i = 0; requests && i < slot_count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            slot_withdraw(i);
}

/* All processes are done: no message can arrive any more. */
void p2p_remote_close(void) {
    p2p_remote_withdraw();
    p2p_bounce_close();
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
