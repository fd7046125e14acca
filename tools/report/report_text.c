/* report_text.c: a run as text, in the layout of mpiP: a header of lines that begin with @, then sections between
 * rules, a row per rank and one for all ranks, marked *. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/report.h"
#include "report/report_matrix.h"
#include "report/report_table.h"
#include "tools.h"
#include "run/strvec.h"

enum { WIDTH = 100, WINDOWS = 20, SITES = 20, EVENTS = 20, CALLS = 20 };

static void rule(FILE *f) {
    for (int i = 0; i < WIDTH; i++)
        putc('-', f);
    putc('\n', f);
}

void report_text_section(FILE *f, const char *title) {
    putc('\n', f);
    rule(f);
    int n = fprintf(f, "@--- %s ", title);
    for (; n < WIDTH; n++)
        putc('-', f);
    putc('\n', f);
    rule(f);
}

/* Names come from programs; replaces control characters, which would reach the terminal. */
void report_text_name(FILE *f, const char *name) {
    for (; *name; name++)
        putc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, f);
}

static void line(FILE *f, const char *label, const char *value) {
    fprintf(f, "@ %-16s : ", label);
    report_text_name(f, value);
    putc('\n', f);
}

static void print_settings(FILE *f, const struct run *run) {
    for (const struct json_value *v = NULL; (v = json_next(run->settings, v));) {
        char *text = need_text("%s=%s", v->name, v->text);
        line(f, "Setting", text);
        free(text);
    }
}

static void print_header(FILE *f, const struct run *run) {
    size_t nodes = run->armci.nodes > run->host_count ? run->armci.nodes : run->host_count;
    nodes = run->vgasnet.nodes > nodes ? run->vgasnet.nodes : nodes;
    uint64_t count = run->ranks > run->rank_count ? run->ranks : run->rank_count;
    char *ranks = need_text("%" PRIu64 " on %zu node%s", count, nodes, nodes == 1 ? "" : "s");
    char *cpu = need_text("%s of the run time", say_percent(run_cpu_share(run)));
    fputs("@ hearth report\n", f);
    if (run->partial)
        line(f, "Partial", run->partial);
    line(f, "Command", run->command);
    line(f, "Version", run->version);
    line(f, "MPI", run->mpi);
    line(f, "Start time", say_time(run->begun));
    line(f, "Run time", say_seconds(run->seconds));
    line(f, "Ranks", ranks);
    if (run_cpu_share(run) < 0.9)
        line(f, "CPU time", cpu);
    line(f, "Report", run->path);
    print_settings(f, run);
    free(ranks);
    free(cpu);
}

/* Breaks the lines between words. */
void report_text_wrapped(FILE *f, const char *text) {
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > WIDTH) {
            putc('\n', f);
            column = 0;
        } else if (column) {
            putc(' ', f);
            column++;
        }
        for (int i = 0; i < length; i++)
            putc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], f);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    putc('\n', f);
}

static void print_verdict(FILE *f, const struct run *run) {
    char *verdict = report_verdict(run);
    report_text_section(f, "In short");
    report_text_wrapped(f, verdict);
    free(verdict);
}

/* ---- time in MPI ---- */

static double mpi_seconds_of(const struct rank_sum *r) {
    return r->mpi_seconds;
}

static void print_times(FILE *f, const struct run *run) {
    report_text_section(f, "Time in MPI by rank (estimates from a sample)");
    fprintf(f, "%6s %12s %12s %8s\n", "Rank", "AppTime", "MPITime", "MPI%");
    double seconds = 0;
    for (size_t i = 0; i < run->rank_count; i++) {
        const struct rank_sum *r = &run->rank[i];
        fprintf(f, "%6" PRIu64 " %12s %12s %8.2f\n", r->rank, say_seconds(r->seconds),
                say_seconds(r->mpi_seconds), r->seconds > 0 ? 100 * r->mpi_seconds / r->seconds : 0);
        seconds += r->seconds;
    }
    fprintf(f, "%6s %12s %12s %8.2f\n", "*", say_seconds(seconds), say_seconds(run->mpi_seconds),
            seconds > 0 ? 100 * run->mpi_seconds / seconds : 0);
    struct spread s = run_spread(run, mpi_seconds_of);
    if (run->rank_count > 1)
        fprintf(f, "%6s %12s %12s\n%6s %12s %12s (rank %" PRIu64 ")\n", "min", "", say_seconds(s.least),
                "max", "", say_seconds(s.most), s.most_rank);
}

