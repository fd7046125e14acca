/* report_html.c: a run as an HTML page. The charts are in report_chart.c, the frame in report_page.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_page.h"
#include "tools.h"
#include "run/strvec.h"

enum { MAP_ROWS = 48, RANKS = 64, SITES = 25, EVENTS = 60, CURVES = 20, CALLS = 40 };

static const char not_recorded[] = "Not recorded: the run had HEARTH_RECORD=off, or made no window.";

/* ---- cells ---- */

static void count_cell(FILE *f, const char *name, uint64_t value) {
    fprintf(f, "<td data-%s=\"%" PRIu64 "\">%s</td>", name, value, say_count(value));
}

static void bytes_cell(FILE *f, const char *name, uint64_t value) {
    fprintf(f, "<td data-%s=\"%" PRIu64 "\" title=\"%" PRIu64 " bytes\">%s</td>", name, value, value,
            say_bytes(value));
}

static void ratio_cell(FILE *f, const char *name, double value) {
    fprintf(f, "<td data-%s=\"%.6g\">%.3f</td>", name, value, value);
}

static void text_cell(FILE *f, const char *text) {
    fputs("<td class=\"text name\">", f);
    page_text(f, text);
    fputs("</td>", f);
}

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

static void seconds_cell(FILE *f, const char *name, double value) {
    fprintf(f, "<td data-%s=\"%.6g\">%s</td>", name, value, say_seconds(value));
}

static void put_calls(FILE *f, const struct run *run) {
    page_section(f, "calls", "Time in MPI by call");
    if (!run->is_timed)
        page_missing(f, "Not observed: the report was written by an older Hearth.");
    else
        fputs(
            "<p class=\"note\">All ranks; estimates from a sample.</p>\n<div class=\"wide\"><table>\n<tr><th "
            "class=\"text\">call</th><th>count</th><th>time</th><th>share of "
            "MPI</th><th>mean</th><th>longest</th></tr>\n",
            f);
    for (size_t i = 0; i < run->call_count && i < CALLS; i++) {
        const struct call_sum *c = &run->calls[i];
        fputs("<tr>", f);
        text_cell(f, c->name);
        count_cell(f, "count", c->count);
        seconds_cell(f, "seconds", c->seconds);
        ratio_cell(f, "share", run->mpi_seconds > 0 ? c->seconds / run->mpi_seconds : 0);
        seconds_cell(f, "mean", c->count ? c->seconds / (double)c->count : 0);
        seconds_cell(f, "longest", c->longest);
        fputs("</tr>\n", f);
    }
    fputs(run->is_timed ? "</table></div>\n" : "", f);
    page_section_end(f);
}

