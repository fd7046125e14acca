/* cg.c: a conjugate gradient solver, as in miniFE, whose messages are matched in a queue with many other posted
 * receives (Fig. 9 of the paper on matching: "varying match list lengths").
 *
 * The matrix is that of a 27-point stencil on a box: 26 on the diagonal, -1 for each neighbour. Rows are
 * distributed in boxes, one per rank. Vectors hold the rank's own cells, x fastest. For a product a vector is
 * copied into a patch; the exchange fills the rim of the patch, which stays zero beyond the edge of the whole
 * box. The right-hand side is the product with a known solution, so that the error can be bounded by the
 * residual:
 *
 *      |x - known| <= |b - A x| / least eigenvalue
 *      least eigenvalue = 27 - product over the axes of (1 + 2 cos(pi / (n + 1)))
 *
 * for A = 27 - T (x) T (x) T, where T has ones on and beside the diagonal, and therefore the eigenvalues 1 + 2
 * cos(pi j / (n + 1)).
 *
 * Of a large job most ranks have neighbours in all 26 directions, of a small one none. A periodic grid gives every
 * rank all 26, of which some are the same rank or the rank itself. There the largest eigenvalue of T is 3, and the
 * diagonal of the matrix is 1 larger, so that 1 is the least eigenvalue of A.
 *
 * Sums over all ranks gather the ranks' own sums and add them in rank order: a reduction may add in another
 * order in another library, and the numbers would differ. */
#include "halo.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { POINTS = 27, MOST_SIDE = 4096, MOST_CELLS = 1 << 30, MOST_PAD = 1 << 18, PAD_TAG = HALO_DIRECTIONS };

static const double residual_most = 1e-8; /* whatever --tolerance is, a larger residual is no solution */

struct options {
    struct app_manner manner;
    int grid[3];
    uint64_t pad, most, solves;
    double tolerance;
    bool periodic;
};

static int parse_grid(const struct app_option *option, const char *text, void *at, void *options) {
    (void)options;
    return halo_parse_box(option->name, text, 3, MOST_SIDE, MOST_CELLS, at);
}

static const struct app_option table[] = {
    {"grid", "AxBxC", "unknowns along x, y, z", APP_OWN, .offset = offsetof(struct options, grid),
     .parse = parse_grid, .fallback = "32x32x32"},
    {"pad", "N", "receives on each rank that stay posted from the first to the last iteration", APP_COUNT,
     .offset = offsetof(struct options, pad), .most = MOST_PAD},
    {"tolerance", "T", "residual at which to stop, relative to the right-hand side", APP_REAL,
     .offset = offsetof(struct options, tolerance), .real_least = 1e-12, .real_most = 1e-2},
    {"solves", "N", "number of solves, for longer measurements", APP_COUNT,
     .offset = offsetof(struct options, solves), .least = 1, .most = 1000000},
    {"periodic", NULL, "a periodic grid: every rank has neighbours in all 26 directions", APP_SWITCH,
     .offset = offsetof(struct options, periodic)},
    {"iterations", "K", "maximal number of iterations", APP_COUNT, .offset = offsetof(struct options, most),
     .least = 1, .most = 1000000},
    {0}};

static const struct app app = {
    .name = "halo cg",
    .about = "A conjugate gradient solver whose messages search a padded queue of receives (miniFE, Fig. 9).",
    .options = table,
    .manner = offsetof(struct options, manner)};

struct times {
    double halo, total;
};

struct cg {
    int grid[3], rank, ranks, ranks_of[3], place[3];
    bool periodic;
    double centre;           /* 27, or 28 if periodic: the factor of a cell, less the sum of all 27 */
    struct halo_patch patch; /* the multiplied vector, with its rim */
    double *x, *known, *b, *r, *search, *product; /* of `count` cells each */
    size_t count;
    double *sums; /* one per rank */
    struct halo_exchange exchange;
    struct halo_padding padding;
    uint64_t iterations;
    double residual, error, bound; /* relative to |b|; |x - known|, and its upper bound by the residual */
    struct times times;
};

/* ---- the layout ---- */

static int place_rank(struct cg *c) {
    MPI_Dims_create(c->ranks, 3, c->ranks_of);
    c->place[0] = c->rank % c->ranks_of[0];
    c->place[1] = c->rank / c->ranks_of[0] % c->ranks_of[1];
    c->place[2] = c->rank / c->ranks_of[0] / c->ranks_of[1];
    for (int i = 0; i < 3; i++)
        if (c->ranks_of[i] > c->grid[i])
            return app_reject(
                "--grid: %d ranks along an axis of %d unknowns: use a larger grid, or fewer ranks",
                c->ranks_of[i], c->grid[i]);
    return APP_OK;
}

/* Boxes differ by at most one along an axis. */
static void own_box(const struct cg *c, int64_t at[3], int cells[3]) {
    for (int i = 0; i < 3; i++) {
        int64_t n = c->grid[i], parts = c->ranks_of[i];
        at[i] = n * c->place[i] / parts;
        cells[i] = (int)(n * (c->place[i] + 1) / parts - at[i]);
    }
}

