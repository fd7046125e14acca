/* count.c: counts, for each owned vertex v, the ordered pairs of its neighbours that are neighbours of each
 * other.
 *
 *      mark the neighbours of v in a bitmap (one bit per vertex of the graph)
 *      for each neighbour u: fetch u's list from its owner, and count the marked vertices in it
 *
 * Lists are fetched by MPI_Get and completed by MPI_Win_flush, one by one or a batch at a time, inside one
 * lock_all epoch. Over most networks a get is served only while its target is inside MPI; a rank that has
 * finished therefore waits in a barrier, where it serves the others.
 *
 * The bitmap replaces the merging of two sorted lists: it reads only u's list, without branches, so that
 * fetching dominates the time. verify.c merges. */
#include "lcc.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"

/* A list in flight. */
struct fetch {
    const uint32_t *list;
    uint32_t degree;
    int owner;
};

struct counter {
    const struct lcc_graph *graph;
    MPI_Win window;
    bool local_gets;
    uint64_t *marks;
    struct fetch *fetches; /* up to `batch`, not yet complete */
    uint64_t batch, fetched;
    uint32_t *buffer; /* where their lists arrive */
    uint64_t room, filled;
    uint64_t *flushed, flushes; /* per rank: the flush that last covered it */
    uint64_t gets, bytes;
    uint32_t asked; /* the vertex of the last get */
};

static void mark(struct counter *c, const uint32_t *list, uint32_t degree) {
    for (uint32_t i = 0; i < degree; i++)
        c->marks[list[i] >> 6] |= (uint64_t)1 << (list[i] & 63);
}

static void unmark(struct counter *c, const uint32_t *list, uint32_t degree) {
    for (uint32_t i = 0; i < degree; i++)
        c->marks[list[i] >> 6] = 0;
}

static uint64_t count_marked(const struct counter *c, const uint32_t *list, uint32_t degree) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < degree; i++)
        n += c->marks[list[i] >> 6] >> (list[i] & 63) & 1;
    return n;
}

/* Completes all gets in flight, and counts in their lists. */
static uint64_t drain(struct counter *c) {
    uint64_t n = 0;
    c->flushes++;
    for (uint64_t i = 0; i < c->fetched; i++) {
        const struct fetch *f = &c->fetches[i];
        if (c->flushed[f->owner] != c->flushes)
            MPI_Win_flush(f->owner, c->window);
        c->flushed[f->owner] = c->flushes;
        n += count_marked(c, f->list, f->degree);
    }
    c->fetched = c->filled = 0;
    return n;
}

static void ask(struct counter *c, uint32_t u, int owner) {
    uint32_t degree = c->graph->degree[u];
    uint32_t *to = c->buffer + c->filled;
    c->asked = u;
    MPI_Get(to, (int)degree, MPI_UINT32_T, owner, (MPI_Aint)c->graph->start[u], (int)degree, MPI_UINT32_T,
            c->window);
    c->fetches[c->fetched++] = (struct fetch){.list = to, .degree = degree, .owner = owner};
    c->filled += degree;
    c->gets++;
    c->bytes += degree * sizeof *to;
}

static uint64_t count_vertex(struct counter *c, uint32_t v) {
    const struct lcc_graph *g = c->graph;
    const uint32_t *neighbours = g->lists + g->start[v];
    uint32_t degree = g->degree[v];
    uint64_t n = 0;
    if (degree < 2)
        return 0;
    mark(c, neighbours, degree);
    for (uint32_t i = 0; i < degree; i++) {
        uint32_t u = neighbours[i];
        int owner = lcc_owner(g, u);
        if (owner == g->rank && !c->local_gets) {
            n += count_marked(c, g->lists + g->start[u], g->degree[u]);
            continue;
        }
        if (c->fetched == c->batch || c->filled + g->degree[u] > c->room)
            n += drain(c);
        ask(c, u, owner);
    }
    n += drain(c);
    unmark(c, neighbours, degree);
    return n;
}

static int open_counter(struct counter *c, const struct lcc_graph *g, const struct lcc_options *o) {
    *c = (struct counter){.graph = g, .window = MPI_WIN_NULL, .local_gets = o->local_gets, .batch = o->batch};
    uint64_t usual = o->batch * 1024;
    c->room = g->most > usual ? g->most : usual;
    c->marks = calloc(g->vertices / 64 + 1, sizeof *c->marks);
    c->fetches = malloc(c->batch * sizeof *c->fetches);
    c->buffer = malloc(c->room * sizeof *c->buffer);
    c->flushed = calloc((size_t)g->ranks, sizeof *c->flushed);
    return c->marks && c->fetches && c->buffer && c->flushed ? APP_OK : APP_BAD_INPUT;
}

static void close_counter(struct counter *c) {
    if (c->window != MPI_WIN_NULL)
        MPI_Win_free(&c->window);
    free(c->marks);
    free(c->fetches);
    free(c->buffer);
    free(c->flushed);
}

