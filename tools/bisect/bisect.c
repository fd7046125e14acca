/* bisect.c: `hearth bisect`: finds which mechanism of Hearth changes the result or the time of a program.
 *
 *      without Hearth           must succeed; what it prints and how long it takes is compared with
 *      Hearth, as it is set     does it differ?
 *      one mechanism off        for each: is the difference gone?
 *      all of them off          only if no single one explains a result: several together, or calls that pass through Hearth?
 *      one mechanism alone      of several that change the result: each of them
 *
 * The settings are those that hearth run would use: of the environment, and of the program's profile. */
#include "tools.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "run/run.h"
#include "tune/tune_round.h"

static const char help[] =
    "usage: hearth bisect [OPTION]... [--] mpirun -n 4 ./app [ARGUMENT]...\n"
    "\n"
    "Finds what of Hearth changes the result of a program, or its time: runs it without Hearth, with Hearth\n"
    "as hearth run would, and with each mechanism switched off. A program that fails, or does not verify,\n"
    "only with Hearth has another result.\n"
    "\n"
    "  --time          compare times, not results\n"
    "  --same-output   every run must print the same lines as the first one, in any order\n"
    "  --verify CMD    shell command that must succeed after every run, and reads the output of the run\n"
    "  --runs N        runs of each kind, 1 to 100; default 1, with --time 5, the least there\n"
    "  --mpi NAME      the program's MPI, mpich, openmpi or abi, if it cannot be detected\n"
    "\n"
    "The program's output is not shown. Its input must be a file, or none. Exit status 0: Hearth changes\n"
    "nothing; 1: it does, or the program does not run without it. Info keys of windows (clampi_mode,\n"
    "hearth_windows) override what is switched off here.\n";

/* In the order in which they are tried: the most frequent first. */
static const struct mechanism {
    const char *name, *off;
} mechanisms[] = {
    {"the cache of gets", "HEARTH_MODE=off"},     {"served windows", "HEARTH_WINDOWS=host"},
    {"matching of messages", "HEARTH_MATCH=off"}, {"the heater", "HEARTH_HEATER=off"},
    {"what hearth top shows", "HEARTH_LIVE=off"},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms, TIMED_RUNS = 5 };
_Static_assert(MECHANISMS <= (int)TUNE_OPTIONS,
               "a round has room for Hearth as it is set, none of it, and each mechanism off");

struct bisect {
    size_t runs; /* 0: not given */
    bool by_time;
    struct run_facts facts;
    struct tune_trial trial;
};

/* ---- runs ---- */

/* The settings of the profile that the environment does not set. */
static void add_profile(const struct bisect *b, struct tune_candidate *c) {
    const struct strvec *all = &b->facts.profile.settings;
    for (size_t i = 0; i < all->count; i++) {
        char *name = need_text("%.*s", (int)strcspn(all->of[i], "="), all->of[i]);
        if (!profile_environment(settings_find(name)))
            tune_candidate_add(c, all->of[i]);
        free(name);
    }
}

/* Switches off all mechanisms but one; MECHANISMS: all of them. */
static void add_off_but(struct tune_candidate *c, size_t kept) {
    for (size_t i = 0; i < MECHANISMS; i++)
        if (i != kept)
            tune_candidate_add(c, mechanisms[i].off);
}

/* As many runs as were asked for; the first that fails ends them. */
static enum tune_outcome bisect_run(struct bisect *b, struct tune_candidate *c, const char *what) {
    enum tune_outcome outcome = TUNE_GOOD;
    for (size_t i = 0; i < b->runs && outcome == TUNE_GOOD; i++)
        outcome = tune_trial_run(&b->trial, c, what, false);
    strvec_free(&c->settings);
    free(c->seconds);
    c->seconds = NULL;
    c->count = 0;
    return outcome;
}

/* ---- by result ---- */

static enum tune_outcome run_with_one_off(struct bisect *b, size_t i) {
    struct tune_candidate c = {0};
    add_profile(b, &c);
    tune_candidate_add(&c, mechanisms[i].off);
    return bisect_run(b, &c, mechanisms[i].off);
}

