/* tune_round.h: several settings measured in turn, so that a change of the machine's load affects all of them. */
#ifndef HEARTH_TOOLS_TUNE_ROUND_H
#define HEARTH_TOOLS_TUNE_ROUND_H

#include <stdio.h>

#include "tune/tune_check.h"
#include "tune/tune_decide.h"
#include "tune/tune_job.h"
#include "tune/tune_plan.h"

/* The command under test, and what its runs are compared with. */
struct tune_trial {
    struct tune_jobs jobs;
    const char *verify;       /* shell command; NULL: none */
    bool same_output;         /* compare with `output` */
    struct tune_lines output; /* of the first run without Hearth */
    size_t done, planned;     /* runs */
    double seconds;           /* of all runs done */
    bool is_terminal;         /* stderr */
};

struct tune_candidate {
    bool is_bare;
    struct strvec settings;
    double *seconds;
    size_t count;
    char failure[300]; /* empty: none */
    bool is_dropped;   /* clearly slower than the first candidate */
};

/* The first candidate is what the others are compared with. */
struct tune_round {
    struct tune_candidate of[TUNE_OPTIONS + 2];
    size_t count;
};

enum tune_outcome {
    TUNE_GOOD,
    TUNE_FAILED,  /* the reason is in the candidate */
    TUNE_STOPPED, /* by a signal */
};

struct tune_candidate *tune_round_add(struct tune_round *round);
void tune_candidate_add(struct tune_candidate *c, const char *setting);
void tune_round_free(struct tune_round *round);

/* One run, and all checks of its result. With `report` it writes one. */
enum tune_outcome tune_trial_run(struct tune_trial *t, struct tune_candidate *c, const char *what,
                                 bool report);

/* `runs` of each candidate. Candidates that failed are not run again, nor those that are clearly slower than the first after a
 * few runs. TUNE_FAILED: the first one failed. */
enum tune_outcome tune_round_time(struct tune_trial *t, struct tune_round *round, size_t runs);

/* The fastest candidate that is clearly faster than the first, or, if that is as good, one with fewer of its settings; NULL:
 * none. */
struct tune_candidate *tune_round_best(struct tune_round *round);

/* Whether it is clearly faster than the first one. */
bool tune_round_is_winner(const struct tune_round *round, const struct tune_candidate *c);

/* How many times as fast as the first one it is by the median; 0: it failed. */
double tune_round_gain(const struct tune_round *round, const struct tune_candidate *c);

void tune_round_print(FILE *file, const struct tune_round *round, const char *first);

#endif
