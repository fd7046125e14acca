/* report_html.c: a run as an HTML page. The charts are in report_chart.c, the frame in report_page.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "report/report_matrix.h"
#include "report/html/report_page.h"
#include "tools.h"
#include "run/strvec.h"

enum { MAP_ROWS = 48, SITES = 25, EVENTS = 60, CURVES = 20 };

static const char not_recorded[] = "Not recorded: the run had HEARTH_RECORD=off, or made no window.";

static void fact(FILE *f, const char *value, const char *what) {
    fprintf(f, "<div><b>%s</b><span>%s</span></div>\n", value, what);
}

static void term(FILE *f, const char *name, const char *value) {
    fprintf(f, "<dt>%s</dt><dd>", name);
    page_text(f, value);
    fputs("</dd>\n", f);
}

/* ---- the job ---- */

static void put_facts(FILE *f, const struct run *run) {
    char ratio[16];
    snprintf(ratio, sizeof ratio, "%.3f", counts_hit_ratio(&run->all));
    fprintf(f, "<div class=\"facts\" id=\"facts\" data-gets=\"%" PRIu64 "\" data-hits=\"%" PRIu64 "\">\n",
            run->all.gets, counts_hits(&run->all));
    fact(f, ratio, "hit ratio");
    fact(f, say_count(run->all.gets), "gets");
    fact(f, say_bytes(run->all.bytes_served), "served by the caches");
    fact(f, say_bytes(run->all.bytes_fetched), "fetched through MPI");
    fact(f, say_count(run->all.elided), "flushes saved");
    fact(f, say_seconds(run->seconds), "run time");
    fact(f, say_count(run->rank_count), run->host_count == 1 ? "ranks on one node" : "ranks");
    fputs("</div>\n", f);
}

static void put_verdict(FILE *f, const struct run *run) {
    char *verdict = report_verdict(run);
    fputs("<p id=\"verdict\"><b>", f);
    page_text(f, verdict);
    fputs("</b></p>\n", f);
    free(verdict);
}

static void put_job(FILE *f, const struct run *run) {
    page_section(f, "job", "The job");
    fputs("<dl>\n", f);
    term(f, "command", run->command);
    term(f, "started", say_time(run->begun));
    if (run->partial)
        term(f, "partial", run->partial);
    term(f, "MPI", run->mpi);
    term(f, "Hearth", run->version);
    for (const struct json_value *v = NULL; (v = json_next(run->settings, v));) {
        char *text = need_text("%s=%s", v->name, v->text);
        term(f, "setting", text);
        free(text);
    }
    fputs("</dl>\n", f);
    page_section_end(f);
}