static void put_job(FILE *f, const struct run *run) {
    page_section(f, "job", "The job");
    fputs("<dl>\n", f);
    term(f, "command", run->command);
    term(f, "started", say_time(run->begun));
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

static void put_rank(FILE *f, const char *who, const char *host, const struct counts *c, bool is_sum) {
    fprintf(f, "<tr%s data-rank=\"%s\"><td>%s</td>", is_sum ? " class=\"sum\"" : "", who, who);
    text_cell(f, host);
    count_cell(f, "gets", c->gets);
    count_cell(f, "hits", counts_hits(c));
    ratio_cell(f, "ratio", counts_hit_ratio(c));
    bytes_cell(f, "served", c->bytes_served);
    bytes_cell(f, "fetched", c->bytes_fetched);
    count_cell(f, "elided", c->elided);
    fputs("</tr>\n", f);
}

static double html_gets_of(const struct rank_sum *r) {
    return (double)r->sum.gets;
}

static double html_ratio_of(const struct rank_sum *r) {
    return counts_hit_ratio(&r->sum);
}

static void put_spread(FILE *f, const struct run *run) {
    struct spread gets = run_spread(run, html_gets_of), ratio = run_spread(run, html_ratio_of);
    fprintf(f,
            "<p class=\"note\">Gets from %.0f to %.0f, mean %.0f, standard deviation / mean %.3f. Hit ratio "
            "from %.3f to "
            "%.3f.</p>\n",
            gets.least, gets.most, gets.mean, gets.deviation, ratio.least, ratio.most);
}

static void put_ranks(FILE *f, const struct run *run) {
    size_t shown = run->rank_count < RANKS ? run->rank_count : RANKS;
    page_section(f, "ranks", "Ranks");
    fputs(
        "<div class=\"wide\"><table>\n<tr><th>rank</th><th class=\"text\">node</th><th>gets</th><th>hits</th>"
        "<th>hit ratio</th><th>served</th><th>fetched</th><th>flushes saved</th></tr>\n",
        f);
    for (size_t i = 0; i < shown; i++) {
        char who[24];
        snprintf(who, sizeof who, "%" PRIu64, run->rank[i].rank);
        put_rank(f, who, run->rank[i].host, &run->rank[i].sum, false);
    }
    put_rank(f, "all", "", &run->all, true);
    fputs("</table></div>\n", f);
    if (run->rank_count > shown)
        fprintf(
            f, "<p class=\"note\">The first %zu of %zu ranks; hearth report without --html prints all.</p>\n",
            shown, run->rank_count);
    if (run->rank_count > 1)
        put_spread(f, run);
    page_section_end(f);
}

static void put_window(FILE *f, const struct window_sum *w) {
    fprintf(f, "<tr data-window=\"%" PRIu64 "\">", w->serial);
    text_cell(f, say_window(w));
    text_cell(f, w->mode);
    count_cell(f, "gets", w->sum.gets);
    ratio_cell(f, "ratio", counts_hit_ratio(&w->sum));
    bytes_cell(f, "served", w->sum.bytes_served);
    bytes_cell(f, "fetched", w->sum.bytes_fetched);
    bytes_cell(f, "storage", w->sum.storage_bytes);
    bytes_cell(f, "used", w->sum.used_bytes);
    count_cell(f, "entries", w->sum.entries);
    count_cell(f, "evictions", w->sum.evictions);
    count_cell(f, "invalidations", w->sum.invalidations);
    fputs("</tr>\n", f);
}

static void put_windows(FILE *f, const struct run *run) {
    page_section(f, "windows", "Windows: outcomes of their gets");
    chart_types(f, run);
    fputs("<div class=\"wide\"><table>\n<tr><th class=\"text\">window</th><th "
          "class=\"text\">mode</th><th>gets</th>"
          "<th>hit "
          "ratio</th><th>served</th><th>fetched</th><th>storage</th><th>used</th><th>entries</"
          "th><th>evictions</th>"
          "<th>invalidations</th></tr>\n",
          f);
    for (size_t i = 0; i < run->window_count && i < 20; i++)
        put_window(f, &run->windows[i]);
    fputs("</table></div>\n", f);
    page_section_end(f);
}

static void put_curve_table(FILE *f, const struct run *run) {
    fputs("<div class=\"wide\"><table>\n<tr><th class=\"text\">window</th><th>now</th><th>measured</th>", f);
    for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
        fprintf(f, "<th>%s</th>", say_bytes(bytes));
    fputs("<th>unlimited</th><th>requested</th></tr>\n", f);
    for (size_t i = 0, shown = 0; i < run->window_count && shown < CURVES; i++) {
        const struct window_sum *w = &run->windows[i];
        if (!w->curve.is_there)
            continue;
        shown++;
        fprintf(f, "<tr data-window=\"%" PRIu64 "\">", w->serial);
        text_cell(f, say_window(w));
        bytes_cell(f, "storage", w->sum.storage_bytes / w->ranks);
        ratio_cell(f, "measured", share(counts_hits(&w->sum), w->curve.gets));
        for (uint64_t bytes = 64 << 10; bytes <= 4ull << 30; bytes *= 8)
            ratio_cell(f, "ratio", curve_at(&w->curve, bytes));
        ratio_cell(f, "most", curve_most(&w->curve));
        bytes_cell(f, "distinct", w->curve.distinct_bytes);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n<p class=\"note\">\"Requested\": the distinct data of the rank that "
          "requested most.</p>\n",
          f);
}

static void html_put_curves(FILE *f, const struct run *run) {
    bool is_there = false;
    page_section(f, "curve", "Hit ratio by cache size");
    chart_curves(f, run);
    for (size_t i = 0; i < run->window_count; i++)
        is_there |= run->windows[i].curve.is_there;
    if (is_there)
        put_curve_table(f, run);
    page_section_end(f);
}

static void put_sites(FILE *f, const struct run *run) {
    size_t shown = run->site_count < SITES ? run->site_count : SITES;
    page_section(f, "sites", "Call sites (estimates from a sample)");
    if (!shown)
        page_missing(f, run->is_recorded ? "There were no gets." : not_recorded);
    else
        fputs("<div class=\"wide\"><table>\n<tr><th class=\"text\">call site</th><th "
              "class=\"text\">window</th><th>gets</th>"
              "<th>hit ratio</th><th>mean size</th></tr>\n",
              f);
    for (size_t i = 0; i < shown; i++) {
        const struct site *s = &run->sites[i];
        fputs("<tr>", f);
        text_cell(f, say_site(s));
        text_cell(f, say_site_window(run, s));
        count_cell(f, "gets", s->gets);
        ratio_cell(f, "ratio", share(s->hits, s->gets));
        bytes_cell(f, "size", s->gets ? s->bytes / s->gets : 0);
        fputs("</tr>\n", f);
    }
    if (shown)
        fputs(
            "</table></div>\n<p class=\"note\">addr2line -e FILE OFFSET names the line of the source.</p>\n",
            f);
    page_section_end(f);
}

static void put_events(FILE *f, const struct run *run) {
    size_t shown = run->event_count < EVENTS ? run->event_count : EVENTS;
    page_section(f, "events", "Adaptation");
    if (!shown)
        page_missing(f, run->is_recorded ? "The caches kept their sizes." : not_recorded);
    else
        fputs("<div class=\"wide\"><table>\n<tr><th>time</th><th>rank</th><th class=\"text\">window</th>"
              "<th class=\"text\">what</th></tr>\n",
              f);
    for (size_t i = 0; i < shown; i++) {
        const struct event *e = &run->events[i];
        fprintf(f, "<tr><td>%s</td><td>%" PRIu64 "</td>", say_seconds(e->seconds), e->rank);
        text_cell(f, say_window(run_window(run, e->window)));
        text_cell(f, say_event(e));
        fputs("</tr>\n", f);
    }
    if (shown)
        fputs("</table></div>\n", f);
    if (run->events_all > shown)
        fprintf(f, "<p class=\"note\">%" PRIu64 " more changes.</p>\n", run->events_all - shown);
    page_section_end(f);
}

/* ---- the pages ---- */

static void html_put_head(FILE *f, const char *title) {
    page_begin(f, title);
    fputs("<h1>", f);
    page_text(f, title);
    fputs("</h1>\n", f);
}

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
    put_ranks(f, run);
}

