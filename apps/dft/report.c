/* report.c: combines and prints the ranks' results. The time of a round lasts until the last rank is done. Its
 * parts are means over ranks and rounds, and add up to it except for the time to start and stop together.
 * Counts are sums. */
#include "dft/dft.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json.h"

static const char *const call_names[DFT_CALLS] = {"get", "acc", "read_inc"};

struct summary {
    struct dft_times mean; /* per round */
    struct dft_traffic traffic;
    double seconds; /* of a round, the median */
    uint64_t most_tasks, least_tasks;
};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, uint64_t count) {
    double sorted[DFT_TRIES];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_size);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void sum_all(const struct dft_options *o, const struct dft_result *r, int ranks, struct summary *s) {
    enum { TIMES = sizeof(struct dft_times) / sizeof(double) };
    double times[TIMES], each = 1.0 / ((double)ranks * (double)o->rounds);
    MPI_Allreduce(&r->times, times, TIMES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++)
        times[i] *= each;
    memcpy(&s->mean, times, sizeof s->mean);
    MPI_Allreduce(&r->traffic, &s->traffic, sizeof s->traffic / sizeof(uint64_t), MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    MPI_Allreduce(&r->tasks, &s->most_tasks, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&r->tasks, &s->least_tasks, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    s->seconds = median(r->seconds, o->rounds);
}

/* ---- text ---- */

static void print_profile(const struct dft_traffic *t) {
    printf("messages         size below       get        acc   read_inc\n");
    for (int bin = 0; bin < DFT_BINS; bin++)
        if (t->bins[DFT_GET][bin] + t->bins[DFT_ACC][bin] + t->bins[DFT_COUNTER][bin])
            printf("                 %10" PRIu64 " %9" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
                   (uint64_t)1 << bin, t->bins[DFT_GET][bin], t->bins[DFT_ACC][bin],
                   t->bins[DFT_COUNTER][bin]);
}

static void print_calls(const struct dft_times *t, const struct dft_traffic *traffic, int ranks,
                        uint64_t rounds) {
    for (int c = 0; c < DFT_CALLS; c++)
        printf("  ga_%-12s %.3f s, %" PRIu64 " calls, %" PRIu64 " of them to other ranks, %.1f us each\n",
               call_names[c], t->call[c], traffic->calls[c], traffic->remote[c],
               t->call[c] * ranks * (double)rounds / (double)traffic->calls[c] * 1e6);
}

static void print_text(const struct dft_options *o, const struct dft_molecule *m, const struct dft_basis *b,
                       const struct dft_grid *g, const struct dft_arrays *a, const struct dft_result *r,
                       const struct summary *s) {
    printf("molecule         %s, %d atom%s, %d electrons, %d functions\n",
           o->file ? o->file : dft_shape_name(o->shape), m->count, m->count == 1 ? "" : "s", m->electrons,
           b->functions);
    printf("tasks            %" PRIu64 " of up to %d points, %.0f points in all, on %d rank%s\n", g->tasks,
           g->batch, r->sums.points, a->ranks, a->ranks == 1 ? "" : "s");
    printf("seconds          %.3f a round, median of %" PRIu64 ", of which, on average:\n", s->seconds,
           o->rounds);
    print_calls(&s->mean, &s->traffic, a->ranks, o->rounds);
    printf("  computing       %.3f s\n  waiting at end  %.3f s\n", s->mean.compute, s->mean.wait);
    printf("tasks of a rank  %" PRIu64 " to %" PRIu64 " a round\n", s->least_tasks / o->rounds,
           s->most_tasks / o->rounds);
    printf("electrons        %.9f over the points: error %+.1e\n", r->sums.electrons,
           r->sums.electrons - m->electrons);
    printf("energy           exchange %.8f, correlation %.8f hartree\n", r->sums.exchange,
           r->sums.correlation);
    printf("matrix           norm %.10f, trace of D F %.10f\n", r->norm, r->trace);
    if (o->verify)
        printf("verified         differs from a serial build by at most %.1e, its largest element is %.3g\n",
               r->difference, r->largest);
    if (o->profile)
        print_profile(&s->traffic);
}

/* ---- JSON ---- */

static void write_calls(struct json *j, const struct summary *s) {
    static const char *const counts[DFT_CALLS][4] = {{"gets", "remote_gets", "get_bytes", "get_bins"},
                                                     {"accs", "remote_accs", "acc_bytes", "acc_bins"},
                                                     {"draws", "remote_draws", "draw_bytes", "draw_bins"}};
    const struct dft_traffic *t = &s->traffic;
    for (int c = 0; c < DFT_CALLS; c++) {
        json_count(j, counts[c][0], t->calls[c]);
        json_count(j, counts[c][1], t->remote[c]);
        json_count(j, counts[c][2], t->bytes[c]);
        json_counts(j, counts[c][3], t->bins[c], DFT_BINS);
    }
}

static void write_times(struct json *j, const struct summary *s) {
    json_number(j, "seconds", s->seconds);
    for (int c = 0; c < DFT_CALLS; c++)
        json_number(j, call_names[c], s->mean.call[c]);
    json_number(j, "compute", s->mean.compute);
    json_number(j, "wait", s->mean.wait);
}

/* With more digits than json_number writes, because comparisons need the last ones. */
static void write_exactly(struct json *j, const char *name, double value) {
    char text[96];
    int length = snprintf(text, sizeof text, "\n%*s\"%s\": %.15g", 2 * j->depth, "", name, value);
    if (value - value == 0) /* finite */
        json_paste(j, text, (size_t)length);
    else
        json_number(j, name, value);
}

static void write_json(FILE *file, const struct dft_options *o, const struct dft_molecule *m,
                       const struct dft_basis *b, const struct dft_grid *g, const struct dft_arrays *a,
                       const struct dft_result *r, const struct summary *s) {
    struct json j;
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    json_count(&j, "ranks", (uint64_t)a->ranks);
    json_count(&j, "atoms", (uint64_t)m->count);
    json_count(&j, "functions", (uint64_t)b->functions);
    json_count(&j, "tasks", g->tasks);
    json_count(&j, "rounds", o->rounds);
    json_number(&j, "points", r->sums.points);
    write_times(&j, s);
    write_calls(&j, s);
    json_count(&j, "electrons", (uint64_t)m->electrons);
    write_exactly(&j, "integral", r->sums.electrons);
    write_exactly(&j, "exchange", r->sums.exchange);
    write_exactly(&j, "correlation", r->sums.correlation);
    write_exactly(&j, "norm", r->norm);
    write_exactly(&j, "trace", r->trace);
    if (o->verify) {
        json_number(&j, "difference", r->difference);
        json_number(&j, "largest", r->largest);
    }
    json_close(&j, '}');
}

void dft_report(const struct dft_options *o, const struct dft_molecule *m, const struct dft_basis *b,
                const struct dft_grid *g, const struct dft_arrays *a, const struct dft_result *r,
                FILE *json) {
    struct summary summary = {0};
    sum_all(o, r, a->ranks, &summary);
    if (a->rank == 0 && !o->manner.quiet)
        print_text(o, m, b, g, a, r, &summary);
    if (json)
        write_json(json, o, m, b, g, a, r, &summary);
}

void dft_write_matrix(const double *whole, int functions, FILE *file) {
    for (int i = 0; i < functions; i++)
        for (int j = 0; j < functions; j++)
            fprintf(file, "%.15g%c", whole[(size_t)i * (size_t)functions + (size_t)j],
                    j + 1 < functions ? ' ' : '\n');
}
