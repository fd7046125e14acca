/* stencil.c: a halo exchange by many threads, with the blocks and stencils of Table 1 of the paper on matching.
 *
 * The grid is periodic. Each rank is a block of threads in it, and each thread has a patch of cells:
 *
 *      +---------+---------+        a step:  every thread posts its receives, copies from patches of its rank
 *      | a b c d | a b c d |                 barrier: as many receives are posted now as Table 1 says
 *      | e f g h | e f g h |                 every thread sends: a message for each neighbour outside
 *      +---------+---------+                 one thread waits for all of them
 *        rank 0    rank 1                    every thread unpacks and computes
 *
 * Threads are tasks, executed by --threads system threads. Their order is random, as it would be on a machine
 * with a core for each: the order in which receives are posted and messages sent is shuffled in each step,
 * reproducibly for a seed.
 *
 * Only one thread waits, because an MPI library in which several threads wait at the same time is slow for
 * reasons unrelated to matching. */
#include "halo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static const char *const stencils[] = {"5pt", "9pt", "7pt", "27pt", NULL};
static const int points_of[] = {5, 9, 7, 27};

struct options {
    struct app_manner manner;
    const char *block;
    int stencil;
    uint64_t threads, cells, steps, seed;
    bool no_unpack;
};

static const struct app_option table[] = {
    {"block", "SIZE", "threads of a rank: AxB for flat stencils, AxBxC for others", APP_TEXT,
     .offset = offsetof(struct options, block), .fallback = "8x8x4, flat 32x32"},
    {"stencil", "POINTS", "5pt or 9pt, flat; 7pt or 27pt", APP_WORD,
     .offset = offsetof(struct options, stencil), .words = stencils},
    {"threads", "T", "system threads of each rank, which execute those of the block", APP_COUNT,
     .offset = offsetof(struct options, threads), .least = 1, .most = 2048},
    {"cells", "N", "cells of a thread along each axis", APP_COUNT, .offset = offsetof(struct options, cells),
     .least = 1, .most = 64},
    {"steps", "K", "number of time steps", APP_COUNT, .offset = offsetof(struct options, steps),
     .most = 1000000},
    {"seed", "N", "seed of the order of the threads", APP_COUNT, .offset = offsetof(struct options, seed),
     .most = UINT64_MAX},
    {"no-unpack", NULL, "do not update the rims: results are wrong, and the check detects it", APP_SWITCH,
     .offset = offsetof(struct options, no_unpack)},
    {0}};

static const struct app app = {
    .name = "halo stencil",
    .about = "A halo exchange by many threads of each rank; Table 1 of the paper on matching lists blocks "
             "and stencils.",
    .remarks =
        "Blocks of the table: 32x32 and 64x32 with 5pt and 9pt; 8x8x4, 1x1x128, 1x1x256 with 7pt and 27pt.",
    .options = table,
    .manner = offsetof(struct options, manner)};

struct neighbour { /* inside the block */
    int direction;
    uint32_t patch;
};

struct stencil {
    struct halo_shape shape;
    int rank, ranks, grid[3], place[3]; /* of ranks, and the position of this one */
    struct halo_patch *patches;         /* one for each thread of the block */
    size_t count;
    struct halo_exchange exchange; /* in the order of patches */
    size_t *first;                 /* index of each patch's first message in exchange; [count] is the end */
    struct neighbour *inside;
    size_t *first_inside;
    uint32_t *order;
    struct halo_wave wave;
    struct halo_team *team;
    struct halo_times times;
};

/* ---- the layout ---- */

static int index_in(const int size[3], const int p[3]) {
    return (p[2] * size[1] + p[1]) * size[0] + p[0];
}

static void place_in(const int size[3], int index, int p[3]) {
    p[0] = index % size[0];
    p[1] = index / size[0] % size[1];
    p[2] = index / size[0] / size[1];
}

static int rank_at(const struct stencil *s, const int shift[3]) {
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = (s->place[i] + shift[i] + s->grid[i]) % s->grid[i];
    return index_in(s->grid, q);
}

