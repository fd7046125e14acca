/* report.c: combines and prints the ranks' results. The checksum covers vertex numbers and counts, so two runs
 * over the same vertices have equal checksums exactly if all counts are equal, however the vertices were
 * distributed. */
#include "lcc.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/random.h"
#include "observe/json.h"

enum { WORDS = sizeof(CLAMPI_Stats) / sizeof(uint64_t) };

struct summary {
    uint64_t processed, gets, bytes, checksum;
    double us_max, us_mean, seconds, mean_lcc;
    int cached; /* on all ranks */
    CLAMPI_Stats stats;
};

static double coefficient(const struct lcc_graph *g, struct lcc_count c) {
    double degree = g->degree[c.vertex];
    return degree < 2 ? 0 : (double)c.pairs / (degree * (degree - 1));
}

static void sum_counts(const struct lcc_graph *g, const struct lcc_result *r, struct summary *s) {
    double lcc = 0;
    uint64_t local[4] = {r->count, r->gets, r->bytes, 0}, all[4];
    for (uint64_t i = 0; i < r->count; i++) {
        local[3] += random_mix(random_mix(r->counts[i].vertex) + r->counts[i].pairs);
        lcc += coefficient(g, r->counts[i]);
    }
    MPI_Allreduce(local, all, 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&lcc, &s->mean_lcc, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    s->processed = all[0];
    s->gets = all[1];
    s->bytes = all[2];
    s->checksum = all[3];
    s->mean_lcc /= s->processed ? (double)s->processed : 1;
}

static void sum_times(const struct lcc_graph *g, const struct lcc_result *r, struct summary *s) {
    double us = r->count ? r->seconds * 1e6 / (double)r->count : 0;
    MPI_Allreduce(&us, &s->us_max, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&us, &s->us_mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&r->seconds, &s->seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    s->us_mean /= g->ranks;
}

static void sum_stats(const struct lcc_result *r, struct summary *s) {
    int cached = r->cached;
    MPI_Allreduce(&cached, &s->cached, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&r->stats, &s->stats, WORDS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static double hit_ratio(const struct summary *s) {
    const CLAMPI_Stats *t = &s->stats;
    return t->gets ? (double)(t->full_hits + t->partial_hits + t->pending_hits) / (double)t->gets : 0;
}

static void print_text(const struct lcc_options *o, const struct lcc_graph *g, const struct summary *s) {
    printf("vertices         %" PRIu64 ", %" PRIu64 " counted on %d rank%s\n", g->vertices, s->processed,
           g->ranks, g->ranks == 1 ? "" : "s");
    printf("edges            %" PRIu64 ", highest degree %" PRIu32 "\n", g->edges, g->most);
    printf("time per vertex  %.2f us on the slowest rank, %.2f us on average\n", s->us_max, s->us_mean);
    printf("gets             %" PRIu64 ", %.1f MB\n", s->gets, (double)s->bytes / 1e6);
    if (s->cached)
        printf("hit ratio        %.4f (%" PRIu64 " bypassed, %" PRIu64 " flushes elided)\n", hit_ratio(s),
               s->stats.bypassed, s->stats.elided);
    else
        printf("hit ratio        none: no cache is loaded\n");
    printf("mean LCC         %.6f%s\n", s->mean_lcc, o->verify ? ", all counts verified" : "");
    printf("checksum         %016" PRIx64 " (graph %016" PRIx64 ")\n", s->checksum, g->checksum);
}

static void write_hex(struct json *j, const char *name, uint64_t value) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    json_string(j, name, text);
}

static void write_stats(struct json *j, const struct summary *s) {
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {
#define FIELD(name) {#name, offsetof(CLAMPI_Stats, name)}
        FIELD(gets),          FIELD(full_hits),     FIELD(partial_hits), FIELD(pending_hits),
        FIELD(direct),        FIELD(conflicting),   FIELD(capacity),     FIELD(failing),
        FIELD(bypassed),      FIELD(invalidations), FIELD(adjustments),  FIELD(bytes_served),
        FIELD(bytes_fetched), FIELD(elided),        FIELD(entries),      FIELD(index_slots),
        FIELD(storage_bytes), FIELD(used_bytes),    FIELD(evictions)
#undef FIELD
    };
    json_open(j, "cache", '{');
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        json_count(j, fields[i].name, *(const uint64_t *)((const char *)&s->stats + fields[i].offset));
    json_close(j, '}');
}

static void write_json(FILE *file, const struct lcc_options *o, const struct lcc_graph *g,
                       const struct summary *s) {
    struct json j;
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    json_count(&j, "ranks", (uint64_t)g->ranks);
    json_string(&j, "mode", o->mode);
    json_string(&j, "score", lcc_score_name(o->score));
    json_count(&j, "vertices", g->vertices);
    json_count(&j, "edges", g->edges);
    json_count(&j, "highest_degree", g->most);
    json_count(&j, "counted", s->processed);
    json_number(&j, "seconds", s->seconds);
    json_number(&j, "us_per_vertex_max", s->us_max);
    json_number(&j, "us_per_vertex_mean", s->us_mean);
    json_count(&j, "window_gets", s->gets);
    json_count(&j, "window_bytes", s->bytes);
    json_number(&j, "mean_lcc", s->mean_lcc);
    write_hex(&j, "checksum", s->checksum);
    write_hex(&j, "graph_checksum", g->checksum);
    if (s->cached) {
        json_number(&j, "hit_ratio", hit_ratio(s));
        write_stats(&j, s);
    }
    json_close(&j, '}');
}

int lcc_report(const struct lcc_options *o, const struct lcc_graph *g, const struct lcc_result *r,
               FILE *json) {
    struct summary summary = {0};
    sum_counts(g, r, &summary);
    sum_times(g, r, &summary);
    sum_stats(r, &summary);
    if (g->rank == 0 && !o->manner.quiet)
        print_text(o, g, &summary);
    if (json)
        write_json(json, o, g, &summary);
    return APP_OK;
}
