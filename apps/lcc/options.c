/* options.c: the command line. Every rank reads the same one and comes to the same result; rank 0 alone
 * speaks. */
#include "lcc.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SCALE = 30, MAX_BATCH = 65536 };

static const char *const orders[] = {"block", "cyclic", "hashed", NULL};
static const char *const styles[] = {"auto", "line", "lines", "none", NULL};
static const char *const scores[] = {"none", "size", "degree", NULL};
static const char *const modes[] = {"off", "transparent", "acquire", "always", "user", NULL};

static const struct option table[] = {{"scale", required_argument, NULL, 's'},
                                      {"edge-factor", required_argument, NULL, 'e'},
                                      {"seed", required_argument, NULL, 'S'},
                                      {"rmat", required_argument, NULL, 'r'},
                                      {"file", required_argument, NULL, 'f'},
                                      {"order", required_argument, NULL, 'o'},
                                      {"mode", required_argument, NULL, 'm'},
                                      {"vertices", required_argument, NULL, 'n'},
                                      {"batch", required_argument, NULL, 'b'},
                                      {"local-gets", no_argument, NULL, 'l'},
                                      {"verify", no_argument, NULL, 'v'},
                                      {"progress", required_argument, NULL, 'p'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"json", required_argument, NULL, 'j'},
                                      {"score", required_argument, NULL, 'c'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

void lcc_help(FILE *file) {
    fputs(
        "Usage: mpirun -n RANKS lcc [options]\n"
        "The Local Clustering Coefficient of a graph whose adjacency lists are read by one-sided gets.\n"
        "\n"
        "  --scale S         R-MAT graph of 2^S vertices, 1 to 30 (default 14)\n"
        "  --edge-factor EF  times as many edges as vertices, before loops and duplicates go (default 16)\n"
        "  --rmat A,B,C,D    probabilities of the quadrants (default 0.57,0.19,0.19,0.05)\n"
        "  --seed N          another graph (default 1); the number of ranks does not change it\n"
        "  --file FILE       read the graph instead: Matrix Market, or lines 'u v' counting from 0\n"
        "  --order ORDER     block, cyclic or hashed: which rank owns which vertex (default hashed)\n"
        "  --mode MODE       off, transparent, acquire, always or user: the window's info key clampi_mode\n"
        "                    (default always)\n"
        "  --score SCORE     which lists a cache should keep: none, size (the longer ones, by the info key\n"
        "                    clampi_score) or degree (of the vertex, by CLAMPI_Set_score) (default none)\n"
        "  --vertices K      only K of each rank's vertices, a fair sample (default: all)\n"
        "  --batch K         gets per flush (default 1)\n"
        "  --local-gets      read the rank's own lists by MPI_Get too\n"
        "  --verify          compare with a serial count on rank 0\n"
        "  --progress STYLE  line (rewritten in place), lines, none or auto (default)\n"
        "  --quiet           print nothing but errors\n"
        "  --json FILE       write the results to FILE\n"
        "  --help            print this\n"
        "\n"
        "Exit code: 0 done, 1 failed or wrong result, 2 bad input.\n",
        file);
}

const char *lcc_score_name(int score) {
    return scores[score];
}

static bool speaks; /* this is rank 0 */

static int reject(const char *format, ...) {
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (speaks)
        lcc_complain("%s", reason);
    return LCC_BAD_INPUT;
}

static int parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < least || n > most) {
        return reject("--%s '%s': must be a whole number from %" PRIu64 " to %" PRIu64, name, text, least,
                      most);
    }
    *value = n;
    return LCC_OK;
}

static int parse_word(const char *name, const char *text, const char *const *words, int *position) {
    char all[128] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text)) {
            *position = i;
            return LCC_OK;
        }
        strcat(strcat(all, i ? ", " : ""), words[i]);
    }
    return reject("--%s '%s': must be one of %s", name, text, all);
}

static int parse_rmat(const char *text, double *rmat) {
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
    if (n < 4 || fabs(sum - 1) > 1e-6) {
        return reject("--rmat '%s': must be four numbers A,B,C,D from 0 to 1 with the sum 1", text);
    }
    memcpy(rmat, p, sizeof p);
    return LCC_OK;
}

static int apply_mode(const char *text, struct lcc_options *o) {
    int position;
    int code = parse_word("mode", text, modes, &position);
    if (!code)
        o->mode = modes[position];
    return code;
}

static int apply(int letter, char **argv, struct lcc_options *o) {
    switch (letter) {
    case 's':
        return parse_count("scale", optarg, 1, MAX_SCALE, &o->scale);
    case 'e':
        return parse_count("edge-factor", optarg, 1, 65536, &o->edge_factor);
    case 'S':
        return parse_count("seed", optarg, 0, UINT64_MAX, &o->seed);
    case 'r':
        return parse_rmat(optarg, o->rmat);
    case 'o':
        return parse_word("order", optarg, orders, &o->order);
    case 'm':
        return apply_mode(optarg, o);
    case 'n':
        return parse_count("vertices", optarg, 1, UINT32_MAX, &o->vertices);
    case 'b':
        return parse_count("batch", optarg, 1, MAX_BATCH, &o->batch);
    case 'p':
        return parse_word("progress", optarg, styles, &o->progress);
    case 'c':
        return parse_word("score", optarg, scores, &o->score);
    case 'f':
        o->file = optarg;
        return LCC_OK;
    case 'j':
        o->json = optarg;
        return LCC_OK;
    case 'l':
        o->local_gets = true;
        return LCC_OK;
    case 'v':
        o->verify = true;
        return LCC_OK;
    case 'q':
        o->quiet = true;
        return LCC_OK;
    case 'h':
        o->help = true;
        return LCC_OK;
    case ':':
        return reject("option '%s' needs a value (see --help)", argv[optind - 1]);
    default:
        return reject("option '%s' is not known, is ambiguous, or takes no value (see --help)",
                      argv[optind - 1]);
    }
}

int lcc_parse(int argc, char **argv, int rank, struct lcc_options *o) {
    *o = (struct lcc_options){.scale = 14,
                              .edge_factor = 16,
                              .seed = 1,
                              .rmat = {0.57, 0.19, 0.19, 0.05},
                              .mode = "always",
                              .order = LCC_HASHED,
                              .batch = 1};
    int letter, code = LCC_OK;
    speaks = rank == 0;
    opterr = 0;
    /* _only: with it, optind is past the word in question whether or not that had two dashes */
    while (!code && (letter = getopt_long_only(argc, argv, ":", table, NULL)) != -1)
        code = apply(letter, argv, o);
    if (!code && optind < argc)
        code = reject("'%s': not an option (see --help)", argv[optind]);
    return code;
}