static int add_neighbour(struct cg *c, int direction) {
    int q[3];
    halo_step(direction, q);
    for (int i = 0; i < 3; i++) {
        q[i] += c->place[i];
        if (c->periodic)
            q[i] = (q[i] + c->ranks_of[i]) % c->ranks_of[i];
        else if (q[i] < 0 || q[i] >= c->ranks_of[i])
            return APP_OK; /* the edge of the whole box */
    }
    struct halo_message m = {.patch = &c->patch,
                             .direction = direction,
                             .peer = (q[2] * c->ranks_of[1] + q[1]) * c->ranks_of[0] + q[0],
                             .tag_in = direction,
                             .tag_out = HALO_DIRECTIONS - 1 - direction};
    return halo_exchange_add(&c->exchange, &m);
}

static int lay_out(struct cg *c) {
    double **vectors[] = {&c->x, &c->known, &c->b, &c->r, &c->search, &c->product};
    int cells[3], code = APP_OK;
    int64_t at[3];
    own_box(c, at, cells);
    c->count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = calloc(c->count, sizeof(double))))
            return APP_FAILED;
    c->sums = calloc((size_t)c->ranks, sizeof(double));
    if (!c->sums || halo_patch_open(&c->patch, cells, at))
        return APP_FAILED;
    for (int d = 0; d < HALO_DIRECTIONS && !code; d++)
        if (halo_reaches(POINTS, d))
            code = add_neighbour(c, d);
    return code ? code : halo_exchange_ready(&c->exchange);
}

/* ---- the solver ---- */

static double dot(struct cg *c, const double *a, const double *b) {
    double own = 0, sum = 0;
    for (size_t i = 0; i < c->count; i++)
        own += a[i] * b[i];
    MPI_Allgather(&own, 1, MPI_DOUBLE, c->sums, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < c->ranks; i++)
        sum += c->sums[i];
    return sum;
}

static void exchange(struct cg *c) {
    double began = MPI_Wtime();
    for (size_t i = 0; i < c->exchange.count; i++)
        halo_exchange_post(&c->exchange, i);
    for (size_t i = 0; i < c->exchange.count; i++)
        halo_exchange_send(&c->exchange, i);
    halo_exchange_wait(&c->exchange);
    for (size_t i = 0; i < c->exchange.count; i++)
        halo_exchange_unpack(&c->exchange, i);
    c->times.halo += MPI_Wtime() - began;
}

/* The centre times its factor, minus the sum of all 27 cells, three per row. */
static void multiply_row(const struct halo_patch *p, int y, int z, double centre, double *out) {
    const double *middle = p->now + halo_patch_place(p, 1, y, z);
    for (int x = 0; x < p->cells[0]; x++)
        out[x] = centre * middle[x];
    for (int d = 0; d < 9; d++) {
        const double *row = p->now + halo_patch_place(p, 1, y + d % 3 - 1, z + d / 3 - 1);
        for (int x = 0; x < p->cells[0]; x++)
            out[x] -= row[x - 1] + row[x] + row[x + 1];
    }
}

static void multiply(struct cg *c, const double *in, double *out) {
    struct halo_patch *p = &c->patch;
    size_t row = (size_t)p->cells[0], at = 0;
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++, at += row)
            memcpy(p->now + halo_patch_place(p, 1, y, z), in + at, row * sizeof *in);
    exchange(c);
    at = 0;
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++, at += row)
            multiply_row(p, y, z, c->centre, out + at);
}

/* Numbers from 0 to 1, without any pattern, which do not depend on how the box is divided. */
static void choose_solution(struct cg *c) {
    const struct halo_patch *p = &c->patch;
    size_t i = 0;
    for (int64_t z = 0; z < p->cells[2]; z++)
        for (int64_t y = 0; y < p->cells[1]; y++)
            for (int64_t x = 0; x < p->cells[0]; x++) {
                int64_t cell = ((p->at[2] + z) * c->grid[1] + p->at[1] + y) * c->grid[0] + p->at[0] + x;
                c->known[i++] = (double)(random_mix((uint64_t)cell) >> 11) * 0x1p-53;
            }
    multiply(c, c->known, c->b);
}

static double iterate(struct cg *c, double squared) {
    multiply(c, c->search, c->product);
    double alpha = squared / dot(c, c->search, c->product);
    for (size_t i = 0; i < c->count; i++) {
        c->x[i] += alpha * c->search[i];
        c->r[i] -= alpha * c->product[i];
    }
    double next = dot(c, c->r, c->r), beta = next / squared;
    for (size_t i = 0; i < c->count; i++)
        c->search[i] = c->r[i] + beta * c->search[i];
    return next;
}

static void solve(struct cg *c, const struct options *o) {
    uint64_t done = 0;
    memset(c->x, 0, c->count * sizeof *c->x);
    memcpy(c->r, c->b, c->count * sizeof *c->r);
    memcpy(c->search, c->b, c->count * sizeof *c->search);
    double start = dot(c, c->r, c->r), squared = start;
    while (done < o->most && squared > o->tolerance * o->tolerance * start) {
        squared = iterate(c, squared);
        done++;
        if (!c->rank)
            app_progress("iteration %" PRIu64 ", residual %.1e", c->iterations + done, sqrt(squared / start));
    }
    c->iterations += done;
}

