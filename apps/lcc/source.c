/* source.c: the edges, as a sequence that does not depend on the number of ranks.
 *
 * R-MAT: edge i has a random generator of its own, seeded by (seed, i), so any rank can generate any part of
 * the sequence, and nothing is stored. At each of `scale` levels one draw chooses a quadrant of the adjacency
 * matrix, which gives one bit of u and one of v. The noise that some generators add per level is omitted, because
 * it does not matter for this program.
 *
 * Rank 0 reads a file as a whole, and the other ranks contribute nothing: files large enough for that to matter
 * would need a parallel reader, which is beyond the scope of this program. */
#include "lcc.h"

#include <stdlib.h>

#include "base/random.h"

static uint64_t rmat_edge(const struct lcc_source *s, uint64_t i) {
    struct random random;
    uint32_t u = 0, v = 0;
    random_seed(&random, random_mix(s->seed) + i);
    for (unsigned level = 0; level < s->scale; level++) {
        uint64_t draw = random_next(&random) >> 32;
        unsigned quadrant = (draw >= s->limit[0]) + (draw >= s->limit[1]) + (draw >= s->limit[2]);
        u = u << 1 | quadrant >> 1;
        v = v << 1 | (quadrant & 1);
    }
    return lcc_pair(u, v);
}

uint64_t lcc_source_edge(const struct lcc_source *s, uint64_t i) {
    return s->listed ? s->listed[i] : rmat_edge(s, s->first + i);
}

static void open_rmat(struct lcc_source *s, const struct lcc_options *o, int rank, int ranks) {
    double sum = 0;
    for (int i = 0; i < 3; i++)
        s->limit[i] = (uint64_t)((sum += o->rmat[i]) * 4294967296.0);
    s->scale = (unsigned)o->scale;
    s->seed = o->seed;
    s->vertices = (uint64_t)1 << s->scale;
    s->total = s->vertices * o->edge_factor;
    s->first = s->total / (uint64_t)ranks * (uint64_t)rank;
    s->count = rank == ranks - 1 ? s->total - s->first : s->total / (uint64_t)ranks;
}

static int open_file(struct lcc_source *s, const char *path, int rank) {
    int code = app_agree(rank == 0 ? lcc_read(path, s) : APP_OK, NULL);
    uint64_t known[2] = {s->vertices, s->count};
    MPI_Bcast(known, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    s->vertices = known[0];
    s->total = known[1];
    return code;
}

int lcc_source_open(struct lcc_source *s, const struct lcc_options *o) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (o->file)
        return open_file(s, o->file, rank);
    open_rmat(s, o, rank, ranks);
    return APP_OK;
}

void lcc_source_close(struct lcc_source *s) {
    free(s->listed);
    s->listed = NULL;
}
