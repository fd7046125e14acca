/* tune.c: `hearth tune`: finds the settings with which a program is clearly faster than without Hearth, and keeps them in its
 * profile.
 *
 *      a run without Hearth           does it succeed? how long does it take? what does it print?
 *      a run that is observed         in which calls is the time? what would acquire mode serve?      tune_plan.c
 *      a run with every hit checked   only if acquire mode would serve gets: is it safe?
 *      round 1                        without Hearth, and each mechanism alone, in turn                tune_round.c
 *      round 2                        the best of them, and additions to it, in turn
 *      a run with every hit checked   if the settings use acquire mode in a way that was not checked yet
 *
 * Only settings whose times are clearly below those of round 1's first row are kept; additions only if they are clearly below
 * the best without them (tune_decide.c). A run that fails, prints something else or does not verify rejects its settings. */
#include "tools.h"

#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "report/report.h"
#include "tune/tune.h"

static const char help[] =
    "usage: hearth tune [OPTION]... [--] mpirun -n 4 ./app [ARGUMENT]...\n"
    "\n"
    "Measures whether Hearth makes a program faster, and with which settings: runs it without Hearth,\n"
    "observes it, and times the settings that may help in turn. Settings that are clearly faster are\n"
    "written to the program's profile, which hearth run applies from then on.\n"
    "\n"
    "  --runs N        measured runs of each candidate, 3 to 100; default 5\n"
    "  --same-output   every run must print the same lines as the first one, in any order\n"
    "  --verify CMD    shell command that must succeed after every run, and reads the output of the run\n"
    "  --output FILE   write the settings to this file instead of the profile\n"
    "  --mpi NAME      the program's MPI, mpich, openmpi or abi, if it cannot be detected\n"
    "\n"
    "Acquire mode is used only after a run in which every hit was compared with the data at its target.\n"
    "The program's output is not shown. Its input must be a file, or none. Ctrl-C ends the job, and leaves "
    "no\n"
    "file. Nothing is written unless something is clearly faster.\n";

/* ---- the runs before the measurement ---- */

static int stopped_or(enum tune_outcome outcome, int code) {
    return outcome == TUNE_STOPPED ? 1 : code;
}

static void print_duration(FILE *file, double seconds) {
    if (seconds < 100)
        fprintf(file, "%.0f s", seconds < 1 ? 1 : seconds);
    else
        fprintf(file, "%.0f minutes", seconds / 60 + 0.5);
}

/* The first run is slower than the others on many machines, and is not counted. */
static int run_bare(struct tune *t) {
    struct tune_candidate bare = {.is_bare = true};
    size_t most = 4 + t->runs * (1 + 5) + t->runs * (1 + 5);
    t->trial.planned = most;
    enum tune_outcome outcome = tune_trial_run(&t->trial, &bare, "without Hearth", false);
    if (outcome == TUNE_FAILED)
        log_error("the program does not run without Hearth: %s", bare.failure);
    if (outcome == TUNE_GOOD) {
        double seconds = bare.seconds[0];
        fprintf(stderr, "hearth: a run takes %.2f s without Hearth; at most %zu runs: up to ", seconds, most);
        print_duration(stderr, seconds * (double)most);
        fputs(". Ctrl-C ends it.\n", stderr);
        t->trial.jobs.limit = 10 * seconds > seconds + 60 ? 10 * seconds : seconds + 60;
    }
    free(bare.seconds);
    return outcome == TUNE_GOOD ? 0 : stopped_or(outcome, 1);
}

