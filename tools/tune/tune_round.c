/* tune_round.c: measures candidates in turn, and prints them.
 *
 *      round 1   bare a b c        round 2   a b c bare       round 3   b c bare a     ...
 *
 * The first of each round changes, so that none always runs after the same other one. */
#include "tune/tune_round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools.h"

enum { FEW = 3 }; /* runs after which a candidate may be dropped */

/* ---- candidates ---- */

struct tune_candidate *tune_round_add(struct tune_round *round) {
    struct tune_candidate *c = &round->of[round->count++];
    *c = (struct tune_candidate){0};
    return c;
}

void tune_candidate_add(struct tune_candidate *c, const char *setting) {
    strvec_add(&c->settings, setting);
}

static void candidate_note(struct tune_candidate *c, double seconds) {
    double *more = need((c->count + 1) * sizeof *more);
    if (c->count)
        memcpy(more, c->seconds, c->count * sizeof *more);
    free(c->seconds);
    c->seconds = more;
    c->seconds[c->count++] = seconds;
}

void tune_round_free(struct tune_round *round) {
    for (size_t i = 0; i < round->count; i++) {
        strvec_free(&round->of[i].settings);
        free(round->of[i].seconds);
    }
    round->count = 0;
}

/* ---- progress ---- */

static void say_progress(const struct tune_trial *t, const char *what) {
    size_t left = t->planned > t->done ? t->planned - t->done : 0;
    if (!t->is_terminal)
        return;
    fprintf(stderr, "\r\033[K[%zu/%zu] %.60s ...", t->done + 1, t->planned, what);
    if (t->done) {
        double seconds = (double)left * t->seconds / (double)t->done;
        fprintf(stderr, " about %.0f:%02.0f left", floor(seconds / 60), floor(fmod(seconds, 60)));
    }
}

static void say_done(const struct tune_trial *t, const char *what, const struct tune_candidate *c,
                     double seconds) {
    if (t->is_terminal)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "[%zu/%zu] %s: %s%.2f s\n", t->done, t->planned, what,
                *c->failure ? "failed after " : "", seconds);
}

/* ---- one run ---- */

static enum tune_outcome candidate_fail(struct tune_candidate *c, const char *reason, char *detail) {
    snprintf(c->failure, sizeof c->failure, "%s%s%s", reason, detail && *detail ? ": " : "",
             detail ? detail : "");
    free(detail);
    return TUNE_FAILED;
}

static enum tune_outcome check_output(struct tune_trial *t, struct tune_candidate *c) {
    struct tune_lines lines;
    if (!t->output.text)
        return tune_lines_read(t->jobs.output, &t->output)
                   ? TUNE_GOOD
                   : candidate_fail(c, "its output cannot be read", NULL);
    bool equal = tune_lines_read(t->jobs.output, &lines) && tune_lines_equal(&t->output, &lines);
    tune_lines_free(&lines);
    return equal ? TUNE_GOOD
                 : candidate_fail(c, "its output differs from that of the first run without Hearth", NULL);
}

static enum tune_outcome check_verify(struct tune_trial *t, struct tune_candidate *c) {
    char reason[64];
    int code = tune_job_verify(&t->jobs, t->verify);
    if (code < 0)
        return TUNE_STOPPED;
    snprintf(reason, sizeof reason, "--verify ended with %d", code);
    return code ? candidate_fail(c, reason, tune_last_line(t->jobs.verified)) : TUNE_GOOD;
}

static enum tune_outcome check_end(struct tune_trial *t, struct tune_candidate *c,
                                   const struct tune_end *end) {
    char reason[64];
    if (end->timed_out) {
        snprintf(reason, sizeof reason, "it did not end within %.0f s", t->jobs.limit);
        return candidate_fail(c, reason, NULL);
    }
    snprintf(reason, sizeof reason, "exit status %d", end->status);
    if (end->status)
        return candidate_fail(c, reason, tune_last_line(t->jobs.errors));
    enum tune_outcome outcome = t->same_output ? check_output(t, c) : TUNE_GOOD;
    return outcome == TUNE_GOOD && t->verify ? check_verify(t, c) : outcome;
}