/* On one rank there is nothing to fetch, and Open MPI cannot create a window there. */
static int open_window(struct counter *c, const struct lcc_options *o) {
    const struct lcc_graph *g = c->graph;
    MPI_Info info;
    if (g->ranks == 1)
        return app_agree(c->local_gets ? APP_BAD_INPUT : APP_OK, "--local-gets needs at least 2 ranks");
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", o->mode);
    if (o->score == LCC_SCORE_SIZE)
        MPI_Info_set(info, "clampi_score", "size");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error =
        MPI_Win_create(g->lists, (MPI_Aint)g->bytes, sizeof *g->lists, info, MPI_COMM_WORLD, &c->window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
    if (error)
        c->window = MPI_WIN_NULL;
    return app_agree(error ? APP_FAILED : APP_OK,
                     "this MPI cannot make the window (Open MPI between hosts may need "
                     "--mca osc pt2pt --mca pml ob1 --mca btl tcp,self)");
}

/* A vertex is read once for each of its neighbours, so its degree predicts how often this rank will read it
 * again. The cache calls this from within the get. */
static double degree_of_asked(void *arg, int target, MPI_Aint disp, uint64_t bytes) {
    const struct counter *c = arg;
    (void)target, (void)disp, (void)bytes;
    return c->graph->degree[c->asked];
}

/* If a caching library is loaded, sets its score callback: the degree of the vertex. */
static void offer_degrees(struct counter *c) {
    int (*set_score)(MPI_Win, CLAMPI_Score *, void *);
    *(void **)&set_score = dlsym(RTLD_DEFAULT, "CLAMPI_Set_score");
    if (set_score && c->window != MPI_WIN_NULL)
        set_score(c->window, degree_of_asked, c);
}

struct draw {
    uint64_t hash;
    uint32_t vertex;
};

static int compare_draws(const void *a, const void *b) {
    return lcc_compare_pairs(&((const struct draw *)a)->hash, &((const struct draw *)b)->hash);
}

static int compare_counts(const void *a, const void *b) {
    uint32_t x = ((const struct lcc_count *)a)->vertex, y = ((const struct lcc_count *)b)->vertex;
    return (x > y) - (x < y);
}

/* Chooses the vertices to count, ascending: all, or a sample by hash. A fixed stride would be biased, because
 * in an R-MAT graph the degree depends on the bits of the vertex number. */
static int choose(const struct lcc_graph *g, uint64_t limit, struct lcc_result *r) {
    struct draw *draws = malloc((g->owned_count + 1) * sizeof *draws);
    r->counts = malloc((g->owned_count + 1) * sizeof *r->counts);
    r->count = limit && limit < g->owned_count ? limit : g->owned_count;
    if (draws && r->counts) {
        for (uint64_t i = 0; i < g->owned_count; i++)
            draws[i] = (struct draw){.hash = random_mix(~(uint64_t)g->owned[i]), .vertex = g->owned[i]};
        if (r->count < g->owned_count)
            qsort(draws, g->owned_count, sizeof *draws, compare_draws);
        for (uint64_t i = 0; i < r->count; i++)
            r->counts[i] = (struct lcc_count){.vertex = draws[i].vertex};
        qsort(r->counts, r->count, sizeof *r->counts, compare_counts);
    }
    free(draws);
    return draws && r->counts ? APP_OK : APP_BAD_INPUT;
}

/* If a caching library is loaded, reads its counters for this window. */
static void read_stats(MPI_Win window, struct lcc_result *r) {
    int (*get_stats)(MPI_Win, CLAMPI_Stats *);
    *(void **)&get_stats = dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats");
    r->cached = get_stats && window != MPI_WIN_NULL && get_stats(window, &r->stats) == MPI_SUCCESS;
}

/* Progress is counted in edges, not vertices, because a few vertices have most of the edges. */
static void say_progress(uint64_t done, uint64_t work, uint64_t vertices) {
    app_progress("rank 0: %3" PRIu64 " %% of its edges, %" PRIu64 " vertices", 100 * done / (work ? work : 1),
                 vertices);
}

static void count_all(struct counter *c, struct lcc_result *r, const struct app_manner *manner) {
    bool speaks = c->graph->rank == 0;
    uint64_t work = 0, done = 0;
    for (uint64_t i = 0; i < r->count; i++)
        work += c->graph->degree[r->counts[i].vertex];
    if (c->window != MPI_WIN_NULL)
        MPI_Win_lock_all(0, c->window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (speaks)
        app_progress_begin(manner);
    uint64_t began = clock_ns();
    for (uint64_t i = 0; i < r->count; i++) {
        r->counts[i].pairs = count_vertex(c, r->counts[i].vertex);
        done += c->graph->degree[r->counts[i].vertex];
        if (speaks)
            say_progress(done, work, i + 1);
    }
    r->seconds = (double)(clock_ns() - began) * 1e-9;
    MPI_Barrier(MPI_COMM_WORLD);
    if (speaks)
        app_progress_end();
    read_stats(c->window, r);
    if (c->window != MPI_WIN_NULL)
        MPI_Win_unlock_all(c->window);
    r->gets = c->gets;
    r->bytes = c->bytes;
}

int lcc_count(const struct lcc_graph *g, const struct lcc_options *o, struct lcc_result *r) {
    struct counter counter;
    int code = open_counter(&counter, g, o);
    if (!code)
        code = choose(g, o->vertices, r);
    code = app_agree(code,
                     "graph too large: no memory to count; use fewer vertices or a smaller graph or batch");
    if (!code)
        code = open_window(&counter, o);
    if (!code && o->score == LCC_SCORE_DEGREE)
        offer_degrees(&counter);
    if (!code)
        count_all(&counter, r, &o->manner);
    close_counter(&counter);
    return code;
}
