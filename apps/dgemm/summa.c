/* summa.c: SUMMA (van de Geijn and Watts). Each rank computes its own tiles of C. For each k it fetches the
 * part of column k of A in its rows, and the part of row k of B in its columns, from their owners, and adds all
 * products of the two:
 *
 *                     B   | B(k,1) B(k,3)                     A(i,k) comes from the rank's row of the grid,
 *                     ----+---------------                    B(k,j) from its column
 *              A(0,k)     | C(0,1) C(0,3)
 *              A(2,k)     | C(2,1) C(2,3)
 *
 * Tiles of C may be processed in groups, one group after the other. A segment that is larger than memory then
 * has only one group of C in use, at the price of reading A and B again for each group. A group and a k make a
 * step. There are two panels: while the products of a step are computed, the tiles of the next step are in
 * flight. The gets are polled between two products, because a runtime may allow fewer gets in flight than a
 * panel has.
 *
 * The rank's own tiles are read in place (--local load: in the segment, by loads of the BLAS), or fetched like
 * all others (--local get; C is then accumulated in a buffer, and put when it is complete). */
#include "dgemm.h"

#include <cblas.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"

enum { USUAL_BUFFERS = 128 << 20 };

struct panel {
    const double **a, **b; /* tiles: in the own segment, or in the panel's buffer */
    double *room;
    gasnet_handle_t *handles;
    size_t count; /* of handles */
};

struct run {
    const struct dgemm_layout *layout;
    bool get;                           /* --local get */
    uint64_t rows, columns;             /* own tiles of C */
    uint64_t group_rows, group_columns; /* of tiles, at most */
    uint64_t groups_down, groups_across;
    struct panel panels[2];
    double *sums; /* of a group, with --local get */
    struct dgemm_times *times;
    uint64_t gets;
    uint64_t done, steps; /* of all repeats, for the progress line */
};

/* A step, in execution order: groups, and for each group all k. */
struct step {
    uint64_t first_row, first_column; /* among the own tiles */
    uint64_t rows, columns;           /* of tiles in the group */
    uint64_t k;
};

static double seconds_since(uint64_t began) {
    return (double)(clock_ns() - began) * 1e-9;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* ---- locations ---- */

static uint64_t own_count(uint64_t tiles, uint64_t place, uint64_t ranks) {
    return place < tiles ? (tiles - place - 1) / ranks + 1 : 0;
}

static uint64_t own_row(const struct dgemm_layout *l, uint64_t n) {
    return l->row + n * l->grid_rows;
}

static uint64_t own_column(const struct dgemm_layout *l, uint64_t n) {
    return l->column + n * l->grid_columns;
}

static uint64_t steps_of(const struct run *x) {
    return x->groups_down * x->groups_across * x->layout->tiles;
}

static struct step step_at(const struct run *x, uint64_t number) {
    uint64_t group = number / x->layout->tiles;
    struct step s = {.first_row = group / x->groups_across * x->group_rows,
                     .first_column = group % x->groups_across * x->group_columns,
                     .k = number % x->layout->tiles};
    s.rows = least(x->group_rows, x->rows - s.first_row);
    s.columns = least(x->group_columns, x->columns - s.first_column);
    return s;
}

/* ---- reading tiles ---- */

static double *room_at(const struct run *x, double *room, uint64_t tile) {
    return room + tile * (x->layout->tile_bytes / sizeof *room);
}

/* Returns the address at which the tile is, or will be when the panel is complete. */
static const double *ask(struct run *x, struct panel *p, int matrix, uint64_t i, uint64_t j, double *room) {
    const struct dgemm_layout *l = x->layout;
    int owner = dgemm_owner(l, i, j);
    const double *tile = dgemm_tile(l, matrix, i, j);
    if (owner == l->rank && !x->get)
        return tile;
    p->handles[p->count++] = gasnet_get_nb_bulk(room, (gasnet_node_t)owner, tile, dgemm_tile_bytes(l, i));
    x->gets++;
    return room;
}

static void begin_panel(struct run *x, struct panel *p, uint64_t number) {
    uint64_t began = clock_ns();
    struct step s = step_at(x, number);
    p->count = 0;
    for (uint64_t r = 0; r < s.rows; r++)
        p->a[r] = ask(x, p, DGEMM_A, own_row(x->layout, s.first_row + r), s.k, room_at(x, p->room, r));
    for (uint64_t c = 0; c < s.columns; c++)
        p->b[c] = ask(x, p, DGEMM_B, s.k, own_column(x->layout, s.first_column + c),
                      room_at(x, p->room, x->group_rows + c));
    x->times->communication += seconds_since(began);
}

static void look_after(struct run *x, struct panel *p) {
    uint64_t began = clock_ns();
    gasnet_try_syncnb_all(p->handles, p->count);
    x->times->communication += seconds_since(began);
}

static void complete_panel(struct run *x, struct panel *p) {
    uint64_t began = clock_ns();
    gasnet_wait_syncnb_all(p->handles, p->count);
    p->count = 0;
    x->times->communication += seconds_since(began);
}

/* ---- products ---- */

static double *sum_of(const struct run *x, const struct step *s, uint64_t r, uint64_t c) {
    if (x->get)
        return room_at(x, x->sums, r * x->group_columns + c);
    return dgemm_tile(x->layout, DGEMM_C, own_row(x->layout, s->first_row + r),
                      own_column(x->layout, s->first_column + c));
}

static void multiply_tiles(struct run *x, const struct step *s, const struct panel *p, uint64_t r,
                           uint64_t c) {
    const struct dgemm_layout *l = x->layout;
    int rows = (int)dgemm_extent(l, own_row(l, s->first_row + r)), inner = (int)dgemm_extent(l, s->k);
    int columns = (int)dgemm_extent(l, own_column(l, s->first_column + c)), row = (int)l->block;
    uint64_t began = clock_ns();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1, p->a[r], row, p->b[c],
                row, s->k ? 1 : 0, sum_of(x, s, r, c), row);
    x->times->blas += seconds_since(began);
}

