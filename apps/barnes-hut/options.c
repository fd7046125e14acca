/* options.c: the command line of barnes-hut. */
#include "bh.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_BODIES = 1000000000, MOST_PROBES = 1000000 };

static const char *const models[] = {"plummer", "uniform", "collision", "coincident", NULL};
static const char *const caches[] = {"none", "hearth", "blocks", "auto", NULL};
static const char *const layouts[] = {"in-order", "scattered", NULL};

static int parse_block(const struct app_option *option, const char *text, void *at, void *options) {
    uint64_t *block = at;
    *block = 0;
    if (!strcmp(text, "auto"))
        return APP_OK;
    int code = app_parse_size(option->name, text, BH_BLOCK_LEAST, BH_BLOCK_MOST, block);
    if (!code && *block % sizeof(struct bh_node))
        return app_reject("--block '%s': must be a multiple of %zu bytes, the size of a node", text,
                          sizeof(struct bh_node));
    return code;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

static int parse_picture(const struct app_option *option, const char *text, void *at, void *options) {
    if (!ends_with(text, ".ppm") && !ends_with(text, ".svg"))
        return app_reject("--picture '%s': the name must end with .ppm or .svg", text);
    *(const char **)at = text;
    return APP_OK;
}

static const struct app_option table[] = {
    {"bodies", "N", "number of bodies", APP_COUNT, .offset = offsetof(struct bh_options, bodies),
     .most = MOST_BODIES},
    {"steps", "K", "number of time steps; 0: only the initial forces", APP_COUNT,
     .offset = offsetof(struct bh_options, steps), .most = UINT32_MAX},
    {"model", "MODEL",
     "plummer (a star cluster), collision (of two), uniform (a cube), or coincident (many bodies at few "
     "places)",
     APP_WORD, .offset = offsetof(struct bh_options, model), .words = models},
    {"seed", "N", "seed of the bodies, which do not depend on the number of ranks", APP_COUNT,
     .offset = offsetof(struct bh_options, seed), .most = UINT64_MAX},
    {"theta", "T",
     "opening angle, 0 to 2: a cell counts as one point if its side is less than T times its distance; 0: "
     "never",
     APP_REAL, .offset = offsetof(struct bh_options, theta), .real_most = 2},
    {"softening", "E", "softening length: distance below which forces are reduced", APP_REAL,
     .offset = offsetof(struct bh_options, softening), .real_least = 1e-9, .real_most = 1e9},
    {"dt", "T", "length of a time step; the time scale of the cluster is about 1", APP_REAL,
     .offset = offsetof(struct bh_options, dt), .real_least = 1e-12, .real_most = 1e6},
    {"cache", "CACHE",
     "none, hearth (the library, preloaded), blocks (direct-mapped, built in), or auto: hearth if it is "
     "loaded, else none",
     APP_WORD, .offset = offsetof(struct bh_options, cache), .words = caches},
    {"cache-memory", "M",
     "memory for the blocks of each rank, k, m or g at the end; for hearth see HEARTH_CACHE_SIZE and "
     "HEARTH_CACHE_MAX",
     APP_SIZE, .offset = offsetof(struct bh_options, cache_memory), .least = 1024, .most = (uint64_t)1 << 40},
    {"block", "SIZE",
     "size of a block, a multiple of 64 bytes, or auto: several are tried at the start, which is not part "
     "of the times",
     APP_OWN, .offset = offsetof(struct bh_options, block), .parse = parse_block, .fallback = "auto"},
    {"layout", "LAYOUT", "order of nodes in memory: in-order (of the tree) or scattered", APP_WORD,
     .offset = offsetof(struct bh_options, layout), .words = layouts},
    {"no-invalidate", NULL,
     "do not invalidate the cache when the tree has changed: results are wrong, and --verify detects it",
     APP_SWITCH, .offset = offsetof(struct bh_options, no_invalidate)},
    {"verify", "K", "compare the last forces on K bodies with direct summation", APP_COUNT,
     .offset = offsetof(struct bh_options, verify), .least = 1, .most = MOST_PROBES, .fallback = ""},
    {"tolerance", "E", "maximal error of these forces, relative, root mean square", APP_REAL,
     .offset = offsetof(struct bh_options, tolerance), .real_most = 1e6},
    {"picture", "FILE", "draw the bodies at the end: FILE.ppm or FILE.svg", APP_OWN,
     .offset = offsetof(struct bh_options, picture), .parse = parse_picture},
    {0}};

static const struct app app = {
    .name = "barnes-hut",
    .about =
        "Barnes-Hut simulation of gravitating bodies, with an octree whose nodes are read by one-sided gets.",
    .options = table,
    .manner = offsetof(struct bh_options, manner)};

const char *bh_cache_name(int cache) {
    return caches[cache];
}

const char *bh_model_name(int model) {
    return models[model];
}

const char *bh_layout_name(int layout) {
    return layouts[layout];
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
    int code = app_parse(&app, argc, argv, rank, o);
    if (!code && o->block && !bh_blocks_fit(o->cache_memory, o->block))
        code = app_reject("--block %" PRIu64 ": does not fit into --cache-memory %" PRIu64 " with its tag",
                          o->block, o->cache_memory);
    return code;
}
