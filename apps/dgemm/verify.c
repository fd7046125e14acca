/* verify.c: verifies that C is A B.
 *
 * For a vector x of 1 and -1, C x must equal A (B x), which takes as many operations as the matrices have
 * elements (Freivalds). A single wrong element of C changes its row of C x for any x. Several wrong elements of a
 * row may cancel for half of the vectors, so more than one vector is tried. Small matrices are compared element by
 * element with a product by plain loops.
 *
 * Elements of A and B are generated again, so that the check relies on no data in segments but C itself. Every
 * rank reads the C of the rank after it, so that the check covers the visibility of the owner's stores.
 *
 * Sums have twice the precision (fma gives the rounding error of a product, two_sum that of a sum), so that the
 * difference is the error of C. The rounding error of an element of C is bounded by size * epsilon * (|A| |B|),
 * for any order of the sums. */
#include "dgemm.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/random.h"

enum { VECTORS = 2, SMALL = 300 };

/* ---- exact sums ---- */

struct sum {
    double high, low;
};

static void add(struct sum *s, double value) {
    double total = s->high + value, part = total - s->high;
    s->low += (s->high - (total - part)) + (value - part);
    s->high = total;
}

static void add_product(struct sum *s, double a, double b) {
    double product = a * b;
    s->low += fma(a, b, -product);
    add(s, product);
}

static double value_of(const struct sum *s) {
    return s->high + s->low;
}

/* ---- C, as another rank sees it ---- */

struct check {
    const struct dgemm_layout *layout;
    uint64_t seed;
    int watched;  /* the rank whose C this rank reads */
    double *tile; /* a copy of one of its tiles */
    double *x, *product, *bound;
    double worst; /* error, relative to the bound; NaN counts as the largest */
};

typedef void on_tile(struct check *c, uint64_t i, uint64_t j);

static void for_each_watched(struct check *c, on_tile *visit) {
    const struct dgemm_layout *l = c->layout;
    for (uint64_t i = (uint64_t)c->watched / l->grid_columns; i < l->tiles; i += l->grid_rows)
        for (uint64_t j = (uint64_t)c->watched % l->grid_columns; j < l->tiles; j += l->grid_columns) {
            gasnet_get_bulk(c->tile, (gasnet_node_t)c->watched, dgemm_tile(l, DGEMM_C, i, j),
                            dgemm_tile_bytes(l, i));
            visit(c, i, j);
        }
}

static void note(struct check *c, double error, double bound) {
    double share = error == 0 ? 0 : fabs(error) / bound;
    if (!(share <= c->worst))
        c->worst = isnan(share) ? INFINITY : share;
}

static double rounding(const struct check *c) {
    return (double)(c->layout->size + 1) * DBL_EPSILON;
}

/* ---- with a vector ---- */

/* product and bound are M v and |M| w for the rows that this rank has, and 0 for the others. */
static void multiply_vector(const struct check *c, int matrix, const double *v, const double *w,
                            double *product, double *bound) {
    const struct dgemm_layout *l = c->layout;
    for (uint64_t i = 0; i < l->size; i++)
        product[i] = bound[i] = 0;
    for (uint64_t i = (uint64_t)l->rank; i < l->size; i += (uint64_t)l->ranks) {
        struct sum sum = {0}, absolute = {0};
        for (uint64_t j = 0; j < l->size; j++) {
            double element = dgemm_element(c->seed, matrix, i, j);
            add_product(&sum, element, v[j]);
            absolute.high += fabs(element) * w[j];
        }
        product[i] = value_of(&sum);
        bound[i] = absolute.high;
    }
}

static void subtract_tile(struct check *c, uint64_t i, uint64_t j) {
    const struct dgemm_layout *l = c->layout;
    for (uint64_t r = 0; r < dgemm_extent(l, i); r++) {
        struct sum sum = {0};
        for (uint64_t k = 0; k < dgemm_extent(l, j); k++)
            add_product(&sum, c->tile[r * l->block + k], c->x[j * l->block + k]);
        c->product[i * l->block + r] -= value_of(&sum);
    }
}

