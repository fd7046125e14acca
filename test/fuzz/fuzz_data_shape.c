/* fuzz_data_shape.c: feeds pieces of shapes of another node to the functions by which a helper reads and processes them.
 * The first two bytes are an operation and a type, the rest is the piece; its address is relative to the memory. A piece
 * inside the memory is copied out and back, and updated: nothing outside its hull may change. Piece and memory are
 * allocated with their exact length, so that a sanitizer detects accesses beyond it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "data/data.h"
#include "fuzz.h"
#include "tables/shape.h"

enum { MEMORY = 3 * LOCK_TABLE_GRAIN, MOST_BYTES = 8192, MOST_BLOCKS = 256 };

static char *memory, *before, *packed, *old;
static struct net_lock_table *locks;

static void make_memory(void) {
    size_t bytes = round_up(net_lock_table_bytes(), LOCK_TABLE_GRAIN);
    locks = aligned_alloc(LOCK_TABLE_GRAIN, bytes);
    memset(locks, 0, bytes);
    fuzz_must(!net_lock_table_make(locks));
    memory = malloc(MEMORY);
    before = malloc(MEMORY);
    packed = malloc(MOST_BYTES);
    old = malloc(MOST_BYTES);
    for (int i = 0; i < MEMORY; i++)
        memory[i] = (char)(i * 7);
}

static void check_unchanged(const struct data_piece *p) {
    fuzz_must(!memcmp(memory, before, p->low));
    fuzz_must(!memcmp(memory + p->high, before + p->high, MEMORY - p->high));
}

static void update_piece(const struct data_piece *p, enum data_op op, enum data_type type) {
    struct data_update u = {.op = op,
                            .type = type,
                            .to = memory + p->address,
                            .shape = &p->shape,
                            .from = p->from,
                            .packed = packed,
                            .old = old,
                            .bytes = p->bytes};
    fuzz_must(data_update_try(locks, &u) == p->bytes);
    check_unchanged(p);
}

static void process_piece(const struct data_piece *p, unsigned op, unsigned type) {
    struct data_cursor c;
    memcpy(before, memory, MEMORY);
    data_cursor_start(&c, &p->shape, p->from);
    data_cursor_gather(&c, packed, memory + p->address, p->bytes);
    data_cursor_start(&c, &p->shape, p->from);
    data_cursor_scatter(&c, memory + p->address, packed, p->bytes);
    fuzz_must(!memcmp(memory, before, MEMORY));
    if (data_element_allows(op, type) && p->bytes % data_element_bytes(type) == 0)
        update_piece(p, (enum data_op)op, (enum data_type)type);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct shape_block list[MOST_BLOCKS];
    struct data_piece p;
    if (size < 2)
        return 0;
    if (!memory)
        make_memory();
    char *wire = malloc(size - 1);
    memcpy(wire, data + 2, size - 2);
    ssize_t length = data_shape_read(&p, list, MOST_BLOCKS, wire, size - 2);
    fuzz_must(length == -EPROTO || (length > 0 && (size_t)length <= size - 2));
    if (length > 0 && p.high <= MEMORY && p.bytes <= MOST_BYTES)
        process_piece(&p, data[0], data[1]);
    free(wire);
    return 0;
}
