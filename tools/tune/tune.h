/* tune.h: the state of `hearth tune`, from its options to its result. */
#ifndef HEARTH_TOOLS_TUNE_H
#define HEARTH_TOOLS_TUNE_H

#include "run/run.h"
#include "tune/tune_round.h"

#define TUNE_PROMISING 1.05 /* times as fast by the median: may be a gain */

struct tune {
    size_t runs;
    const char *output; /* --output; NULL: the profile */
    struct run_facts facts;
    struct tune_trial trial;
    struct tune_seen seen;
    struct tune_cache_seen cache;
    bool has_cache; /* acquire mode was checked, and is safe */
    bool is_unsafe; /* a run with every hit checked failed, or found stale hits */
    struct tune_stale stale;
    uint64_t ranks;
    struct tune_round first, second;
    struct strvec kept;
    struct tune_interval bare_time, kept_time;
};

/* Prints the result, and writes the settings that are kept, or removes the profile if there are none. Returns the exit code. */
int tune_conclude(struct tune *t, bool is_faster);

#endif
