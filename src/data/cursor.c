/* cursor.c: iterates over ranges of shapes.
 *
 * A cursor is the number of a block and an offset in it. The invariant is that the offset is less than the block's size:
 * a cursor at the end of a block moves on to the next at once, so that each position has one representation. Equal blocks
 * of regular shapes are taken together as one run, so that the cost of a step is paid once per run and not per block. */
#include "data/cursor.h"

#include "data/rows.h"

static uint64_t cursor_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void data_cursor_start(struct data_cursor *c, const struct shape *s, uint64_t from) {
    *c = (struct data_cursor){.shape = s};
    if (from)
        data_cursor_skip(c, from);
}

void data_cursor_skip(struct data_cursor *c, uint64_t bytes) {
    const struct shape *s = c->shape;
    uint64_t to = c->within + bytes;
    if (s->list) {
        while (c->index < s->blocks && to >= s->list[c->index].bytes)
            to -= s->list[c->index++].bytes;
    } else if (to >= s->block_bytes && to) {
        c->index += to / s->block_bytes;
        to %= s->block_bytes;
    }
    c->within = to;
}

bool data_cursor_take(struct data_cursor *c, uint64_t most, size_t unit, struct data_run *run) {
    const struct shape *s = c->shape;
    struct shape_block rest = data_cursor_rest(c);
    uint64_t bytes = cursor_least(rest.bytes, most);
    if (unit > 1 && bytes != unit)
        bytes -= bytes % unit;
    if (!bytes)
        return false;
    *run = (struct data_run){.offset = rest.offset, .stride = s->stride, .rows = 1, .bytes = bytes};
    if (!s->list && bytes == s->block_bytes) {
        uint64_t rows = s->blocks - c->index;
        run->rows = rows * bytes <= most ? rows : most / bytes;
        c->index += run->rows;
    } else if (bytes == rest.bytes) {
        c->index++;
        c->within = 0;
    } else {
        c->within += bytes;
    }
    return true;
}

void data_cursor_gather(struct data_cursor *c, void *packed, const void *first, uint64_t bytes) {
    char *to = packed;
    for (struct data_run r; bytes; bytes -= r.rows * r.bytes, to += r.rows * r.bytes) {
        data_cursor_take(c, bytes, 1, &r);
        data_rows_copy(to, (int64_t)r.bytes, (const char *)first + r.offset, r.stride, r.rows, r.bytes);
    }
}

void data_cursor_scatter(struct data_cursor *c, void *first, const void *packed, uint64_t bytes) {
    const char *from = packed;
    for (struct data_run r; bytes; bytes -= r.rows * r.bytes, from += r.rows * r.bytes) {
        data_cursor_take(c, bytes, 1, &r);
        data_rows_copy((char *)first + r.offset, r.stride, from, (int64_t)r.bytes, r.rows, r.bytes);
    }
}
