/* tune_result.c: the result of hearth tune: what it says, and the profile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "tools.h"
#include "tune/tune.h"

extern char **environ;

static char *joined(const struct strvec *words) {
    char *text = need_copy("");
    for (size_t i = 0; i < words->count; i++) {
        char *longer = need_text("%s%s%s", text, i ? " " : "", words->of[i]);
        free(text);
        text = longer;
    }
    return text;
}

/* The comment at the head of the file. To be freed. */
static char *profile_head(const struct tune *t) {
    const struct tune_jobs *jobs = &t->trial.jobs;
    struct strvec words = {0};
    char date[32];
    time_t now = time(NULL);
    struct tm local;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", localtime_r(&now, &local));
    for (int i = 0; i < jobs->argc; i++)
        strvec_add(&words, jobs->argv[i]);
    char *command = strvec_quoted(&words);
    for (char *c = command; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    char *head = need_text(
        "# Program: %s, build %s, %" PRIu64 " ranks, %s\n"
        "# Command: %s\n"
        "# Found by hearth tune " HEARTH_VERSION " on %s, from %zu runs of each candidate:\n"
        "#   without Hearth        %.3f s (%.3f to %.3f)\n"
        "#   with these settings   %.3f s (%.3f to %.3f)\n",
        t->facts.is_identified ? t->facts.identity.name : jobs->argv[0],
        t->facts.is_identified ? t->facts.identity.key : "unknown", t->ranks, flavour_name(t->facts.flavour),
        command, date, t->runs, t->bare_time.median, t->bare_time.low, t->bare_time.high, t->kept_time.median,
        t->kept_time.low, t->kept_time.high);
    free(command);
    strvec_free(&words);
    return head;
}

/* Conditions of the runs that the settings may depend on. */
static char *profile_conditions(const struct tune *t) {
    char *text = tune_plan_acquires(&t->kept)
                     ? need_text("# Acquire mode: %" PRIu64 " hits were checked in a run, none was stale.\n",
                                 t->stale.checked)
                     : need_copy("");
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, "HEARTH_", 7) || !strncmp(*variable, "HEARTH_TEST_", 12) ||
            strchr(*variable, '\n'))
            continue;
        char *longer = need_text("%s# Environment: %s\n", text, *variable);
        free(text);
        text = longer;
    }
    return text;
}

static int write_profile(const struct tune *t, const char *path) {
    char why[300], *head = profile_head(t), *conditions = profile_conditions(t);
    char *comment = need_text("%s%s", head, conditions);
    int err = profile_write(path, comment, &t->kept, why, sizeof why);
    free(comment);
    free(conditions);
    free(head);
    if (err) {
        log_error("cannot write %s: %s; name another file with --output", path, why);
        return 1;
    }
    if (t->output)
        printf("Written to %s: hearth run --profile %s applies it.\n", path, path);
    else
        printf("Written to %s: hearth run applies it to this program on as many ranks.\n", path);
    return 0;
}

/* The candidate that gains most by the median, if that is notable and all checks were clean; NULL: none. */
static const struct tune_candidate *promising(const struct tune *t) {
    const struct tune_candidate *found = NULL;
    if (t->is_unsafe) /* an earlier profile may use what is not safe */
        return NULL;
    double most = TUNE_PROMISING;
    for (size_t i = 1; i < t->first.count; i++) {
        double gain = tune_round_gain(&t->first, &t->first.of[i]);
        if (gain > most) {
            most = gain;
            found = &t->first.of[i];
        }
    }
    return found;
}

/* A profile of an earlier run of this command is wrong now, unless the times vary too much to tell. */
static void remove_profile(const struct tune *t, const char *path, bool is_faster) {
    if (!is_faster && promising(t)) {
        if (!access(path, F_OK))
            printf("The profile %s of an earlier run stays.\n", path);
    } else if (!unlink(path)) {
        printf("The profile %s is removed.\n", path);
    }
}

static void print_nothing(const struct tune *t) {
    if (t->first.count == 1) {
        printf("Nothing to try: this program spends %.1f %% of its time in one-sided calls and %.1f %% in "
               "messages, and reuses %.1f %% of its gets.\nNo settings are kept.\n",
               100 * t->seen.one_sided, 100 * t->seen.messages, 100 * t->seen.acquire);
        return;
    }
    const struct tune_candidate *c = promising(t);
    puts("\nNothing is clearly faster than without Hearth. No settings are kept.");
    if (c && c->settings.count)
        printf(
            "%s was %.2f times as fast by the median, but the times vary too much: try a quiet machine, or "
            "--runs %zu.\n",
            c->settings.of[0], tune_round_gain(&t->first, c), 2 * t->runs > 100 ? 100 : 2 * t->runs);
}

int tune_conclude(struct tune *t, bool is_faster) {
    char place[PATH_MAX] = "";
    bool has_place = t->output || profile_path(&t->facts.identity, place);
    const char *path = t->output ? t->output : place;
    if (is_faster) {
        char *text = joined(&t->kept);
        printf("\nClearly faster: %.3f s instead of %.3f s, %.2f times as fast, with %s.\n",
               t->kept_time.median, t->bare_time.median, t->bare_time.median / t->kept_time.median,
               t->kept.count ? text : "hearth run and its default settings; no profile is needed");
        free(text);
    } else {
        print_nothing(t);
    }
    if (t->kept.count && has_place)
        return write_profile(t, path);
    if (!t->output && has_place)
        remove_profile(t, path, is_faster);
    return 0;
}
