/* top.h: the running processes as `hearth top` sees them: how they are found and shown. */
#ifndef HEARTH_TOOLS_TOP_H
#define HEARTH_TOOLS_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "observe/live.h"

/* ---- samples ---- */

struct top_process {
    int pid;
    uint64_t started; /* distinguishes it from another process with the same pid */
    int rank, size;   /* in the job; size 0: none of its pages is open */
    int job;          /* pid of its launcher, or else its session, or its own pid */
    char program[64];
    bool is_partial; /* not all of its windows or threads fit into its page */
    uint64_t values[LIVE_WHATS];
    uint64_t busy_ns[LIVE_ROLES]; /* CPU time of its threads, by role */
    unsigned threads[LIVE_ROLES];
};

struct top_sample {
    uint64_t ns; /* clock_ns */
    struct top_process *of;
    size_t count;
};

/* Finds all processes of this user on this node that publish counters, by job and rank. `before`, unless NULL:
 * constant data is taken from there. */
void top_sample_take(struct top_sample *s, const struct top_sample *before);
void top_sample_free(struct top_sample *s);
/* The same process in another sample, or NULL. */
const struct top_process *top_sample_find(const struct top_sample *s, const struct top_process *p);

/* Adds the counters in the page behind this descriptor to the process, whose pid in its own namespace is `own_pid`.
 * False: it is not a page, not this user's, or of another process (a child inherits its parent's descriptors). */
bool top_page_add(int opened, int own_pid, struct top_process *p);

/* Data about a process, from /proc. */
struct top_stat {
    int parent, session;
    uint64_t started;
    char name[32];
};
bool top_stat_read(int pid, struct top_stat *s);
/* The job's number: see `job` above. */
int top_job_of(int pid, const struct top_stat *s, int size);
void top_program_read(int pid, char *name, size_t room);
/* Replaces characters of a name that must not reach a terminal. */
void top_name_clean(char *name);

/* ---- rows: a process, or the sum of a job, between two samples ---- */

struct top_row {
    int rank, pid; /* rank -1: the sum */
    bool is_partial;
    double seconds; /* between the samples; 0: there is only one */
    uint64_t values[LIVE_WHATS];
    uint64_t deltas[LIVE_WHATS]; /* of counts */
    double busy[LIVE_ROLES];     /* seconds */
    unsigned threads[LIVE_ROLES];
};

struct top_job {
    int id, size;
    char program[64];
    const char *host;     /* NULL: this one */
    struct top_row *rows; /* by rank */
    size_t count;
    struct top_row sum;
    bool is_folded; /* one line, with the sum, is shown of it */
};

struct top_jobs {
    struct top_job *of;
    size_t count;
    char *silent; /* hosts that did not answer; NULL: none */
};

/* The user's choice of jobs, and where to look for them. */
struct strvec;
struct top_choice {
    int job;             /* 0: any */
    const char *program; /* pattern of the shell; NULL: any */
    const struct strvec *hosts;
};

/* `before`: NULL if there is only one sample. */
void top_jobs_make(struct top_jobs *jobs, const struct top_sample *now, const struct top_sample *before);
void top_jobs_free(struct top_jobs *jobs);
/* Removes the jobs that were not chosen. */
void top_jobs_choose(struct top_jobs *jobs, const struct top_choice *choice);
/* Asks all processes of a job on this node to write a report at their next MPI call; returns how many do. */
size_t top_ask(const struct top_job *job);

/* ---- other nodes ---- */

/* Reads a list of hosts; returns 0, or the exit code after an error line. */
int top_remote_hosts(const char *list, struct strvec *hosts);
/* The jobs on these hosts, between two samples `delay` seconds apart. */
void top_remote_look(const struct strvec *hosts, double delay, struct top_jobs *jobs);

/* ---- columns ---- */

enum { TOP_COLUMN_WIDTH = 9 };

unsigned top_columns(void);
const char *top_column_name(unsigned column);
const char *top_column_help(unsigned column);
/* NAN: no value. */
double top_column_value(unsigned column, const struct top_row *row);
void top_column_print(unsigned column, const struct top_row *row, char text[TOP_COLUMN_WIDTH + 1]);
/* Whether any of the jobs has a value in it. */
bool top_column_is_used(unsigned column, const struct top_jobs *jobs);

/* ---- tables ---- */

enum top_line_kind { TOP_LINE_JOB, TOP_LINE_ROW, TOP_LINE_SUM, TOP_LINE_FOLDED };

struct top_table {
    char *head;
    int selected_at; /* position of the sort column in it; -1: not shown */
    struct top_line {
        enum top_line_kind kind;
        size_t job; /* index */
        char *text;
    } * lines;
    size_t count;
    unsigned hidden; /* columns that did not fit */
};

struct top_order {
    int column; /* sort column; -1: by rank */
    bool is_reverse;
};

/* Also sorts the rows of each job. */
void top_table_make(struct top_table *t, struct top_jobs *jobs, struct top_order order, unsigned width);
void top_table_free(struct top_table *t);

/* The next column in use, to the right (1) or left (-1); -1: that of the ranks. */
int top_table_step(const struct top_jobs *jobs, int column, int way);

void top_json_print(FILE *file, const struct top_jobs *jobs, double seconds);

/* ---- the screen ---- */

enum { TOP_LEAST_WIDTH = 40, TOP_LEAST_HEIGHT = 6 };

extern const char top_nobody[]; /* shown if there are no jobs */

/* Runs until the user quits. Returns the exit code. */
int top_screen_run(double delay, const struct top_choice *choice);

#endif
