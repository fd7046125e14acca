/* options.c: the command line. Every rank reads the same one and comes to the same result; rank 0 alone
 * speaks. */
#include "bh.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 1000000000, MOST_PROBES = 1000000 };

static const char *const models[] = {"plummer", "uniform", "collision", "coincident", NULL};
static const char *const caches[] = {"none", "hearth", "blocks", "auto", NULL};
static const char *const layouts[] = {"in-order", "scattered", NULL};
static const char *const styles[] = {"auto", "line", "lines", "none", NULL};

static const struct option table[] = {{"bodies", required_argument, NULL, 'n'},
                                      {"steps", required_argument, NULL, 's'},
                                      {"model", required_argument, NULL, 'm'},
                                      {"seed", required_argument, NULL, 'S'},
                                      {"theta", required_argument, NULL, 't'},
                                      {"softening", required_argument, NULL, 'e'},
                                      {"dt", required_argument, NULL, 'd'},
                                      {"cache", required_argument, NULL, 'c'},
                                      {"cache-memory", required_argument, NULL, 'M'},
                                      {"block", required_argument, NULL, 'b'},
                                      {"layout", required_argument, NULL, 'l'},
                                      {"no-invalidate", no_argument, NULL, 'i'},
                                      {"verify", required_argument, NULL, 'v'},
                                      {"tolerance", required_argument, NULL, 'T'},
                                      {"picture", required_argument, NULL, 'P'},
                                      {"progress", required_argument, NULL, 'p'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"json", required_argument, NULL, 'j'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

void bh_help(FILE *file) {
    fputs(
        "Usage: mpirun -n RANKS barnes-hut [options]\n"
        "Bodies that attract each other, in an octree whose nodes are read by one-sided gets.\n"
        "\n"
        "  --bodies N        how many (default 4000)\n"
        "  --steps K         steps in time (default 3); 0: only the forces at the start\n"
        "  --model MODEL     plummer (a star cluster), collision (of two), uniform (a cube), or coincident\n"
        "                    (many bodies in few places) (default plummer)\n"
        "  --seed N          other bodies (default 1); the number of ranks does not change them\n"
        "  --theta T         a cell counts as one point if its side is less than T times its distance, 0 to "
        "2\n"
        "                    (default 0.6); 0: never\n"
        "  --softening E     distance below which forces are weakened (default 0.02)\n"
        "  --dt T            length of a step (default 0.01); the cluster's own time is about 1\n"
        "  --cache CACHE     none, hearth (the library, preloaded), blocks (direct-mapped, built in), or "
        "auto:\n"
        "                    hearth if it is loaded, else none (default auto)\n"
        "  --cache-memory M  for the blocks of each rank, k, m or g at the end (default 4m); for hearth see\n"
        "                    HEARTH_CACHE_SIZE and HEARTH_CACHE_MAX\n"
        "  --block SIZE      of a block, a multiple of 64 bytes, or auto: several are tried at the start, "
        "which\n"
        "                    takes no part in the times (default auto)\n"
        "  --layout LAYOUT   nodes in memory: in-order (of the tree) or scattered (default in-order)\n"
        "  --no-invalidate   do not tell the cache that the tree has changed: wrong, and --verify finds it\n"
        "  --verify K        compare the last forces on K bodies with direct summation\n"
        "  --tolerance E     largest error of these forces, rms over rms (default 0.02)\n"
        "  --picture FILE    draw the bodies at the end: FILE.ppm or FILE.svg\n"
        "  --progress STYLE  line (rewritten in place), lines, none or auto (default)\n"
        "  --quiet           print nothing but errors\n"
        "  --json FILE       write the results to FILE\n"
        "  --help            print this\n"
        "\n"
        "Exit code: 0 done, 1 failed or wrong result, 2 bad input.\n",
        file);
}

const char *bh_cache_name(int cache) {
    return caches[cache];
}

const char *bh_model_name(int model) {
    return models[model];
}

const char *bh_layout_name(int layout) {
    return layouts[layout];
}

static bool speaks; /* this is rank 0 */

static int reject(const char *format, ...) {
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (speaks)
        bh_complain("%s", reason);
    return BH_BAD_INPUT;
}

static int parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < least || n > most)
        return reject("--%s '%s': must be a whole number from %" PRIu64 " to %" PRIu64, name, text, least,
                      most);
    *value = n;
    return BH_OK;
}