void report_html(FILE *f, const struct run *run) {
    const char *slash = strrchr(run->path, '/');
    char *title = need_text("Hearth: %s", slash ? slash + 1 : run->path);
    html_put_head(f, title);
    free(title);
    put_verdict(f, run);
    if (run->all.gets)
        put_facts(f, run);
    put_advice(f, run);
    put_calls(f, run);
    put_job(f, run);
    if (run->all.gets)
        put_gets(f, run);
    page_end(f);
}

/* ---- two runs ---- */

static void put_difference(FILE *f, const struct difference *d) {
    fputs("<tr>", f);
    text_cell(f, d->what);
    const char *cells[] = {d->a, d->b, d->change};
    for (int i = 0; i < 3; i++) {
        fputs("<td>", f);
        page_text(f, cells[i]);
        fputs("</td>", f);
    }
    fputs("</tr>\n", f);
}

static void put_types_of(FILE *f, const char *id, const struct run *run) {
    fprintf(f, "<section id=\"%s\">\n<h2>", id);
    page_text(f, run->path);
    fputs("</h2>\n<p>", f);
    page_text(f, run->command);
    fprintf(f, "<br><span class=\"note\">%s</span></p>\n", say_time(run->begun));
    chart_types(f, run);
    chart_curves(f, run);
    page_section_end(f);
}

void report_html_comparison(FILE *f, const struct run *a, const struct run *b, const struct comparison *c) {
    bool is_open = false;
    html_put_head(f, "Hearth: two runs");
    fputs("<p id=\"verdict\"><b>", f);
    page_text(f, c->verdict);
    fputs("</b></p>\n<div class=\"pair\">\n", f);
    put_types_of(f, "a", a);
    put_types_of(f, "b", b);
    fputs("</div>\n", f);
    for (size_t i = 0; i < c->count; i++) {
        if (!c->lines[i].is_heading) {
            put_difference(f, &c->lines[i]);
            continue;
        }
        fputs(is_open ? "</table></div>\n</section>\n" : "", f);
        fputs("<section>\n<h2>", f);
        page_text(f, c->lines[i].what);
        fputs("</h2>\n<div class=\"wide\"><table>\n<tr><th "
              "class=\"text\"></th><th>A</th><th>B</th><th>change</th></tr>\n",
              f);
        is_open = true;
    }
    fputs(is_open ? "</table></div>\n</section>\n" : "", f);
    page_end(f);
}
