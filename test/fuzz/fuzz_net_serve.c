/* fuzz_net_serve.c: feeds messages to a helper: blocks and notes of any client, between rounds of serving. The input
 * is a sequence of steps; a message is raw bytes, or the fields of its header in a few bytes, so that meaningful
 * sequences are found as well. */
#include "fuzz_link.h"

enum { CLIENTS = 3, MOST_STEPS = 200 };
enum step { BLOCK, RAW, NOTE, WORK, LEFT, STEPS };

static bool has_failed;

static void on_failure(void *arg, int rank, const char *why) {
    (void)arg, (void)why;
    fuzz_must(rank >= 0 && rank < CLIENTS);
    has_failed = true;
}

/* Reads its input, and writes the whole answer. */
static enum net_result serve(void *arg, struct net_block *b) {
    unsigned char sum = 0;
    (void)arg;
    fuzz_must(b->client >= 0 && b->client < CLIENTS && b->header_bytes <= NET_HEADER);
    fuzz_must(b->bytes <= FUZZ_POOL_BYTES && b->answer_bytes <= FUZZ_POOL_BYTES);
    for (size_t i = 0; i < b->header_bytes; i++)
        sum ^= ((const unsigned char *)b->header)[i];
    for (size_t i = 0; i < b->bytes; i++)
        sum ^= ((const unsigned char *)b->payload)[i];
    if (b->answer_bytes)
        memset(b->answer, sum, b->answer_bytes);
    return NET_DONE;
}

static enum net_result serve_later(void *arg, struct net_block *b) {
    if (b->resume++ == 0)
        return NET_LATER;
    return serve(arg, b);
}

static void take_block(struct fuzz_input *in) {
    char header[sizeof(struct wire_block) + NET_HEADER + 8] = {0}, payload[256] = {0};
    struct wire_block w = {.kind = WIRE_BLOCK};
    w.client = fuzz_take_byte(in) % (CLIENTS + 1);
    w.handler = fuzz_take_byte(in) % (NET_HANDLERS + 2);
    w.ticket.number = (uint32_t)(int8_t)fuzz_take_byte(in);
    w.ticket.own = fuzz_take_byte(in) & 7;
    uint8_t flags = fuzz_take_byte(in);
    w.ticket.flags = flags & 7;
    w.streams = flags >> 3 & 1;
    w.ticket.pool_buffers = fuzz_take_byte(in);
    w.ticket.following = (uint64_t)fuzz_take_byte(in) * 16;
    w.answer_bytes = (uint64_t)fuzz_take_byte(in) * 4;
    uint8_t header_bytes = fuzz_take_byte(in);
    w.header_bytes = header_bytes % (NET_HEADER + 4);
    size_t extra = header_bytes == 0xff ? 1 : 0;
    memcpy(header, &w, sizeof w);
    fuzz_link_arrive(header, sizeof w + w.header_bytes + extra, payload, fuzz_take_byte(in));
}

static void take_raw(struct fuzz_input *in) {
    char header[LINK_HEADER], payload[256] = {0};
    size_t bytes = fuzz_take_byte(in);
    fuzz_take(in, header, bytes);
    fuzz_link_arrive(header, bytes, payload, fuzz_take_byte(in));
}

static void take_note(struct fuzz_input *in) {
    struct wire_note note = {.kind = WIRE_NOTE};
    note.client = fuzz_take_byte(in) % (CLIENTS + 1);
    note.pool_buffers = fuzz_take_byte(in);
    fuzz_link_arrive(&note, sizeof note, "", 0);
}

static void take_step(struct server *s, struct fuzz_input *in) {
    uint8_t byte = fuzz_take_byte(in);
    unsigned blocked;
    fuzz_link.keeps = byte & 0x80;
    switch (byte % STEPS) {
    case BLOCK:
        take_block(in);
        break;
    case RAW:
        take_raw(in);
        break;
    case NOTE:
        take_note(in);
        break;
    case WORK:
        net_server_work(s, &blocked);
        break;
    default:
        fuzz_link_complete();
    }
    net_flow_helper_check(s->flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    uint8_t shape = fuzz_take_byte(&in);
    struct net_world world = {.size = CLIENTS, .nodes = 2};
    struct net *n = calloc(1, sizeof *n);
    struct server s;
    fuzz_must(n != NULL);
    n->world = &world;
    n->helpers = 1;
    net_join(n, &(struct net_service){.handlers = {serve, serve_later}, .failed = on_failure});
    n->limits = fuzz_link_limits(shape);
    has_failed = false;
    fuzz_link.count = 0;
    fuzz_must(net_server_open(&s, n, 0) == 0);
    for (int i = 0; i < MOST_STEPS && in.left && !has_failed; i++)
        take_step(&s, &in);
    fuzz_link.keeps = false;
    fuzz_link_complete();
    net_server_close(&s);
    free(n);
    return 0;
}
