/* random.c: runs random traffic against a model.
 *
 * All ranks derive the same script from the seed: a list of messages with sender, receiver, communicator, tag, size,
 * send mode and receive mode. Each rank goes through the list and executes its part. Since the order is the same on
 * all ranks, the n-th message from one rank to another on one communicator belongs to the n-th receive, even if that
 * receive uses MPI_ANY_TAG. The ranks cannot deadlock, as the rank with the earliest entry can always proceed. A
 * receive from MPI_ANY_SOURCE is exact too if only one sender uses its tag. On the last communicator all receives use
 * both wildcards: there only the order of each sender is known. Such a receive may take a message meant for a later
 * one, so nothing waits for them before the end of the round. timeout: 120; random: --seconds N */
#include "message.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"

enum { MESSAGES = 150, COMMS = 3, OPEN = COMMS - 1, TAGS = 3, LARGEST = 1 << 20, ATTACHED = 4 << 20 };

enum send_way { ISEND, SEND, ISSEND, SSEND, IBSEND, BSEND, PERSISTENT_SEND, EXCHANGE, SEND_WAYS };
enum receive_way { IRECV, RECV, PROBE, MPROBE, PERSISTENT_RECV, RECEIVE_WAYS };

struct message {
    int from, to, comm, tag, serial;
    int bytes, back_bytes; /* back_bytes: size of the reply in an exchange */
    enum send_way send;
    enum receive_way receive;
    bool any_source, any_tag;
    bool strided_out, strided_in;
    int complete; /* which completion call follows it, if any */
};

static struct message script[MESSAGES];
static MPI_Comm comms[COMMS];
static MPI_Datatype strided; /* every second byte */

/* ---- the script ---- */

static int random_bytes(struct random *r) {
    static const uint32_t limits[] = {1, 64, 64, 64, 4096, 4096, 20000, 70000, 70000, LARGEST};
    return (int)random_below(r, limits[random_below(r, 10)] + 1);
}

/* The tag encodes the sender where receives from MPI_ANY_SOURCE must be exact. */
static int tag_of(const struct message *m, struct random *r) {
    return m->any_source ? 100 + m->from : (int)random_below(r, TAGS);
}

static void make_message(struct message *m, struct random *r, int serial, long *buffered) {
    memset(m, 0, sizeof *m);
    m->serial = serial;
    m->from = (int)random_below(r, (uint32_t)test_size);
    m->to = (int)random_below(r, (uint32_t)test_size);
    m->comm = (int)random_below(r, COMMS);
    m->bytes = random_bytes(r);
    m->back_bytes = random_bytes(r);
    m->send = random_below(r, SEND_WAYS);
    m->receive = random_below(r, RECEIVE_WAYS);
    m->any_source = random_below(r, 4) == 0;
    m->any_tag = !m->any_source && random_below(r, 3) == 0;
    m->strided_out = m->bytes < 20000 && random_below(r, 4) == 0;
    m->strided_in = m->bytes < 20000 && random_below(r, 4) == 0;
    m->complete = (int)random_below(r, 12);
    m->tag = tag_of(m, r);
    buffered[m->from] += m->bytes + MPI_BSEND_OVERHEAD + 64;
    if ((m->send == IBSEND || m->send == BSEND) && (m->bytes > 200000 || buffered[m->from] > ATTACHED / 2))
        m->send = ISEND;
    if (m->comm == OPEN) { /* no call may wait, see the head of the file */
        m->send = m->send % 2 ? ISEND : m->send;
        m->receive = IRECV;
        m->any_source = m->any_tag = true;
        m->strided_in = false;
    } else if (m->from == m->to) { /* this rank executes both parts in turn */
        m->send = m->send == SEND || m->send == SSEND || m->send == EXCHANGE ? ISEND : m->send;
    } else if (m->send == EXCHANGE) {
        m->any_source = m->any_tag = m->strided_out = m->strided_in = false;
        m->tag = 50;
    }
    if (m->send == PERSISTENT_SEND && m->comm == OPEN)
        m->send = ISSEND;
}

static void make_script(uint64_t seed) {
    struct random r;
    long *buffered = calloc((size_t)test_size, sizeof *buffered);
    random_seed(&r, seed);
    for (int i = 0; i < MESSAGES; i++)
        make_message(&script[i], &r, i, buffered);
    free(buffered);
}

/* ---- buffers: a strided one uses every second byte of twice the size ---- */

static unsigned char *fill_out(const struct message *m, int bytes, int serial) {
    unsigned char *out = aligned_bytes((size_t)bytes * 2 + 2);
    fill_pattern(out, (size_t)bytes, test_rank, 0, serial);
    for (int i = bytes - 1; m->strided_out && i >= 0; i--)
        out[2 * i] = out[i];
    return out;
}

