/* report_sum.c: sums, sorting and spreads of a run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "tools.h"

/* As in the paper, plus the types that this cache adds. Colours that most people can distinguish, also in print
 * (Okabe and Ito). */
const struct access_type access_types[ACCESS_TYPES] = {
    {"hit", "served from the cache", "#0072b2"},
    {"partial", "the first part served, the rest fetched", "#56b4e9"},
    {"pending", "joined a get in flight", "#009e73"},
    {"direct", "missed, and cached without eviction", "#f0e442"},
    {"conflicting", "missed, and evicted an entry because the index was full", "#e69f00"},
    {"capacity", "missed, and evicted an entry because the storage was full", "#d55e00"},
    {"failing", "missed, and could not be cached", "#cc79a7"},
    {"bypassed", "not looked up", "#b3b3b3"},
};

uint64_t counts_of_type(const struct counts *c, int type) {
    const uint64_t of[ACCESS_TYPES] = {c->full_hits,   c->partial_hits, c->pending_hits, c->direct,
                                       c->conflicting, c->capacity,     c->failing,      c->bypassed};
    return of[type];
}

uint64_t counts_hits(const struct counts *c) {
    return c->full_hits + c->partial_hits + c->pending_hits;
}

double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

double counts_hit_ratio(const struct counts *c) {
    return share(counts_hits(c), c->gets);
}

/* Capacity is the next power of two. */
static size_t sum_room_for(size_t count) {
    size_t room = 1;
    while (room < count)
        room *= 2;
    return room;
}

void *list_grown(void *old, size_t used, size_t more, size_t size) {
    size_t room = sum_room_for(used + more);
    if (old && room == sum_room_for(used))
        return old;
    void *list = need(room * size);
    if (used)
        memcpy(list, old, used * size);
    free(old);
    return list;
}

/* ---- sorting ---- */