static void solve_all(struct cg *c, const struct options *o) {
    c->times = (struct times){0};
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t n = 0; n < o->solves; n++)
        solve(c, o);
    c->times.total = MPI_Wtime() - began;
}

/* Computes the residual with a product of its own, because the solver's residual is only a recurrence. */
static void measure(struct cg *c) {
    double product = 1;
    for (int i = 0; i < 3; i++)
        product *= c->periodic ? 3 : 1 + 2 * cos(M_PI / (c->grid[i] + 1));
    double least = c->centre - product;
    multiply(c, c->x, c->product);
    for (size_t i = 0; i < c->count; i++) {
        c->r[i] = c->b[i] - c->product[i];
        c->search[i] = c->x[i] - c->known[i];
    }
    double residual = sqrt(dot(c, c->r, c->r)), size = sqrt(dot(c, c->b, c->b));
    c->residual = residual / size;
    c->error = sqrt(dot(c, c->search, c->search));
    c->bound = residual / least + 1e-13 * size / least; /* and the effect of rounding on the residual */
}

/* ---- results ---- */

static uint64_t checksum(struct cg *c) {
    uint64_t sum = 0, bits;
    for (size_t i = 0; i < c->count; i++) {
        memcpy(&bits, &c->x[i], sizeof bits);
        sum += random_mix(bits ^ random_mix((uint64_t)c->rank << 40 | i));
    }
    return halo_sum(sum);
}

static void report_times(const struct cg *c, struct halo_report *r) {
    double each = c->iterations ? 1e6 / (double)c->iterations : 0;
    halo_report_number(r, "us_exchange", "us per iteration: halo", halo_slowest(c->times.halo) * each);
    halo_report_number(r, "us_step", "us per iteration: all", halo_slowest(c->times.total) * each);
    halo_report_number(r, "seconds", "seconds", halo_slowest(c->times.total));
}

static int report(struct cg *c, const struct options *o, struct halo_report *r) {
    char text[64];
    snprintf(text, sizeof text, "%dx%dx%d, 27 points%s", c->grid[0], c->grid[1], c->grid[2],
             c->periodic ? ", periodic" : "");
    halo_report_text(r, "mode", NULL, "cg");
    halo_report_text(r, "grid", "unknowns", text);
    halo_report_count(r, "ranks", "ranks", (uint64_t)c->ranks);
    halo_report_count(r, "pad", "padding receives", o->pad);
    halo_report_count(r, "solves", "solves", o->solves);
    halo_report_count(r, "messages", "messages per iteration, maximum",
                      (uint64_t)halo_slowest((double)c->exchange.count));
    halo_report_count(r, "iterations", "iterations, all solves", c->iterations);
    report_times(c, r);
    halo_report_number(r, "residual", "residual", c->residual);
    halo_report_number(r, "error", "error", c->error);
    halo_report_number(r, "bound", "error bound by the residual", c->bound);
    snprintf(text, sizeof text, "%016" PRIx64, checksum(c));
    halo_report_text(r, "checksum", "checksum", text);
    int far = halo_judge("the residual", c->residual, residual_most);
    int wrong = halo_judge("the distance from the known solution", c->error, c->bound);
    return far ? far : wrong;
}

static int run(struct cg *c, const struct options *o, struct halo_report *r) {
    choose_solution(c);
    halo_padding_post(&c->padding, PAD_TAG);
    app_progress_begin(&o->manner);
    solve_all(c, o);
    app_progress_end();
    measure(c);
    int padding = halo_padding_release(&c->padding, PAD_TAG), code = report(c, o, r);
    return code ? code : padding;
}

static void close_all(struct cg *c) {
    halo_padding_close(&c->padding);
    halo_exchange_close(&c->exchange);
    halo_patch_close(&c->patch);
    free(c->x);
    free(c->known);
    free(c->b);
    free(c->r);
    free(c->search);
    free(c->product);
    free(c->sums);
}

int halo_cg(int argc, char **argv) {
    struct options o = {.grid = {32, 32, 32}, .tolerance = 1e-9, .most = 1000, .pad = 2048, .solves = 1};
    struct cg c = {0};
    struct halo_report *r = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
    int code = app_parse(&app, argc, argv, c.rank, &o);
    if (code || o.manner.help)
        return code;
    memcpy(c.grid, o.grid, sizeof c.grid);
    c.periodic = o.periodic;
    c.centre = o.periodic ? 28 : 27;
    if ((code = place_rank(&c)))
        return code;
    code = halo_report_open(&r, &o.manner, c.rank);
    if (!code)
        code = halo_check_tag(PAD_TAG + o.pad);
    if (!code)
        code = app_agree(lay_out(&c), "no memory for the unknowns: make the grid smaller");
    if (!code)
        code = halo_padding_open(&c.padding, &c.exchange, c.rank, (size_t)o.pad);
    if (!code)
        code = run(&c, &o, r);
    close_all(&c);
    return halo_report_close(r, code);
}
