/* fds.c: many meshes on each rank, as in the Fire Dynamics Simulator (Fig. 10 of the paper on matching).
 *
 * The paper says of FDS that it builds up long lists of receives and seldom matches the first. A grid of many
 * meshes behaves like this if each side of each mesh, and each quantity, is a message of its own: all receives
 * of a step are posted in the order of the receivers' meshes before the computation, and messages arrive in the
 * order of the senders' meshes.
 *
 *      rank 0            rank 1                a step:  post all receives
 *      mesh 0  2  4      mesh 1  3  5                   compute, with the rims of the last exchange
 *      receives posted:  messages arrive:               send all sides, copy those that stay on the rank
 *      0 2 4 ...         from 1 3 5 ...                 wait, unpack
 *
 * As in FDS the requests are persistent, and all sends of a step are started by one MPI_Startall.
 *
 * Here the meshes are the boxes of a periodic regular grid, distributed round robin over the ranks. Their
 * numbers are shuffled ("random-like distributions of match entries", says the paper), or follow the grid.
 * Every quantity is a wave that a 7-point stencil damps, each with its own phase. */
#include "halo.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/random.h"

enum { MOST_MESHES = 1 << 20, POINTS = 7 };

static const char *const numberings[] = {"shuffled", "along", NULL};
enum numbering { SHUFFLED, ALONG };
static const char *const kinds[] = {"persistent", "new", NULL};
enum requests { PERSISTENT, NEW };

struct options {
    struct app_manner manner;
    int meshes[3];
    uint64_t cells, fields, steps, seed;
    int numbering, requests;
    bool no_unpack;
};

static int parse_meshes(const struct app_option *option, const char *text, void *at, void *options) {
    (void)options;
    return halo_parse_box(option->name, text, 3, MOST_MESHES, MOST_MESHES, at);
}

static const struct app_option table[] = {
    {"meshes", "AxBxC", "meshes of all ranks along x, y, z", APP_OWN,
     .offset = offsetof(struct options, meshes), .parse = parse_meshes, .fallback = "10x10x10"},
    {"cells", "N", "cells of a mesh along each axis", APP_COUNT, .offset = offsetof(struct options, cells),
     .least = 1, .most = 64},
    {"fields", "N", "number of exchanged quantities, each with messages of its own", APP_COUNT,
     .offset = offsetof(struct options, fields), .least = 1, .most = 64},
    {"steps", "K", "number of time steps", APP_COUNT, .offset = offsetof(struct options, steps),
     .most = 1000000},
    {"numbering", "WORD", "numbering of the meshes: shuffled, or along the grid", APP_WORD,
     .offset = offsetof(struct options, numbering), .words = numberings},
    {"requests", "WORD", "requests of the messages: persistent, started together, or new ones in each step",
     APP_WORD, .offset = offsetof(struct options, requests), .words = kinds},
    {"seed", "N", "seed of the shuffled numbers", APP_COUNT, .offset = offsetof(struct options, seed),
     .most = UINT64_MAX},
    {"no-unpack", NULL, "do not update the rims: results are wrong, and the check detects it", APP_SWITCH,
     .offset = offsetof(struct options, no_unpack)},
    {0}};

static const struct app app = {.name = "halo fds",
                               .about =
                                   "Many meshes on each rank: thousands of receives are posted, and messages "
                                   "arrive in another order (FDS, Fig. 10).",
                               .options = table,
                               .manner = offsetof(struct options, manner)};

struct local { /* a side that stays on the rank */
    struct halo_patch *to;
    const struct halo_patch *from;
    int direction;
};

struct fds {
    int size[3], rank, ranks, fields;
    uint32_t all;               /* meshes */
    uint32_t *number_at, *at;   /* number of the box at a position of the grid, and the inverse */
    struct halo_patch *patches; /* those of a mesh's fields are adjacent */
    size_t count;
    struct halo_wave *waves; /* of each field */
    struct halo_exchange exchange;
    struct local *locals;
    size_t local_count;
    struct halo_times times;
};

/* ---- the layout ---- */

static int number_meshes(struct fds *f, const struct options *o) {
    struct random rng;
    random_seed(&rng, o->seed);
    f->number_at = calloc(f->all, sizeof *f->number_at);
    f->at = calloc(f->all, sizeof *f->at);
    if (!f->number_at || !f->at)
        return APP_FAILED;
    for (uint32_t i = 0; i < f->all; i++) {
        uint32_t other = o->numbering == SHUFFLED ? random_below(&rng, i + 1) : i;
        f->at[i] = f->at[other];
        f->at[other] = i;
    }
    for (uint32_t i = 0; i < f->all; i++)
        f->number_at[f->at[i]] = i;
    return APP_OK;
}

