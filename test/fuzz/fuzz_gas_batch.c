/* fuzz_gas_batch.c: feeds blocks of short operations of another node to the helper's handler. The first byte is the
 * number of answer bytes requested, the rest is the block; addresses in its records are relative to the segment. The
 * answer is requested in pieces. If the first byte is OURS, the rest are operations of our own client instead: the
 * answer to each block made of them fits in one piece. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gas/am/am.h"
#include "gas/memory/ask.h"
#include "gas/memory/batch.h"
#include "gas/process/process.h"
#include "gas/memory/gas_update.h"

enum {
    SEGMENT = 4096,
    RECORD = 16,
    OURS = 0xff,
    BUFFER = 512,
    POOLED = 1024,
    SPARES = 3,
    OPERATIONS = 64,
    PIECE = 200
};

struct gas gas_job;
_Thread_local struct am_context gas_am_context;

static bool has_failed;
static struct net_op *started;

/* ---- stubs of the network ---- */

void gas_lost(int rank, const char *why) {
    (void)rank, (void)why;
    has_failed = true;
}

bool gas_ask_is_done(const struct net_op *op) {
    (void)op;
    return true;
}

void gas_ask_start(int node, struct net_op *op) {
    (void)node;
    started = op;
}

void gas_ask_wait_carried(int node, const _Atomic bool *done, struct net_op *const *carrier) {
    (void)node, (void)done, (void)carrier;
}

void gas_ask_count(struct net_counts *counts) {
    *counts =
        (struct net_counts){.buffer_bytes = BUFFER, .pool_buffers = SPARES, .pool_buffer_bytes = POOLED};
}

void gas_fail(const char *call, const char *format, ...) {
    (void)call, (void)format;
    abort();
}

/* ---- serving ---- */

/* Adds the segment's address to every aligned word that could be the address of a record, an offset below 2 * SEGMENT. */
static void relocate(char *block, size_t bytes, const char *segment) {
    for (size_t at = 0; at + RECORD <= bytes; at += 8) {
        uint64_t address;
        memcpy(&address, block + at, sizeof address);
        if (address < 2 * SEGMENT) {
            address += (uint64_t)(uintptr_t)segment;
            memcpy(block + at, &address, sizeof address);
        }
    }
}

static void serve_foreign(struct fuzz_input *in, size_t answer_bytes, const char *segment) {
    size_t bytes = in->left;
    char *block = malloc(bytes ? bytes : 1), *answer = malloc(answer_bytes ? answer_bytes : 1);
    fuzz_must(block && answer);
    fuzz_take(in, block, bytes);
    relocate(block, bytes, segment);
    for (size_t at = 0, piece; at < answer_bytes; at += piece) {
        piece = answer_bytes - at < PIECE ? answer_bytes - at : PIECE;
        struct net_block b = {.client = 1,
                              .payload = block,
                              .bytes = bytes,
                              .answer = answer + at,
                              .answer_bytes = piece,
                              .answer_offset = at};
        fuzz_must(gas_dram_serve_batch(NULL, &b) == NET_DONE);
    }
    free(block);
    free(answer);
}

/* ---- asking ---- */

/* One block, as net/ makes it for a client with a grant of pool buffers, and its answer. */
static void carry_block(struct net_op *op) {
    char header[NET_HEADER], payload[BUFFER], answer[POOLED];
    struct net_out out = {.header = header, .payload = payload};
    op->next(op, BUFFER, SPARES * POOLED, &out);
    fuzz_must(out.bytes > 0 && out.bytes <= BUFFER && out.answer_bytes > 0 && out.answer_bytes <= POOLED);
    struct net_block b = {.client = 1,
                          .payload = payload,
                          .bytes = out.bytes,
                          .answer = answer,
                          .answer_bytes = out.answer_bytes};
    fuzz_must(gas_dram_serve_batch(NULL, &b) == NET_DONE && !has_failed);
    op->take(op, op->asked, answer, out.answer_bytes);
    op->asked += out.answer_bytes;
}

static void ask_own(struct fuzz_input *in, char *segment) {
    static struct batch_op ops[OPERATIONS];
    static char local[SEGMENT];
    size_t count = 0;
    fuzz_must(gas_batch_open() == 0);
    for (; count < OPERATIONS && in->left; count++) {
        uint8_t kind = fuzz_take_byte(in) % 4;
        uint32_t at = fuzz_take_byte(in) * 8u, bytes = 1 + fuzz_take_byte(in) * 4u;
        bytes = bytes < gas_batch_most() ? bytes : (uint32_t)gas_batch_most();
        struct pages_update u = gas_update_of(GEX_DT_U64, GEX_OP_FADD, bytes, 0);
        if (kind == BATCH_UPDATE)
            gas_batch_start_update(&ops[count], bytes % 8 ? local + at : NULL, 0,
                                   (uint64_t)(uintptr_t)(segment + at), &u);
        else
            gas_batch_start(&ops[count], (enum batch_kind)kind, local + at, 0,
                            (uint64_t)(uintptr_t)(segment + at), bytes, 7);
    }
    for (size_t i = 0; i < count; i++)
        while (!gas_batch_is_done(&ops[i]))
            carry_block(started);
    gas_batch_close();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t node_of[2] = {0, 1};
    struct net_world world = {.size = 2, .nodes = 2, .node_of = node_of};
    struct fuzz_input in = {data, size};
    char *segment = calloc(1, SEGMENT);
    gasnet_seginfo_t segments[2] = {{.addr = segment, .size = SEGMENT}, {0}};
    fuzz_must(segment != NULL);
    gas_job.size = 2;
    gas_job.world = &world;
    gas_job.segments = segments;
    has_failed = false;
    size_t first = fuzz_take_byte(&in);
    if (first == OURS)
        ask_own(&in, segment);
    else
        serve_foreign(&in, first * 8, segment);
    free(segment);
    return 0;
}
