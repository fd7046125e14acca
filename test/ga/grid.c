/* grid.c: serial arrays, boxes and pieces: see grid.h. */
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 0x5a };

/* ---- elements ---- */

size_t type_size(int type) {
    switch (type) {
    case C_INT:
        return sizeof(int);
    case C_LONG:
        return sizeof(long);
    case C_LONGLONG:
        return sizeof(long long);
    case C_FLOAT:
        return sizeof(float);
    case C_DBL:
        return sizeof(double);
    case C_SCPL:
        return sizeof(float complex);
    default:
        return sizeof(double complex);
    }
}

bool type_is_complex(int type) {
    return type == C_SCPL || type == C_DCPL;
}

const char *type_name(int type) {
    switch (type) {
    case C_INT:
        return "int";
    case C_LONG:
        return "long";
    case C_LONGLONG:
        return "long long";
    case C_FLOAT:
        return "float";
    case C_DBL:
        return "double";
    case C_SCPL:
        return "float complex";
    default:
        return "double complex";
    }
}

void store(int type, void *base, long i, number value) {
    switch (type) {
    case C_INT:
        ((int *)base)[i] = (int)creal(value);
        break;
    case C_LONG:
        ((long *)base)[i] = (long)creal(value);
        break;
    case C_LONGLONG:
        ((long long *)base)[i] = (long long)creal(value);
        break;
    case C_FLOAT:
        ((float *)base)[i] = (float)creal(value);
        break;
    case C_DBL:
        ((double *)base)[i] = creal(value);
        break;
    case C_SCPL:
        ((float complex *)base)[i] = (float complex)value;
        break;
    default:
        ((double complex *)base)[i] = value;
    }
}

number load(int type, const void *base, long i) {
    switch (type) {
    case C_INT:
        return ((const int *)base)[i];
    case C_LONG:
        return (double)((const long *)base)[i];
    case C_LONGLONG:
        return (double)((const long long *)base)[i];
    case C_FLOAT:
        return ((const float *)base)[i];
    case C_DBL:
        return ((const double *)base)[i];
    case C_SCPL:
        return ((const float complex *)base)[i];
    default:
        return ((const double complex *)base)[i];
    }
}

static int draw_part(uint64_t *state) {
    int value = draw_between(state, 1, 20);
    return draw(state) & 1 ? value : -value;
}

number draw_number(uint64_t *state, int type) {
    double re = draw_part(state), im = draw_part(state);
    return type_is_complex(type) ? __builtin_complex(re, im) : re;
}

void *scalar(int type, number value) {
    static number scalars[8];
    static int next;
    void *at = &scalars[next = (next + 1) % 8];
    store(type, at, 0, value);
    return at;
}

/* ---- grids and boxes ---- */

struct grid grid_new(int type, int ndim, const int dims[]) {
    struct grid grid = {.type = type, .ndim = ndim, .count = 1};
    for (int d = 0; d < ndim; d++)
        grid.count *= grid.dims[d] = dims[d];
    grid.at = need((size_t)grid.count * sizeof *grid.at);
    return grid;
}

void grid_free(struct grid *grid) {
    free(grid->at);
}

long grid_offset(const struct grid *grid, const int at[]) {
    long offset = 0;
    for (int d = 0; d < grid->ndim; d++)
        offset = offset * grid->dims[d] + at[d];
    return offset;
}

void grid_fill(struct grid *grid, uint64_t *state) {
    for (long i = 0; i < grid->count; i++)
        grid->at[i] = draw_number(state, grid->type);
}

struct box whole(const struct grid *grid) {
    struct box box = {0};
    for (int d = 0; d < grid->ndim; d++)
        box.hi[d] = grid->dims[d] - 1;
    return box;
}

struct box draw_box_of(const struct grid *grid, int part, int parts, uint64_t *state) {
    struct box box = {0};
    for (int d = 0; d < grid->ndim; d++) {
        int first = d == 0 ? grid->dims[d] * part / parts : 0;
        int last = d == 0 ? grid->dims[d] * (part + 1) / parts - 1 : grid->dims[d] - 1;
        box.lo[d] = draw_between(state, first, last);
        box.hi[d] = draw_between(state, box.lo[d], last);
    }
    return box;
}

struct box draw_box(const struct grid *grid, uint64_t *state) {
    return draw_box_of(grid, 0, 1, state);
}