static void put_advice(FILE *f, const struct run *run) {
    struct strvec lines = {0};
    report_advice(run, &lines);
    if (!lines.count)
        return;
    page_section(f, "advice", "Advice");
    fputs("<ul class=\"advice\">\n", f);
    for (size_t i = 0; i < lines.count; i++) {
        fputs("<li>", f);
        page_text(f, lines.of[i]);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
    page_section_end(f);
    strvec_free(&lines);
}

/* ---- tables ---- */

static void put_window(FILE *f, const struct window_sum *w) {
    fprintf(f, "<tr data-window=\"%" PRIu64 "\">", w->serial);
    cell_text(f, say_window(w));
    cell_text(f, w->mode);
    cell_count(f, "gets", w->sum.gets);
    cell_ratio(f, "ratio", counts_hit_ratio(&w->sum));
    cell_bytes(f, "served", w->sum.bytes_served);
    cell_bytes(f, "fetched", w->sum.bytes_fetched);
    cell_bytes(f, "storage", w->sum.storage_bytes);
    cell_bytes(f, "used", w->sum.used_bytes);
    cell_count(f, "entries", w->sum.entries);
    cell_count(f, "evictions", w->sum.evictions);
    cell_count(f, "invalidations", w->sum.invalidations);
    fputs("</tr>\n", f);
}

static void put_windows(FILE *f, const struct run *run) {
    page_section(f, "windows", "Windows: outcomes of their gets");
    chart_types(f, run);
    page_table(f, "Windows");
    fputs("<tr><th class=\"text\">window</th><th class=\"text\">mode</th><th>gets</th>"
          "<th>hit "
          "ratio</th><th>served</th><th>fetched</th><th>storage</th><th>used</th><th>entries</"
          "th><th>evictions</th>"
          "<th>invalidations</th></tr>\n",
          f);
    for (size_t i = 0; i < run->window_count && i < 20; i++)
        put_window(f, &run->windows[i]);
    page_table_end(f);
    page_section_end(f);
}

static void put_curve_table(FILE *f, const struct run *run) {
    page_table(f, "Hit ratio by cache size");
    fputs("<tr><th class=\"text\">window</th><th>now</th><th>measured</th>", f);
    for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
        fprintf(f, "<th>%s</th>", say_bytes(bytes));
    fputs("<th>unlimited</th><th>requested</th></tr>\n", f);
    for (size_t i = 0, shown = 0; i < run->window_count && shown < CURVES; i++) {
        const struct window_sum *w = &run->windows[i];
        if (!w->curve.is_there)
            continue;
        shown++;
        fprintf(f, "<tr data-window=\"%" PRIu64 "\">", w->serial);
        cell_text(f, say_window(w));
        cell_bytes(f, "storage", w->sum.storage_bytes / w->ranks);
        cell_ratio(f, "measured", share(counts_hits(&w->sum), w->curve.gets));
        for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
            cell_ratio(f, "ratio", curve_at(&w->curve, bytes));
        cell_ratio(f, "most", curve_most(&w->curve));
        cell_bytes(f, "distinct", w->curve.distinct_bytes);
        fputs("</tr>\n", f);
    }
    page_table_end(f);
    fputs("<p class=\"note\">\"Requested\": the distinct data of the rank that "
          "requested most.</p>\n",
          f);
}

static void html_put_curves(FILE *f, const struct run *run) {
    bool is_there = false;
    page_section(f, "curve", "Hit ratio by cache size");
    chart_curves(f, run, chart_curve_span(run));
    for (size_t i = 0; i < run->window_count; i++)
        is_there |= run->windows[i].curve.is_there;
    if (is_there)
        put_curve_table(f, run);
    page_section_end(f);
}

static void put_sites(FILE *f, const struct run *run) {
    size_t shown = run->site_count < SITES ? run->site_count : SITES;
    page_section(f, "sites", "Call sites (estimates from a sample)");
    if (!shown) {
        page_missing(f, run->is_recorded ? "There were no gets." : not_recorded);
    } else {
        page_table(f, "Call sites");
        fputs("<tr><th class=\"text\">call site</th><th class=\"text\">window</th><th>gets</th>"
              "<th>hit ratio</th><th>mean size</th></tr>\n",
              f);
    }
    for (size_t i = 0; i < shown; i++) {
        const struct site *s = &run->sites[i];
        fputs("<tr>", f);
        cell_text(f, say_site(s));
        cell_text(f, say_site_window(run, s));
        cell_count(f, "gets", s->gets);
        cell_ratio(f, "ratio", share(s->hits, s->gets));
        cell_bytes(f, "size", s->gets ? s->bytes / s->gets : 0);
        fputs("</tr>\n", f);
    }
    if (shown) {
        page_table_end(f);
        fputs("<p class=\"note\">addr2line -e FILE OFFSET names the line of the source.</p>\n", f);
    }
    page_section_end(f);
}

static void put_events(FILE *f, const struct run *run) {
    size_t shown = run->event_count < EVENTS ? run->event_count : EVENTS;
    page_section(f, "events", "Adaptation");
    if (!shown) {
        page_missing(f, run->is_recorded ? "The caches kept their sizes." : not_recorded);
    } else {
        page_table(f, "Adaptation");
        fputs("<tr><th>time</th><th>rank</th><th class=\"text\">window</th><th "
              "class=\"text\">what</th></tr>\n",
              f);
    }
    for (size_t i = 0; i < shown; i++) {
        const struct event *e = &run->events[i];
        fprintf(f, "<tr><td>%s</td><td>%" PRIu64 "</td>", say_seconds(e->seconds), e->rank);
        cell_text(f, say_window(run_window(run, e->window)));
        cell_text(f, say_event(e));
        fputs("</tr>\n", f);
    }
    if (shown)
        page_table_end(f);
    if (run->events_all > shown)
        fprintf(f, "<p class=\"note\">%" PRIu64 " more changes.</p>\n", run->events_all - shown);
    page_section_end(f);
}

/* ---- the pages ---- */

static void put_times(FILE *f, const struct run *run) {
    struct grid g = run_grid(run, MAP_ROWS);
    page_section(f, "time", "Over time");
    fputs("<div class=\"pair\">\n<div id=\"hit-map\">\n", f);
    chart_hit_map(f, run, &g);
    fputs("</div>\n<div id=\"byte-map\">\n", f);
    chart_byte_map(f, run, &g);
    fputs("</div>\n<div id=\"levels\">\n", f);
    chart_levels(f, run, &g);
    fputs("</div>\n<div id=\"regions\">\n", f);
    chart_regions(f, run, &g);
    fputs("</div>\n</div>\n", f);
    page_section_end(f);
    grid_free(&g);
}

static void put_gets(FILE *f, const struct run *run) {
    put_times(f, run);
    put_windows(f, run);
    html_put_curves(f, run);
    page_section(f, "sizes", "Access sizes");
    chart_sizes(f, run);
    page_section_end(f);
    put_sites(f, run);
    put_events(f, run);
    html_ranks(f, run);
}

void report_html(FILE *f, const struct run *run) {
    const char *slash = strrchr(run->path, '/');
    char *title = need_text("Hearth: %s", slash ? slash + 1 : run->path);
    page_begin(f, title);
    free(title);
    put_verdict(f, run);
    if (run->all.gets)
        put_facts(f, run);
    put_advice(f, run);
    html_calls(f, run);
    html_mpi_ranks(f, run);
    html_matrix(f, run);
    html_tables(f, run);
    put_job(f, run);
    if (run->all.gets)
        put_gets(f, run);
    page_end(f);
}
