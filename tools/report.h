/* report.h: a run as `hearth report` sees it.
 *
 *      run.json -> report_read -> struct run -> report_text, report_html, report_compare
 *
 * All numbers are worked out when the run is read (report_read.c, report_sum.c, report_curve.c), once: text and page print the same
 * ones. Texts of a run lie in its JSON. */
#ifndef HEARTH_TOOLS_REPORT_H
#define HEARTH_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

/* What is counted, of a window on a rank or summed up; the names are those of the JSON. */
/* clang-format off */
#define REPORT_COUNTS(X)                                                                                     \
    X(gets) X(full_hits) X(partial_hits) X(pending_hits) X(direct) X(conflicting) X(capacity) X(failing)     \
    X(bypassed) X(invalidations) X(dropped) X(adjustments) X(bytes_served) X(bytes_fetched) X(elided)        \
    X(entries) X(index_slots) X(storage_bytes) X(used_bytes) X(free_regions) X(evictions) X(ahead_fetched)   \
    X(ahead_used) X(suspended) X(suspended_gets)
/* clang-format on */

struct counts {
#define X(name) uint64_t name;
    REPORT_COUNTS(X)
#undef X
};

uint64_t counts_hits(const struct counts *c);
double counts_hit_ratio(const struct counts *c); /* 0 without gets */
double share(uint64_t part, uint64_t whole);

/* What became of a get: the parts of the stacked bars. They add up to all gets. */
enum { ACCESS_TYPES = 8 };
struct access_type {
    const char *name, *meaning;
    const char *colour;
};
extern const struct access_type access_types[ACCESS_TYPES];
uint64_t counts_of_type(const struct counts *c, int type);

/* The hit ratio of a cache against its size: steps, in order. Of one rank, or of all together at the same size on each. */
struct step {
    uint64_t bytes;
    double hits; /* from this size on */
};
struct curve {
    bool is_there;
    uint64_t gets, distinct_bytes, share;
    struct step *steps;
    size_t count;
};
double curve_at(const struct curve *c, uint64_t bytes);
double curve_most(const struct curve *c);
/* The smallest power of two that serves as much as the largest but for `less`. */
uint64_t curve_enough(const struct curve *c, double less);

/* A window, over all ranks. */
struct window_sum {
    uint64_t serial; /* 0: several, added up */
    const char *name, *mode;
    size_t ranks;
    struct counts sum;
    struct {
        uint64_t gets;
        double acquire, always; /* gets that these modes would have served */
    } foresight;
    struct curve curve;
};

enum { BINS_MOST = 4096 };

/* Over time, of a rank: each `step` seconds long. */
struct timeline {
    double step;
    size_t count; /* 0: not recorded */
    uint64_t *gets, *hits, *bytes_served, *bytes_fetched, *entries, *used_bytes, *storage_bytes,
        *free_regions;
};

struct rank_sum {
    uint64_t rank;
    const char *host; /* "" if not known */
    double seconds;
    struct counts sum;
    struct timeline time;
};

struct site {
    const char *file, *function; /* function: "" if it is not known */
    char *name;                  /* the same if it was found in the file, else NULL */
    uint64_t offset, window;
    uint64_t gets, hits, bytes;
};

struct event {
    double seconds;
    uint64_t rank, window, from, to;
    const char *what;
};

enum { SIZE_CLASSES = 64 };

struct run {
    const char *path;
    char *text; /* of the file */
    struct json_value *root;
    const char *version, *command, *mpi;
    uint64_t begun; /* seconds since 1970; 0: not known */
    double seconds; /* of the rank that took longest */
    uint64_t ranks; /* in the report */
    const struct json_value *settings;
    uint64_t cache_bytes, cache_bytes_most;
    struct counts all;
    bool is_recorded;                    /* on some rank at least */
    struct window_sum *windows;          /* most gets first */
    size_t window_count, silent_windows; /* silent: without gets, at the end of the list */
    struct rank_sum *rank;               /* in order */
    size_t rank_count, host_count;
    uint64_t sizes[SIZE_CLASSES];
    struct site *sites; /* most gets first; estimates */
    size_t site_count;
    uint64_t sites_lost;
    struct event *events; /* in order of time */
    size_t event_count;
    uint64_t events_all; /* also those for which there was no room */
    uint64_t curves_lost;
};

/* 0, or BAD_INPUT after a line. The run is the caller's to free. */
int report_read(const char *path, struct run *run);
void report_free(struct run *run);
/* What report_read ends with: sums and orders. */
void report_sum(struct run *run);
/* Looks for the functions of call sites in the files of the programs. */
void report_names(struct run *run);
/* Adds the curve of one rank. */
void curve_add(struct curve *sum, uint64_t gets, uint64_t distinct_bytes, uint64_t share,
               const uint64_t *bytes, const uint64_t *hits, size_t count);
void curve_finish(struct curve *sum);

/* A list with room for `more` members behind the `used` ones; it doubles, so that adding one by one is cheap. */
void *list_grown(void *old, size_t used, size_t more, size_t size);

/* The window of this number, or NULL. */
const struct window_sum *run_window(const struct run *run, uint64_t serial);

/* How far apart the ranks are in something. */
struct spread {
    double least, mean, most, deviation; /* relative to the mean: coefficient of variation */
    uint64_t most_rank;
};
struct spread run_spread(const struct run *run, double (*of)(const struct rank_sum *));

/* All ranks on one scale of time: columns of `step` seconds. */
struct grid {
    double step;
    size_t columns, rows; /* rows: groups of neighbouring ranks; 0: not recorded */
    size_t ranks_per_row;
    struct cell {
        uint64_t gets, hits, bytes; /* bytes: served and fetched */
    } * cells;                      /* row after row */
    struct level {
        uint64_t used_bytes, storage_bytes, entries, free_regions;
    } * levels; /* of each column, all ranks together */
};
struct grid run_grid(const struct run *run, size_t most_rows);
void grid_free(struct grid *g);

/* What could be better, in plain words: one line each, to be freed with words_free. */
struct words;
void report_advice(const struct run *run, struct words *lines);

/* Two runs, line by line. */
struct difference {
    char *what, *a, *b, *change; /* change: "" if there is nothing to say */
    bool is_heading;
};
struct comparison {
    struct difference *lines;
    size_t count;
    char *verdict;
};
void report_compare(const struct run *a, const struct run *b, struct comparison *c);
void comparison_free(struct comparison *c);

void report_text(FILE *file, const struct run *run);
void report_text_comparison(FILE *file, const struct run *a, const struct run *b, const struct comparison *c);
void report_html(FILE *file, const struct run *run);
void report_html_comparison(FILE *file, const struct run *a, const struct run *b, const struct comparison *c);

/* ---- numbers for people; they return one of a few static texts, good for one printf ---- */

const char *say_bytes(uint64_t bytes);   /* "4 MB", "1.5 KB": powers of 1024 */
const char *say_percent(double share);   /* "41 %", "0.3 %" */
const char *say_seconds(double seconds); /* "1.25 s", "3 ms" */
const char *say_count(uint64_t count);   /* "12345", for a page "12 345" with narrow spaces */
const char *say_site(const struct site *s);
const char *say_site_window(const struct run *run, const struct site *s);
const char *say_size_class(unsigned i);             /* "1 KB", the smallest of the class */
const char *say_window(const struct window_sum *w); /* "'graph'" or "number 3" */
const char *say_cut(const char *text, size_t most); /* at most so many bytes of it, and whole characters */
const char *say_time(uint64_t seconds_since_1970);
const char *say_event(const struct event *e); /* "index 8000 -> 12000 slots" */

#endif