/* A report of the user's would be written by every run: only those that the caller wants are. */
static struct strvec settings_of(const struct tune_trial *t, const struct tune_candidate *c, bool report) {
    struct strvec all = {0};
    char *word = need_text("HEARTH_REPORT=%s", report ? t->jobs.report : "");
    strvec_add(&all, word);
    free(word);
    for (size_t i = 0; i < c->settings.count; i++)
        strvec_add(&all, c->settings.of[i]);
    return all;
}

enum tune_outcome tune_trial_run(struct tune_trial *t, struct tune_candidate *c, const char *what,
                                 bool report) {
    struct tune_end end;
    struct strvec settings = settings_of(t, c, report);
    say_progress(t, what);
    enum tune_outcome outcome =
        tune_job_run(&t->jobs, c->is_bare ? NULL : &settings, &end) ? TUNE_STOPPED : check_end(t, c, &end);
    strvec_free(&settings);
    t->done++;
    t->seconds += end.seconds;
    if (outcome == TUNE_GOOD)
        candidate_note(c, end.seconds);
    if (outcome != TUNE_STOPPED)
        say_done(t, what, c, end.seconds);
    else if (t->is_terminal)
        fputs("\r\033[K", stderr);
    return outcome;
}

/* ---- a round ---- */

static bool is_running(const struct tune_candidate *c) {
    return !*c->failure && !c->is_dropped;
}

/* The settings, or what they are called without any. To be freed. */
static char *candidate_name(const struct tune_candidate *c, const char *none) {
    char *name = need_copy(c->settings.count ? c->settings.of[0] : none);
    for (size_t i = 1; i < c->settings.count; i++) {
        char *longer = need_text("%s %s", name, c->settings.of[i]);
        free(name);
        name = longer;
    }
    return name;
}

static char *own_name(const struct tune_candidate *c) {
    return candidate_name(c, c->is_bare ? "without Hearth" : "Hearth, default settings");
}

static enum tune_outcome time_one(struct tune_trial *t, struct tune_candidate *c) {
    char *name = own_name(c);
    enum tune_outcome outcome = tune_trial_run(t, c, name, false);
    free(name);
    return outcome;
}

static void drop_slow(struct tune_trial *t, struct tune_round *round, size_t left) {
    struct tune_interval first = tune_interval(round->of[0].seconds, round->of[0].count);
    for (size_t i = 1; i < round->count; i++) {
        struct tune_candidate *c = &round->of[i];
        if (!is_running(c) || c->count < FEW || !left)
            continue;
        struct tune_interval own = tune_interval(c->seconds, c->count);
        c->is_dropped = tune_is_slower(&own, &first);
        if (c->is_dropped)
            t->planned -= left;
    }
}

enum tune_outcome tune_round_time(struct tune_trial *t, struct tune_round *round, size_t runs) {
    for (size_t r = 0; r < runs; r++) {
        for (size_t k = 0; k < round->count; k++) {
            struct tune_candidate *c = &round->of[(r + k) % round->count];
            if (!is_running(c))
                continue;
            enum tune_outcome outcome = time_one(t, c);
            if (outcome == TUNE_FAILED)
                t->planned -= runs - r - 1;
            if (outcome == TUNE_STOPPED || (outcome == TUNE_FAILED && c == round->of))
                return outcome;
        }
        drop_slow(t, round, runs - r - 1);
    }
    return TUNE_GOOD;
}