static int parse_size(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    static const char units[] = "kmg";
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!isdigit((unsigned char)*text) || errno || (*end && (!unit || end[1])) || n > most >> shift ||
        n << shift < least)
        return reject("--%s '%s': must be a size from %" PRIu64 " to %" PRIu64 " bytes, k, m or g at the end",
                      name, text, least, most);
    *value = n << shift;
    return BH_OK;
}

static int parse_real(const char *name, const char *text, double least, double most, double *value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        return reject("--%s '%s': must be a number from %g to %g", name, text, least, most);
    *value = number;
    return BH_OK;
}

static int parse_word(const char *name, const char *text, const char *const *words, int *position) {
    char all[128] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text)) {
            *position = i;
            return BH_OK;
        }
        strcat(strcat(all, i ? ", " : ""), words[i]);
    }
    return reject("--%s '%s': must be one of %s", name, text, all);
}

static int parse_block(const char *text, uint64_t *block) {
    *block = 0;
    if (!strcmp(text, "auto"))
        return BH_OK;
    int code = parse_size("block", text, BH_BLOCK_LEAST, BH_BLOCK_MOST, block);
    if (!code && *block % sizeof(struct bh_node))
        return reject("--block '%s': must be a multiple of %zu bytes, the size of a node", text,
                      sizeof(struct bh_node));
    return code;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

static int parse_picture(const char *text, struct bh_options *o) {
    if (!ends_with(text, ".ppm") && !ends_with(text, ".svg"))
        return reject("--picture '%s': the name must end with .ppm or .svg", text);
    o->picture = text;
    return BH_OK;
}

static int apply_switch(int letter, char **argv, struct bh_options *o) {
    switch (letter) {
    case 'j':
        o->json = optarg;
        return BH_OK;
    case 'i':
        o->no_invalidate = true;
        return BH_OK;
    case 'q':
        o->quiet = true;
        return BH_OK;
    case 'h':
        o->help = true;
        return BH_OK;
    case ':':
        return reject("option '%s' needs a value (see --help)", argv[optind - 1]);
    default:
        return reject("option '%s' is not known, is ambiguous, or takes no value (see --help)",
                      argv[optind - 1]);
    }
}

static int apply(int letter, char **argv, struct bh_options *o) {
    switch (letter) {
    case 'n':
        return parse_count("bodies", optarg, 0, MOST_BODIES, &o->bodies);
    case 's':
        return parse_count("steps", optarg, 0, UINT32_MAX, &o->steps);
    case 'm':
        return parse_word("model", optarg, models, &o->model);
    case 'S':
        return parse_count("seed", optarg, 0, UINT64_MAX, &o->seed);
    case 't':
        return parse_real("theta", optarg, 0, 2, &o->theta);
    case 'e':
        return parse_real("softening", optarg, 1e-9, 1e9, &o->softening);
    case 'd':
        return parse_real("dt", optarg, 1e-12, 1e6, &o->dt);
    case 'c':
        return parse_word("cache", optarg, caches, &o->cache);
    case 'M':
        return parse_size("cache-memory", optarg, 1024, (uint64_t)1 << 40, &o->cache_memory);
    case 'b':
        return parse_block(optarg, &o->block);
    case 'l':
        return parse_word("layout", optarg, layouts, &o->layout);
    case 'v':
        return parse_count("verify", optarg, 1, MOST_PROBES, &o->verify);
    case 'T':
        return parse_real("tolerance", optarg, 0, 1e6, &o->tolerance);
    case 'P':
        return parse_picture(optarg, o);
    case 'p':
        return parse_word("progress", optarg, styles, &o->progress);
    default:
        return apply_switch(letter, argv, o);
    }
}

int bh_parse(int argc, char **argv, int rank, struct bh_options *o) {
    *o = (struct bh_options){.bodies = 4000,
                             .steps = 3,
                             .seed = 1,
                             .theta = 0.6,
                             .softening = 0.02,
                             .dt = 0.01,
                             .tolerance = 0.02,
                             .cache = BH_CACHE_AUTO,
                             .cache_memory = 4 << 20};
    int letter, code = BH_OK;
    speaks = rank == 0;
    opterr = 0;
    /* _only: with it, optind is past the word in question whether or not that had two dashes */
    while (!code && (letter = getopt_long_only(argc, argv, ":", table, NULL)) != -1)
        code = apply(letter, argv, o);
    if (!code && optind < argc)
        code = reject("'%s': not an option (see --help)", argv[optind]);
    if (!code && o->block && !bh_blocks_fit(o->cache_memory, o->block))
        code = reject("--block %" PRIu64 ": does not fit into --cache-memory %" PRIu64 " with its tag",
                      o->block, o->cache_memory);
    return code;
}