static enum tune_outcome run_with_only(struct bisect *b, size_t kept, const char *what) {
    struct tune_candidate c = {0};
    add_profile(b, &c);
    add_off_but(&c, kept);
    return bisect_run(b, &c, what);
}

/* Several change the result, or none: each alone. */
static enum tune_outcome find_several(struct bisect *b) {
    enum tune_outcome outcome = run_with_only(b, MECHANISMS, "all of them off");
    if (outcome == TUNE_FAILED)
        puts("With all mechanisms off the result still differs: it depends on calls that pass through "
             "Hearth, or on their time.");
    if (outcome != TUNE_GOOD)
        return outcome;
    size_t found = 0;
    for (size_t i = 0; i < MECHANISMS && outcome != TUNE_STOPPED; i++) {
        outcome = run_with_only(b, i, mechanisms[i].name);
        if (outcome == TUNE_FAILED && ++found)
            printf("Of several, this one changes the result: %s (%s switches it off).\n", mechanisms[i].name,
                   mechanisms[i].off);
    }
    if (!found && outcome != TUNE_STOPPED)
        puts("Only several mechanisms together change the result.");
    return outcome;
}

static int find_result(struct bisect *b) {
    struct tune_candidate set = {0};
    bool any = false;
    add_profile(b, &set);
    enum tune_outcome outcome = bisect_run(b, &set, "Hearth, as it is set");
    if (outcome == TUNE_GOOD) {
        puts("Hearth does not change the result.");
        return 0;
    }
    if (outcome == TUNE_FAILED)
        printf("With Hearth the program does not do what it does without: %s.\n", set.failure);
    for (size_t i = 0; i < MECHANISMS && outcome != TUNE_STOPPED; i++) {
        outcome = run_with_one_off(b, i);
        any |= outcome == TUNE_GOOD;
        if (outcome == TUNE_GOOD)
            printf("This changes the result: %s. With %s it is as without Hearth.\n", mechanisms[i].name,
                   mechanisms[i].off);
    }
    if (!any && outcome != TUNE_STOPPED)
        find_several(b);
    return 1;
}

/* ---- by time ---- */

/* The round's first is Hearth as it is set, the second the program without Hearth. */
static int judge_times(const struct tune_round *round) {
    const struct tune_candidate *bare = &round->of[1];
    bool any = false;
    tune_round_print(stdout, round, "Hearth, as it is set");
    if (!tune_round_is_winner(round, bare)) {
        puts("\nWithout Hearth the program is not clearly faster.");
        return 0;
    }
    putchar('\n');
    for (size_t i = 0; i < MECHANISMS; i++) {
        const struct tune_candidate *c = &round->of[2 + i];
        if (!tune_round_is_winner(round, c))
            continue;
        printf("This costs time: %s. With %s the program is %.2f times as fast.\n", mechanisms[i].name,
               mechanisms[i].off, tune_round_gain(round, c));
        any = true;
    }
    if (!any)
        puts("No single mechanism explains it: several together cost time, or calls that pass through Hearth "
             "(HEARTH=off).");
    return 1;
}

static int find_time(struct bisect *b) {
    struct tune_round round = {0};
    add_profile(b, tune_round_add(&round));
    tune_round_add(&round)->is_bare = true;
    for (size_t i = 0; i < MECHANISMS; i++) {
        struct tune_candidate *c = tune_round_add(&round);
        add_profile(b, c);
        tune_candidate_add(c, mechanisms[i].off);
    }
    b->trial.planned = b->trial.done + round.count * b->runs;
    enum tune_outcome outcome = tune_round_time(&b->trial, &round, b->runs);
    if (outcome == TUNE_FAILED)
        log_error("the program fails with Hearth (%s): hearth bisect without --time finds the reason",
                  round.of[0].failure);
    int code = outcome == TUNE_GOOD ? judge_times(&round) : 1;
    tune_round_free(&round);
    return code;
}

