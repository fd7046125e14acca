/* balance.c: assigns bodies to ranks. Rank r has the keys from cut[r] to below cut[r + 1]. The cuts give all
 * ranks about the same work; the weight of a body is its cost when forces were last computed.
 *
 * A cut is the largest key with at most r / ranks of all work below it. All cuts are searched at once, digit by
 * digit, seven bits at a time: in each of nine rounds every rank sums its work below 128 candidates per cut,
 * and the global sums decide. No rank ever sees more than its own bodies. A cut never separates equal keys:
 * even the smallest cell is on one rank or is divided into others. */
#include "bh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT = 7, ROUNDS = 9, CANDIDATES = 1 << DIGIT };
_Static_assert(ROUNDS == 3 * BH_LEVELS / DIGIT, "the digits make up a key");

static const char no_memory[] = "no memory to move bodies between ranks: use fewer bodies or more nodes";

struct mail {
    uint64_t *below; /* prefix sums of the work of this rank's bodies; the last element is the total */
    uint64_t *cut;   /* ranks + 1 */
    uint64_t *sums;  /* one per candidate of each cut */
    int *counts;     /* four arrays, one element per rank each: */
    int *out, *out_at, *in, *in_at;
};

static int open_mail(struct mail *m, const struct bh_bodies *b) {
    size_t ranks = (size_t)b->ranks;
    m->below = malloc((b->count + 1) * sizeof *m->below);
    m->cut = calloc(ranks + 1, sizeof *m->cut);
    m->sums = malloc(ranks * CANDIDATES * sizeof *m->sums);
    m->counts = calloc(4 * ranks, sizeof *m->counts);
    if (!m->below || !m->cut || !m->sums || !m->counts)
        return APP_BAD_INPUT;
    m->out = m->counts;
    m->out_at = m->counts + ranks;
    m->in = m->counts + 2 * ranks;
    m->in_at = m->counts + 3 * ranks;
    return APP_OK;
}

static void close_mail(struct mail *m) {
    free(m->below);
    free(m->cut);
    free(m->sums);
    free(m->counts);
}

/* The first body of this rank with at least this key. */
static uint64_t first_from(const struct bh_bodies *b, uint64_t key) {
    uint64_t low = 0, high = b->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (b->list[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void sum_work(struct mail *m, const struct bh_bodies *b) {
    m->below[0] = 0;
    for (uint64_t i = 0; i < b->count; i++)
        m->below[i + 1] = m->below[i] + b->list[i].cost + 1; /* + 1: initially all costs are 0 */
}

static void find_cuts(struct mail *m, const struct bh_bodies *b) {
    uint64_t all = m->below[b->count];
    int cuts = b->ranks - 1;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int shift = 3 * BH_LEVELS - DIGIT; shift >= 0 && cuts; shift -= DIGIT) {
        for (int c = 0; c < cuts; c++)
            for (uint64_t d = 0; d < CANDIDATES; d++)
                m->sums[(uint64_t)c * CANDIDATES + d] = m->below[first_from(b, m->cut[c + 1] + (d << shift))];
        MPI_Allreduce(MPI_IN_PLACE, m->sums, cuts * CANDIDATES, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (int c = 0; c < cuts; c++) {
            /* double is exact enough for a fair share, and the product cannot overflow */
            double share = (double)all * (c + 1) / b->ranks;
            uint64_t d = 0;
            while (d + 1 < CANDIDATES && (double)m->sums[(uint64_t)c * CANDIDATES + d + 1] <= share)
                d++;
            m->cut[c + 1] += d << shift;
        }
    }
    m->cut[b->ranks] = (uint64_t)1 << 3 * BH_LEVELS;
}

static uint64_t sum_up(const int *counts, int *at, int ranks) {
    uint64_t sum = 0;
    for (int i = 0; i < ranks; i++) {
        at[i] = (int)sum;
        sum += (uint64_t)counts[i];
    }
    return sum;
}

static int exchange(struct mail *m, struct bh_bodies *b) {
    MPI_Datatype type;
    for (int r = 0; r < b->ranks; r++)
        m->out[r] = (int)(first_from(b, m->cut[r + 1]) - first_from(b, m->cut[r]));
    sum_up(m->out, m->out_at, b->ranks);
    MPI_Alltoall(m->out, 1, MPI_INT, m->in, 1, MPI_INT, MPI_COMM_WORLD);
    uint64_t arriving = sum_up(m->in, m->in_at, b->ranks), room = arriving + arriving / 8 + 1;
    struct bh_body *list = arriving <= INT_MAX ? malloc(room * sizeof *list) : NULL;
    int code = app_agree(list ? APP_OK : APP_BAD_INPUT, no_memory);
    if (code) {
        free(list);
        return code;
    }
    MPI_Type_contiguous(sizeof *list, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Alltoallv(b->list, m->out, m->out_at, type, list, m->in, m->in_at, type, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    free(b->list);
    b->list = list;
    b->count = arriving;
    b->room = room;
    return APP_OK;
}

int bh_balance(struct bh_bodies *b, const struct bh_cube *cube) {
    struct mail mail = {0};
    for (uint64_t i = 0; i < b->count; i++)
        b->list[i].key = bh_key(cube, b->list[i].x);
    bh_sort(b);
    int code = app_agree(open_mail(&mail, b), no_memory);
    if (!code && b->ranks > 1) {
        sum_work(&mail, b);
        find_cuts(&mail, b);
        code = exchange(&mail, b);
        if (!code)
            bh_sort(b);
    }
    close_mail(&mail);
    return code;
}
