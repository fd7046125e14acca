/* report.c: combines and prints the ranks' results: as text, as a line for tables, or as JSON. Beside the times
 * it prints the page counters. Only the first rank of a node contributes the counters of the node. */
#include "dgemm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json.h"
#include "hearth/vgasnet.h"

/* Values of one rank, then of all. */
struct part {
    struct dgemm_times times;
    uint64_t gets;
    vgasnet_stats_t stats;
};

struct summary {
    double seconds, gflops;     /* of the median product */
    double blas, communication; /* share of the time, mean of the ranks */
    struct part sum;
};

/* The page counters that are printed, and whether each counts per rank or per node. */
static const struct {
    const char *name;
    size_t offset;
    bool of_node;
} counts[] = {{"hits", offsetof(vgasnet_stats_t, hits), false},
              {"misses", offsetof(vgasnet_stats_t, misses), false},
              {"prefetched", offsetof(vgasnet_stats_t, prefetched), false},
              {"faults", offsetof(vgasnet_stats_t, faults), false},
              {"write_faults", offsetof(vgasnet_stats_t, write_faults), false},
              {"from_nvm", offsetof(vgasnet_stats_t, from_nvm), true},
              {"from_home", offsetof(vgasnet_stats_t, from_home), true},
              {"from_peers", offsetof(vgasnet_stats_t, from_peers), true},
              {"evicted", offsetof(vgasnet_stats_t, evicted), true},
              {"written_back", offsetof(vgasnet_stats_t, written_back), true},
              {"nvm_reads", offsetof(vgasnet_stats_t, nvm_reads), true},
              {"nvm_writes", offsetof(vgasnet_stats_t, nvm_writes), true}};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static uint64_t *count_in(vgasnet_stats_t *stats, int i) {
    return (uint64_t *)(void *)((char *)stats + counts[i].offset);
}

/* ---- combining ---- */

static bool is_first_of_node(const gasnet_nodeinfo_t *nodes, int rank) {
    for (int i = 0; i < rank; i++)
        if (nodes[i].supernode == nodes[rank].supernode)
            return false;
    return true;
}

