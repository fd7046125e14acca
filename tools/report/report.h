/* report.h: a run, as `hearth report` represents it.
 *
 *      run.json -> report_read -> struct run -> report_text, report_html, report_compare, report_csv
 *
 * All numbers are computed once, when the run is read (report_read.c, report_sum.c, report_curve.c), so text and
 * page print the same ones. The strings of a run lie in its JSON. */
#ifndef HEARTH_TOOLS_REPORT_H
#define HEARTH_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "observe/bypass_reason.h"
#include "observe/json_read.h"
#include "report/report_parts.h"

/* Counters, of a window on a rank or summed; the names are those of the JSON. */
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

/* The outcomes of a get: the parts of the stacked bars. They add up to all gets. */
enum { ACCESS_TYPES = 8 };
struct access_type {
    const char *name, *meaning;
    const char *colour;
};
extern const struct access_type access_types[ACCESS_TYPES];
uint64_t counts_of_type(const struct counts *c, int type);

/* The hit ratio as a function of the cache size, as a list of steps in order of size: of one rank, or of all ranks, with
 * caches of the same size on each. */
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
/* The smallest power of two whose hit ratio is at most `less` below that of the largest. */
uint64_t curve_enough(const struct curve *c, double less);

/* A place in a program, and the gets that it makes. */
struct site {
    const char *file, *function; /* function: "" if unknown */
    char *name;                  /* the function's name if it was found in the file, else NULL */
    char *line;                  /* "solver.c:41" if the file has debug information, else NULL */
    uint64_t offset, window;
    uint64_t gets, hits, bytes;
};

/* A window, summed over all ranks. */
struct window_sum {
    uint64_t serial; /* 0: several windows, summed */
    const char *name, *mode;
    bool is_served;   /* Hearth executes its operations */
    struct site made; /* where it was created; file is NULL if unknown */
    size_t ranks;
    struct counts sum;
    struct {
        uint64_t gets;
        double acquire, always; /* gets that these modes would have served */
    } whatif;
    struct curve curve;
    uint64_t why[BYPASS_REASONS]; /* bypassed gets by reason */
    const char *why_operations;   /* what decided who executes the operations; NULL: no measurement */
    struct {
        double took, saved; /* by the caches of all ranks, before their last suspension */
    } cache_seconds;
};

enum { BINS_MOST = 4096 };

/* Timeline of a rank, in steps of `step` seconds. */
struct timeline {
    double step;
    size_t count; /* 0: not recorded */
    uint64_t *gets, *hits, *bytes_served, *bytes_fetched, *entries, *used_bytes, *storage_bytes,
        *free_regions;
};

struct rank_sum {
    uint64_t rank;
    const char *host;                         /* "" if unknown */
    double seconds, mpi_seconds, cpu_seconds; /* cpu_seconds: 0 if unknown */
    struct counts sum;
    struct timeline time;
};

/* An MPI function, summed over all ranks. Times are estimates from a sample. */
struct call_sum {
    const char *name;
    uint64_t count;
    double seconds, longest;
    double fastest_seconds; /* what they would have taken if each was as fast as the fastest hundredth */
    uint64_t longest_rank;
    uint64_t late; /* calls that took far longer than usual, and their time beyond the usual one */
    double late_seconds;
};

struct event {
    double seconds;
    uint64_t rank, window, from, to;
    const char *what;
};

enum { SIZE_CLASSES = 64 };

struct run {
    const char *path;
    char *text; /* content of the file */
    struct json_value *root;
    const char *version, *command, *mpi;
    const char *partial; /* why the report is partial; NULL: it is whole */
    uint64_t begun;      /* seconds since 1970; 0: unknown */
    double seconds;      /* of the slowest rank */
    uint64_t ranks;      /* in the report */
    const struct json_value *settings;
    uint64_t cache_bytes, cache_bytes_most;
    struct counts all;
    bool is_recorded;                    /* on at least one rank */
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
    uint64_t events_all; /* including those that were not recorded */
    uint64_t curves_lost;
    struct call_sum *calls; /* most time first */
    size_t call_count;
    double mpi_seconds;           /* of all ranks */
    bool is_timed;                /* the time in MPI was observed */
    uint64_t served[SERVED_WAYS]; /* operations on served windows, by way */
    struct messages_sum messages;
    struct armci_sum armci;
    struct vgasnet_sum vgasnet;
    struct heater_sum *heaters; /* those that ran */
    size_t heater_count;
};