static int place_rank(struct stencil *s) {
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->ranks);
    memset(s->grid, 0, sizeof s->grid);
    s->grid[2] = halo_is_flat(s->shape.points); /* MPI leaves values other than 0 unchanged */
    MPI_Dims_create(s->ranks, 3, s->grid);
    place_in(s->grid, s->rank, s->place);
    return halo_check_tag((uint64_t)s->count * HALO_DIRECTIONS);
}

static int open_patches(struct stencil *s, int cells) {
    int size[3] = {cells, cells, halo_is_flat(s->shape.points) ? 1 : cells}, p[3];
    int64_t whole[3], at[3];
    s->patches = calloc(s->count, sizeof *s->patches);
    if (!s->patches)
        return APP_FAILED;
    for (int i = 0; i < 3; i++)
        whole[i] = (int64_t)s->grid[i] * s->shape.size[i] * size[i];
    halo_wave_open(&s->wave, whole, s->shape.points, 0.3);
    for (size_t n = 0; n < s->count; n++) {
        place_in(s->shape.size, (int)n, p);
        for (int i = 0; i < 3; i++)
            at[i] = ((int64_t)s->place[i] * s->shape.size[i] + p[i]) * size[i];
        if (halo_patch_open(&s->patches[n], size, at))
            return APP_FAILED;
        halo_patch_fill(&s->patches[n], &s->wave);
    }
    return APP_OK;
}

/* The receiver identifies a message: the tag is made of the receiving patch and the direction from which the
 * message arrives there. */
static int add_message(struct stencil *s, int patch, int direction, const int shift[3], const int there[3]) {
    int opposite = HALO_DIRECTIONS - 1 - direction;
    struct halo_message m = {.patch = &s->patches[patch],
                             .direction = direction,
                             .peer = rank_at(s, shift),
                             .tag_in = patch * HALO_DIRECTIONS + direction,
                             .tag_out = index_in(s->shape.size, there) * HALO_DIRECTIONS + opposite};
    return halo_exchange_add(&s->exchange, &m);
}

static int connect_patch(struct stencil *s, int patch, size_t *inside) {
    int p[3], shift[3], there[3], code = APP_OK;
    place_in(s->shape.size, patch, p);
    s->first[patch] = s->exchange.count;
    s->first_inside[patch] = *inside;
    for (int d = 0; d < HALO_DIRECTIONS && !code; d++) {
        if (!halo_reaches(s->shape.points, d))
            continue;
        if (halo_shape_leaves(&s->shape, p, d, shift, there))
            code = add_message(s, patch, d, shift, there);
        else
            s->inside[(*inside)++] = (struct neighbour){d, (uint32_t)index_in(s->shape.size, there)};
    }
    return code;
}

static int connect(struct stencil *s) {
    size_t inside = 0;
    int code = APP_OK;
    s->first = calloc(s->count + 1, sizeof *s->first);
    s->first_inside = calloc(s->count + 1, sizeof *s->first_inside);
    s->inside = calloc(s->count * HALO_DIRECTIONS, sizeof *s->inside);
    s->order = calloc(s->count, sizeof *s->order);
    if (!s->first || !s->first_inside || !s->inside || !s->order)
        return APP_FAILED;
    for (size_t n = 0; n < s->count && !code; n++) {
        s->order[n] = (uint32_t)n;
        code = connect_patch(s, (int)n, &inside);
    }
    s->first[s->count] = s->exchange.count;
    s->first_inside[s->count] = inside;
    return code ? code : halo_exchange_ready(&s->exchange);
}

/* ---- a step ---- */

static void post_and_copy(void *work, size_t patch) {
    struct stencil *s = work;
    for (size_t i = s->first[patch]; i < s->first[patch + 1]; i++)
        halo_exchange_post(&s->exchange, i);
    for (size_t i = s->first_inside[patch]; i < s->first_inside[patch + 1]; i++)
        halo_patch_copy(&s->patches[patch], s->inside[i].direction, &s->patches[s->inside[i].patch]);
}

