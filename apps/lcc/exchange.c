/* exchange.c: turns edges in any order on any rank into sorted edges at their owners.
 *
 * Each rank makes its edges in portions, so that the buffers stay small for any graph:
 *
 *      made     u-v v-u u-v v-u ...             both directions of each edge
 *      sorted   | for rank 0 | for rank 1 | ... MPI_Alltoallv; received edges are appended to `pairs`
 *
 * At the end every owner sorts its edges; equal neighbours are duplicates. Removing them earlier would save
 * little, because the copies of an edge come from different ranks. */
#include "lcc.h"

#include <stdlib.h>

enum { PORTION = 1 << 18 }; /* edges */

static const char no_memory[] =
    "graph too large: no memory to exchange its edges; use a smaller graph or more nodes";

struct mail {
    const struct lcc_graph *graph;
    uint64_t *made, *sorted; /* 2 * PORTION each */
    int *counts;             /* four arrays, one element per rank each: */
    int *out, *out_at, *in, *in_at;
    uint64_t *pairs, count, room;
};

static int open_mail(struct mail *m, const struct lcc_graph *g) {
    size_t ranks = (size_t)g->ranks;
    *m = (struct mail){.graph = g};
    m->made = malloc(2 * PORTION * sizeof *m->made);
    m->sorted = malloc(2 * PORTION * sizeof *m->sorted);
    m->counts = calloc(4 * ranks, sizeof *m->counts);
    m->out = m->counts;
    m->out_at = m->counts + ranks;
    m->in = m->counts + 2 * ranks;
    m->in_at = m->counts + 3 * ranks;
    return m->made && m->sorted && m->counts ? APP_OK : APP_BAD_INPUT;
}

static void close_mail(struct mail *m) {
    free(m->made);
    free(m->sorted);
    free(m->counts);
}

/* Makes both directions of edges from .. to of the source, without loops; returns their number. */
static uint64_t make(struct mail *m, const struct lcc_source *s, uint64_t from, uint64_t to) {
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++) {
        uint64_t edge = lcc_source_edge(s, i);
        uint32_t u = (uint32_t)(edge >> 32), v = (uint32_t)edge;
        if (u == v)
            continue;
        m->made[n++] = lcc_pair(u, v);
        m->made[n++] = lcc_pair(v, u);
    }
    return n;
}

static int sum_up(const int *counts, int *at, int ranks) {
    int sum = 0;
    for (int i = 0; i < ranks; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

static void sort_by_owner(struct mail *m, uint64_t made) {
    int ranks = m->graph->ranks;
    for (int i = 0; i < ranks; i++)
        m->out[i] = 0;
    for (uint64_t i = 0; i < made; i++)
        m->out[lcc_owner(m->graph, (uint32_t)(m->made[i] >> 32))]++;
    sum_up(m->out, m->out_at, ranks);
    for (uint64_t i = 0; i < made; i++)
        m->sorted[m->out_at[lcc_owner(m->graph, (uint32_t)(m->made[i] >> 32))]++] = m->made[i];
    sum_up(m->out, m->out_at, ranks);
}

static int reserve(struct mail *m, uint64_t more) {
    if (m->count + more <= m->room)
        return APP_OK;
    uint64_t room = m->count + more + m->room / 2;
    uint64_t *pairs = realloc(m->pairs, room * sizeof *pairs);
    if (!pairs)
        return APP_BAD_INPUT;
    m->pairs = pairs;
    m->room = room;
    return APP_OK;
}

static int deliver(struct mail *m) {
    MPI_Alltoall(m->out, 1, MPI_INT, m->in, 1, MPI_INT, MPI_COMM_WORLD);
    int arriving = sum_up(m->in, m->in_at, m->graph->ranks);
    int code = app_agree(reserve(m, (uint64_t)arriving), no_memory);
    if (code)
        return code;
    MPI_Alltoallv(m->sorted, m->out, m->out_at, MPI_UINT64_T, m->pairs + m->count, m->in, m->in_at,
                  MPI_UINT64_T, MPI_COMM_WORLD);
    m->count += (uint64_t)arriving;
    return APP_OK;
}

static void remove_duplicates(struct mail *m) {
    uint64_t kept = 0;
    if (m->count)
        qsort(m->pairs, m->count, sizeof *m->pairs, lcc_compare_pairs);
    for (uint64_t i = 0; i < m->count; i++)
        if (!kept || m->pairs[kept - 1] != m->pairs[i])
            m->pairs[kept++] = m->pairs[i];
    m->count = kept;
}

static int exchange_all(struct mail *m, const struct lcc_source *s) {
    uint64_t rounds = (s->count + PORTION - 1) / PORTION, most;
    int code = APP_OK;
    MPI_Allreduce(&rounds, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (uint64_t i = 0; i < most && !code; i++) {
        uint64_t from = i * PORTION, to = from + PORTION;
        from = from < s->count ? from : s->count;
        to = to < s->count ? to : s->count;
        sort_by_owner(m, make(m, s, from, to));
        code = deliver(m);
    }
    return code;
}

int lcc_exchange(const struct lcc_graph *g, const struct lcc_source *s, uint64_t **pairs, uint64_t *count) {
    struct mail mail;
    int code = app_agree(open_mail(&mail, g), no_memory);
    if (!code)
        code = exchange_all(&mail, s);
    close_mail(&mail);
    if (code) {
        free(mail.pairs);
        return code;
    }
    remove_duplicates(&mail);
    *pairs = mail.pairs;
    *count = mail.count;
    return APP_OK;
}
