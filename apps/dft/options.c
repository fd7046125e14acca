/* options.c: the command line of dft. */
#include "dft/dft.h"

#include <string.h>

static const char *const shapes[] = {"silica", "chain", "cube", NULL};

const char *dft_shape_name(int shape) {
    return shapes[shape];
}

/* A shape, or otherwise a file, which is opened later: a misspelt shape shows as a file that is not found. */
static int parse_molecule(const struct app_option *option, const char *text, void *at, void *options) {
    struct dft_options *o = options;
    o->file = NULL;
    for (int i = 0; shapes[i]; i++)
        if (!strcmp(shapes[i], text)) {
            o->shape = i;
            return APP_OK;
        }
    o->file = text;
    return APP_OK;
}

static int parse_element(const struct app_option *option, const char *text, void *at, void *options) {
    int number = dft_find_symbol(text);
    if (!number)
        return app_reject("--element '%s': must be one of H to Ar", text);
    *(int *)at = number - 1;
    return APP_OK;
}

#define AT(field) .offset = offsetof(struct dft_options, field)

static const struct app_option table[] = {
    {"molecule", "WHAT",
     "silica (a chain of SiO2), chain or cube (of one element), or an XYZ file of H to Ar", APP_OWN,
     AT(shape), .parse = parse_molecule, .fallback = "silica"},
    {"atoms", "N", "number of atoms of silica, a chain or a cube", APP_COUNT, AT(atoms), .least = 1,
     .most = DFT_ATOMS_MOST},
    {"element", "SYMBOL", "element of a chain or a cube", APP_OWN, AT(element), .parse = parse_element,
     .fallback = "He"},
    {"distance", "BOHR", "distance of neighbours in a chain or a cube", APP_REAL, AT(distance),
     .real_least = 1, .real_most = 100},
    {"radial", "N", "number of spheres of points around each atom", APP_COUNT, AT(radial), .least = 5,
     .most = 1000},
    {"angular", "N", "number of polar angles on a sphere, with twice as many azimuthal ones: 2 N^2 points",
     APP_COUNT, AT(angular), .least = 3, .most = DFT_ANGULAR_MOST},
    {"points", "N", "number of points in a task: fewer points, more messages", APP_COUNT, AT(points),
     .least = 1, .most = 1 << 20},
    {"rounds", "N", "number of builds, one after the other", APP_COUNT, AT(rounds), .least = 1,
     .most = DFT_TRIES},
    {"tolerance", "E",
     "maximal difference of the integral of the density from the number of electrons, per electron", APP_REAL,
     AT(tolerance), .real_most = 1e6},
    {"verify", NULL, "compare the matrix with one that rank 0 builds serially", APP_SWITCH, AT(verify)},
    {"profile", NULL, "print the number of messages by size, in powers of two", APP_SWITCH, AT(profile)},
    {"matrix", "FILE", "write the matrix to FILE, a row per line", APP_TEXT, AT(matrix)},
    {0}};

static const struct app app = {
    .name = "dft",
    .about = "The exchange-correlation matrix of a molecule, by tasks on Global Arrays.",
    .remarks =
        "Tasks are distributed by ga_read_inc; each gets patches of the density matrix by ga_get and adds "
        "patches "
        "of\n"
        "the result by ga_acc. If the density does not integrate to the number of electrons, the exit code "
        "is 1.\n"
        "\n"
        "The ARMCI library that the program is linked with moves the patches: libarmci of Hearth, which "
        "takes\n"
        "the settings HEARTH_ARMCI_STRIDED (helper, or rows and lists, which do without packing),\n"
        "HEARTH_HELPER_AFFINITY, HEARTH_BUFFERS, HEARTH_SIZE_HINT and others. dft_stock, built beside the\n"
        "benches, is the same program on the distribution's ARMCI-MPI.",
    .options = table,
    .manner = offsetof(struct dft_options, manner)};

int dft_parse(int argc, char **argv, int rank, struct dft_options *o) {
    *o = (struct dft_options){.atoms = 6,
                              .shape = DFT_SILICA,
                              .element = 1,
                              .distance = 3,
                              .radial = 60,
                              .angular = 24,
                              .points = 128,
                              .rounds = 1,
                              .tolerance = 1e-6};
    return app_parse(&app, argc, argv, rank, o);
}