static uint32_t neighbour(const struct fds *f, uint32_t mesh, int direction) {
    int place = (int)f->at[mesh], step[3],
        q[3] = {place % f->size[0], place / f->size[0] % f->size[1], place / f->size[0] / f->size[1]};
    halo_step(direction, step);
    for (int i = 0; i < 3; i++)
        q[i] = (q[i] + step[i] + f->size[i]) % f->size[i];
    return f->number_at[(q[2] * f->size[1] + q[1]) * f->size[0] + q[0]];
}

static struct halo_patch *patch_of(const struct fds *f, uint32_t mesh, int field) {
    return &f->patches[(size_t)(mesh / (uint32_t)f->ranks) * (size_t)f->fields + (size_t)field];
}

static int open_mesh(struct fds *f, uint32_t mesh, int cells) {
    int size[3] = {cells, cells, cells}, place = (int)f->at[mesh], code = APP_OK;
    int64_t at[3] = {(int64_t)(place % f->size[0]) * cells,
                     (int64_t)(place / f->size[0] % f->size[1]) * cells,
                     (int64_t)(place / f->size[0] / f->size[1]) * cells};
    for (int i = 0; i < f->fields && !code; i++) {
        code = halo_patch_open(patch_of(f, mesh, i), size, at);
        if (!code)
            halo_patch_fill(patch_of(f, mesh, i), &f->waves[i]);
    }
    return code;
}

/* The same on all ranks: made of the mesh's index among those of its rank, the side that the receiver sees, and
 * the field. */
static int tag_of(const struct fds *f, uint32_t receiver, int direction, int field) {
    return ((int)(receiver / (uint32_t)f->ranks) * HALO_DIRECTIONS + direction) * f->fields + field;
}

static int connect_side(struct fds *f, uint32_t mesh, int direction, int field) {
    uint32_t other = neighbour(f, mesh, direction);
    int opposite = HALO_DIRECTIONS - 1 - direction, peer = (int)(other % (uint32_t)f->ranks);
    struct halo_message m = {.patch = patch_of(f, mesh, field),
                             .direction = direction,
                             .peer = peer,
                             .tag_in = tag_of(f, mesh, direction, field),
                             .tag_out = tag_of(f, other, opposite, field)};
    if (peer != f->rank)
        return halo_exchange_add(&f->exchange, &m);
    f->locals[f->local_count++] = (struct local){m.patch, patch_of(f, other, field), direction};
    return APP_OK;
}

static int connect_mesh(struct fds *f, uint32_t mesh) {
    int code = APP_OK;
    for (int d = 0; d < HALO_DIRECTIONS; d++)
        for (int i = 0; i < f->fields && halo_reaches(POINTS, d) && !code; i++)
            code = connect_side(f, mesh, d, i);
    return code;
}

static int allocate(struct fds *f) {
    uint32_t own = (f->all + (uint32_t)f->ranks - 1) / (uint32_t)f->ranks;
    f->count = (size_t)own * (size_t)f->fields;
    f->patches = calloc(f->count, sizeof *f->patches);
    f->waves = calloc((size_t)f->fields, sizeof *f->waves);
    f->locals = calloc(f->count * (POINTS - 1), sizeof *f->locals);
    return f->patches && f->waves && f->locals ? APP_OK : APP_FAILED;
}

static int lay_out(struct fds *f, const struct options *o) {
    int64_t whole[3];
    int code = number_meshes(f, o);
    if (code || (code = allocate(f)))
        return code;
    for (int i = 0; i < 3; i++)
        whole[i] = (int64_t)f->size[i] * (int64_t)o->cells;
    for (int i = 0; i < f->fields; i++)
        halo_wave_open(&f->waves[i], whole, POINTS, 0.3 + i);
    for (uint32_t m = (uint32_t)f->rank; m < f->all && !code; m += (uint32_t)f->ranks)
        code = open_mesh(f, m, (int)o->cells);
    for (uint32_t m = (uint32_t)f->rank; m < f->all && !code; m += (uint32_t)f->ranks)
        code = connect_mesh(f, m);
    if (!code)
        code = halo_exchange_ready(&f->exchange);
    if (!code && o->requests == PERSISTENT)
        halo_exchange_persist(&f->exchange);
    return code;
}

/* ---- a step ---- */

static void post_receives(struct fds *f) {
    double began = MPI_Wtime();
    halo_exchange_post_all(&f->exchange);
    f->times.post += MPI_Wtime() - began;
}

