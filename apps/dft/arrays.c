/* arrays.c: the density matrix, the result and the task counter, on Global Arrays, and the three calls that the
 * paper counts: ga_get, ga_acc, ga_read_inc.
 *
 *              columns: atoms 0..2   3..5
 *      atoms 0..2      rank 0       rank 1        The borders between ranks are borders between atoms, as in
 *      atoms 3..5      rank 2       rank 3        NWChem: a patch of two atoms is one message to one rank.
 *
 * A patch is a few rows of a larger block, so it is not contiguous in its owner's memory: the case for which
 * the helper thread exists. */
#include "dft/dft.h"

#include <ga.h>
#include <macdecls.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* ---- distribution ---- */

/* Cuts the atoms into non-empty pieces with about equally many functions: first[] is the first function of each. */
static void cut(const struct dft_molecule *m, int functions, int pieces, int *first) {
    int atom = 0;
    for (int p = 0; p < pieces; p++) {
        while (p && (m->atoms[atom].first < (long)functions * p / pieces && m->count - atom > pieces - p))
            atom++;
        first[p] = m->atoms[atom].first;
        atom++;
    }
}

static int rows_of_ranks(int ranks) {
    int rows = (int)sqrt((double)ranks);
    while (ranks % rows)
        rows--;
    return rows;
}

static int create_matrix(const struct dft_molecule *m, int functions, int ranks, char *name) {
    int rows = rows_of_ranks(ranks), columns = ranks / rows;
    int blocks[2] = {rows < m->count ? rows : m->count, columns < m->count ? columns : m->count};
    int dims[2] = {functions, functions};
    int *map = malloc((size_t)(blocks[0] + blocks[1]) * sizeof *map);
    if (!map)
        return 0;
    cut(m, functions, blocks[0], map);
    cut(m, functions, blocks[1], map + blocks[0]);
    int array = NGA_Create_irreg(C_DBL, 2, dims, name, blocks, map);
    free(map);
    return array;
}

int dft_arrays_open(struct dft_arrays *a, const struct dft_molecule *m, int functions) {
    int one[1] = {1};
    *a = (struct dft_arrays){.molecule = m, .rank = GA_Nodeid(), .ranks = GA_Nnodes()};
    a->density = create_matrix(m, functions, a->ranks, "density");
    a->matrix = create_matrix(m, functions, a->ranks, "matrix");
    a->counter = NGA_Create(C_LONG, 1, one, "counter", NULL);
    bool there = a->density && a->matrix && a->counter;
    return app_agree(there ? APP_OK : APP_FAILED, "no memory for the global arrays");
}

void dft_arrays_close(struct dft_arrays *a) {
    int arrays[] = {a->density, a->matrix, a->counter};
    for (int i = 0; i < 3; i++)
        if (arrays[i])
            GA_Destroy(arrays[i]);
}

/* ---- whole arrays ---- */

/* Gets an element from each rank, because connections are opened at first use and must not be part of the times. */
static void meet(const struct dft_arrays *a) {
    int lo[2], hi[2], ld[1] = {1};
    double element;
    for (int r = 0; r < a->ranks; r++) {
        NGA_Distribution(a->density, (a->rank + r) % a->ranks, lo, hi);
        if (lo[0] >= 0 && hi[0] >= lo[0])
            NGA_Get(a->density, lo, lo, &element, ld);
    }
    GA_Sync();
}

/* Each rank writes the part that it holds. */
void dft_arrays_fill(struct dft_arrays *a, const struct dft_orbitals *o) {
    int lo[2], hi[2], ld[1];
    double *part;
    NGA_Distribution(a->density, a->rank, lo, hi);
    if (lo[0] >= 0 && hi[0] >= lo[0]) {
        NGA_Access(a->density, lo, hi, &part, ld);
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                part[(size_t)(i - lo[0]) * (size_t)ld[0] + (size_t)(j - lo[1])] =
                    dft_density_element(o, i, j);
        NGA_Release_update(a->density, lo, hi);
    }
    GA_Sync();
    meet(a);
}

void dft_arrays_clear(struct dft_arrays *a) {
    GA_Zero(a->matrix);
    GA_Zero(a->counter);
    GA_Sync();
}

int dft_arrays_gather(const struct dft_arrays *a, int functions, double **whole) {
    int lo[2] = {0, 0}, hi[2] = {functions - 1, functions - 1}, ld[1] = {functions};
    *whole = a->rank ? NULL : malloc((size_t)functions * (size_t)functions * sizeof **whole);
    int code = app_agree(a->rank || *whole ? APP_OK : APP_FAILED, "no memory for the whole matrix on rank 0");
    if (!code && !a->rank)
        NGA_Get(a->matrix, lo, hi, *whole, ld);
    GA_Sync(); /* the others serve that get */
    return code;
}

/* ---- the three calls ---- */

static void block(const struct dft_arrays *a, int row, int column, int lo[2], int hi[2], int ld[1]) {
    const struct dft_atom *r = &a->molecule->atoms[row], *c = &a->molecule->atoms[column];
    lo[0] = r->first, lo[1] = c->first;
    hi[0] = r->first + r->functions - 1, hi[1] = c->first + c->functions - 1;
    ld[0] = c->functions;
}

static void count(struct dft_arrays *a, enum dft_call call, int owner, size_t bytes, uint64_t began) {
    struct dft_traffic *t = &a->traffic;
    a->times.call[call] += (double)(clock_ns() - began) * 1e-9;
    t->calls[call]++;
    t->remote[call] += owner != a->rank;
    t->bytes[call] += bytes;
    t->bins[call][64 - __builtin_clzll(bytes)]++;
}

static size_t bytes_of(const int lo[2], const int hi[2]) {
    return (size_t)(hi[0] - lo[0] + 1) * (size_t)(hi[1] - lo[1] + 1) * sizeof(double);
}

void dft_get(struct dft_arrays *a, int row, int column, double *patch) {
    int lo[2], hi[2], ld[1];
    block(a, row, column, lo, hi, ld);
    int owner = NGA_Locate(a->density, lo);
    uint64_t began = clock_ns();
    NGA_Get(a->density, lo, hi, patch, ld);
    count(a, DFT_GET, owner, bytes_of(lo, hi), began);
}

void dft_acc(struct dft_arrays *a, int row, int column, double *patch, double factor) {
    int lo[2], hi[2], ld[1];
    block(a, row, column, lo, hi, ld);
    int owner = NGA_Locate(a->matrix, lo);
    uint64_t began = clock_ns();
    NGA_Acc(a->matrix, lo, hi, patch, ld, &factor);
    count(a, DFT_ACC, owner, bytes_of(lo, hi), began);
}

uint64_t dft_draw(struct dft_arrays *a) {
    int zero[1] = {0}, owner = NGA_Locate(a->counter, zero);
    uint64_t began = clock_ns();
    long task = NGA_Read_inc(a->counter, zero, 1);
    count(a, DFT_COUNTER, owner, sizeof task, began);
    return (uint64_t)task;
}
