/* tune_plan.h: what an observed run suggests to try. The plan is a pure function of the observation. */
#ifndef HEARTH_TOOLS_TUNE_PLAN_H
#define HEARTH_TOOLS_TUNE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/strvec.h"

struct run;

/* What matters of the report of a run. Times are those of a rank, as shares of the run. */
struct tune_seen {
    double one_sided,
        messages; /* share of time in one-sided calls, and in sends, receives and waits for them */
    uint64_t gets;
    double hits, acquire; /* shares of the gets: served as it ran, and that acquire mode would serve */
    bool has_idle_core;   /* on every node, for the heater */
};

/* What a run in acquire mode tells about the cache. */
struct tune_cache_seen {
    double hits;
    uint64_t size; /* of each window's cache; 0: the default is enough */
    uint64_t most; /* HEARTH_CACHE_MAX; 0: the default is enough */
};

/* `cores`: of this node; the others are assumed to have as many. */
struct tune_seen tune_plan_see(const struct run *run, unsigned cores);
/* `memory`: bytes that the caches of a rank may have at most. */
struct tune_cache_seen tune_plan_see_cache(const struct run *run, uint64_t memory);

/* Settings to try, beside running without Hearth. */
struct tune_option {
    const char *label;
    char settings[3][64]; /* NAME=value; empty: no more */
};
enum { TUNE_OPTIONS = 8 };

/* Whether acquire mode is worth a run in which every hit is checked. */
bool tune_plan_wants_check(const struct tune_seen *seen);

/* Whether these settings include acquire mode, and must therefore be checked. */
bool tune_plan_acquires(const struct strvec *settings);

/* The first round: each mechanism alone. `cache`: of the checked run; NULL: acquire mode is not safe, or serves nothing. */
size_t tune_plan_first(const struct tune_seen *seen, const struct tune_cache_seen *cache,
                       struct tune_option options[TUNE_OPTIONS]);

/* The second round: what may be added to the best settings of the first. */
size_t tune_plan_second(const struct tune_seen *seen, const struct tune_cache_seen *cache,
                        const struct strvec *best, struct tune_option options[TUNE_OPTIONS]);

#endif
