/* tune_plan.c: from an observation to settings that are worth a try.
 *
 * A mechanism is tried if the program spends a notable share of its time in the calls that it can speed up. Whether it does is
 * for the measurement to tell. Acquire mode is tried only if the what-if analysis says that it would serve gets that the
 * transparent mode does not, and after a run in which every hit was compared with the data at the target. */
#include "tune/tune_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double notable_time = 0.02; /* of the run */
static const double notable_hits = 0.05; /* of the gets */

static struct tune_option *plan_add(struct tune_option *options, size_t *count, const char *label,
                                    const char *setting) {
    struct tune_option *o = &options[(*count)++];
    *o = (struct tune_option){.label = label};
    snprintf(o->settings[0], sizeof o->settings[0], "%s", setting);
    return o;
}

bool tune_plan_wants_check(const struct tune_seen *seen) {
    return seen->gets && seen->acquire >= seen->hits + notable_hits && seen->one_sided >= notable_time;
}

size_t tune_plan_first(const struct tune_seen *seen, const struct tune_cache_seen *cache,
                       struct tune_option options[TUNE_OPTIONS]) {
    size_t count = 0;
    if (seen->gets && seen->hits >= notable_hits)
        plan_add(options, &count, "defaults", "");
    if (cache && cache->hits >= notable_hits)
        plan_add(options, &count, "acquire", "HEARTH_MODE=acquire");
    if (cache && cache->size) {
        struct tune_option *o = plan_add(options, &count, "acquire, size", "HEARTH_MODE=acquire");
        snprintf(o->settings[1], sizeof o->settings[1], "HEARTH_CACHE_SIZE=%" PRIu64 "k", cache->size >> 10);
        if (cache->most)
            snprintf(o->settings[2], sizeof o->settings[2], "HEARTH_CACHE_MAX=%" PRIu64 "m",
                     cache->most >> 20);
    }
    if (seen->messages >= notable_time)
        plan_add(options, &count, "match", "HEARTH_MATCH=on");
    if (seen->one_sided >= notable_time)
        plan_add(options, &count, "serve", "HEARTH_WINDOWS=serve");
    return count;
}

static bool plan_has(const struct strvec *settings, const char *setting) {
    for (size_t i = 0; i < settings->count; i++)
        if (!strcmp(settings->of[i], setting))
            return true;
    return false;
}

bool tune_plan_acquires(const struct strvec *settings) {
    return plan_has(settings, "HEARTH_MODE=acquire");
}

size_t tune_plan_second(const struct tune_seen *seen, const struct tune_cache_seen *cache,
                        const struct strvec *best, struct tune_option options[TUNE_OPTIONS]) {
    size_t count = 0;
    bool acquires = tune_plan_acquires(best);
    if (acquires && cache && cache->hits < 1 - notable_hits)
        plan_add(options, &count, "read-ahead", "HEARTH_READ_AHEAD=8");
    if (acquires && seen->has_idle_core)
        plan_add(options, &count, "heated index", "HEARTH_HEATER_INDEX=on");
    if (plan_has(best, "HEARTH_MATCH=on") && seen->has_idle_core)
        plan_add(options, &count, "heater", "HEARTH_HEATER_LEVEL=any");
    return count;
}