struct box move_box(const struct grid *grid, const struct box *box, uint64_t *state) {
    struct box moved = {0};
    for (int d = 0; d < grid->ndim; d++) {
        int extent = box->hi[d] - box->lo[d] + 1;
        moved.lo[d] = draw_between(state, 0, grid->dims[d] - extent);
        moved.hi[d] = moved.lo[d] + extent - 1;
    }
    return moved;
}

bool box_next(int ndim, const struct box *box, int at[]) {
    for (int d = ndim - 1; d >= 0; d--) {
        if (++at[d] <= box->hi[d])
            return true;
        at[d] = box->lo[d];
    }
    return false;
}

long box_count(int ndim, const struct box *box) {
    long count = 1;
    for (int d = 0; d < ndim; d++)
        count *= box->hi[d] - box->lo[d] + 1;
    return count;
}

/* ---- pieces ---- */

/* Leading dimension d is the allocated extent of dimension d + 1. */
struct piece piece_new(const struct grid *grid, const struct box *box, uint64_t *state) {
    struct piece piece = {.type = grid->type, .ndim = grid->ndim};
    piece.room = 1;
    for (int d = 0; d < grid->ndim; d++) {
        int extent = piece.extent[d] = box->hi[d] - box->lo[d] + 1;
        if (d > 0)
            extent = piece.ld[d - 1] = extent + draw_below(state, 3);
        piece.room *= extent;
    }
    size_t bytes = (size_t)piece.room * type_size(grid->type);
    piece.bytes = need(bytes);
    memset(piece.bytes, GAP, bytes);
    return piece;
}

void piece_free(struct piece *piece) {
    free(piece->bytes);
}

long piece_offset(const struct piece *piece, const struct box *box, const int at[]) {
    long offset = at[0] - box->lo[0];
    for (int d = 1; d < piece->ndim; d++)
        offset = offset * piece->ld[d - 1] + at[d] - box->lo[d];
    return offset;
}

static struct box piece_box(const struct piece *piece) {
    struct box box = {0};
    for (int d = 0; d < piece->ndim; d++)
        box.hi[d] = piece->extent[d] - 1;
    return box;
}

void piece_fill(struct piece *piece, uint64_t *state) {
    struct box box = piece_box(piece);
    int at[GA_MAX_DIM] = {0};
    do
        store(piece->type, piece->bytes, piece_offset(piece, &box, at), draw_number(state, piece->type));
    while (box_next(piece->ndim, &box, at));
}

void grid_put(struct grid *grid, const struct box *box, const struct piece *piece) {
    int at[GA_MAX_DIM];
    memcpy(at, box->lo, sizeof at);
    do
        grid->at[grid_offset(grid, at)] = load(grid->type, piece->bytes, piece_offset(piece, box, at));
    while (box_next(grid->ndim, box, at));
}

void grid_acc(struct grid *grid, const struct box *box, const struct piece *piece, number alpha) {
    int at[GA_MAX_DIM];
    memcpy(at, box->lo, sizeof at);
    do
        grid->at[grid_offset(grid, at)] +=
            alpha * load(grid->type, piece->bytes, piece_offset(piece, box, at));
    while (box_next(grid->ndim, box, at));
}