/* ---- all of it ---- */

static int bisect_all(struct bisect *b) {
    struct tune_candidate bare = {.is_bare = true};
    b->trial.planned = b->runs * (2 + MECHANISMS);
    enum tune_outcome outcome = bisect_run(b, &bare, "without Hearth");
    if (outcome == TUNE_FAILED)
        log_error("the program does not run without Hearth: %s", bare.failure);
    if (outcome != TUNE_GOOD)
        return 1;
    double seconds = b->trial.seconds / (double)b->trial.done;
    b->trial.jobs.limit = 10 * seconds > seconds + 60 ? 10 * seconds : seconds + 60;
    return b->by_time ? find_time(b) : find_result(b);
}

/* ---- options ---- */

enum { OPTION_TIME = 256, OPTION_SAME, OPTION_VERIFY, OPTION_RUNS, OPTION_MPI };

static int bisect_take_option(struct bisect *b, int option) {
    char *end;
    switch (option) {
    case OPTION_TIME:
        b->by_time = true;
        return 0;
    case OPTION_SAME:
        b->trial.same_output = true;
        return 0;
    case OPTION_VERIFY:
        b->trial.verify = optarg;
        return 0;
    case OPTION_RUNS:
        b->runs = strtoul(optarg, &end, 10);
        return *end || b->runs < 1 || b->runs > 100
                   ? refuse("--runs %s is not a number from 1 to 100", optarg)
                   : 0;
    }
    b->trial.jobs.wanted = flavour_named(optarg);
    return b->trial.jobs.wanted ? 0 : refuse("--mpi %s is unknown: use mpich, openmpi or abi", optarg);
}

static int bisect_read_options(struct bisect *b, int argc, char **argv) {
    static const struct option options[] = {
        {"time", no_argument, NULL, OPTION_TIME},           {"same-output", no_argument, NULL, OPTION_SAME},
        {"verify", required_argument, NULL, OPTION_VERIFY}, {"runs", required_argument, NULL, OPTION_RUNS},
        {"mpi", required_argument, NULL, OPTION_MPI},       {NULL, 0, NULL, 0}};
    int option;
    while (!(optind < argc && (!strcmp(argv[optind], "-n") || !strcmp(argv[optind], "-np"))) &&
           (option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        int err = option == '?' || option == ':' ? refuse_option(&command_bisect, option, argv)
                                                 : bisect_take_option(b, option);
        if (err)
            return err;
    }
    if (optind >= argc)
        return refuse("hearth bisect: no program is given; for example: hearth bisect mpirun -n 4 ./app");
    if (b->by_time && b->runs && b->runs < TIMED_RUNS)
        return refuse("--runs %zu: times of fewer than %d runs tell nothing", b->runs, TIMED_RUNS);
    b->runs = b->runs ? b->runs : b->by_time ? TIMED_RUNS : 1;
    b->trial.jobs.argc = argc - optind;
    b->trial.jobs.argv = argv + optind;
    return 0;
}

static int bisect_command_run(int argc, char **argv) {
    struct bisect b = {.trial = {.is_terminal = isatty(STDERR_FILENO)}};
    int err = bisect_read_options(&b, argc, argv);
    struct run_options options = {.wanted = b.trial.jobs.wanted};
    if (!err && settings_are_off())
        err = refuse(
            "HEARTH=off is in the environment: without it, hearth bisect can run the program with Hearth");
    err = err ? err : run_examine(&options, b.trial.jobs.argc, b.trial.jobs.argv, &b.facts);
    if (err || (err = tune_jobs_open(&b.trial.jobs)) != 0)
        return err;
    err = bisect_all(&b);
    tune_lines_free(&b.trial.output);
    profile_free(&b.facts.profile);
    tune_jobs_close(&b.trial.jobs);
    return err;
}

const struct command command_bisect = {.name = "bisect",
                                       .summary = "find what of Hearth changes a program's result or time",
                                       .help = help,
                                       .run = bisect_command_run};