static void send(void *work, size_t patch) {
    struct stencil *s = work;
    for (size_t i = s->first[patch]; i < s->first[patch + 1]; i++)
        halo_exchange_send(&s->exchange, i);
}

static void unpack_and_update(void *work, size_t patch) {
    struct stencil *s = work;
    for (size_t i = s->first[patch]; i < s->first[patch + 1]; i++)
        halo_exchange_unpack(&s->exchange, i);
    halo_patch_update(&s->patches[patch], s->shape.points);
}

static void shuffle(struct stencil *s, struct random *rng) {
    for (size_t i = s->count - 1; i > 0; i--) {
        size_t other = random_below(rng, (uint32_t)i + 1);
        uint32_t swap = s->order[i];
        s->order[i] = s->order[other];
        s->order[other] = swap;
    }
}

static void step(struct stencil *s, struct random *rng) {
    double began = MPI_Wtime(), posted, met, arrived;
    shuffle(s, rng);
    halo_team_run(s->team, post_and_copy, s, s->order, s->count);
    posted = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    shuffle(s, rng);
    met = MPI_Wtime();
    halo_team_run(s->team, send, s, s->order, s->count);
    halo_exchange_wait(&s->exchange);
    arrived = MPI_Wtime();
    halo_team_run(s->team, unpack_and_update, s, NULL, s->count);
    s->times.post += posted - began;
    s->times.exchange += arrived - met;
    s->times.compute += MPI_Wtime() - arrived;
}

static void run(struct stencil *s, const struct options *o) {
    struct random rng;
    random_seed(&rng, o->seed + (uint64_t)s->rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    for (uint64_t k = 0; k < o->steps; k++) {
        step(s, &rng);
        if (!s->rank)
            app_progress("step %" PRIu64 " of %" PRIu64 ", %zu messages each", k + 1, o->steps,
                         s->exchange.count);
    }
    s->times.total = MPI_Wtime() - began;
}

/* ---- results ---- */

/* Counted like messages: a sender is a position around the block, even where there are so few ranks that
 * several of these positions are the same thread. */
static int count_messages(const struct stencil *s, struct halo_counts *c) {
    int around[3] = {s->shape.size[0] + 2, s->shape.size[1] + 2, s->shape.size[2] + 2}, p[3], d[3];
    char *sends = calloc((size_t)around[0] * (size_t)around[1] * (size_t)around[2], 1);
    if (!sends)
        return APP_FAILED;
    c->length = s->exchange.count;
    for (size_t n = 0; n < s->count; n++) {
        c->receivers += s->first[n + 1] > s->first[n];
        place_in(s->shape.size, (int)n, p);
        for (size_t i = s->first[n]; i < s->first[n + 1]; i++) {
            halo_step(s->exchange.list[i].direction, d);
            int q[3] = {p[0] + d[0] + 1, p[1] + d[1] + 1, p[2] + d[2] + 1};
            char *one = &sends[index_in(around, q)];
            c->senders += !*one;
            *one = 1;
        }
    }
    free(sends);
    return APP_OK;
}

static bool differ(const struct halo_counts *a, const struct halo_counts *b) {
    return a->receivers != b->receivers || a->senders != b->senders || a->length != b->length;
}

/* Counted, calculated, and if the paper has the block, published: all three must be equal. */
static int report_counts(const struct stencil *s, struct halo_report *r) {
    struct halo_counts counted = {0}, formula, paper;
    double depth;
    char text[160];
    int code = app_agree(count_messages(s, &counted), "no memory");
    if (code)
        return code;
    halo_shape_formula(&s->shape, &formula);
    halo_report_count(r, "receivers", "receiving threads (t_r)", counted.receivers);
    halo_report_count(r, "senders", "sending threads (t_s)", counted.senders);
    halo_report_count(r, "length", "posted receives (length)", counted.length);
    bool wrong = differ(&counted, &formula);
    if (halo_shape_published(&s->shape, &paper, &depth)) {
        snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64 ", %" PRIu64 "; mean search depth %.2f",
                 paper.receivers, paper.senders, paper.length, depth);
        halo_report_text(r, "paper", "in Table 1", text);
        wrong |= differ(&counted, &paper);
    }
    return app_agree(wrong ? APP_FAILED : APP_OK,
                     "wrong result: the number of messages differs from that of the block");
}

