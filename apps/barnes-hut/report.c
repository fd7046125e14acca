/* report.c: combines and prints the ranks' results. Times are those of the slowest rank, counts are sums. */
#include "bh.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#include "observe/json.h"

enum { STATS = sizeof(CLAMPI_Stats) / sizeof(uint64_t), TIMES = sizeof(struct bh_times) / sizeof(double) };

struct summary {
    struct bh_times times;
    double us_per_body; /* of the slowest rank, divided by its own bodies */
    uint64_t visits, remote, gets, bytes, forces, hits;
    int cached; /* on all ranks */
    CLAMPI_Stats stats;
};

static void sum_all(const struct bh_result *r, struct summary *s) {
    uint64_t counts[6] = {r->visits, r->remote, r->gets, r->bytes, r->forces, r->hits}, sums[6];
    double us = r->forces ? r->times.force * 1e6 / (double)r->forces : 0;
    int cached = r->cached;
    MPI_Allreduce(&r->times, &s->times, TIMES, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&us, &s->us_per_body, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(counts, sums, 6, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&cached, &s->cached, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&r->stats, &s->stats, STATS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    s->visits = sums[0];
    s->remote = sums[1];
    s->gets = sums[2];
    s->bytes = sums[3];
    s->forces = sums[4];
    s->hits = sums[5];
}

/* The share of requests for nodes of other ranks that caused no get over the network. */
static double hit_ratio(const struct bh_options *o, const struct summary *s) {
    const CLAMPI_Stats *t = &s->stats;
    if (o->cache == BH_BLOCKS)
        return s->remote ? 1 - (double)s->gets / (double)s->remote : 0;
    return t->gets ? (double)(t->full_hits + t->partial_hits + t->pending_hits) / (double)t->gets : 0;
}

static double final_drift(const struct bh_result *r) {
    return r->energy_start != 0 ? r->energy_end / r->energy_start - 1 : 0;
}

static void print_cache(const struct bh_options *o, const struct bh_result *r, const struct summary *s,
                        int ranks) {
    if (o->cache == BH_BLOCKS)
        printf("cache            blocks of %" PRIu64 " bytes, %.1f MB per rank, hit ratio %.4f\n", r->block,
               (double)o->cache_memory / 1e6, hit_ratio(o, s));
    else if (s->cached)
        printf("cache            hearth, hit ratio %.4f (%" PRIu64
               " bypassed), %.1f MB of %.1f MB per rank used\n",
               hit_ratio(o, s), s->stats.bypassed, (double)s->stats.used_bytes / 1e6 / ranks,
               (double)s->stats.storage_bytes / 1e6 / ranks);
    else
        printf("cache            %s\n", o->cache == BH_HEARTH ? "hearth, nothing to cache" : "none");
}

static void print_text(const struct bh_options *o, const struct bh_bodies *b, const struct bh_result *r,
                       const struct summary *s) {
    double forces = s->forces ? (double)s->forces : 1;
    printf("bodies           %" PRIu64 " on %d rank%s, %" PRIu64 " step%s, %s\n", b->total, b->ranks,
           b->ranks == 1 ? "" : "s", o->steps, o->steps == 1 ? "" : "s", bh_model_name(o->model));
    printf("time per body    %.2f us of force on the slowest rank\n", s->us_per_body);
    printf("seconds          %.3f in all; balance %.3f, tree %.3f, top %.3f, force %.3f\n", s->times.total,
           s->times.balance, s->times.tree, s->times.top, s->times.force);
    printf("nodes per body   %.1f, of other ranks %.1f\n", (double)s->visits / forces,
           (double)s->remote / forces);
    printf("gets             %" PRIu64 ", %.1f MB\n", s->gets, (double)s->bytes / 1e6);
    print_cache(o, r, s, b->ranks);
    printf("energy           %.6f at the start, %.6f at the end: drift %+.2e, at most %.2e\n",
           r->energy_start, r->energy_end, final_drift(r), r->drift_most);
    if (o->verify)
        printf("verified         error of the forces %.2e (rms), at most %.2e\n", r->error_rms,
               r->error_most);
    printf("checksum         %016" PRIx64 "\n", r->checksum);
}

static void write_stats(struct json *j, const CLAMPI_Stats *s) {
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
    json_open(j, "hearth", '{');
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        json_count(j, fields[i].name, *(const uint64_t *)((const char *)s + fields[i].offset));
    json_close(j, '}');
}

static void write_times(struct json *j, const struct bh_times *t) {
    json_open(j, "seconds", '{');
    json_number(j, "balance", t->balance);
    json_number(j, "tree", t->tree);
    json_number(j, "top", t->top);
    json_number(j, "force", t->force);
    json_number(j, "wait", t->wait);
    json_number(j, "total", t->total);
    json_close(j, '}');
}

static void write_input(struct json *j, const struct bh_options *o, const struct bh_bodies *b) {
    json_count(j, "ranks", (uint64_t)b->ranks);
    json_count(j, "bodies", b->total);
    json_count(j, "steps", o->steps);
    json_string(j, "model", bh_model_name(o->model));
    json_count(j, "seed", o->seed);
    json_number(j, "theta", o->theta);
    json_number(j, "softening", o->softening);
    json_number(j, "dt", o->dt);
    json_string(j, "layout", bh_layout_name(o->layout));
    json_string(j, "cache", bh_cache_name(o->cache));
}

static void write_json(FILE *file, const struct bh_options *o, const struct bh_bodies *b,
                       const struct bh_result *r, const struct summary *s) {
    struct json j;
    char text[17];
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    write_input(&j, o, b);
    if (o->cache == BH_BLOCKS) {
        json_count(&j, "cache_memory", o->cache_memory);
        json_count(&j, "block", r->block);
        json_count(&j, "block_hits", s->hits);
    }
    json_number(&j, "us_per_body", s->us_per_body);
    write_times(&j, &s->times);
    json_count(&j, "visits", s->visits);
    json_count(&j, "remote", s->remote);
    json_count(&j, "window_gets", s->gets);
    json_count(&j, "window_bytes", s->bytes);
    json_number(&j, "hit_ratio", hit_ratio(o, s));
    json_number(&j, "energy_start", r->energy_start);
    json_number(&j, "energy_end", r->energy_end);
    json_number(&j, "energy_drift", final_drift(r));
    json_number(&j, "energy_drift_most", r->drift_most);
    if (o->verify) {
        json_number(&j, "error_rms", r->error_rms);
        json_number(&j, "error_most", r->error_most);
    }
    snprintf(text, sizeof text, "%016" PRIx64, r->checksum);
    json_string(&j, "checksum", text);
    if (s->cached)
        write_stats(&j, &s->stats);
    json_close(&j, '}');
}

void bh_report(const struct bh_options *o, const struct bh_bodies *b, const struct bh_result *r, FILE *json) {
    struct summary summary = {0};
    sum_all(r, &summary);
    if (b->rank == 0 && !o->manner.quiet)
        print_text(o, b, r, &summary);
    if (json)
        write_json(json, o, b, r, &summary);
}