static void check_in(const struct message *m, unsigned char *in, int bytes, int from, int serial) {
    for (int i = 0; m->strided_in && i < bytes; i++)
        in[i] = in[2 * i];
    if (!expect_pattern(in, (size_t)bytes, from, 0, serial))
        fprintf(stderr, "rank %d: message %d from %d to %d comm %d tag %d bytes %d send %d receive %d%s%s\n",
                test_rank, m->serial, m->from, m->to, m->comm, m->tag, m->bytes, m->send, m->receive,
                m->any_source ? " any source" : "", m->any_tag ? " any tag" : "");
}

/* ---- pending operations ---- */

struct pending {
    const struct message *message;
    unsigned char *buffer;
    bool receiving, persistent;
};

struct list { /* pending requests; those on the wildcard communicator have a separate list */
    MPI_Request requests[2 * MESSAGES];
    struct pending what[2 * MESSAGES];
    int count;
};

static struct list ordered, open;
/* Per sender: its messages to this rank on the wildcard communicator, and the index of the next one. */
static int open_next[64][MESSAGES], open_at[64];

static void add(const struct message *m, unsigned char *buffer, bool receiving, MPI_Request request) {
    struct list *l = m->comm == OPEN ? &open : &ordered;
    bool persistent = receiving ? m->receive == PERSISTENT_RECV : m->send == PERSISTENT_SEND;
    l->requests[l->count] = request;
    l->what[l->count++] = (struct pending){m, buffer, receiving, persistent};
}

/* The message that a receive on the wildcard communicator got: the next one of its sender. */
static const struct message *open_message(const MPI_Status *status) {
    int from = status->MPI_SOURCE;
    return &script[open_next[from][open_at[from]++]];
}

static void check_status(const struct message *m, const MPI_Status *status) {
    expect_status(status, m->from, m->tag, m->bytes);
}

static void is_complete(struct list *l, int index, const MPI_Status *status) {
    struct pending *p = &l->what[index];
    if (p->receiving && l == &ordered) {
        check_status(p->message, status);
        check_in(p->message, p->buffer, p->message->bytes, p->message->from, p->message->serial);
    } else if (p->receiving) {
        const struct message *m = open_message(status);
        check_status(m, status);
        check_in(p->message, p->buffer, m->bytes, m->from, m->serial);
    }
    if (p->persistent)
        MPI_Request_free(&l->requests[index]);
    expect(l->requests[index] == MPI_REQUEST_NULL);
    free(p->buffer);
}

static void wait_all(struct list *l) {
    static MPI_Status statuses[2 * MESSAGES];
    MPI_Waitall(l->count, l->requests, statuses);
    for (int i = 0; i < l->count; i++)
        if (l->what[i].buffer)
            is_complete(l, i, &statuses[i]);
    l->count = 0;
}

static void done_with(int index, const MPI_Status *status) {
    is_complete(&ordered, index, status);
    ordered.what[index].buffer = NULL;
}

/* One completion call on all requests whose order is known. */
static void complete_some(int way) {
    static MPI_Status statuses[2 * MESSAGES];
    static int indices[2 * MESSAGES];
    MPI_Request *requests = ordered.requests;
    int index = MPI_UNDEFINED, flag = 0, count = MPI_UNDEFINED, n = ordered.count;
    switch (way) {
    case 0:
        MPI_Waitany(n, requests, &index, &statuses[0]);
        flag = 1;
        break;
    case 1:
        MPI_Testany(n, requests, &index, &flag, &statuses[0]);
        break;
    case 2:
        MPI_Waitsome(n, requests, &count, indices, statuses);
        break;
    case 3:
        MPI_Testsome(n, requests, &count, indices, statuses);
        break;
    case 4:
        wait_all(&ordered);
        break;
    case 5:
        MPI_Testall(n, requests, &flag, statuses);
        for (int i = 0; flag && i < n; i++)
            if (ordered.what[i].buffer)
                done_with(i, &statuses[i]);
        return;
    default:
        return;
    }
    if (way < 2 && flag && index != MPI_UNDEFINED)
        done_with(index, &statuses[0]);
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        done_with(indices[i], &statuses[i]);
}

/* ---- the parts of a message ---- */

