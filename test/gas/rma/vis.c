/* vis.c: compares random puts and gets of non-contiguous memory with a model that copies byte by byte. The seed is
 * that of the frame. */
#include "test.h"

#include <gasnet_vis.h>
#include <stdlib.h>
#include <string.h>

enum { AREA = 8192, BYTES = 1500, ENTRIES = 256, LEVELS = 3, ROUNDS = 60 };
TEST_SEGMENT(1 << 20)

/* One call: byte k of the source, at from[k] on its side, goes to to[k] on the other. */
static size_t to[AREA], from[AREA], bytes;
static gasnet_memvec_t vectors[2][ENTRIES];
static void *addresses[2][ENTRIES];
static size_t counts[2], lengths[2], strides[2][LEVELS], grid[LEVELS + 1], levels;

static char remote[AREA], local[AREA], got[AREA]; /* remote: contents of this rank's area at the next node */
static char *area;
static gasnet_node_t node;
static size_t drawn;

static size_t draw(size_t below) {
    return (size_t)(test_number(test_rank, drawn++, 17) >> 20) % below;
}

/* ---- shapes ---- */

static void swap_entries(gasnet_memvec_t *list, size_t a, size_t b) {
    gasnet_memvec_t kept = list[a];
    list[a] = list[b];
    list[b] = kept;
}

/* Entries of any length, also zero, that do not overlap, in any order; addresses are offsets at this point. */
static void draw_vector(int side, size_t total) {
    gasnet_memvec_t *list = vectors[side];
    size_t count = 0, at = draw(100);
    for (size_t left = total; left > 0; count++) {
        size_t length = count + 1 == ENTRIES ? left : draw(40);
        list[count].len = length < left ? length : left;
        list[count].addr = (void *)at;
        at += list[count].len + draw(3) * draw(10);
        left -= list[count].len;
    }
    for (size_t i = 1; i < count; i++)
        swap_entries(list, i, draw(i + 1));
    counts[side] = count;
}

static void expand_vector(int side, size_t *offsets) {
    size_t k = 0;
    for (size_t i = 0; i < counts[side]; i++)
        for (size_t b = 0; b < vectors[side][i].len; b++)
            offsets[k++] = (size_t)(uintptr_t)vectors[side][i].addr + b;
    bytes = k;
}

static void draw_vectors(void) {
    size_t total = draw(BYTES);
    draw_vector(0, total);
    draw_vector(1, total);
    expand_vector(0, to);
    expand_vector(1, from);
}

static void draw_indices(void) {
    size_t unit = 1 + draw(20), parts[] = {1 + draw(4), 1 + draw(4)}, times = draw(8);
    for (int side = 0; side < 2; side++) {
        lengths[side] = unit * parts[side];
        counts[side] = parts[1 - side] * times;
        for (size_t i = 0, at = draw(50); i < counts[side]; i++, at += lengths[side] + draw(9))
            vectors[side][i] = (gasnet_memvec_t){(void *)at, lengths[side]};
        for (size_t i = 1; i < counts[side]; i++)
            swap_entries(vectors[side], i, draw(i + 1));
        expand_vector(side, side == 0 ? to : from);
    }
}

static void draw_grid(void) {
    levels = draw(LEVELS + 1);
    bytes = grid[0] = 1 + draw(16);
    for (size_t i = 1; i <= levels; i++)
        bytes *= grid[i] = draw(8) == 0 ? 0 : 1 + draw(4);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0, extent = grid[0]; i < levels; i++) {
            strides[side][i] = extent + draw(2) * draw(9);
            extent = strides[side][i] * (grid[i + 1] > 0 ? grid[i + 1] : 1);
        }
    for (size_t k = 0; k < bytes; k++) {
        size_t rest = k / grid[0];
        to[k] = from[k] = k % grid[0];
        for (size_t i = 0; i < levels; rest /= grid[++i]) {
            to[k] += rest % grid[i + 1] * strides[0][i];
            from[k] += rest % grid[i + 1] * strides[1][i];
        }
    }
}

/* ---- calls ---- */

enum form { BLOCKING, EXPLICIT, IMPLICIT, IN_A_REGION, FORMS };

static void finish(enum form form, gasnet_handle_t handle) {
    if (form == EXPLICIT)
        gasnet_wait_syncnb(handle);
    else if (form == IMPLICIT)
        gasnet_wait_syncnbi_all();
    else if (form == IN_A_REGION)
        gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
}

