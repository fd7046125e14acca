/* report_verdict.c: the first paragraph of a report: where the time went, and what Hearth did or could do about it.
 *
 * The estimate of the time that another mode would save: time in gets, and in the flushes and unlocks that complete them, in proportion to the gets that
 * the mode would have served. A flush that also completes puts counts in proportion to the operations. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "tools.h"

static const double is_notable = 0.01; /* of the run */

static void verdict_add(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void verdict_add(char **text, const char *format, ...) {
    char more[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    char *longer = need_text("%s%s", *text, more);
    free(*text);
    *text = longer;
}

/* ---- sums ---- */

static bool call_begins(const struct call_sum *c, const char *prefix) {
    return !strncmp(c->name, prefix, strlen(prefix));
}

double run_seconds_in(const struct run *run, const char *prefix) {
    double sum = 0;
    for (size_t i = 0; i < run->call_count; i++)
        if (call_begins(&run->calls[i], prefix))
            sum += run->calls[i].seconds;
    return run->rank_count ? sum / (double)run->rank_count : 0;
}

static uint64_t calls_of(const struct run *run, const char *prefix) {
    uint64_t sum = 0;
    for (size_t i = 0; i < run->call_count; i++)
        if (call_begins(&run->calls[i], prefix))
            sum += run->calls[i].count;
    return sum;
}

/* Time of a rank in gets and their completion. Get_accumulate also begins with Get, and is no get. */
static double seconds_of_gets(const struct run *run) {
    uint64_t fetching = calls_of(run, "MPI_Get_accumulate") + calls_of(run, "MPI_Rget_accumulate");
    uint64_t gets = calls_of(run, "MPI_Get") + calls_of(run, "MPI_Rget") - fetching;
    uint64_t others = fetching + calls_of(run, "MPI_Put") + calls_of(run, "MPI_Rput") +
                      calls_of(run, "MPI_Accumulate") + calls_of(run, "MPI_Raccumulate") +
                      calls_of(run, "MPI_Fetch_and_op") + calls_of(run, "MPI_Compare_and_swap");
    double calls = run_seconds_in(run, "MPI_Get") - run_seconds_in(run, "MPI_Get_accumulate") +
                   run_seconds_in(run, "MPI_Rget") - run_seconds_in(run, "MPI_Rget_accumulate");
    double completion = run_seconds_in(run, "MPI_Win_flush") + run_seconds_in(run, "MPI_Win_unlock");
    return calls + completion * share(gets, gets + others);
}

/* ---- sentences ---- */

static void say_time_in_mpi(const struct run *run, char **text) {
    double each = run->mpi_seconds / (double)run->rank_count;
    verdict_add(text, "In %s your program spent %s of each rank's time in MPI (%s)",
                say_seconds(run->seconds), say_seconds(each),
                say_percent(run->seconds > 0 ? each / run->seconds : 0));
    for (size_t i = 0; i < run->call_count && i < 3; i++) {
        const struct call_sum *c = &run->calls[i];
        if (c->seconds < 0.05 * run->mpi_seconds)
            break;
        verdict_add(text, "%s %s in %s", i ? "," : ":", say_seconds(c->seconds / (double)run->rank_count),
                    say_cut(c->name, 60));
    }
    verdict_add(text, ".");
}

static void say_gain(const struct run *run, const char *mode, const char *condition, double ratio,
                     char **text) {
    double saved = seconds_of_gets(run) * (ratio - counts_hit_ratio(&run->all));
    if (run->is_timed && saved < is_notable * run->seconds)
        verdict_add(text, " %s mode would serve about %s%s, but save less than %s of the run.", mode,
                    say_percent(ratio), condition, say_percent(is_notable));
    else if (run->is_timed)
        verdict_add(text, " %s mode would serve about %s%s, and save about %s (%s of the run).", mode,
                    say_percent(ratio), condition, say_seconds(saved), say_percent(saved / run->seconds));
    else
        verdict_add(text, " %s mode would serve about %s%s.", mode, say_percent(ratio), condition);
}

static void say_gets(const struct run *run, char **text) {
    double gets = 0, acquire = 0, always = 0, now = counts_hit_ratio(&run->all);
    for (size_t i = 0; i < run->window_count; i++)
        if (!strcmp(run->windows[i].mode, "transparent")) {
            gets += (double)run->windows[i].whatif.gets;
            acquire += run->windows[i].whatif.acquire;
            always += run->windows[i].whatif.always;
        }
    verdict_add(text, " Hearth's caches served %s of its %s gets.", say_percent(now),
                say_count(run->all.gets));
    if (gets > 0 && acquire / gets >= now + 0.05)
        say_gain(run, "Acquire", "", acquire / gets, text);
    else if (gets > 0 && always / gets >= now + 0.05)
        say_gain(run, "Always", " if no rank writes what others have read", always / gets, text);
    else if (now < 0.05)
        verdict_add(text, " It hardly gets the same data twice: no mode would serve much more.");
}

char *report_verdict(const struct run *run) {
    char *text = need_copy("");
    bool writes = calls_of(run, "MPI_Put") + calls_of(run, "MPI_Rput") + calls_of(run, "MPI_Accumulate") +
                      calls_of(run, "MPI_Fetch_and_op") >
                  0;
    if (run->is_timed && run->rank_count)
        say_time_in_mpi(run, &text);
    if (run->all.gets)
        say_gets(run, &text);
    else if (writes)
        verdict_add(&text, " It makes no gets, so the caches have nothing to serve.");
    else
        verdict_add(&text, "%sThis program makes no one-sided calls: the caches have nothing to serve.",
                    *text ? " " : "");
    return text;
}
