/* molecule.c: the positions of the atoms, in a built-in shape or from a file. Rank 0 makes or reads them and
 * sends them to the others.
 *
 * silica is a chain of edge-sharing SiO4 tetrahedra, (SiO2)n: a silicon, then two oxygens beside the axis,
 * alternately above and below it and before and behind it. Its atoms have 20 or 21 functions, so a patch of two
 * of them has a little less than 4 KB, the most frequent message size of the paper's siosi7 (its Fig. 2). */
#include "dft/dft.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512 };
static const double bohr_per_angstrom = 1.8897261246;
static const double closest = 0.5; /* bohr: atoms may not be closer than this */

static void put(struct dft_molecule *m, int number, double x, double y, double z) {
    m->atoms[m->count++] = (struct dft_atom){.number = number, .at = {x, y, z}};
    m->electrons += number;
}

static void make_silica(struct dft_molecule *m, int atoms) {
    const double step = 4.5, aside = 2.2; /* 1.67 angstrom from a silicon to an oxygen */
    for (int i = 0; i < atoms; i++) {
        double x = step * (i / 3), sign = i % 3 == 1 ? 1 : -1;
        bool upright = i / 3 % 2 == 0;
        if (i % 3 == 0)
            put(m, 14, x, 0, 0);
        else
            put(m, 8, x + step / 2, upright ? sign * aside : 0, upright ? 0 : sign * aside);
    }
}

static void make_lattice(struct dft_molecule *m, int atoms, int number, double distance, bool cube) {
    int side = 1;
    while (cube && side * side * side < atoms)
        side++;
    for (int i = 0; i < atoms; i++)
        if (cube)
            put(m, number, distance * (i % side), distance * (i / side % side), distance * (i / side / side));
        else
            put(m, number, distance * i, 0, 0);
}

/* ---- from a file ---- */

static int read_count(FILE *file, const char *name, long *count) {
    char line[LINE], *end;
    if (!fgets(line, sizeof line, file))
        return app_reject("--molecule '%s': the file is empty", name);
    *count = strtol(line, &end, 10);
    while (isspace((unsigned char)*end))
        end++;
    if (end == line || *end || *count < 1 || *count > DFT_ATOMS_MOST)
        return app_reject("--molecule '%s': line 1 must be the number of atoms, 1 to %d", name,
                          DFT_ATOMS_MOST);
    return APP_OK;
}

static int read_atom(FILE *file, const char *name, struct dft_molecule *m) {
    char line[LINE], symbol[4];
    double x, y, z;
    int number, where = m->count + 3;
    if (!fgets(line, sizeof line, file))
        return app_reject("--molecule '%s': the file ends before line %d", name, where);
    if (sscanf(line, "%3s %lf %lf %lf", symbol, &x, &y, &z) != 4 || !isfinite(x + y + z))
        return app_reject("--molecule '%s': line %d must be an element and x, y, z in angstrom", name, where);
    number = dft_find_symbol(symbol);
    if (!number)
        return app_reject("--molecule '%s': line %d: the element '%s' is not one of H to Ar", name, where,
                          symbol);
    put(m, number, x * bohr_per_angstrom, y * bohr_per_angstrom, z * bohr_per_angstrom);
    return APP_OK;
}

static int read_atoms(FILE *file, const char *name, struct dft_molecule *m) {
    char comment[LINE];
    long count = 0;
    int code = read_count(file, name, &count);
    if (code)
        return code;
    if (!fgets(comment, sizeof comment, file))
        return app_reject("--molecule '%s': line 2, a comment, is missing", name);
    m->atoms = calloc((size_t)count, sizeof *m->atoms);
    if (!m->atoms)
        return app_reject("--molecule '%s': no memory for %ld atoms", name, count);
    while (!code && m->count < count)
        code = read_atom(file, name, m);
    return code;
}

static int read_file(const char *name, struct dft_molecule *m) {
    FILE *file = fopen(name, "r");
    if (!file)
        return app_reject("--molecule '%s': %s; it must be silica, chain, cube or an XYZ file", name,
                          strerror(errno));
    int code = read_atoms(file, name, m);
    fclose(file);
    return code;
}

static double apart(const struct dft_atom *a, const struct dft_atom *b) {
    return hypot(hypot(a->at[0] - b->at[0], a->at[1] - b->at[1]), a->at[2] - b->at[2]);
}

static int check_distances(const struct dft_molecule *m) {
    for (int i = 0; i < m->count; i++)
        for (int j = 0; j < i; j++)
            if (apart(&m->atoms[i], &m->atoms[j]) < closest)
                return app_reject("--molecule: atoms %d and %d are less than %g bohr apart", j + 1, i + 1,
                                  closest);
    return APP_OK;
}

static int make_shape(const struct dft_options *o, struct dft_molecule *m) {
    m->atoms = calloc(o->atoms, sizeof *m->atoms);
    if (!m->atoms)
        return app_reject("--atoms %d: no memory for this many", (int)o->atoms);
    if (o->shape == DFT_SILICA)
        make_silica(m, (int)o->atoms);
    else
        make_lattice(m, (int)o->atoms, o->element + 1, o->distance, o->shape == DFT_CUBE);
    return APP_OK;
}

/* From rank 0, which has its atoms, to the others. */
static int share(struct dft_molecule *m, int rank) {
    int numbers[2] = {m->count, m->electrons};
    MPI_Bcast(numbers, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank)
        *m = (struct dft_molecule){calloc((size_t)numbers[0], sizeof *m->atoms), numbers[0], numbers[1]};
    int code = app_agree(m->atoms ? APP_OK : APP_FAILED, "no memory for the atoms");
    if (!code)
        MPI_Bcast(m->atoms, m->count * (int)sizeof *m->atoms, MPI_BYTE, 0, MPI_COMM_WORLD);
    return code;
}

int dft_molecule_make(const struct dft_options *o, int rank, struct dft_molecule *m) {
    int code = APP_OK;
    *m = (struct dft_molecule){0};
    if (rank == 0)
        code = o->file ? read_file(o->file, m) : make_shape(o, m);
    if (rank == 0 && !code)
        code = check_distances(m);
    code = app_agree(code, NULL);
    return code ? code : share(m, rank);
}

void dft_molecule_free(struct dft_molecule *m) {
    free(m->atoms);
}