/* Returns 0, or BAD_INPUT after logging an error. The caller frees the run. */
int report_read(const char *path, struct run *run);
void report_free(struct run *run);
/* Called last by report_read: sums and sorts. */
void report_sum(struct run *run);
/* Looks up the functions and lines of call sites in the programs' files. */
void report_names(struct run *run);
/* Sets the lines of sites that all lie in the file of the first, by addr2line if it is installed. */
void report_lines(struct site *const *sites, size_t count);
/* Adds the curve of one rank. */
void curve_add(struct curve *sum, uint64_t gets, uint64_t distinct_bytes, uint64_t share,
               const uint64_t *bytes, const uint64_t *hits, size_t count);
void curve_finish(struct curve *sum);

/* Makes room for `more` elements after the `used` ones. The capacity doubles, so that adding one by one is cheap. */
void *list_grown(void *old, size_t used, size_t more, size_t size);

/* The window with this number, or NULL. */
const struct window_sum *run_window(const struct run *run, uint64_t serial);

/* Variation over the ranks. */
struct spread {
    double least, mean, most, deviation; /* deviation: relative to the mean (coefficient of variation) */
    uint64_t most_rank;
};
struct spread run_spread(const struct run *run, double (*of)(const struct rank_sum *));

/* All ranks on one time axis: columns of `step` seconds. */
struct grid {
    double step;
    size_t columns, rows; /* rows: groups of neighbouring ranks; 0: not recorded */
    size_t ranks_per_row;
    struct cell {
        uint64_t gets, hits, bytes; /* bytes: served plus fetched */
    } * cells;                      /* row by row */
    struct level {
        uint64_t used_bytes, storage_bytes, entries, free_regions;
    } * levels; /* per column, summed over all ranks */
};
struct grid run_grid(const struct run *run, size_t most_rows);
void grid_free(struct grid *g);

/* The share of the run in which the ranks had a core, at most 1; 1 if unknown. */
double run_cpu_share(const struct run *run);

/* The time in MPI, per rank, of the functions whose names begin so. */
double run_seconds_in(const struct run *run, const char *prefix);

/* Whether it is a one-sided operation, or a call that completes some. */
bool report_is_onesided(const struct call_sum *c);
/* Of all one-sided operations and the calls that complete them: count, seconds, late, late_seconds. */
struct call_sum report_late(const struct run *run);
double report_late_seconds(const struct run *run); /* per rank */

/* What the run says in a few sentences, for someone who does not know Hearth; to be freed by the caller. */
char *report_verdict(const struct run *run);

/* Messages: a sentence for the verdict, "" if there is none, to be freed; the longest queue; whether the queues are too short for matching to
 * help. */
char *report_messages_verdict(const struct run *run);
uint64_t report_messages_most(const struct run *run);
bool report_messages_are_short(const struct run *run);
bool report_messages_are_cheap(const struct run *run); /* short, or their searches take little time */

/* Advice: one line each, to be freed with strvec_free. */
struct strvec;
void report_advice(const struct run *run, struct strvec *lines);

void report_text(FILE *file, const struct run *run);
/* Pieces of the text: the rule with a title; a name without control characters; a paragraph. */
void report_text_section(FILE *f, const char *title);
void report_text_name(FILE *f, const char *name);
void report_text_wrapped(FILE *f, const char *text);
void report_html(FILE *file, const struct run *run);

/* ---- formatted numbers: each returns one of a few static buffers, valid for one printf ---- */

const char *say_bytes(uint64_t bytes);   /* "4 MB", "1.5 KB": powers of 1024 */
const char *say_percent(double share);   /* "41 %", "0.3 %" */
const char *say_seconds(double seconds); /* "1.25 s", "3 ms" */
const char *say_count(uint64_t count);   /* "12 345" with narrow spaces, for a page */
const char *say_plain(uint64_t count);   /* "12345" */
const char *say_site(const struct site *s);
const char *say_site_window(const struct run *run, const struct site *s);
const char *say_size_class(unsigned i); /* "1 KB", the smallest size of the class */
/* "'graph'"; without a name of the program's own "number 3", or "number 3 (setup.c:41)" */
const char *say_window(const struct window_sum *w);
const char *say_cut(const char *text, size_t most); /* at most `most` bytes of it, in whole characters */
const char *say_time(uint64_t seconds_since_1970);
const char *say_event(const struct event *e); /* "index grown, from 8000 to 12000 slots" */

#endif