static void print_calls(FILE *f, const struct run *run) {
    size_t shown = run->call_count < CALLS ? run->call_count : CALLS;
    double seconds = 0;
    for (size_t i = 0; i < run->rank_count; i++)
        seconds += run->rank[i].seconds;
    report_text_section(f, "Time in MPI by call, all ranks (estimates from a sample)");
    fprintf(f, "%-28s %14s %12s %7s %7s %12s %12s\n", "Call", "Count", "Time", "App%", "MPI%", "Mean",
            "Longest");
    for (size_t i = 0; i < shown; i++) {
        const struct call_sum *c = &run->calls[i];
        char *name = need_text("%-28s ", say_cut(c->name, 60));
        report_text_name(f, name);
        free(name);
        fprintf(f, "%14" PRIu64 " %12s %7.2f %7.2f %12s %12s\n", c->count, say_seconds(c->seconds),
                seconds > 0 ? 100 * c->seconds / seconds : 0,
                run->mpi_seconds > 0 ? 100 * c->seconds / run->mpi_seconds : 0,
                say_seconds(c->count ? c->seconds / (double)c->count : 0), say_seconds(c->longest));
    }
    if (run->call_count > shown)
        fprintf(f, "%zu more functions\n", run->call_count - shown);
}

/* ---- ranks ---- */

static void print_rank(FILE *f, const char *who, const struct counts *c) {
    fprintf(f, "%6s %14" PRIu64 " %14" PRIu64 " %8.4f %14" PRIu64 " %16s %16s\n", who, c->gets,
            counts_hits(c), counts_hit_ratio(c), c->elided, say_bytes(c->bytes_served),
            say_bytes(c->bytes_fetched));
}

static double text_gets_of(const struct rank_sum *r) {
    return (double)r->sum.gets;
}

static double text_ratio_of(const struct rank_sum *r) {
    return counts_hit_ratio(&r->sum);
}

static double served_of(const struct rank_sum *r) {
    return (double)r->sum.bytes_served;
}

static double fetched_of(const struct rank_sum *r) {
    return (double)r->sum.bytes_fetched;
}

static const char *say_about(double bytes) {
    return say_bytes(bytes < 0x1p63 ? (uint64_t)bytes : UINT64_MAX);
}

static void print_spread(FILE *f, const struct run *run) {
    struct spread gets = run_spread(run, text_gets_of), ratio = run_spread(run, text_ratio_of),
                  served = run_spread(run, served_of), fetched = run_spread(run, fetched_of);
    fprintf(f, "%6s %14.0f %14s %8.4f %14s %16s %16s\n", "min", gets.least, "", ratio.least, "",
            say_about(served.least), say_about(fetched.least));
    fprintf(f, "%6s %14.0f %14s %8.4f %14s %16s %16s\n", "mean", gets.mean, "", ratio.mean, "",
            say_about(served.mean), say_about(fetched.mean));
    fprintf(f, "%6s %14.0f %14s %8.4f %14s %16s %16s\n", "max", gets.most, "", ratio.most, "",
            say_about(served.most), say_about(fetched.most));
    fprintf(f, "%6s %14.3f %14s %8.3f %14s %16.3f %16.3f\n", "cov", gets.deviation, "", ratio.deviation, "",
            served.deviation, fetched.deviation);
}

static void print_ranks(FILE *f, const struct run *run) {
    report_text_section(f, "Gets by rank (cov: standard deviation / mean)");
    fprintf(f, "%6s %14s %14s %8s %14s %16s %16s\n", "Rank", "Gets", "Hits", "Ratio", "Flushes saved",
            "Bytes served", "Bytes fetched");
    for (size_t i = 0; i < run->rank_count; i++) {
        char who[24];
        snprintf(who, sizeof who, "%" PRIu64, run->rank[i].rank);
        print_rank(f, who, &run->rank[i].sum);
    }
    print_rank(f, "*", &run->all);
    if (run->rank_count > 1)
        print_spread(f, run);
}

/* ---- windows ---- */

static void print_types(FILE *f, const struct counts *c) {
    for (int i = 0; i < ACCESS_TYPES; i++)
        fprintf(f, " %9.4f", share(counts_of_type(c, i), c->gets));
    putc('\n', f);
}

static void print_window(FILE *f, const struct window_sum *w) {
    fprintf(f, "%6" PRIu64 " %14" PRIu64, w->serial, w->sum.gets);
    print_types(f, &w->sum);
    fprintf(f, "       mode %s, ", w->mode);
    report_text_name(f, say_window(w));
    fprintf(f, ": %s of storage on each rank, %s of it used; %" PRIu64 " entries, %" PRIu64 " evictions\n",
            say_bytes(w->sum.storage_bytes / w->ranks),
            say_percent(share(w->sum.used_bytes, w->sum.storage_bytes)), w->sum.entries, w->sum.evictions);
}

static void print_windows(FILE *f, const struct run *run) {
    size_t busy = run->window_count - run->silent_windows, shown = busy < WINDOWS ? busy : WINDOWS;
    report_text_section(f, "Top windows, by gets; outcomes as shares of the window's gets");
    fprintf(f, "%6s %14s", "Window", "Gets");
    for (int i = 0; i < ACCESS_TYPES; i++)
        fprintf(f, " %9.8s", access_types[i].name);
    putc('\n', f);
    for (size_t i = 0; i < shown; i++)
        print_window(f, &run->windows[i]);
    fprintf(f, "%6s %14" PRIu64, "*", run->all.gets);
    print_types(f, &run->all);
    if (busy > shown)
        fprintf(f, "%zu more windows had gets\n", busy - shown);
    if (run->silent_windows)
        fprintf(f, "%zu windows had no gets\n", run->silent_windows);
}

