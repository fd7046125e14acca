/* arena.c: a program that keeps an allocator and its data inside the segment, both used by handlers. Handlers
 * allocate and fill memory at the request of other nodes, while the node itself does the same. For --seconds N.
 * timeout: 60 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { GIVE = 160, GIVEN, FILL, FILLED, SUM, SUMMED };
enum { MOST = 20000, BLOCKS = 40, SEGMENT = 8 << 20 };

/* In the segment: free lists by size class, linked through the freed blocks. */
struct arena {
    uint64_t used;
    uint64_t given, taken_back;
    uint64_t free_of[32]; /* by size class: offset of the first free block; 0: none */
};

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;

static struct arena *arena(void) {
    return test_segments[test_rank].addr;
}

static unsigned class_of(size_t bytes) {
    unsigned class = 4;
    while (((size_t)1 << class) < bytes)
        class ++;
    return class;
}

static uint64_t take(size_t bytes) {
    struct arena *a = arena();
    unsigned class = class_of(bytes);
    gasnet_hsl_lock(&lock);
    uint64_t at = a->free_of[class];
    if (at != 0)
        a->free_of[class] = *(uint64_t *)((char *)a + at);
    else if (a->used + ((uint64_t)1 << class) <= test_segments[test_rank].size) {
        at = a->used;
        a->used += (uint64_t)1 << class;
    }
    a->given += at != 0;
    gasnet_hsl_unlock(&lock);
    return at;
}

static void give_back(uint64_t at, size_t bytes) {
    struct arena *a = arena();
    unsigned class = class_of(bytes);
    gasnet_hsl_lock(&lock);
    *(uint64_t *)((char *)a + at) = a->free_of[class];
    a->free_of[class] = at;
    a->taken_back++;
    gasnet_hsl_unlock(&lock);
}

/* ---- handlers ---- */

static uint64_t got_at;
static int got, filled;
static uint32_t got_sum;

static uint32_t sum_of(const unsigned char *data, size_t bytes) {
    uint32_t sum = 1;
    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + data[i];
    return sum;
}

static void on_give(gasnet_token_t token, gasnet_handlerarg_t bytes) {
    uint64_t at = take((size_t)bytes);
    if (at != 0)
        memset((char *)arena() + at, 0xee, (size_t)bytes); /* the handler is the first to touch the memory */
    expect_eq(gasnet_AMReplyShort1(token, GIVEN, (gasnet_handlerarg_t)at), GASNET_OK);
}

static void on_given(gasnet_token_t token, gasnet_handlerarg_t at) {
    (void)token;
    got_at = (uint64_t)at;
    got++;
}

static void on_fill(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t at) {
    memcpy((char *)arena() + at, data, bytes);
    expect_eq(gasnet_AMReplyShort0(token, FILLED), GASNET_OK);
}

static void on_filled(gasnet_token_t token) {
    (void)token;
    filled++;
}

/* Reads the block, frees it, and replies with a payload that is in the segment. */
static void on_sum(gasnet_token_t token, gasnet_handlerarg_t at, gasnet_handlerarg_t bytes) {
    uint32_t sum = sum_of((unsigned char *)arena() + at, (size_t)bytes);
    expect_eq(
        gasnet_AMReplyMedium1(token, SUMMED, (char *)arena() + at, (size_t)bytes, (gasnet_handlerarg_t)sum),
        GASNET_OK);
    give_back((uint64_t)at, (size_t)bytes);
}

static void on_summed(gasnet_token_t token, void *data, size_t bytes, gasnet_handlerarg_t sum) {
    (void)token;
    expect_eq((uint32_t)sum, sum_of(data, bytes));
    got_sum = (uint32_t)sum;
    got++;
}

static gasnet_handlerentry_t table[] = {HANDLER(GIVE, on_give), HANDLER(GIVEN, on_given),
                                        HANDLER(FILL, on_fill), HANDLER(FILLED, on_filled),
                                        HANDLER(SUM, on_sum),   HANDLER(SUMMED, on_summed)};
TEST_SETUP(table, SEGMENT)

/* ---- requests of each node ---- */

struct block {
    int node;
    uint64_t at;
    size_t bytes;
    uint32_t sum;
};

static uint64_t number(int step) {
    return test_number(test_rank, (size_t)step, 5);
}

static void ask_for(struct block *b, int step, char *data) {
    b->node = (int)(number(step) % (uint64_t)test_size);
    b->bytes = 8 + number(step + 1000000) % (MOST - 8);
    got = filled = 0;
    expect_eq(gasnet_AMRequestShort1((gasnet_node_t)b->node, GIVE, (gasnet_handlerarg_t)b->bytes), GASNET_OK);
    GASNET_BLOCKUNTIL(got == 1);
    b->at = got_at;
    expect(b->at != 0);
    test_fill(data, b->bytes, test_rank, step);
    b->sum = sum_of((unsigned char *)data, b->bytes);
    char *there = (char *)test_segments[b->node].addr + b->at;
    if (step % 2 == 0) {
        expect_eq(
            gasnet_AMRequestMedium1((gasnet_node_t)b->node, FILL, data, b->bytes, (gasnet_handlerarg_t)b->at),
            GASNET_OK);
        GASNET_BLOCKUNTIL(filled == 1);
    } else
        gasnet_put((gasnet_node_t)b->node, there, data, b->bytes);
}

static void look_and_free(struct block *b) {
    got = 0;
    expect_eq(gasnet_AMRequestShort2((gasnet_node_t)b->node, SUM, (gasnet_handlerarg_t)b->at,
                                     (gasnet_handlerarg_t)b->bytes),
              GASNET_OK);
    GASNET_BLOCKUNTIL(got == 1);
    expect_eq(got_sum, b->sum);
    b->at = 0;
}

/* Nodes allocate and free at random for a while. */
CASE(allocator_in_the_segment) {
    struct block blocks[BLOCKS] = {{0}};
    char *data = malloc(MOST);
    *arena() = (struct arena){.used = (sizeof(struct arena) + 15) / 16 * 16};
    test_barrier();
    int steps = 0;
    for (; (test_elapsed() < test_seconds / 2 || steps < 20) && steps < 20000; steps++) {
        struct block *b = &blocks[number(steps + 2000000) % BLOCKS];
        if (b->at != 0)
            look_and_free(b);
        ask_for(b, steps, data);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].at != 0)
            look_and_free(&blocks[i]);
    test_barrier();
    expect_eq(arena()->given, arena()->taken_back);
    free(data);
}
