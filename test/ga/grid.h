/* grid.h: the serial truth beside a global array, and the pieces of both that are moved.
 *
 * A grid is the whole array in this process, as complex numbers whatever its type. A box is a part of it,
 * both ends included. A piece is a box of numbers in memory as GA takes and gives it: of the array's type,
 * row by row, with leading dimensions that are larger than the box; what lies between the rows is known
 * and must stay as it is. */
#ifndef HEARTH_TEST_GA_GRID_H
#define HEARTH_TEST_GA_GRID_H

#include <complex.h>

#include "check.h"

typedef double complex number;

struct grid {
    int type, ndim, dims[GA_MAX_DIM];
    long count;
    number *at;
};

struct box {
    int lo[GA_MAX_DIM], hi[GA_MAX_DIM];
};

struct piece {
    int type, ndim, extent[GA_MAX_DIM], ld[GA_MAX_DIM];
    long room; /* elements, those between the rows included */
    void *bytes;
};

/* Elements of the types that GA knows. */
size_t type_size(int type);
bool type_is_complex(int type);
const char *type_name(int type);
void store(int type, void *base, long i, number value);
number load(int type, const void *base, long i);
/* A small whole number, complex if the type is; never zero. */
number draw_number(uint64_t *state, int type);
/* A scalar of the type, as GA takes factors; good until called eight times more. */
void *scalar(int type, number value);

struct grid grid_new(int type, int ndim, const int dims[]); /* all zero */
void grid_free(struct grid *grid);
long grid_offset(const struct grid *grid, const int at[]);
void grid_fill(struct grid *grid, uint64_t *state);

struct box whole(const struct grid *grid);
struct box draw_box(const struct grid *grid, uint64_t *state);
/* The same inside of the share of dimension 0 that belongs to one of so many. */
struct box draw_box_of(const struct grid *grid, int part, int parts, uint64_t *state);
/* A box of the same shape elsewhere; the grid must be as large as the box's own. */
struct box move_box(const struct grid *grid, const struct box *box, uint64_t *state);
/* The next place of a box, row by row; start with at = lo. */
bool box_next(int ndim, const struct box *box, int at[]);
long box_count(int ndim, const struct box *box);

struct piece piece_new(const struct grid *grid, const struct box *box, uint64_t *state);
void piece_free(struct piece *piece);
void piece_fill(struct piece *piece, uint64_t *state);
long piece_offset(const struct piece *piece, const struct box *box, const int at[]);

/* What put, acc and get do. */
void grid_put(struct grid *grid, const struct box *box, const struct piece *piece);
void grid_acc(struct grid *grid, const struct box *box, const struct piece *piece, number alpha);
/* Whether the piece holds this box of the grid, and its gaps are as they were. */
bool test_expect_piece(const char *file, int line, const struct grid *grid, const struct box *box,
                       const struct piece *piece);
#define expect_piece(grid, box, piece) test_expect_piece(__FILE__, __LINE__, grid, box, piece)

/* Whether the array is equal to the grid; gets all of it. Up to `by` apart. */
bool test_expect_array(const char *file, int line, int array, const struct grid *grid, double by);
#define expect_array(array, grid)          test_expect_array(__FILE__, __LINE__, array, grid, 0)
#define expect_array_near(array, grid, by) test_expect_array(__FILE__, __LINE__, array, grid, by)

/* An array for the grid, distributed in one of many ways that is drawn; all ranks. The grid is left as it
 * is, the array has no values yet. */
int array_new(const struct grid *grid, uint64_t *state);
/* The same evenly distributed, with the grid's values in it. */
int array_of(const struct grid *grid);
/* Puts the grid into the array, each rank some of it, and syncs. */
void array_set(int array, const struct grid *grid);

#endif