static int sum_compare_counts(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_gets(const void *a, const void *b) {
    const struct window_sum *x = a, *y = b;
    int order = sum_compare_counts(y->sum.gets, x->sum.gets);
    return order ? order : sum_compare_counts(x->serial, y->serial);
}

static int by_rank(const void *a, const void *b) {
    return sum_compare_counts(((const struct rank_sum *)a)->rank, ((const struct rank_sum *)b)->rank);
}

static int by_time(const void *a, const void *b) {
    double x = ((const struct event *)a)->seconds, y = ((const struct event *)b)->seconds;
    return (x > y) - (x < y);
}

static int by_seconds(const void *a, const void *b) {
    const struct call_sum *x = a, *y = b;
    int order = (x->seconds < y->seconds) - (x->seconds > y->seconds);
    return order ? order : strcmp(x->name, y->name);
}

static int by_place(const void *a, const void *b) {
    const struct site *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    order = order ? order : sum_compare_counts(x->offset, y->offset);
    return order ? order : sum_compare_counts(x->window, y->window);
}

static int by_site_gets(const void *a, const void *b) {
    return sum_compare_counts(((const struct site *)b)->gets, ((const struct site *)a)->gets);
}

/* Merges call sites that occur on several ranks. */
static void merge_sites(struct run *run) {
    size_t kept = 0;
    if (!run->site_count)
        return;
    qsort(run->sites, run->site_count, sizeof *run->sites, by_place);
    for (size_t i = 1; i < run->site_count; i++) {
        struct site *to = &run->sites[kept], *from = &run->sites[i];
        if (by_place(to, from)) {
            run->sites[++kept] = *from;
            continue;
        }
        to->gets += from->gets;
        to->hits += from->hits;
        to->bytes += from->bytes;
        free(from->line);
    }
    run->site_count = kept + 1;
    qsort(run->sites, run->site_count, sizeof *run->sites, by_site_gets);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count_hosts(const struct run *run) {
    const char **hosts = need(run->rank_count * sizeof *hosts);
    size_t count = run->rank_count > 0;
    for (size_t i = 0; i < run->rank_count; i++)
        hosts[i] = run->rank[i].host;
    qsort(hosts, run->rank_count, sizeof *hosts, by_text);
    for (size_t i = 1; i < run->rank_count; i++)
        count += strcmp(hosts[i], hosts[i - 1]) != 0;
    free(hosts);
    return count;
}

void report_sum(struct run *run) {
    if (run->window_count)
        qsort(run->windows, run->window_count, sizeof *run->windows, by_gets);
    if (run->rank_count)
        qsort(run->rank, run->rank_count, sizeof *run->rank, by_rank);
    if (run->event_count)
        qsort(run->events, run->event_count, sizeof *run->events, by_time);
    if (run->call_count)
        qsort(run->calls, run->call_count, sizeof *run->calls, by_seconds);
    merge_sites(run);
    for (size_t i = 0; i < run->window_count; i++) {
        curve_finish(&run->windows[i].curve);
        run->silent_windows += !run->windows[i].sum.gets;
    }
    for (size_t i = 0; i < run->rank_count; i++)
        run->seconds = fmax(run->seconds, run->rank[i].seconds);
    run->host_count = count_hosts(run);
}

/* ---- spread ---- */

struct spread run_spread(const struct run *run, double (*of)(const struct rank_sum *)) {
    struct spread s = {.least = INFINITY, .most = -INFINITY};
    double squares = 0, n = (double)run->rank_count;
    for (size_t i = 0; i < run->rank_count; i++) {
        double x = of(&run->rank[i]);
        s.mean += x / n;
        s.least = fmin(s.least, x);
        if (x > s.most) {
            s.most = x;
            s.most_rank = run->rank[i].rank;
        }
    }
    for (size_t i = 0; i < run->rank_count; i++)
        squares += pow(of(&run->rank[i]) - s.mean, 2) / n;
    s.deviation = s.mean > 0 ? sqrt(squares) / s.mean : 0;
    return run->rank_count ? s : (struct spread){0};
}

double run_cpu_share(const struct run *run) {
    double cpu = 0, all = 0;
    for (size_t i = 0; i < run->rank_count; i++) {
        cpu +=
            fmin(run->rank[i].cpu_seconds, run->rank[i].seconds); /* helper threads have cores of their own */
        all += run->rank[i].cpu_seconds > 0 ? run->rank[i].seconds : 0;
    }
    return all > 0 ? cpu / all : 1;
}

/* ---- ranks over time ---- */

static void add_cell(struct cell *c, const struct timeline *t, size_t bin) {
    c->gets += t->gets[bin];
    c->hits += t->hits[bin];
    c->bytes += t->bytes_served[bin] + t->bytes_fetched[bin];
}

static void sum_add_level(struct level *l, const struct timeline *t, size_t bin) {
    l->used_bytes += t->used_bytes[bin];
    l->storage_bytes += t->storage_bytes[bin];
    l->entries += t->entries[bin];
    l->free_regions += t->free_regions[bin];
}

/* Counts go to the column that contains the middle of their bin. A column's levels are those of the last bin that ended
 * by the end of the column. */
static void add_rank(struct grid *g, const struct timeline *t, size_t row) {
    for (size_t bin = 0; bin < t->count; bin++) {
        size_t column = (size_t)(((double)bin + 0.5) * t->step / g->step);
        if (column < g->columns)
            add_cell(&g->cells[row * g->columns + column], t, bin);
    }
    for (size_t column = 0; column < g->columns && t->count; column++) {
        double bins = floor((double)(column + 1) * g->step / t->step + 1e-9);
        size_t last = bins < 1 ? 0 : bins > (double)t->count ? t->count - 1 : (size_t)bins - 1;
        sum_add_level(&g->levels[column], t, last);
    }
}

struct grid run_grid(const struct run *run, size_t most_rows) {
    struct grid g = {0};
    double end = 0;
    for (size_t i = 0; i < run->rank_count; i++) {
        const struct timeline *t = &run->rank[i].time;
        g.step = t->count ? fmax(g.step, t->step) : g.step;
        end = fmax(end, (double)t->count * t->step);
    }
    if (!(g.step > 0) || !(end / g.step < BINS_MOST))
        return (struct grid){0};
    g.columns = (size_t)ceil(end / g.step - 1e-9);
    g.ranks_per_row = (run->rank_count + most_rows - 1) / most_rows;
    g.rows = (run->rank_count + g.ranks_per_row - 1) / g.ranks_per_row;
    g.cells = need(g.rows * g.columns * sizeof *g.cells);
    g.levels = need(g.columns * sizeof *g.levels);
    for (size_t i = 0; i < run->rank_count; i++)
        add_rank(&g, &run->rank[i].time, i / g.ranks_per_row);
    return g;
}

void grid_free(struct grid *g) {
    free(g->cells);
    free(g->levels);
    *g = (struct grid){0};
}