static void add_part(struct part *sum, struct part *one, bool first_of_node) {
    sum->times.blas += one->times.blas;
    sum->times.communication += one->times.communication;
    sum->times.total += one->times.total;
    sum->gets += one->gets;
    for (int i = 0; i < COUNTS; i++)
        if (first_of_node || !counts[i].of_node)
            *count_in(&sum->stats, i) += *count_in(&one->stats, i);
}

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint64_t count) {
    qsort(values, count, sizeof *values, compare_reals);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static int sum_up(const struct dgemm_layout *l, const struct dgemm_options *o, const struct dgemm_result *r,
                  struct summary *s) {
    struct part mine = {.times = r->times, .gets = r->gets}, *all = malloc((size_t)l->ranks * sizeof *all);
    gasnet_nodeinfo_t *nodes = malloc((size_t)l->ranks * sizeof *nodes);
    double size = (double)l->size, ranks = l->ranks;
    *s = (struct summary){.seconds = median(r->seconds, o->repeats)};
    s->gflops = s->seconds > 0 ? 2 * size * size * size / s->seconds * 1e-9 : 0;
    vgasnet_stats(&mine.stats);
    int code = dgemm_agree(all && nodes ? APP_OK : APP_FAILED, "no memory for the results of all ranks");
    if (!code) {
        dgemm_gather(&mine, sizeof mine, all);
        gasnet_getNodeInfo(nodes, l->ranks);
        for (int i = 0; i < l->ranks; i++)
            add_part(&s->sum, &all[i], is_first_of_node(nodes, i));
        s->blas = s->sum.times.blas / s->sum.times.total;
        s->communication = s->sum.times.communication / s->sum.times.total;
        s->sum.times.total /= ranks;
    }
    free(all);
    free(nodes);
    return code;
}

/* ---- printing ---- */

static void print_text(const struct dgemm_layout *l, const struct dgemm_options *o,
                       const struct dgemm_result *r, const struct summary *s) {
    struct summary copy = *s;
    printf("matrices       %" PRIu64 " x %" PRIu64 " in tiles of %" PRIu64 ", %" PRIu64
           " MB in each of %d segment%s, grid %" PRIu64 "x%" PRIu64 "\n",
           l->size, l->size, l->block, l->segment_bytes >> 20, l->ranks, l->ranks == 1 ? "" : "s",
           l->grid_rows, l->grid_columns);
    printf("time           %.4f s, median of %" PRIu64 "\n", s->seconds, o->repeats);
    printf("speed          %.3f GFLOP/s\n", s->gflops);
    printf("in BLAS        %.1f %% of the time\n", 100 * s->blas);
    printf("communication  %.1f %% of the time, %" PRIu64 " gets\n", 100 * s->communication, s->sum.gets);
    if (o->verify)
        printf("verified       error at most %.3g of the bound on rounding%s\n", r->error,
               r->checked ? ", element by element too" : "");
    printf("pages         ");
    for (int i = 0; i < COUNTS; i++)
        printf(" %s %" PRIu64, counts[i].name, *count_in(&copy.sum.stats, i));
    printf("\n");
}

static void print_csv(const struct dgemm_layout *l, const struct dgemm_options *o,
                      const struct dgemm_result *r, const struct summary *s) {
    struct summary copy = *s;
    printf("ranks,rows,columns,size,block,repeats,seconds,gflops,blas,communication,gets,buffer_bytes,"
           "verified,error");
    for (int i = 0; i < COUNTS; i++)
        printf(",%s", counts[i].name);
    printf("\n%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%.4f,%.4f,%.4f,%" PRIu64
           ",%" PRIu64 ",%d,%.4g",
           l->ranks, l->grid_rows, l->grid_columns, l->size, l->block, o->repeats, s->seconds, s->gflops,
           s->blas, s->communication, s->sum.gets, r->buffer_bytes, o->verify, r->error);
    for (int i = 0; i < COUNTS; i++)
        printf(",%" PRIu64, *count_in(&copy.sum.stats, i));
    printf("\n");
}

static void write_json(FILE *file, const struct dgemm_layout *l, const struct dgemm_options *o,
                       const struct dgemm_result *r, const struct summary *s) {
    struct summary copy = *s;
    struct json j;
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    json_count(&j, "ranks", (uint64_t)l->ranks);
    json_count(&j, "grid_rows", l->grid_rows);
    json_count(&j, "grid_columns", l->grid_columns);
    json_count(&j, "size", l->size);
    json_count(&j, "block", l->block);
    json_count(&j, "repeats", o->repeats);
    json_count(&j, "segment_bytes", l->segment_bytes);
    json_count(&j, "buffer_bytes", r->buffer_bytes);
    json_number(&j, "seconds", s->seconds);
    json_number(&j, "gflops", s->gflops);
    json_number(&j, "blas", s->blas);
    json_number(&j, "communication", s->communication);
    json_count(&j, "gets", s->sum.gets);
    if (o->verify) {
        json_number(&j, "error", r->error);
        json_count(&j, "compared", r->checked);
    }
    for (int i = 0; i < COUNTS; i++)
        json_count(&j, counts[i].name, *count_in(&copy.sum.stats, i));
    json_close(&j, '}');
}

int dgemm_report(const struct dgemm_layout *l, const struct dgemm_options *o, const struct dgemm_result *r,
                 FILE *json) {
    struct summary s;
    int code = sum_up(l, o, r, &s);
    if (code || l->rank)
        return code;
    if (json)
        write_json(json, l, o, r, &s);
    if (o->manner.quiet)
        return APP_OK;
    if (o->report == DGEMM_CSV)
        print_csv(l, o, r, &s);
    else
        print_text(l, o, r, &s);
    return APP_OK;
}