/* Calls with their own handles in an access region do not belong to it. */
#define CALL(form, handle, what, ...)                                                                        \
    do {                                                                                                     \
        if ((form) == IN_A_REGION)                                                                           \
            gasnet_begin_nbi_accessregion();                                                                 \
        if ((form) == BLOCKING)                                                                              \
            gasnet_##what##_bulk(__VA_ARGS__);                                                               \
        else if ((form) == EXPLICIT)                                                                         \
            (handle) = gasnet_##what##_nb_bulk(__VA_ARGS__);                                                 \
        else                                                                                                 \
            gasnet_##what##_nbi_bulk(__VA_ARGS__);                                                           \
    } while (0)

/* Converts offsets to addresses of the destination and of the source. */
static void place(char *destination, char *source) {
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < counts[side]; i++) {
            gasnet_memvec_t *v = &vectors[side][i];
            v->addr = (side == 0 ? destination : source) + (uintptr_t)v->addr;
            addresses[side][i] = v->addr;
        }
}

static gasnet_handle_t call(int shape, bool put, enum form form) {
    gasnet_handle_t handle = GASNET_INVALID_HANDLE;
    char *destination = put ? area : local, *source = put ? local : area;
    if (shape < 2)
        place(destination, source);
    if (shape == 0 && put)
        CALL(form, handle, putv, node, counts[0], vectors[0], counts[1], vectors[1]);
    else if (shape == 0)
        CALL(form, handle, getv, counts[0], vectors[0], node, counts[1], vectors[1]);
    else if (shape == 1 && put)
        CALL(form, handle, puti, node, counts[0], addresses[0], lengths[0], counts[1], addresses[1],
             lengths[1]);
    else if (shape == 1)
        CALL(form, handle, geti, counts[0], addresses[0], lengths[0], node, counts[1], addresses[1],
             lengths[1]);
    else if (put)
        CALL(form, handle, puts, node, area, strides[0], local, strides[1], grid, levels);
    else
        CALL(form, handle, gets, local, strides[0], node, area, strides[1], grid, levels);
    return handle;
}

static void play(int shape, void (*draw_shape)(void)) {
    node = (gasnet_node_t)((test_rank + 1) % test_size);
    area = (char *)test_segments[node].addr + (size_t)test_rank * AREA;
    test_fill(remote, AREA, test_rank, 1);
    gasnet_put_bulk(node, area, remote, AREA);
    for (int round = 0; round < ROUNDS; round++) {
        bool put = draw(2) == 0;
        enum form form = (enum form)draw(FORMS);
        draw_shape();
        test_fill(local, AREA, test_rank, round + 2);
        char *model = put ? remote : got;
        const char *source = put ? local : remote;
        memcpy(got, local, AREA);
        for (size_t k = 0; k < bytes; k++)
            model[to[k]] = source[from[k]];
        finish(form, call(shape, put, form));
        if (put)
            gasnet_get_bulk(got, node, area, AREA);
        if (!expect_bytes(put ? got : local, model, AREA))
            break;
    }
    test_barrier();
}

CASE(vectors) {
    play(0, draw_vectors);
}

CASE(indexed) {
    play(1, draw_indices);
}

CASE(strided) {
    play(2, draw_grid);
}

/* A call with a handle inside the program's access region does not belong to the region. */
CASE(explicit_in_a_region) {
    char *there = (char *)test_segments[(test_rank + 1) % test_size].addr + (size_t)test_rank * AREA;
    char data[16] = "0123456789abcde", back[16] = "";
    size_t shape[] = {4, 3}, apart[] = {5}, together[] = {4};
    node = (gasnet_node_t)((test_rank + 1) % test_size);
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi_bulk(node, there + 100, data, 16);
    gasnet_wait_syncnb(gasnet_puts_nb_bulk(node, there, apart, data, together, shape, 1));
    gasnet_gets_bulk(back, together, node, there, apart, shape, 1);
    expect_bytes(back, data, 12);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
    gasnet_get(back, node, there + 100, 16);
    expect_bytes(back, data, 16);
}

ON_CALL(lists_of_different_sizes) {
    gasnet_memvec_t there = {test_segments[0].addr, 8}, here = {local, 9};
    gasnet_putv_bulk(0, 1, &there, 1, &here);
}

ON_CALL(outside_of_the_segment) {
    void *there = (char *)test_segments[0].addr + test_segments[0].size - 4, *here = local;
    gasnet_node_t first = 0;
    if (test_rank == 1)
        gasnet_wait_syncnb(gasnet_puti_nb_bulk(first, 1, &there, 8, 1, &here, 8));
    test_barrier();
}
