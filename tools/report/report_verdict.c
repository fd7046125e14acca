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

/* The gets of windows in transparent mode that another mode could serve: those to other processes. */
struct gain {
    double gets, hits, acquire, always;
};

static struct gain gain_of(const struct run *run) {
    struct gain g = {0};
    for (size_t i = 0; i < run->window_count; i++) {
        const struct window_sum *w = &run->windows[i];
        if (strcmp(w->mode, "transparent"))
            continue;
        g.gets += (double)w->whatif.gets;
        g.acquire += w->whatif.acquire;
        g.always += w->whatif.always;
        g.hits += w->whatif.gets ? (double)counts_hits(&w->sum) : 0;
    }
    return g;
}

/* `served`: by that mode. Gets that no mode could serve are not in the estimate: they are fast. */
static void say_gain(const struct run *run, const char *mode, const char *condition, const struct gain *g,
                     double served, char **text) {
    double saved = seconds_of_gets(run) * (served - g->hits) / g->gets;
    char *of = g->gets < 0.995 * (double)run->all.gets
                   ? need_text(" of the %s remote ones", say_count((uint64_t)(g->gets + 0.5)))
                   : need_copy("");
    verdict_add(text, " %s mode would serve about %s%s%s", mode, say_percent(served / g->gets), of,
                condition);
    free(of);
    if (run->is_timed && saved < is_notable * run->seconds)
        verdict_add(text, ", but save less than %s of the run", say_percent(is_notable));
    else if (run->is_timed)
        verdict_add(text, ", and save about %s (%s of the run)", say_seconds(saved),
                    say_percent(saved / run->seconds));
    verdict_add(text, ".");
}

static void say_gets(const struct run *run, char **text) {
    double now = counts_hit_ratio(&run->all);
    struct gain g = gain_of(run);
    verdict_add(text, " Hearth's caches served %s of its %s gets.", say_percent(now),
                say_count(run->all.gets));
    if (g.gets > 0 && g.acquire >= g.hits + 0.05 * g.gets)
        say_gain(run, "Acquire", "", &g, g.acquire, text);
    else if (g.gets > 0 && g.always >= g.hits + 0.05 * g.gets)
        say_gain(run, "Always", " if no rank writes what others have read", &g, g.always, text);
    else if (now < 0.05)
        verdict_add(text, " It hardly gets the same data twice: no mode would serve much more.");
}

/* ---- operations that waited ---- */