static bool report(const char *file, int line, const struct grid *grid, const int at[], number got,
                   number want) {
    char text[200];
    int used = snprintf(text, sizeof text, "%s element", type_name(grid->type));
    for (int d = 0; d < grid->ndim; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %d", at[d]);
    snprintf(text + used, sizeof text - (size_t)used, " to be %.17g %+.17gi, not %.17g %+.17gi", creal(want),
             cimag(want), creal(got), cimag(got));
    return test_expect(file, line, text, false);
}

static bool gaps_are_whole(const struct piece *piece) {
    size_t size = type_size(piece->type);
    long used = 0, gaps = 0, inside = 1;
    unsigned char gap[sizeof(number)];
    memset(gap, GAP, sizeof gap);
    for (int d = 0; d < piece->ndim; d++)
        inside *= piece->extent[d];
    for (long i = 0; i < piece->room; i++)
        if (memcmp((char *)piece->bytes + (size_t)i * size, gap, size) == 0)
            gaps++;
        else
            used++;
    return used == inside && gaps == piece->room - inside;
}

bool test_expect_piece(const char *file, int line, const struct grid *grid, const struct box *box,
                       const struct piece *piece) {
    int at[GA_MAX_DIM];
    memcpy(at, box->lo, sizeof at);
    do {
        number want = grid->at[grid_offset(grid, at)],
               got = load(grid->type, piece->bytes, piece_offset(piece, box, at));
        if (got != want)
            return report(file, line, grid, at, got, want);
    } while (box_next(grid->ndim, box, at));
    return test_expect(file, line, "what lies between the rows to be left alone", gaps_are_whole(piece));
}

/* ---- arrays ---- */

bool test_expect_array(const char *file, int line, int array, const struct grid *grid, double by) {
    struct box box = whole(grid);
    int at[GA_MAX_DIM] = {0};
    void *all = need((size_t)grid->count * type_size(grid->type));
    bool well = true;
    NGA_Get(array, box.lo, box.hi, all, (int *)grid->dims + 1);
    for (long i = 0; i < grid->count && well; i++) {
        number got = load(grid->type, all, i);
        if (!(cabs(got - grid->at[i]) <= by))
            well = report(file, line, grid, at, got, grid->at[i]);
        box_next(grid->ndim, &box, at);
    }
    free(all);
    return well;
}

static int create_chunked(const struct grid *grid, uint64_t *state) {
    int chunk[GA_MAX_DIM];
    for (int d = 0; d < grid->ndim; d++)
        chunk[d] = draw_below(state, 3) ? draw_between(state, 1, grid->dims[d]) : -1;
    return NGA_Create(grid->type, grid->ndim, (int *)grid->dims, "chunked", chunk);
}

/* Splits one dimension after the other while there are ranks for the blocks. */
static int create_irregular(const struct grid *grid, uint64_t *state) {
    int block[GA_MAX_DIM], map[GA_MAX_DIM * 64], used = 0, left = ranks;
    for (int d = 0; d < grid->ndim; d++) {
        int most = left < grid->dims[d] ? left : grid->dims[d], first = 0;
        block[d] = draw_between(state, 1, most < 16 ? most : 16);
        left /= block[d];
        for (int b = 0; b < block[d]; b++) {
            map[used++] = first;
            first += draw_between(state, 1, grid->dims[d] - first - (block[d] - b - 1));
        }
    }
    return NGA_Create_irreg(grid->type, grid->ndim, (int *)grid->dims, "irregular", block, map);
}

/* At least as many blocks as ranks: with fewer, libga 5.8.2 computes addresses outside the array. */
static int create_cyclic(const struct grid *grid, uint64_t *state) {
    int block[GA_MAX_DIM], array = GA_Create_handle(), most = grid->dims[0] / ranks;
    block[0] = draw_between(state, 1 + most / 3, most);
    for (int d = 1; d < grid->ndim; d++)
        block[d] = draw_between(state, 1 + grid->dims[d] / 4, grid->dims[d]);
    GA_Set_data(array, grid->ndim, (int *)grid->dims, grid->type);
    GA_Set_block_cyclic(array, block);
    GA_Allocate(array);
    return array;
}

static int create_on_some(const struct grid *grid, uint64_t *state) {
    int array = GA_Create_handle(), first = draw_below(state, ranks);
    GA_Set_data(array, grid->ndim, (int *)grid->dims, grid->type);
    GA_Set_restricted_range(array, first, draw_between(state, first, ranks - 1));
    GA_Allocate(array);
    return array;
}

int array_new(const struct grid *grid, uint64_t *state) {
    bool enough = grid->dims[0] >= ranks; /* one block for each rank */
    switch (draw_below(state, 5)) {
    case 0:
        return create_chunked(grid, state);
    case 1:
        return create_irregular(grid, state);
    case 2:
        if (enough)
            return create_cyclic(grid, state);
        /* fallthrough */
    case 3:
        return create_on_some(grid, state);
    default:
        return NGA_Create(grid->type, grid->ndim, (int *)grid->dims, "even", NULL);
    }
}

void array_set(int array, const struct grid *grid) {
    struct box box = whole(grid);
    long row = grid->count / grid->dims[0];
    box.lo[0] = (int)((long)grid->dims[0] * me / ranks);
    box.hi[0] = (int)((long)grid->dims[0] * (me + 1) / ranks) - 1;
    void *rows = need((size_t)grid->count * type_size(grid->type));
    for (long i = 0; i < grid->count - box.lo[0] * row; i++)
        store(grid->type, rows, i, grid->at[box.lo[0] * row + i]);
    if (box.lo[0] <= box.hi[0])
        NGA_Put(array, box.lo, box.hi, rows, (int *)grid->dims + 1);
    GA_Sync();
    free(rows);
}

int array_of(const struct grid *grid) {
    int array = NGA_Create(grid->type, grid->ndim, (int *)grid->dims, "even", NULL);
    array_set(array, grid);
    return array;
}