/* With --local get, stores a complete group. */
static void put_sums(struct run *x, const struct step *s) {
    const struct dgemm_layout *l = x->layout;
    uint64_t began = clock_ns();
    for (uint64_t r = 0; r < s->rows; r++)
        for (uint64_t c = 0; c < s->columns; c++) {
            uint64_t i = own_row(l, s->first_row + r), j = own_column(l, s->first_column + c);
            gasnet_put_bulk((gasnet_node_t)l->rank, dgemm_tile(l, DGEMM_C, i, j), sum_of(x, s, r, c),
                            dgemm_tile_bytes(l, i));
        }
    x->times->communication += seconds_since(began);
}

static void do_step(struct run *x, uint64_t number) {
    struct panel *now = &x->panels[number % 2], *next = &x->panels[(number + 1) % 2];
    struct step s = step_at(x, number);
    complete_panel(x, now);
    if (number + 1 < steps_of(x))
        begin_panel(x, next, number + 1);
    for (uint64_t r = 0; r < s.rows; r++)
        for (uint64_t c = 0; c < s.columns; c++) {
            multiply_tiles(x, &s, now, r, c);
            look_after(x, next);
        }
    if (x->get && s.k + 1 == x->layout->tiles)
        put_sums(x, &s);
    x->done++;
    if (x->layout->rank == 0)
        app_progress("rank 0: %3" PRIu64 " %% of its products", 100 * x->done / x->steps);
}

static void multiply_once(struct run *x) {
    uint64_t steps = steps_of(x);
    x->panels[0].count = x->panels[1].count = 0;
    if (steps)
        begin_panel(x, &x->panels[0], 0);
    for (uint64_t i = 0; i < steps; i++)
        do_step(x, i);
}

/* ---- the whole product ---- */

static int open_panel(const struct run *x, struct panel *p) {
    uint64_t tiles = x->group_rows + x->group_columns;
    p->a = calloc(x->group_rows, sizeof *p->a);
    p->b = calloc(x->group_columns, sizeof *p->b);
    p->handles = calloc(tiles, sizeof *p->handles);
    p->room = dgemm_make_room(tiles * x->layout->tile_bytes);
    return p->a && p->b && p->handles && p->room ? APP_OK : APP_FAILED;
}

static void close_panel(struct panel *p) {
    free(p->a);
    free(p->b);
    free(p->handles);
    free(p->room);
}

static void close_run(struct run *x) {
    close_panel(&x->panels[0]);
    close_panel(&x->panels[1]);
    free(x->sums);
}

static uint64_t divide_up(uint64_t n, uint64_t by) {
    return (n + by - 1) / by;
}

static uint64_t sum_count(const struct run *x) {
    return x->get ? x->group_rows * x->group_columns : 0;
}

static uint64_t buffer_bytes(const struct run *x) {
    return (2 * (x->group_rows + x->group_columns) + sum_count(x)) * x->layout->tile_bytes;
}

/* The requested group, or about as many rows as columns, limited by the tiles that exist. */
static void choose_group(struct run *x, const struct dgemm_pair *wanted) {
    const struct dgemm_layout *l = x->layout;
    x->group_rows = wanted->rows ? least(wanted->rows, l->rows) : l->rows;
    x->group_columns = wanted->columns ? least(wanted->columns, l->columns) : l->columns;
    while (!wanted->rows && buffer_bytes(x) > USUAL_BUFFERS && x->group_rows * x->group_columns > 1) {
        uint64_t *longer = x->group_rows > x->group_columns ? &x->group_rows : &x->group_columns;
        *longer = divide_up(*longer, 2);
    }
}

/* Groups have the same size on all ranks, whether or not a rank has tiles for all of them. */
static int open_run(struct run *x, const struct dgemm_layout *l, const struct dgemm_options *o,
                    struct dgemm_result *r) {
    *x = (struct run){.layout = l,
                      .get = o->local == DGEMM_GET,
                      .rows = own_count(l->tiles, l->row, l->grid_rows),
                      .columns = own_count(l->tiles, l->column, l->grid_columns),
                      .times = &r->times};
    choose_group(x, &o->group);
    x->groups_down = divide_up(x->rows, x->group_rows);
    x->groups_across = divide_up(x->columns, x->group_columns);
    x->steps = o->repeats * steps_of(x);
    r->buffer_bytes = buffer_bytes(x);
    x->sums = dgemm_make_room(sum_count(x) * l->tile_bytes);
    int first = open_panel(x, &x->panels[0]), second = open_panel(x, &x->panels[1]);
    return dgemm_agree(x->sums && !first && !second ? APP_OK : APP_FAILED,
                       "no memory for the panels: use a smaller --block or --group");
}

int dgemm_multiply(const struct dgemm_layout *l, const struct dgemm_options *o, struct dgemm_result *r) {
    struct run x;
    int code = open_run(&x, l, o, r);
    openblas_set_num_threads(1);
    if (!code && l->rank == 0)
        app_progress_begin(&o->manner);
    for (uint64_t i = 0; i < o->repeats && !code; i++) {
        dgemm_barrier();
        uint64_t began = clock_ns();
        multiply_once(&x);
        dgemm_barrier(); /* no rank reads C, or the clock, before all are done */
        r->times.total += seconds_since(began);
        r->seconds[i] = dgemm_most(seconds_since(began));
    }
    if (!code && l->rank == 0)
        app_progress_end();
    r->gets = x.gets;
    close_run(&x);
    return code;
}