static void play_sender(const struct message *m) {
    unsigned char *out = fill_out(m, m->bytes, m->serial);
    int count = m->bytes;
    MPI_Datatype type = m->strided_out ? strided : MPI_BYTE;
    MPI_Comm comm = comms[m->comm];
    MPI_Request request = MPI_REQUEST_NULL;
    switch (m->send) {
    case SEND:
        MPI_Send(out, count, type, m->to, m->tag, comm);
        break;
    case SSEND:
        MPI_Ssend(out, count, type, m->to, m->tag, comm);
        break;
    case BSEND:
        MPI_Bsend(out, count, type, m->to, m->tag, comm);
        break;
    case ISSEND:
        MPI_Issend(out, count, type, m->to, m->tag, comm, &request);
        break;
    case IBSEND:
        MPI_Ibsend(out, count, type, m->to, m->tag, comm, &request);
        break;
    case PERSISTENT_SEND:
        MPI_Send_init(out, count, type, m->to, m->tag, comm, &request);
        MPI_Start(&request);
        break;
    default:
        MPI_Isend(out, count, type, m->to, m->tag, comm, &request);
    }
    if (m->send == SEND || m->send == SSEND || m->send == BSEND)
        free(out);
    else
        add(m, out, false, request);
}

/* Probes first, in one of two ways, and receives the message that the probe returned. */
static void receive_seen(const struct message *m, unsigned char *in, int from, int tag, MPI_Datatype type) {
    MPI_Comm comm = comms[m->comm];
    MPI_Status status;
    MPI_Message found;
    if (m->receive == PROBE) {
        MPI_Probe(from, tag, comm, &status);
        check_status(m, &status);
        MPI_Recv(in, m->bytes, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
    } else {
        MPI_Mprobe(from, tag, comm, &found, &status);
        check_status(m, &status);
        MPI_Mrecv(in, m->bytes, type, &found, &status);
    }
    check_status(m, &status);
}

static void play_receiver(const struct message *m) {
    int room = m->comm == OPEN ? LARGEST : m->bytes;
    unsigned char *in = aligned_bytes((size_t)room * 2 + 2);
    int from = m->any_source ? MPI_ANY_SOURCE : m->from, tag = m->any_tag ? MPI_ANY_TAG : m->tag;
    MPI_Datatype type = m->strided_in ? strided : MPI_BYTE;
    MPI_Comm comm = comms[m->comm];
    MPI_Request request;
    MPI_Status status;
    if (m->receive == IRECV) {
        MPI_Irecv(in, room, type, from, tag, comm, &request);
        add(m, in, true, request);
        return;
    }
    if (m->receive == PERSISTENT_RECV) {
        MPI_Recv_init(in, room, type, from, tag, comm, &request);
        MPI_Start(&request);
        add(m, in, true, request);
        return;
    }
    if (m->receive == RECV) {
        MPI_Recv(in, room, type, from, tag, comm, &status);
        check_status(m, &status);
    } else {
        receive_seen(m, in, from, tag, type);
    }
    check_in(m, in, m->bytes, m->from, m->serial);
    free(in);
}

static void play_exchange(const struct message *m, bool forward) {
    int out_bytes = forward ? m->bytes : m->back_bytes, in_bytes = forward ? m->back_bytes : m->bytes;
    int other = forward ? m->to : m->from;
    unsigned char *out = fill_out(m, out_bytes, m->serial), *in = aligned_bytes((size_t)in_bytes + 1);
    MPI_Status status;
    MPI_Sendrecv(out, out_bytes, MPI_BYTE, other, m->tag, in, in_bytes, MPI_BYTE, other, m->tag,
                 comms[m->comm], &status);
    expect_status(&status, other, m->tag, in_bytes);
    check_in(m, in, in_bytes, other, m->serial);
    free(in);
    free(out);
}

static void play(const struct message *m) {
    bool sends = m->from == test_rank, receives = m->to == test_rank;
    if (m->send == EXCHANGE && sends != receives) {
        play_exchange(m, sends);
        return;
    }
    if (m->comm == OPEN && receives) {
        int *count = &open_at[m->from];
        open_next[m->from][(*count)++] = m->serial;
    }
    if (sends)
        play_sender(m);
    if (receives)
        play_receiver(m);
}

static void round_of(uint64_t seed) {
    void *attached = malloc(ATTACHED), *was;
    int size;
    make_script(seed);
    memset(open_at, 0, sizeof open_at);
    MPI_Buffer_attach(attached, ATTACHED);
    for (int i = 0; i < MESSAGES; i++) {
        play(&script[i]);
        complete_some(script[i].complete);
    }
    memset(open_at, 0, sizeof open_at); /* it counted the messages so far; from here on it counts receives */
    wait_all(&ordered);
    wait_all(&open);
    MPI_Buffer_detach(&was, &size);
    free(attached);
    barrier();
}

/* Runs for the given time, and at least one round. */
CASE(against_a_model) {
    double end = MPI_Wtime() + test_seconds;
    int go = 1, rounds = 0;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &comms[OPEN]);
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &strided);
    MPI_Type_commit(&strided);
    for (; go; rounds++) {
        round_of(test_seed * 1000003 + (uint64_t)rounds);
        go = MPI_Wtime() < end;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (test_rank == 0)
        printf("%d rounds of %d messages\n", rounds, MESSAGES);
    MPI_Type_free(&strided);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[OPEN]);
}