static unsigned cores_here(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* A quarter of the memory, divided among as many ranks as there may be on a node. */
static uint64_t memory_of_rank(const struct run *run) {
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    size_t hosts = run->host_count ? run->host_count : 1, ranks = (run->rank_count + hosts - 1) / hosts;
    return all / 4 / (ranks ? ranks : 1);
}

static int read_own_report(const struct tune *t, struct run *run) {
    if (!access(t->trial.jobs.report, R_OK))
        return report_read(t->trial.jobs.report, run);
    log_error(
        "the run wrote no report: hearth tune needs a program that ends with MPI_Finalize, and whose rank "
        "0 can write in the current folder");
    return 1;
}

static void print_wrapped(const char *text) {
    enum { WIDTH = 100 };
    for (size_t column = 0; *text;) {
        size_t word = strcspn(text, " ");
        bool breaks = column && column + 1 + word > WIDTH;
        printf("%s%.*s", breaks ? "\n" : column ? " " : "", (int)word, text);
        column = breaks || !column ? word : column + 1 + word;
        text += word + strspn(text + word, " ");
    }
    puts("\n");
}

static int observe(struct tune *t) {
    struct tune_candidate observed = {0};
    struct run run;
    enum tune_outcome outcome = tune_trial_run(&t->trial, &observed, "observed", true);
    free(observed.seconds);
    if (outcome == TUNE_FAILED)
        log_error("the program does not run with Hearth's default settings: %s", observed.failure);
    if (outcome != TUNE_GOOD)
        return stopped_or(outcome, 1);
    int err = read_own_report(t, &run);
    if (err)
        return err;
    t->seen = tune_plan_see(&run, cores_here());
    t->ranks = run.rank_count;
    char *verdict = report_verdict(&run);
    print_wrapped(verdict);
    free(verdict);
    report_free(&run);
    return 0;
}

static void print_checked(const struct tune *t, const struct tune_stale *stale) {
    if (stale->stale)
        printf("Acquire mode is not safe for this program: %" PRIu64 " of %" PRIu64 " hits were stale.\n",
               stale->stale, stale->checked);
    else if (stale->ranks != t->ranks)
        printf("Acquire mode: %" PRIu64 " of %" PRIu64 " ranks reported their hits: not checked.\n",
               stale->ranks, t->ranks);
    else if (!stale->checked)
        puts("Acquire mode had no hits to check.");
    else
        printf("Acquire mode: %" PRIu64 " hits were checked, none was stale.\n", stale->checked);
}

/* Runs these settings with every hit checked. Returns 0 with *is_safe, or an exit code. A rank whose line is missing may have had stale
 * hits: the launcher may have lost its output. */
static int check_acquire(struct tune *t, const struct strvec *settings, bool wants_report, bool *is_safe) {
    struct tune_candidate checked = {0};
    for (size_t i = 0; i < settings->count; i++)
        tune_candidate_add(&checked, settings->of[i]);
    tune_candidate_add(&checked, "HEARTH_CHECK=on");
    tune_candidate_add(&checked, "HEARTH_LOG=warn"); /* the summary is a warning */
    enum tune_outcome outcome = tune_trial_run(&t->trial, &checked, "every hit checked", wants_report);
    struct tune_stale stale = tune_stale_read(t->trial.jobs.errors);
    *is_safe = outcome == TUNE_GOOD && stale.ranks == t->ranks && stale.checked && !stale.stale;
    if (outcome == TUNE_FAILED)
        printf("Acquire mode with every hit checked failed: %s.\n", checked.failure);
    else if (outcome == TUNE_GOOD)
        print_checked(t, &stale);
    if (*is_safe)
        t->stale = stale;
    t->is_unsafe |= outcome == TUNE_FAILED || stale.stale;
    strvec_free(&checked.settings);
    free(checked.seconds);
    return outcome == TUNE_STOPPED;
}

static int check_first(struct tune *t) {
    struct strvec acquire = {0};
    struct run run;
    if (!tune_plan_wants_check(&t->seen))
        return 0;
    strvec_add(&acquire, "HEARTH_MODE=acquire");
    int err = check_acquire(t, &acquire, true, &t->has_cache);
    strvec_free(&acquire);
    if (err || !t->has_cache)
        return err;
    err = read_own_report(t, &run);
    if (err)
        return err;
    t->cache = tune_plan_see_cache(&run, memory_of_rank(&run));
    report_free(&run);
    return 0;
}

/* ---- the measurement ---- */

static void add_option(struct tune_round *round, const struct strvec *base,
                       const struct tune_option *option) {
    struct tune_candidate *c = tune_round_add(round);
    for (size_t i = 0; base && i < base->count; i++)
        tune_candidate_add(c, base->of[i]);
    for (size_t i = 0; i < 3 && *option->settings[i]; i++)
        tune_candidate_add(c, option->settings[i]);
}

static void plan_rounds(struct tune *t, size_t candidates, size_t more) {
    t->trial.planned = t->trial.done + t->runs * candidates + more;
}

static int time_first(struct tune *t) {
    struct tune_option options[TUNE_OPTIONS];
    size_t count = tune_plan_first(&t->seen, t->has_cache ? &t->cache : NULL, options);
    tune_round_add(&t->first)->is_bare = true;
    for (size_t i = 0; i < count; i++)
        add_option(&t->first, NULL, &options[i]);
    if (!count)
        return 0;
    plan_rounds(t, 1 + count, 0);
    enum tune_outcome outcome = tune_round_time(&t->trial, &t->first, t->runs);
    if (outcome == TUNE_FAILED)
        log_error("the program does not always run without Hearth: %s", t->first.of[0].failure);
    if (outcome == TUNE_GOOD)
        tune_round_print(stdout, &t->first, "without Hearth");
    return outcome == TUNE_GOOD ? 0 : stopped_or(outcome, 1);
}

static void keep(struct tune *t, const struct tune_candidate *c) {
    strvec_free(&t->kept);
    for (size_t i = 0; i < c->settings.count; i++)
        strvec_add(&t->kept, c->settings.of[i]);
    t->kept_time = tune_interval(c->seconds, c->count);
}

static bool names_same_setting(const char *a, const char *b) {
    size_t length = strcspn(a, "=");
    return !strncmp(a, b, length + 1);
}

static void add_missing(struct tune_candidate *to, const struct tune_candidate *from) {
    for (size_t i = 0; i < from->settings.count; i++) {
        bool is_there = false;
        for (size_t k = 0; k < to->settings.count; k++)
            is_there |= names_same_setting(from->settings.of[i], to->settings.of[k]);
        if (!is_there)
            tune_candidate_add(to, from->settings.of[i]);
    }
}

/* The best together with each of the others that may gain something too, clearly or not. */
static void add_pairs(struct tune *t, const struct tune_candidate *best) {
    for (size_t i = 1; i < t->first.count; i++) {
        const struct tune_candidate *c = &t->first.of[i];
        struct tune_candidate both = {0};
        if (c == best || c->is_dropped || tune_round_gain(&t->first, c) < TUNE_PROMISING)
            continue;
        add_missing(&both, best);
        add_missing(&both, c);
        if (both.settings.count > best->settings.count && t->second.count < TUNE_OPTIONS)
            add_missing(tune_round_add(&t->second), &both);
        strvec_free(&both.settings);
    }
}

static int time_second(struct tune *t, const struct tune_candidate *best) {
    struct tune_option options[TUNE_OPTIONS];
    size_t count = tune_plan_second(&t->seen, t->has_cache ? &t->cache : NULL, &best->settings, options);
    add_missing(tune_round_add(&t->second), best);
    add_pairs(t, best);
    for (size_t i = 0; i < count; i++)
        add_option(&t->second, &best->settings, &options[i]);
    if (t->second.count == 1)
        return 0;
    plan_rounds(t, t->second.count, 0);
    enum tune_outcome outcome = tune_round_time(&t->trial, &t->second, t->runs);
    if (outcome == TUNE_STOPPED)
        return 1;
    puts("\nAdditions to the best of these:");
    tune_round_print(stdout, &t->second, "the best, again");
    const struct tune_candidate *better = tune_round_best(&t->second);
    if (better)
        keep(t, better);
    return 0;
}

/* The final settings must have been checked themselves if they use acquire mode. */
static int check_last(struct tune *t) {
    bool is_safe = true;
    if (!tune_plan_acquires(&t->kept) || t->kept.count == 1)
        return 0;
    t->trial.planned = t->trial.done + 1;
    int err = check_acquire(t, &t->kept, false, &is_safe);
    if (!err && !is_safe)
        strvec_free(&t->kept);
    return err;
}

static int tune_all(struct tune *t) {
    int err = run_bare(t);
    err = err ? err : observe(t);
    err = err ? err : check_first(t);
    err = err ? err : time_first(t);
    const struct tune_candidate *best = err ? NULL : tune_round_best(&t->first);
    if (best) {
        t->bare_time = tune_interval(t->first.of[0].seconds, t->first.of[0].count);
        keep(t, best);
        err = time_second(t, best);
        size_t before = t->kept.count;
        err = err ? err : check_last(t);
        if (!err && before && !t->kept.count) /* the last check failed */
            best = NULL;
    }
    return err ? err : tune_conclude(t, best != NULL);
}

/* ---- options ---- */

enum { OPTION_RUNS = 256, OPTION_VERIFY, OPTION_SAME, OPTION_OUTPUT, OPTION_MPI };

static int tune_take_runs(struct tune *t, const char *text) {
    char *end;
    unsigned long runs = strtoul(text, &end, 10);
    if (*end || end == text || runs < 3 || runs > 100)
        return refuse("--runs %s is not a number from 3 to 100", text);
    t->runs = runs;
    return 0;
}

static int tune_take_option(struct tune *t, int option) {
    switch (option) {
    case OPTION_RUNS:
        return tune_take_runs(t, optarg);
    case OPTION_VERIFY:
        t->trial.verify = optarg;
        return 0;
    case OPTION_OUTPUT:
        t->output = optarg;
        return 0;
    case OPTION_MPI:
        t->trial.jobs.wanted = flavour_named(optarg);
        return t->trial.jobs.wanted ? 0 : refuse("--mpi %s is unknown: use mpich, openmpi or abi", optarg);
    }
    t->trial.same_output = true;
    return 0;
}

static int tune_read_options(struct tune *t, int argc, char **argv) {
    static const struct option options[] = {
        {"runs", required_argument, NULL, OPTION_RUNS},  {"verify", required_argument, NULL, OPTION_VERIFY},
        {"same-output", no_argument, NULL, OPTION_SAME}, {"output", required_argument, NULL, OPTION_OUTPUT},
        {"mpi", required_argument, NULL, OPTION_MPI},    {NULL, 0, NULL, 0}};
    int option;
    while (!(optind < argc && (!strcmp(argv[optind], "-n") || !strcmp(argv[optind], "-np"))) &&
           (option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        int err = option == '?' || option == ':' ? refuse_option(&command_tune, option, argv)
                                                 : tune_take_option(t, option);
        if (err)
            return err;
    }
    if (optind >= argc)
        return refuse("hearth tune: no program is given; for example: hearth tune mpirun -n 4 ./app");
    t->trial.jobs.argc = argc - optind;
    t->trial.jobs.argv = argv + optind;
    return 0;
}

/* A file that is there and is no profile may be the program, or its input. */
static int refuse_to_replace(const char *output) {
    struct profile there = {0};
    struct stat about;
    char why[300];
    if (stat(output, &about) || !about.st_size)
        return 0;
    int fault = profile_read_named(output, &there, why, sizeof why);
    profile_free(&there);
    return fault
               ? refuse("--output %s would replace a file that is no profile (%s): name another", output, why)
               : 0;
}

/* Finds mistakes before the first run, which may take long. */
static int tune_examine(struct tune *t) {
    struct run_options options = {.wanted = t->trial.jobs.wanted, .no_profile = true};
    char path[PATH_MAX];
    int err = run_examine(&options, t->trial.jobs.argc, t->trial.jobs.argv, &t->facts);
    if (err)
        return err;
    profile_free(&t->facts.profile);
    if (t->output && (err = refuse_to_replace(t->output)) != 0)
        return err;
    if (!t->output && (!t->facts.is_identified || !profile_path(&t->facts.identity, path)))
        return refuse(
            "nothing identifies this program, or there is no HOME, so that its settings have no place: "
            "name a file with --output");
    return 0;
}

static int tune_command_run(int argc, char **argv) {
    struct tune t = {.runs = 5};
    int err = tune_read_options(&t, argc, argv);
    err = err ? err : tune_examine(&t);
    t.trial.is_terminal = isatty(STDERR_FILENO);
    if (err || (err = tune_jobs_open(&t.trial.jobs)) != 0)
        return err;
    err = tune_all(&t);
    tune_round_free(&t.first);
    tune_round_free(&t.second);
    tune_lines_free(&t.trial.output);
    strvec_free(&t.kept);
    tune_jobs_close(&t.trial.jobs);
    return err;
}

const struct command command_tune = {.name = "tune",
                                     .summary =
                                         "find the settings with which a program is faster, and keep them",
                                     .help = help,
                                     .run = tune_command_run};
