/* pieces.c: tests that the helper's handlers produce their answers in pieces of any size. A block that gets a grant
 * from the credit pool is answered in one piece per buffer, each by a call of its handler. Linked with the objects of
 * the library. ranks: 2; configs: off; timeout: 60 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "gas/memory/batch.h"
#include "gas/memory/dram.h"
#include "gas/am/am_remote.h"

enum { SEGMENT = 1 << 16, ANSWER = 512 };
TEST_SEGMENT(SEGMENT)

/* The layout in a block: see batch.c. */
struct record {
    uint64_t address;
    uint32_t bytes, what;
};

static char payload[4096], wanted[ANSWER], got[ANSWER];
static size_t payload_bytes, wanted_bytes;

static void add_record(enum batch_kind kind, char *at, size_t bytes, const char *data, int value) {
    struct record r = {.address = (uint64_t)(uintptr_t)at,
                       .bytes = (uint32_t)bytes,
                       .what = (uint32_t)test_rank << 10 | (uint32_t)kind << 8 | (uint32_t)value};
    memcpy(payload + payload_bytes, &r, sizeof r);
    payload_bytes += sizeof r;
    if (kind == BATCH_PUT) {
        memcpy(payload + payload_bytes, data, bytes);
        payload_bytes += (bytes + 7) / 8 * 8;
    }
    if (kind == BATCH_GET)
        memcpy(wanted + wanted_bytes, at, bytes);
    wanted_bytes += kind == BATCH_GET ? bytes : 1;
}

/* Calls the handler once for each piece; memory around a piece must not change. */
static void serve_in_pieces(net_serve *serve, const void *header, size_t header_bytes, size_t piece) {
    for (size_t at = 0; at < wanted_bytes; at += piece) {
        char answer[ANSWER + 2];
        size_t bytes = wanted_bytes - at < piece ? wanted_bytes - at : piece;
        memset(answer, 0x5a, sizeof answer);
        struct net_block b = {.client = test_rank,
                              .header = header,
                              .header_bytes = header_bytes,
                              .payload = payload,
                              .bytes = payload_bytes,
                              .answer = answer + 1,
                              .answer_bytes = bytes,
                              .answer_offset = at};
        expect_eq(serve(NULL, &b), NET_DONE);
        expect_eq(answer[0], 0x5a);
        expect_eq(answer[1 + bytes], 0x5a);
        memcpy(got + at, answer + 1, bytes);
    }
    expect_bytes(got, wanted, wanted_bytes);
}

/* Gets of words and of odd lengths, with a put and a set between them: each is executed once, also if it falls into a
 * later piece. */
CASE(batch) {
    char *own = test_segments[test_rank].addr, data[40];
    for (size_t piece = 1; piece <= ANSWER; piece++) {
        payload_bytes = wanted_bytes = 0;
        test_fill(own, 4096, test_rank, (int)piece);
        test_fill(data, sizeof data, test_rank, -1);
        memset(wanted, 0, sizeof wanted);
        for (size_t i = 0; i < 9; i++)
            add_record(BATCH_GET, own + 64 * i + i, i % 2 ? 8 : 5 * i + 1, NULL, 0);
        add_record(BATCH_PUT, own + 2048, 37, data, 0);
        add_record(BATCH_SET, own + 3000, 100, NULL, 7);
        add_record(BATCH_GET, own + 1024, 100, NULL, 0);
        add_record(BATCH_PUT, own + 2100, 8, data, 0);
        serve_in_pieces(gas_dram_serve_batch, NULL, 0, piece);
        expect_bytes(own + 2048, data, 37);
        expect_bytes(own + 2100, data, 8);
        for (int i = 0; i < 100; i++)
            expect_eq(own[3000 + i], 7);
    }
}

/* A put repeated with the next piece would undo what was written in the meantime. */
CASE(a_put_is_done_once) {
    char *own = test_segments[test_rank].addr, data[8] = "first";
    payload_bytes = wanted_bytes = 0;
    memset(wanted, 0, sizeof wanted);
    add_record(BATCH_PUT, own, 8, data, 0);
    add_record(BATCH_GET, own + 64, 64, NULL, 0);
    for (size_t at = 0; at < wanted_bytes; at += 5) {
        char answer[8];
        struct net_block b = {.client = test_rank,
                              .payload = payload,
                              .bytes = payload_bytes,
                              .answer = answer,
                              .answer_bytes = wanted_bytes - at < 5 ? wanted_bytes - at : 5,
                              .answer_offset = at};
        expect_eq(gas_dram_serve_batch(NULL, &b), NET_DONE);
        if (at == 0) {
            expect_bytes(own, "first", 5);
            memcpy(own, "second", 6);
        }
    }
    expect_bytes(own, "second", 6);
}

CASE(long_get) {
    char *own = test_segments[test_rank].addr;
    struct {
        uint64_t address, bytes;
        uint32_t rank, value;
    } range = {.address = (uint64_t)(uintptr_t)own + 3, .bytes = ANSWER, .rank = (uint32_t)test_rank};
    payload_bytes = 0;
    wanted_bytes = ANSWER;
    test_fill(own, 4096, test_rank, 5);
    memcpy(wanted, own + 3, ANSWER);
    for (size_t piece = 1; piece <= ANSWER; piece++)
        serve_in_pieces(gas_dram_serve_get, &range, sizeof range, piece);
}

/* A parked request: the message, then its payload. */
CASE(pulled_request) {
    int slot = gas_box_take_slot();
    struct am_slot *s = &gas_box_mine()->slots[slot];
    struct remote_pull_header h = {.rank = (uint32_t)test_rank, .slot = (uint32_t)slot, .offset = 3};
    char *data = gas_box_slot_data(gas_job.world->local, slot, AM_REQUEST);
    size_t bytes = ANSWER - sizeof s->request;
    s->request =
        (struct am_message){.source = 1, .handler = 200, .kind = GASNETC_MEDIUM, .bytes = (uint32_t)bytes};
    atomic_store(&s->in_use, 1);
    test_fill(data, bytes, test_rank, 6);
    payload_bytes = 0;
    wanted_bytes = ANSWER - h.offset;
    memcpy(wanted, (char *)&s->request + h.offset, sizeof s->request - h.offset);
    memcpy(wanted + sizeof s->request - h.offset, data, bytes);
    for (size_t piece = 1; piece <= ANSWER; piece++)
        serve_in_pieces(gas_am_serve_pull, &h, sizeof h, piece);
    gas_box_release(gas_box_mine(), slot);
}