static int report(const struct stencil *s, const struct options *o, struct halo_report *r) {
    char text[64];
    uint64_t checksum = 0;
    double error = 0;
    for (size_t n = 0; n < s->count; n++) {
        double e = halo_patch_error(&s->patches[n], &s->wave, o->steps);
        error = e <= error ? error : e;
        checksum += halo_patch_checksum(&s->patches[n], 0);
    }
    snprintf(text, sizeof text, "%dx%dx%d, %dpt, %d cells each", s->shape.size[0], s->shape.size[1],
             s->shape.size[2], s->shape.points,
             s->patches->cells[0] * s->patches->cells[1] * s->patches->cells[2]);
    halo_report_text(r, "mode", NULL, "stencil");
    halo_report_text(r, "block", "block of threads", text);
    halo_report_count(r, "ranks", "ranks", (uint64_t)s->ranks);
    halo_report_count(r, "threads", "system threads", o->threads);
    halo_report_count(r, "seed", "seed", o->seed);
    halo_report_count(r, "steps", "steps", o->steps);
    int code = report_counts(s, r);
    halo_report_times(r, &s->times, o->steps);
    halo_report_number(r, "error", "largest error", halo_slowest(error));
    snprintf(text, sizeof text, "%016" PRIx64, halo_sum(checksum));
    halo_report_text(r, "checksum", "checksum", text);
    int wrong = halo_judge("the largest error of a cell", error, 1e-12 * (double)(o->steps + 1));
    return code ? code : wrong;
}

static void close_all(struct stencil *s) {
    halo_team_close(s->team);
    halo_exchange_close(&s->exchange);
    for (size_t n = 0; s->patches && n < s->count; n++)
        halo_patch_close(&s->patches[n]);
    free(s->patches);
    free(s->first);
    free(s->first_inside);
    free(s->inside);
    free(s->order);
}

static int check_options(const struct options *o, struct stencil *s) {
    int points = points_of[o->stencil], level;
    const char *block = o->block ? o->block : halo_is_flat(points) ? "32x32" : "8x8x4";
    int code = halo_shape_parse(block, points, &s->shape);
    MPI_Query_thread(&level);
    if (!code && o->threads > 1 && level < MPI_THREAD_MULTIPLE)
        code = app_reject("--threads %" PRIu64 ": this MPI allows one thread only (no MPI_THREAD_MULTIPLE)",
                          o->threads);
    s->exchange.ignored = o->no_unpack;
    s->count = (size_t)s->shape.size[0] * (size_t)s->shape.size[1] * (size_t)s->shape.size[2];
    return code;
}

int halo_stencil(int argc, char **argv) {
    struct options o = {.stencil = 3, .threads = 4, .cells = 4, .steps = 20, .seed = 1};
    struct stencil s = {0};
    struct halo_report *r = NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = app_parse(&app, argc, argv, rank, &o);
    if (!code && !o.manner.help)
        code = check_options(&o, &s);
    if (code || o.manner.help)
        return code;
    if ((code = halo_report_open(&r, &o.manner, rank)) || (code = place_rank(&s)))
        return halo_report_close(r, code);
    code = open_patches(&s, (int)o.cells);
    code = app_agree(code ? code : connect(&s), "no memory for the cells: make the block or --cells smaller");
    if (!code)
        code = app_agree(halo_team_open(&s.team, (size_t)o.threads), NULL);
    if (!code)
        code = halo_connect_all(s.ranks);
    if (!code) {
        app_progress_begin(&o.manner);
        run(&s, &o);
        app_progress_end();
        code = report(&s, &o, r);
    }
    close_all(&s);
    return halo_report_close(r, code);
}
