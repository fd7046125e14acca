/* grid.h: a serial copy of a global array, which gives the expected results, and the pieces of it that tests
 * transfer.
 *
 * A grid is the whole array in this process, as complex numbers whatever its type. A box is a part of it, both ends
 * included. A piece is a box of numbers in memory as GA takes and returns it: of the array's type, row by row, with
 * leading dimensions that are larger than the box. The elements between the rows are known and must not change. */
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
    long room; /* elements, including those between the rows */
    void *bytes;
};

/* Elements of the types of GA. */
size_t type_size(int type);
bool type_is_complex(int type);
const char *type_name(int type);
void store(int type, void *base, long i, number value);
number load(int type, const void *base, long i);
/* A small whole number, complex if the type is; never zero. */
number draw_number(uint64_t *state, int type);
/* A scalar of the type, as GA takes factors; valid for the next eight calls. */
void *scalar(int type, number value);

struct grid grid_new(int type, int ndim, const int dims[]); /* all zero */
void grid_free(struct grid *grid);
long grid_offset(const struct grid *grid, const int at[]);
void grid_fill(struct grid *grid, uint64_t *state);

struct box whole(const struct grid *grid);
struct box draw_box(const struct grid *grid, uint64_t *state);
/* The same inside one of several equal shares of dimension 0. */
struct box draw_box_of(const struct grid *grid, int part, int parts, uint64_t *state);
/* A box of the same shape at another place; the grid must be at least as large as the box. */
struct box move_box(const struct grid *grid, const struct box *box, uint64_t *state);
/* The next place of a box, row by row; start with at = lo. */
bool box_next(int ndim, const struct box *box, int at[]);
long box_count(int ndim, const struct box *box);

struct piece piece_new(const struct grid *grid, const struct box *box, uint64_t *state);
void piece_free(struct piece *piece);
void piece_fill(struct piece *piece, uint64_t *state);
long piece_offset(const struct piece *piece, const struct box *box, const int at[]);

/* The effects of put, acc and get. */
void grid_put(struct grid *grid, const struct box *box, const struct piece *piece);
void grid_acc(struct grid *grid, const struct box *box, const struct piece *piece, number alpha);
/* Returns whether the piece holds this box of the grid, and its gaps are unchanged. */
bool test_expect_piece(const char *file, int line, const struct grid *grid, const struct box *box,
                       const struct piece *piece);
#define expect_piece(grid, box, piece) test_expect_piece(__FILE__, __LINE__, grid, box, piece)

/* Gets the whole array and returns whether it equals the grid, up to `by`. */
bool test_expect_array(const char *file, int line, int array, const struct grid *grid, double by);
#define expect_array(array, grid)          test_expect_array(__FILE__, __LINE__, array, grid, 0)
#define expect_array_near(array, grid, by) test_expect_array(__FILE__, __LINE__, array, grid, by)

/* Creates an array for the grid, with a randomly chosen distribution; collective. The array has no values yet, and
 * the grid does not change. */
int array_new(const struct grid *grid, uint64_t *state);
/* Creates an evenly distributed array with the grid's values. */
int array_of(const struct grid *grid);
/* Puts the grid into the array, a share by each rank, and syncs. */
void array_set(int array, const struct grid *grid);

#endif
