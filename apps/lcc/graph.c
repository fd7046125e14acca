/* graph.c: the distributed graph.
 *
 *      owner of v     by block, round robin, or a hash of v (so that hubs, which R-MAT puts at numbers with many
 *                     zero bits, spread evenly)
 *      lists          the neighbours of the owned vertices, v ascending, concatenated: the window
 *      start, degree  of every vertex, on every rank: 12 bytes per vertex
 *
 * Start and degree are replicated, so that only adjacency lists are fetched, one get each. A second window for
 * them would save memory on very large graphs, at the price of two small gets before each list.
 *
 * The window's memory is 64-byte aligned and its size rounded up to 64 on every rank: otherwise MPICH before
 * 4.1 reads from the wrong address. */
#include "lcc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/random.h"

static const char no_memory[] =
    "graph too large: no memory for the parts of all ranks; use a smaller graph or more nodes";

int lcc_owner(const struct lcc_graph *g, uint32_t v) {
    uint64_t ranks = (uint64_t)g->ranks;
    if (g->order == LCC_BLOCK)
        return (int)(v / ((g->vertices + ranks - 1) / ranks));
    return (int)((g->order == LCC_CYCLIC ? v : random_mix(v)) % ranks);
}

/* The approximate memory for building on rank 0's node: replicated arrays, and the pairs twice (sorting needs a
 * copy) plus the lists. */
static int check_size(const struct lcc_graph *g, const struct lcc_source *s) {
    MPI_Comm node;
    int neighbours, code = APP_OK;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &neighbours);
    MPI_Comm_free(&node);
    double edges = 2.0 * (double)s->total / g->ranks;
    double need = neighbours * (12.2 * (double)s->vertices + 20.0 * edges);
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (g->rank == 0 && need > have) {
        app_complain("graph too large: %" PRIu64 " vertices and %" PRIu64
                     " edges need about %.1f GB on this node, which has %.1f GB",
                     s->vertices, s->total, need / 1e9, have / 1e9);
        code = APP_BAD_INPUT;
    }
    return app_agree(code, NULL);
}

static int allocate(struct lcc_graph *g, uint64_t elements) {
    g->elements = elements;
    g->bytes = round_up(elements * sizeof *g->lists + 1, CACHE_LINE);
    g->lists = aligned_alloc(CACHE_LINE, g->bytes);
    g->start = malloc(g->vertices * sizeof *g->start);
    g->degree = calloc(g->vertices, sizeof *g->degree);
    g->owned = malloc((g->owned_count + 1) * sizeof *g->owned);
    return g->lists && g->start && g->degree && g->owned ? APP_OK : APP_BAD_INPUT;
}

static uint64_t count_owned(const struct lcc_graph *g) {
    uint64_t n = 0;
    for (uint64_t v = 0; v < g->vertices; v++)
        n += lcc_owner(g, (uint32_t)v) == g->rank;
    return n;
}

/* Every rank knows all degrees, and therefore computes where all lists start. */
static int locate(struct lcc_graph *g) {
    uint64_t owned = 0, *filled = calloc((size_t)g->ranks, sizeof *filled);
    if (app_agree(filled ? APP_OK : APP_BAD_INPUT, no_memory)) {
        free(filled);
        return APP_BAD_INPUT;
    }
    MPI_Allreduce(MPI_IN_PLACE, g->degree, (int)g->vertices, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    for (uint64_t v = 0; v < g->vertices; v++) {
        int owner = lcc_owner(g, (uint32_t)v);
        g->start[v] = filled[owner];
        filled[owner] += g->degree[v];
        g->edges += g->degree[v];
        g->most = g->degree[v] > g->most ? g->degree[v] : g->most;
        if (owner == g->rank)
            g->owned[owned++] = (uint32_t)v;
    }
    g->edges /= 2;
    free(filled);
    return APP_OK;
}

static void fill(struct lcc_graph *g, const uint64_t *pairs) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < g->elements; i++) {
        g->degree[pairs[i] >> 32]++;
        g->lists[i] = (uint32_t)pairs[i];
        sum += random_mix(pairs[i]);
    }
    MPI_Allreduce(&sum, &g->checksum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

int lcc_graph_build(struct lcc_graph *g, const struct lcc_source *s, int order) {
    uint64_t *pairs, count;
    *g = (struct lcc_graph){.vertices = s->vertices, .order = order};
    MPI_Comm_rank(MPI_COMM_WORLD, &g->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &g->ranks);
    int code = check_size(g, s);
    if (code || (code = lcc_exchange(g, s, &pairs, &count)))
        return code;
    g->owned_count = count_owned(g);
    code = app_agree(allocate(g, count), no_memory);
    if (!code) {
        fill(g, pairs);
        code = locate(g);
    }
    free(pairs);
    return code;
}

void lcc_graph_free(struct lcc_graph *g) {
    free(g->lists);
    free(g->start);
    free(g->degree);
    free(g->owned);
    *g = (struct lcc_graph){0};
}