/* Runs of the same round have the same index. */
static bool is_clearly_faster(const struct tune_candidate *a, const struct tune_candidate *b) {
    size_t rounds = a->count < b->count ? a->count : b->count;
    if (!rounds)
        return false;
    struct tune_interval x = tune_interval(a->seconds, a->count), y = tune_interval(b->seconds, b->count);
    return tune_is_faster(&x, &y) || tune_is_faster_in_turn(a->seconds, b->seconds, rounds);
}

bool tune_round_is_winner(const struct tune_round *round, const struct tune_candidate *c) {
    return is_running(c) && c != round->of && is_clearly_faster(c, &round->of[0]);
}

double tune_round_gain(const struct tune_round *round, const struct tune_candidate *c) {
    const struct tune_candidate *first = &round->of[0];
    if (*c->failure || !c->count || !first->count)
        return 0;
    return tune_interval(first->seconds, first->count).median / tune_interval(c->seconds, c->count).median;
}

static bool has_setting(const struct tune_candidate *c, const char *setting) {
    for (size_t i = 0; i < c->settings.count; i++)
        if (!strcmp(c->settings.of[i], setting))
            return true;
    return false;
}

/* Whether all settings of `part` are among those of `c`, which has more. */
static bool is_part(const struct tune_candidate *part, const struct tune_candidate *c) {
    bool all = part->settings.count < c->settings.count;
    for (size_t i = 0; i < part->settings.count && all; i++)
        all = has_setting(c, part->settings.of[i]);
    return all;
}

static struct tune_candidate *fastest(struct tune_round *round) {
    struct tune_candidate *best = NULL;
    double least = INFINITY;
    for (size_t i = 1; i < round->count; i++) {
        struct tune_candidate *c = &round->of[i];
        if (!tune_round_is_winner(round, c))
            continue;
        double median = tune_interval(c->seconds, c->count).median;
        if (median < least) {
            least = median;
            best = c;
        }
    }
    return best;
}

/* A setting without which the program is not clearly slower is not kept. */
struct tune_candidate *tune_round_best(struct tune_round *round) {
    struct tune_candidate *best = fastest(round);
    for (size_t i = 1; best && i < round->count; i++) {
        struct tune_candidate *c = &round->of[i];
        if (tune_round_is_winner(round, c) && is_part(c, best) && !is_clearly_faster(best, c))
            best = c;
    }
    return best;
}

/* ---- printing ---- */

static void print_verdict(FILE *file, const struct tune_round *round, const struct tune_candidate *c) {
    if (c == round->of)
        return;
    struct tune_interval own = tune_interval(c->seconds, c->count),
                         first = tune_interval(round->of[0].seconds, round->of[0].count);
    if (is_clearly_faster(c, &round->of[0]))
        fprintf(file, "   %.2f times as fast%s", first.median / own.median,
                tune_is_faster(&own, &first) ? "" : ", in every round");
    else if (tune_is_slower(&own, &first))
        fprintf(file, "   slower%s", c->is_dropped ? ", dropped" : "");
    else
        fputs("   no clear difference", file);
}

void tune_round_print(FILE *file, const struct tune_round *round, const char *first) {
    int width = 0;
    for (size_t i = 0; i < round->count; i++) {
        char *name = i ? own_name(&round->of[i]) : need_copy(first);
        width = (int)strlen(name) > width ? (int)strlen(name) : width;
        free(name);
    }
    fprintf(file, "  %-*s %8s   %s\n", width, "seconds", "median", "interval");
    for (size_t i = 0; i < round->count; i++) {
        const struct tune_candidate *c = &round->of[i];
        char *name = i ? own_name(c) : need_copy(first);
        fprintf(file, "  %-*s", width, name);
        free(name);
        if (*c->failure) {
            fprintf(file, " failed: %s\n", c->failure);
            continue;
        }
        struct tune_interval own = tune_interval(c->seconds, c->count);
        fprintf(file, " %8.3f   %.3f to %.3f", own.median, own.low, own.high);
        print_verdict(file, round, c);
        fputc('\n', file);
    }
}
