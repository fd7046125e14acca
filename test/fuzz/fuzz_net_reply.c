/* fuzz_net_reply.c: feeds messages of helpers to a client with pending operations: acknowledgements, answers and
 * replies. */
#include "fuzz_link.h"

enum { NODES = 2, MOST_STEPS = 200, OPERATIONS = 8, MOST_ANSWER = 600 };
enum step { REPLY, RAW, START, LEFT, STEPS };

struct operation {
    struct net_op op;
    bool is_started;
    size_t asked; /* bytes of answer */
    char answer[MOST_ANSWER];
};

static struct operation operations[OPERATIONS];
static bool has_failed;

static void on_failure(void *arg, int rank, const char *why) {
    (void)arg, (void)rank, (void)why;
    has_failed = true;
}

static size_t next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    size_t most = op->fetches ? answer_room : room, bytes = op->left < most ? (size_t)op->left : most;
    if (op->fetches)
        out->answer_bytes = bytes;
    else
        out->bytes = bytes;
    if (out->bytes)
        memset(out->payload, 1, out->bytes);
    return bytes;
}

/* The callers' own functions rely on this. */
static void take(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct operation *o = (struct operation *)op;
    if (op->fetches) {
        fuzz_must(offset <= o->asked && bytes <= o->asked - offset);
        memcpy(o->answer + offset, data, bytes);
    } else {
        fuzz_must(op->waits && bytes <= WIRE_REPLY_BYTES);
    }
}

static void start(struct net *n, struct fuzz_input *in) {
    uint8_t what = fuzz_take_byte(in);
    struct operation *o = &operations[what % OPERATIONS];
    size_t bytes = (size_t)fuzz_take_byte(in) * 2;
    bool over = o->op.fetches || o->op.waits ? net_is_done(&o->op) : net_is_sent(&o->op);
    if (o->is_started && !over)
        return;
    *o = (struct operation){.is_started = true, .asked = bytes};
    o->op = (struct net_op){.left = bytes, .next = next, .take = take};
    o->op.fetches = what & 0x10 && bytes;
    o->op.waits = what & 0x20 && !o->op.fetches;
    net_start(n, 1, &o->op);
}

static void arrive(struct net *n, const void *header, size_t header_bytes, size_t bytes) {
    char payload[256] = {0};
    fuzz_link.events = (struct link_events){.arg = n, .arrived = net_call_arrived};
    fuzz_link_arrive(header, header_bytes, payload, bytes);
}

static void take_reply(struct net *n, struct fuzz_input *in) {
    struct wire_reply r = {.kind = WIRE_BLOCK + fuzz_take_byte(in) % 6};
    r.from = fuzz_take_byte(in) % 4;
    r.op = (uint32_t)OPS - 1 - fuzz_take_byte(in) % OPERATIONS;
    r.acknowledges = fuzz_take_byte(in) & 1;
    r.offset = fuzz_take_byte(in) * 2u;
    r.ack.done = (uint32_t)(int8_t)fuzz_take_byte(in);
    r.ack.granted = fuzz_take_byte(in);
    arrive(n, &r, sizeof r, fuzz_take_byte(in));
}

static void take_raw(struct net *n, struct fuzz_input *in) {
    struct wire_reply r;
    size_t bytes = sizeof r - (fuzz_take_byte(in) == 0xff);
    fuzz_take(in, &r, sizeof r);
    arrive(n, &r, bytes, fuzz_take_byte(in));
}

static void take_step(struct net *n, struct fuzz_input *in) {
    uint8_t byte = fuzz_take_byte(in);
    fuzz_link.keeps = byte & 0x80;
    switch (byte % STEPS) {
    case REPLY:
        take_reply(n, in);
        break;
    case RAW:
        take_raw(n, in);
        break;
    case START:
        start(n, in);
        break;
    default:
        fuzz_link_complete();
    }
    net_progress(n);
    if (n->targets[1])
        net_flow_client_check(&n->targets[1]->flow);
}

/* This process has no helper. */
unsigned net_drive(struct net *n, uint64_t now) {
    (void)n, (void)now;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t first[NODES + 1] = {0, 1, 2}, members[NODES] = {0, 1}, node_of[NODES] = {0, 1};
    static const char addresses[NODES * 8];
    struct fuzz_input in = {data, size};
    uint8_t shape = fuzz_take_byte(&in);
    struct net_world world = {
        .size = NODES, .nodes = NODES, .first = first, .members = members, .node_of = node_of};
    struct net *n = calloc(1, sizeof *n);
    fuzz_must(n != NULL);
    n->world = &world;
    n->helpers = 1;
    n->link = (struct link *)&fuzz_link;
    net_join(n, &(struct net_service){.failed = on_failure});
    n->addresses = addresses;
    n->address_bytes = 8;
    n->limits = fuzz_link_limits(shape);
    has_failed = false;
    fuzz_link.count = 0;
    memset(operations, 0, sizeof operations);
    fuzz_must(net_call_open(n) == 0);
    for (int i = 0; i < MOST_STEPS && in.left && !has_failed; i++)
        take_step(n, &in);
    net_call_close(n);
    free(n);
    return 0;
}
