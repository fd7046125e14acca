/* options.c: the command line of lcc. */
#include "lcc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCALE = 30, MAX_EDGE_FACTOR = 65536, MAX_BATCH = 65536 };

static const char *const orders[] = {"block", "cyclic", "hashed", NULL};
static const char *const scores[] = {"none", "size", "degree", NULL};
static const char *const modes[] = {"off", "transparent", "acquire", "always", "user", NULL};

static int parse_rmat(const struct app_option *option, const char *text, void *at, void *options) {
    double p[4], sum = 0;
    const char *from = text;
    int n = 0;
    while (n < 4) {
        char *end;
        p[n] = strtod(from, &end);
        if (end == from || !(p[n] >= 0 && p[n] <= 1) || *end != (n < 3 ? ',' : 0))
            break;
        sum += p[n++];
        from = end + 1;
    }
    if (n < 4 || fabs(sum - 1) > 1e-6)
        return app_reject("--rmat '%s': must be four numbers A,B,C,D from 0 to 1 with the sum 1", text);
    memcpy(at, p, sizeof p);
    return APP_OK;
}

static int parse_mode(const struct app_option *option, const char *text, void *at, void *options) {
    int position;
    int code = app_parse_word(option->name, text, modes, &position);
    if (!code)
        *(const char **)at = modes[position];
    return code;
}

static const struct app_option table[] = {
    {"scale", "S", "R-MAT graph of 2^S vertices, 1 to 30", APP_COUNT,
     .offset = offsetof(struct lcc_options, scale), .least = 1, .most = MAX_SCALE},
    {"edge-factor", "EF", "edges per vertex, before loops and duplicates are removed", APP_COUNT,
     .offset = offsetof(struct lcc_options, edge_factor), .least = 1, .most = MAX_EDGE_FACTOR},
    {"rmat", "A,B,C,D", "probabilities of the quadrants", APP_OWN,
     .offset = offsetof(struct lcc_options, rmat), .parse = parse_rmat, .fallback = "0.57,0.19,0.19,0.05"},
    {"seed", "N", "seed of the graph, which does not depend on the number of ranks", APP_COUNT,
     .offset = offsetof(struct lcc_options, seed), .most = UINT64_MAX},
    {"file", "FILE", "read the graph from FILE: Matrix Market, or lines 'u v' counting from 0", APP_TEXT,
     .offset = offsetof(struct lcc_options, file)},
    {"order", "ORDER", "distribution of the vertices: block, cyclic or hashed", APP_WORD,
     .offset = offsetof(struct lcc_options, order), .words = orders},
    {"mode", "MODE", "the window's info key clampi_mode: off, transparent, acquire, always or user", APP_OWN,
     .offset = offsetof(struct lcc_options, mode), .parse = parse_mode, .fallback = "always"},
    {"score", "SCORE",
     "lists that a cache should keep: none, size (the longer ones, by the info key clampi_score) or degree "
     "(of the vertex, by CLAMPI_Set_score)",
     APP_WORD, .offset = offsetof(struct lcc_options, score), .words = scores},
    {"vertices", "K", "count only a random sample of K of each rank's vertices", APP_COUNT,
     .offset = offsetof(struct lcc_options, vertices), .least = 1, .most = UINT32_MAX, .fallback = "all"},
    {"batch", "K", "gets per flush", APP_COUNT, .offset = offsetof(struct lcc_options, batch), .least = 1,
     .most = MAX_BATCH},
    {"local-gets", NULL, "read the rank's own lists by MPI_Get too", APP_SWITCH,
     .offset = offsetof(struct lcc_options, local_gets)},
    {"verify", NULL, "compare with a serial count on rank 0", APP_SWITCH,
     .offset = offsetof(struct lcc_options, verify)},
    {0}};

static const struct app app = {
    .name = "lcc",
    .about = "Local Clustering Coefficient of a graph whose adjacency lists are read by one-sided gets.",
    .options = table,
    .manner = offsetof(struct lcc_options, manner)};

const char *lcc_score_name(int score) {
    return scores[score];
}

int lcc_parse(int argc, char **argv, int rank, struct lcc_options *o) {
    *o = (struct lcc_options){.scale = 14,
                              .edge_factor = 16,
                              .seed = 1,
                              .rmat = {0.57, 0.19, 0.19, 0.05},
                              .mode = "always",
                              .order = LCC_HASHED,
                              .batch = 1};
    return app_parse(&app, argc, argv, rank, o);
}