static void try_vector(struct check *c, double *y, double *y_bound, uint64_t number) {
    const struct dgemm_layout *l = c->layout;
    for (uint64_t i = 0; i < l->size; i++) {
        c->x[i] = random_mix(random_mix(c->seed + number) ^ i) & 1 ? 1 : -1;
        c->bound[i] = 1;
    }
    multiply_vector(c, DGEMM_B, c->x, c->bound, y, y_bound);
    dgemm_sum(y, l->size);
    dgemm_sum(y_bound, l->size);
    multiply_vector(c, DGEMM_A, y, y_bound, c->product, c->bound);
    for_each_watched(c, subtract_tile);
    dgemm_sum(c->product, l->size);
    dgemm_sum(c->bound, l->size);
    for (uint64_t i = 0; i < l->size; i++)
        note(c, c->product[i], rounding(c) * c->bound[i]);
}

/* ---- element by element ---- */

static void compare_tile(struct check *c, uint64_t i, uint64_t j) {
    const struct dgemm_layout *l = c->layout;
    for (uint64_t r = 0; r < dgemm_extent(l, i); r++)
        for (uint64_t s = 0; s < dgemm_extent(l, j); s++) {
            struct sum sum = {.high = -c->tile[r * l->block + s]};
            double bound = 0;
            for (uint64_t k = 0; k < l->size; k++) {
                double a = dgemm_element(c->seed, DGEMM_A, i * l->block + r, k);
                double b = dgemm_element(c->seed, DGEMM_B, k, j * l->block + s);
                add_product(&sum, a, b);
                bound += fabs(a * b);
            }
            note(c, value_of(&sum), rounding(c) * bound);
        }
}

/* ---- the whole check ---- */

/* The owner of the last tile of C changes an element of it, by more than the bound on rounding but little relative to
 * the element. */
static void spoil(const struct dgemm_layout *l) {
    if (dgemm_owner(l, l->tiles - 1, l->tiles - 1) != l->rank)
        return;
    double *tile = dgemm_tile(l, DGEMM_C, l->tiles - 1, l->tiles - 1), element;
    gasnet_get(&element, (gasnet_node_t)l->rank, tile, sizeof element);
    element += 1e-4 * sqrt((double)l->size);
    gasnet_put((gasnet_node_t)l->rank, tile, &element, sizeof element);
}

static int judge(const struct check *c, struct dgemm_result *r) {
    r->error = dgemm_most(c->worst);
    if (r->error <= 1)
        return APP_OK;
    if (c->layout->rank == 0)
        app_complain("C is wrong: its error is %.3g times the bound on rounding", r->error);
    return APP_FAILED;
}

static int check_all(struct check *c, double *vectors, struct dgemm_result *r) {
    uint64_t size = c->layout->size;
    c->x = vectors;
    c->product = vectors + size;
    c->bound = vectors + 2 * size;
    for (uint64_t i = 0; i < VECTORS; i++)
        try_vector(c, vectors + 3 * size, vectors + 4 * size, i);
    if (size <= SMALL) {
        for_each_watched(c, compare_tile);
        r->checked = size * size;
    }
    return judge(c, r);
}

int dgemm_verify(const struct dgemm_layout *l, const struct dgemm_options *o, struct dgemm_result *r) {
    struct check c = {.layout = l, .seed = o->seed, .watched = (l->rank + 1) % l->ranks};
    double *vectors = malloc(5 * l->size * sizeof *vectors);
    c.tile = dgemm_make_room(l->tile_bytes);
    int code = dgemm_agree(vectors && c.tile ? APP_OK : APP_FAILED, "no memory to verify the product");
    if (!code) {
        if (o->spoil)
            spoil(l);
        dgemm_barrier();
        code = check_all(&c, vectors, r);
    }
    free(vectors);
    free(c.tile);
    return code;
}
