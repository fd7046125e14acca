/* options.c: the command line of dgemm. */
#include "dgemm.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZE = 1 << 20, MOST_BLOCK = 8192, MOST_REPEATS = 1000000, MOST_RANKS = 1 << 20 };

static const char *const locals[] = {"load", "get", NULL};
static const char *const reports[] = {"text", "csv", NULL};

/* ROWSxCOLUMNS, or auto, which leaves the choice to the program. */
static int parse_pair(const struct app_option *option, const char *text, void *at, void *options) {
    struct dgemm_pair *pair = at;
    char *middle, *end;
    *pair = (struct dgemm_pair){0};
    if (!strcmp(text, "auto"))
        return APP_OK;
    uint64_t rows = strtoull(text, &middle, 10);
    if (isdigit((unsigned char)text[0]) && *middle == 'x' && isdigit((unsigned char)middle[1])) {
        uint64_t columns = strtoull(middle + 1, &end, 10);
        if (!*end && rows >= 1 && rows <= MOST_RANKS && columns >= 1 && columns <= MOST_RANKS) {
            *pair = (struct dgemm_pair){.rows = rows, .columns = columns};
            return APP_OK;
        }
    }
    return app_reject("--%s '%s': must be ROWSxCOLUMNS, such as 2x3, or auto", option->name, text);
}

static const struct app_option table[] = {
    {"size", "N", "size of the matrices: N x N elements", APP_COUNT,
     .offset = offsetof(struct dgemm_options, size), .least = 1, .most = MOST_SIZE},
    {"block", "B", "size of the tiles: B x B elements; the last of a row or column may be smaller", APP_COUNT,
     .offset = offsetof(struct dgemm_options, block), .least = 1, .most = MOST_BLOCK},
    {"grid", "PxQ",
     "grid of ranks, P rows and Q columns, over which the tiles are distributed round robin; auto: as square "
     "as possible",
     APP_OWN, .offset = offsetof(struct dgemm_options, grid), .parse = parse_pair, .fallback = "auto"},
    {"group", "RxS",
     "tiles of C that a rank processes at a time, R x S; A and B are read again for each such group, as "
     "large "
     "segments need; auto: as many as fit buffers of 128 MB",
     APP_OWN, .offset = offsetof(struct dgemm_options, group), .parse = parse_pair, .fallback = "auto"},
    {"local", "HOW",
     "access to a rank's own tiles: load (in place) or get (by gets and puts, like those of others)",
     APP_WORD, .offset = offsetof(struct dgemm_options, local), .words = locals},
    {"repeats", "K", "number of multiplications", APP_COUNT,
     .offset = offsetof(struct dgemm_options, repeats), .least = 1, .most = MOST_REPEATS},
    {"seed", "N", "seed of the matrices, which depend neither on ranks nor on blocks", APP_COUNT,
     .offset = offsetof(struct dgemm_options, seed), .most = UINT64_MAX},
    {"verify", NULL,
     "compare C x with A (B x) for vectors x, and small matrices element by element with plain loops",
     APP_SWITCH, .offset = offsetof(struct dgemm_options, verify)},
    {"spoil", NULL,
     "change an element of C by about a ten thousandth before it is verified, to test --verify", APP_SWITCH,
     .offset = offsetof(struct dgemm_options, spoil)},
    {"report", "STYLE", "text, or csv: a line of names and one of values", APP_WORD,
     .offset = offsetof(struct dgemm_options, report), .words = reports},
    {0}};

static const struct app app = {.name = "dgemm",
                               .about = "C = A B by SUMMA. The matrices are in the segments of a GASNet job, "
                                        "tiles are read by gets, and OpenBLAS\n"
                                        "multiplies them.",
                               .remarks = "HEARTH_NVM=off: segments in memory. Otherwise on NVM "
                                          "(HEARTH_NVM_DIR), cached in HEARTH_POOL_SIZE of memory per\n"
                                          "node; HEARTH_COOP=off: nodes do not serve each other's misses.",
                               .options = table,
                               .manner = offsetof(struct dgemm_options, manner)};

/* As square as possible, rows <= columns. */
static struct dgemm_pair choose_grid(uint64_t ranks) {
    uint64_t rows = 1;
    for (uint64_t i = 1; i * i <= ranks; i++)
        if (ranks % i == 0)
            rows = i;
    return (struct dgemm_pair){.rows = rows, .columns = ranks / rows};
}

int dgemm_parse(int argc, char **argv, int rank, int ranks, struct dgemm_options *o) {
    *o = (struct dgemm_options){.size = 1024, .block = 256, .repeats = 1, .seed = 1, .local = DGEMM_GET};
    int code = app_parse(&app, argc, argv, rank, o);
    if (code || o->manner.help)
        return code;
    if (!o->grid.rows)
        o->grid = choose_grid((uint64_t)ranks);
    if (o->grid.rows * o->grid.columns != (uint64_t)ranks)
        return app_reject("--grid %" PRIu64 "x%" PRIu64 ": needs %" PRIu64 " ranks, and there are %d",
                          o->grid.rows, o->grid.columns, o->grid.rows * o->grid.columns, ranks);
    if (o->spoil && !o->verify)
        return app_reject("--spoil: needs --verify, which it tests");
    return APP_OK;
}