/* ---- recorded data ---- */

static void print_sites(FILE *f, const struct run *run) {
    size_t shown = run->site_count < SITES ? run->site_count : SITES;
    report_text_section(f, "Top call sites, by gets (estimates from a sample)");
    fprintf(f, "%4s %14s %8s %10s %-20s %s\n", "ID", "Gets", "Ratio", "Avg. size", "Window", "Call site");
    for (size_t i = 0; i < shown; i++) {
        const struct site *s = &run->sites[i];
        fprintf(f, "%4zu %14" PRIu64 " %8.4f %10s ", i + 1, s->gets, share(s->hits, s->gets),
                say_bytes(s->gets ? s->bytes / s->gets : 0));
        char *window = need_text("%-20s ", say_cut(say_site_window(run, s), 40));
        report_text_name(f, window);
        report_text_name(f, say_site(s));
        putc('\n', f);
        free(window);
    }
    if (run->site_count > shown)
        fprintf(f, "%zu more call sites\n", run->site_count - shown);
    if (run->sites_lost)
        fprintf(f, "%" PRIu64 " gets came from call sites that did not fit into the table\n",
                run->sites_lost);
}

static void print_sizes(FILE *f, const struct run *run) {
    uint64_t all = 0;
    report_text_section(f, "Access sizes");
    for (int i = 0; i < SIZE_CLASSES; i++)
        all += run->sizes[i];
    fprintf(f, "%10s %14s %8s\n", "From", "Gets", "Share");
    for (unsigned i = 0; i < SIZE_CLASSES; i++)
        if (run->sizes[i])
            fprintf(f, "%10s %14" PRIu64 " %8.4f\n", say_size_class(i), run->sizes[i],
                    share(run->sizes[i], all));
}

static void print_curves(FILE *f, const struct run *run) {
    report_text_section(f, "Hit ratio by size of each rank's cache (estimates from a sample)");
    fprintf(f, "%6s %10s %9s", "Window", "now", "measured");
    for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
        fprintf(f, " %9s", say_bytes(bytes));
    fprintf(f, " %9s\n", "unlimited");
    for (size_t i = 0; i < run->window_count && i < WINDOWS; i++) {
        const struct window_sum *w = &run->windows[i];
        if (!w->curve.is_there)
            continue;
        fprintf(f, "%6" PRIu64 " %10s %9.4f", w->serial, say_bytes(w->sum.storage_bytes / w->ranks),
                share(counts_hits(&w->sum), w->curve.gets));
        for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
            fprintf(f, " %9.4f", curve_at(&w->curve, bytes));
        fprintf(f, " %9.4f\n", curve_most(&w->curve));
    }
}

static void print_events(FILE *f, const struct run *run) {
    size_t shown = run->event_count < EVENTS ? run->event_count : EVENTS;
    report_text_section(f, "Adaptation");
    if (!shown)
        fputs("the caches kept their sizes\n", f);
    for (size_t i = 0; i < shown; i++) {
        const struct event *e = &run->events[i];
        fprintf(f, "%10.3f s  rank %" PRIu64 ", window %" PRIu64 ": ", e->seconds, e->rank, e->window);
        report_text_name(f, say_event(e));
        putc('\n', f);
    }
    if (run->events_all > shown)
        fprintf(f, "%" PRIu64 " more changes\n", run->events_all - shown);
}

static void print_advice(FILE *f, const struct run *run) {
    struct strvec lines = {0};
    report_advice(run, &lines);
    if (lines.count)
        report_text_section(f, "Advice");
    for (size_t i = 0; i < lines.count; i++) {
        report_text_name(f, lines.of[i]);
        putc('\n', f);
    }
    strvec_free(&lines);
}

static void print_tables(FILE *f, const struct run *run) {
    struct tables tables;
    report_tables(run, &tables);
    tables_text(f, &tables);
    tables_free(&tables);
}

void report_text(FILE *f, const struct run *run) {
    print_header(f, run);
    print_verdict(f, run);
    if (run->is_timed) {
        print_times(f, run);
        print_calls(f, run);
    }
    if (run->all.gets) {
        print_ranks(f, run);
        print_windows(f, run);
    }
    if (run->is_recorded && run->all.gets) {
        print_sites(f, run);
        print_sizes(f, run);
        print_curves(f, run);
        print_events(f, run);
    } else if (run->all.gets) {
        report_text_section(f, "Not recorded");
        fputs("call sites, access sizes, hit ratio against cache size, adaptation: the run had "
              "HEARTH_RECORD=off\n",
              f);
    }
    report_text_matrix(f, run);
    print_tables(f, run);
    print_advice(f, run);
}