static void compute(struct fds *f) {
    double began = MPI_Wtime();
    for (size_t i = 0; i < f->count; i++)
        if (f->patches[i].now) /* a rank may have one mesh less than others */
            halo_patch_update(&f->patches[i], POINTS);
    f->times.compute += MPI_Wtime() - began;
}

static void exchange(struct fds *f) {
    double began = MPI_Wtime();
    halo_exchange_send_all(&f->exchange);
    for (size_t i = 0; i < f->local_count; i++)
        halo_patch_copy(f->locals[i].to, f->locals[i].direction, f->locals[i].from);
    halo_exchange_wait(&f->exchange);
    for (size_t i = 0; i < f->exchange.count; i++)
        halo_exchange_unpack(&f->exchange, i);
    f->times.exchange += MPI_Wtime() - began;
}

static void run(struct fds *f, const struct options *o) {
    post_receives(f);
    exchange(f); /* the initial rims; also opens the connections, so that the times exclude this */
    f->times = (struct halo_times){0};
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t k = 0; k < o->steps; k++) {
        post_receives(f);
        compute(f);
        exchange(f);
        if (!f->rank)
            app_progress("step %" PRIu64 " of %" PRIu64 ", %zu receives each", k + 1, o->steps,
                         f->exchange.count);
    }
    f->times.total = MPI_Wtime() - began;
}

/* ---- results ---- */

static void report_input(const struct fds *f, const struct options *o, struct halo_report *r) {
    char text[64];
    snprintf(text, sizeof text, "%dx%dx%d of %" PRIu64 "^3 cells, %s", f->size[0], f->size[1], f->size[2],
             o->cells, numberings[o->numbering]);
    halo_report_text(r, "mode", NULL, "fds");
    halo_report_text(r, "meshes", "meshes", text);
    halo_report_text(r, "requests", "requests", kinds[o->requests]);
    halo_report_count(r, "ranks", "ranks", (uint64_t)f->ranks);
    halo_report_count(r, "fields", "fields", o->fields);
    halo_report_count(r, "seed", "seed", o->seed);
    halo_report_count(r, "steps", "steps", o->steps);
    halo_report_count(r, "receives", "receives at once, maximum",
                      (uint64_t)halo_slowest((double)f->exchange.count));
    halo_report_count(r, "messages", "messages per step, all", halo_sum(f->exchange.count));
}

static int report(const struct fds *f, const struct options *o, struct halo_report *r) {
    char text[32];
    uint64_t checksum = 0;
    double error = 0;
    for (size_t i = 0; i < f->count; i++) {
        int field = (int)(i % (size_t)f->fields);
        if (!f->patches[i].now)
            continue;
        double e = halo_patch_error(&f->patches[i], &f->waves[field], o->steps);
        error = e <= error ? error : e;
        checksum += halo_patch_checksum(&f->patches[i], (uint64_t)field);
    }
    report_input(f, o, r);
    halo_report_times(r, &f->times, o->steps);
    halo_report_number(r, "error", "largest error", halo_slowest(error));
    snprintf(text, sizeof text, "%016" PRIx64, halo_sum(checksum));
    halo_report_text(r, "checksum", "checksum", text);
    return halo_judge("the largest error of a cell", error, 1e-12 * (double)(o->steps + 1));
}

static void close_all(struct fds *f) {
    halo_exchange_close(&f->exchange);
    for (size_t i = 0; f->patches && i < f->count; i++)
        halo_patch_close(&f->patches[i]);
    free(f->patches);
    free(f->waves);
    free(f->locals);
    free(f->number_at);
    free(f->at);
}

int halo_fds(int argc, char **argv) {
    struct options o = {.meshes = {10, 10, 10}, .cells = 8, .fields = 5, .steps = 10, .seed = 1};
    struct fds f = {0};
    struct halo_report *r = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &f.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &f.ranks);
    int code = app_parse(&app, argc, argv, f.rank, &o);
    if (code || o.manner.help)
        return code;
    for (int i = 0; i < 3; i++)
        f.size[i] = o.meshes[i];
    f.fields = (int)o.fields;
    f.exchange.ignored = o.no_unpack;
    f.all = (uint32_t)f.size[0] * (uint32_t)f.size[1] * (uint32_t)f.size[2];
    code = halo_report_open(&r, &o.manner, f.rank);
    if (!code)
        code = halo_check_tag((f.all / (uint64_t)f.ranks + 1) * HALO_DIRECTIONS * o.fields);
    if (!code)
        code = app_agree(lay_out(&f, &o), "no memory for the meshes: make them fewer or smaller");
    if (!code) {
        app_progress_begin(&o.manner);
        run(&f, &o);
        app_progress_end();
        code = report(&f, &o, r);
    }
    close_all(&f);
    return halo_report_close(r, code);
}
