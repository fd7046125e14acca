/* verify.c: computes the same counts in another way. Rank 0 collects the whole graph with plain messages, so
 * that neither the window nor a cache takes part, and merges sorted lists. Counts are whole numbers and must be
 * equal. */
#include "lcc.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_LISTS, TAG_COUNTS };
enum { COUNT_WORDS = sizeof(struct lcc_count) / sizeof(uint64_t) };

struct whole {
    const struct lcc_graph *graph;
    uint32_t **lists; /* per rank */
    struct lcc_count **counts;
    uint64_t *sizes; /* per rank two: elements of lists, counts */
};

static const uint32_t *list_of(const struct whole *w, uint32_t v) {
    return w->lists[lcc_owner(w->graph, v)] + w->graph->start[v];
}

static uint64_t count_common(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count) {
    uint64_t n = 0;
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        n += a[i] == b[j];
        if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return n;
}

static uint64_t count_pairs(const struct whole *w, uint32_t v) {
    const uint32_t *degree = w->graph->degree, *neighbours = list_of(w, v);
    uint64_t n = 0;
    for (uint32_t i = 0; i < degree[v]; i++)
        n += count_common(neighbours, degree[v], list_of(w, neighbours[i]), degree[neighbours[i]]);
    return n;
}

/* Returns how many counts of this rank are wrong, and names the first. */
static uint64_t compare_rank(const struct whole *w, int rank) {
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < w->sizes[2 * rank + 1]; i++) {
        struct lcc_count found = w->counts[rank][i];
        uint64_t right = count_pairs(w, found.vertex);
        if (found.pairs != right && !wrong++)
            app_complain("verify: vertex %" PRIu32 " of rank %d: counted %" PRIu64 ", expected %" PRIu64,
                         found.vertex, rank, found.pairs, right);
    }
    return wrong;
}

/* Rank 0 receives all data of one rank; both sides of the message. */
static void collect(struct whole *w, int from, const struct lcc_result *r) {
    const struct lcc_graph *g = w->graph;
    uint64_t elements = w->sizes[2 * from], counts = w->sizes[2 * from + 1];
    if (g->rank == 0 && from == 0) {
        memcpy(w->lists[0], g->lists, elements * sizeof *g->lists);
        memcpy(w->counts[0], r->counts, counts * sizeof *r->counts);
    } else if (g->rank == 0) {
        MPI_Recv(w->lists[from], (int)elements, MPI_UINT32_T, from, TAG_LISTS, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Recv(w->counts[from], (int)(counts * COUNT_WORDS), MPI_UINT64_T, from, TAG_COUNTS, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (g->rank == from) {
        MPI_Send(g->lists, (int)elements, MPI_UINT32_T, 0, TAG_LISTS, MPI_COMM_WORLD);
        MPI_Send(r->counts, (int)(counts * COUNT_WORDS), MPI_UINT64_T, 0, TAG_COUNTS, MPI_COMM_WORLD);
    }
}

static int allocate(struct whole *w) {
    size_t ranks = (size_t)w->graph->ranks;
    w->lists = calloc(ranks, sizeof *w->lists);
    w->counts = calloc(ranks, sizeof *w->counts);
    if (!w->lists || !w->counts)
        return APP_BAD_INPUT;
    for (size_t i = 0; i < ranks; i++) {
        uint64_t elements = w->sizes[2 * i], counts = w->sizes[2 * i + 1];
        if (elements > INT_MAX || counts > INT_MAX / COUNT_WORDS)
            return APP_BAD_INPUT;
        w->lists[i] = malloc(elements * sizeof **w->lists + 1);
        w->counts[i] = malloc(counts * sizeof **w->counts + 1);
        if (!w->lists[i] || !w->counts[i])
            return APP_BAD_INPUT;
    }
    return APP_OK;
}

static void release(struct whole *w) {
    for (int i = 0; i < w->graph->ranks; i++) {
        free(w->lists ? w->lists[i] : NULL);
        free(w->counts ? w->counts[i] : NULL);
    }
    free(w->lists);
    free(w->counts);
    free(w->sizes);
}

static int compare_all(const struct whole *w) {
    uint64_t wrong = 0, all = 0;
    for (int i = 0; i < w->graph->ranks; i++) {
        wrong += compare_rank(w, i);
        all += w->sizes[2 * i + 1];
    }
    if (wrong)
        app_complain("verify: %" PRIu64 " of %" PRIu64 " counts are wrong", wrong, all);
    return wrong ? APP_FAILED : APP_OK;
}

int lcc_verify(const struct lcc_graph *g, const struct lcc_result *r) {
    struct whole whole = {.graph = g, .sizes = calloc(2 * (size_t)g->ranks, sizeof *whole.sizes)};
    static const char too_large[] = "graph too large to verify on one rank";
    int code = app_agree(whole.sizes ? APP_OK : APP_BAD_INPUT, too_large);
    if (!code) {
        uint64_t mine[2] = {g->elements, r->count};
        MPI_Allgather(mine, 2, MPI_UINT64_T, whole.sizes, 2, MPI_UINT64_T, MPI_COMM_WORLD);
        code = app_agree(g->rank == 0 ? allocate(&whole) : APP_OK, too_large);
    }
    if (!code) {
        for (int i = 0; i < g->ranks; i++)
            collect(&whole, i, r);
        code = app_agree(g->rank == 0 ? compare_all(&whole) : APP_OK, NULL);
    }
    release(&whole);
    return code;
}