bool report_is_onesided(const struct call_sum *c) {
    static const char *const prefixes[] = {
        "MPI_Get",        "MPI_Rget",        "MPI_Put",          "MPI_Rput",
        "MPI_Accumulate", "MPI_Raccumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"};
    static const char *const completions[] = {"MPI_Win_flush", "MPI_Win_unlock"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (call_begins(c, prefixes[i]))
            return true;
    return call_begins(c, completions[0]) || call_begins(c, completions[1]);
}

struct call_sum report_late(const struct run *run) {
    struct call_sum sum = {.name = ""};
    for (size_t i = 0; i < run->call_count; i++) {
        const struct call_sum *c = &run->calls[i];
        if (!report_is_onesided(c))
            continue;
        sum.count += c->count;
        sum.seconds += c->seconds;
        sum.late += c->late;
        sum.late_seconds += c->late_seconds;
    }
    return sum;
}

double report_late_seconds(const struct run *run) {
    return run->rank_count ? report_late(run).late_seconds / (double)run->rank_count : 0;
}

/* Whether MPI executes the operations of a window that has any. */
static bool some_are_left_to_mpi(const struct run *run) {
    for (size_t i = 0; i < run->window_count; i++)
        if (!run->windows[i].is_served)
            return true;
    return false;
}

/* Ranks that had to wait for a core may have waited for it in these calls. */
static void say_late(const struct run *run, char **text) {
    struct call_sum late = report_late(run);
    double each = report_late_seconds(run), cpu = run_cpu_share(run);
    if (!late.late || each < is_notable * run->seconds)
        return;
    verdict_add(
        text, " %s one-sided calls took at least 16 times as long as usual, which cost %s (%s of the run): ",
        say_count(late.late), say_seconds(each), say_percent(each / run->seconds));
    if (cpu < 0.9)
        verdict_add(text, "the ranks had a core for only %s of the time, or their targets were computing.",
                    say_percent(cpu));
    else
        verdict_add(text, "probably their targets were computing.");
    if (some_are_left_to_mpi(run))
        verdict_add(text, " Served windows (HEARTH_WINDOWS=serve) may remove waits for targets.");
}

/* ---- the paragraph ---- */

static bool run_writes(const struct run *run) {
    return calls_of(run, "MPI_Put") + calls_of(run, "MPI_Rput") + calls_of(run, "MPI_Accumulate") +
               calls_of(run, "MPI_Raccumulate") + calls_of(run, "MPI_Fetch_and_op") +
               calls_of(run, "MPI_Compare_and_swap") >
           0;
}

static void say_messages(const struct run *run, char **text) {
    char *sentence = report_messages_verdict(run);
    if (*sentence)
        verdict_add(text, "%s%s", **text ? " " : "", sentence);
    free(sentence);
}

/* A program without one-sided calls. */
static void say_no_windows(const struct run *run, char **text) {
    const struct messages_sum *m = &run->messages;
    const char *blank = **text ? " " : "";
    bool is_cheap = m->is_counted && report_messages_are_cheap(run);
    if (is_cheap && !m->posts)
        verdict_add(
            text,
            "%sThis program makes no one-sided calls and receives no messages: Hearth cannot speed it up.",
            blank);
    else if (is_cheap && report_messages_are_short(run))
        verdict_add(text,
                    "%sThis program makes no one-sided calls, and its queues are at most %s deep, too short "
                    "for matching to "
                    "help: Hearth cannot speed it up.",
                    blank, say_count(report_messages_most(run)));
    else if (is_cheap)
        verdict_add(text,
                    "%sThis program makes no one-sided calls, and searching its queues, at most %s deep, "
                    "takes less than %s "
                    "of the run: Hearth cannot speed it up.",
                    blank, say_count(report_messages_most(run)), say_percent(is_notable));
    else {
        verdict_add(text, "%sThis program makes no one-sided calls: the caches have nothing to serve.",
                    blank);
        say_messages(run, text);
    }
}

static void say_calls(const struct calls_sum *calls, size_t kinds, const char *library, char **text) {
    struct calls_sum sum = {0};
    for (size_t i = 0; i < kinds; i++) {
        sum.local += calls[i].local;
        sum.remote += calls[i].remote;
        sum.bytes += calls[i].bytes;
    }
    verdict_add(text, "%s made %s calls of %s with %s, %s of them to other nodes.",
                **text ? " It" : "Your program", say_count(sum.local + sum.remote), library,
                say_bytes(sum.bytes), say_percent(share(sum.remote, sum.local + sum.remote)));
}

/* Programs that use Hearth's own libraries. */
static void say_libraries(const struct run *run, char **text) {
    const struct armci_sum *a = &run->armci;
    if (a->is_there)
        say_calls(a->calls, ARMCI_KINDS, "ARMCI", text);
    if (a->is_there && a->blocks)
        verdict_add(text, " The helpers of ARMCI were busy for %s of their time.",
                    say_percent(a->seconds > 0 ? a->busy_seconds / a->seconds : 0));
    if (run->vgasnet.is_there)
        say_calls(run->vgasnet.calls, VGASNET_KINDS, "vGASNet", text);
}

/* A run that was not seen to its end may do anything later. */
static void say_partial(const struct run *run, char **text) {
    if (run->all.gets)
        verdict_add(text, "%sHearth's caches served %s of its %s gets.", **text ? " " : "",
                    say_percent(counts_hit_ratio(&run->all)), say_count(run->all.gets));
    verdict_add(text, "%sThe run was not seen to its end, so this is no verdict on the program.",
                **text ? " " : "");
}

char *report_verdict(const struct run *run) {
    char *text = need_copy("");
    if (run->is_timed && run->rank_count)
        say_time_in_mpi(run, &text);
    if (run->partial) {
        say_partial(run, &text);
        return text;
    }
    if (run->all.gets)
        say_gets(run, &text);
    else if (run_writes(run))
        verdict_add(&text, " It makes no gets, so the caches have nothing to serve.");
    else if (!run->armci.is_there && !run->vgasnet.is_there) {
        say_no_windows(run, &text);
        return text;
    }
    say_libraries(run, &text);
    say_late(run, &text);
    say_messages(run, &text);
    return text;
}
