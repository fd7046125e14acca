/* top.c: `hearth top`: live view of running jobs. */
#include "top/top.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "run/strvec.h"
#include "tools.h"

#define LEAST_DELAY 0.1
#define MOST_DELAY  3600.0

static const char help[] =
    "usage: hearth top [-d SECONDS] [--job N] [--program PATTERN] [--hosts A,B] [--once [--fold] [--json]]\n"
    "\n"
    "Shows your jobs on this node that use Hearth: for each process the rate of its gets and their "
    "hit ratio,\n"
    "the occupancy of its caches, the length of its message queues, the load of its helper "
    "threads, and\n"
    "the traffic to and from NVM. The programs are not disturbed: their counters are read "
    "in place.\n"
    "Programs started with HEARTH_LIVE=off are not shown, nor are those of other users.\n"
    "\n"
    "  -d, --delay SECONDS  sampling interval, from 0.1 to 3600; default 1\n"
    "                       with --once also 0: one sample, no rates\n"
    "  --job N              only the job with this number\n"
    "  --program PATTERN    only programs whose names match, such as 'lmp*'\n"
    "  --hosts A,B          jobs on these hosts, through ssh, instead of this one\n"
    "  --once               take two samples, print a table, and exit\n"
    "  --fold               with --once: print one line per job\n"
    "  --json               with --once: print JSON, for scripts\n"
    "\n"
    "Keys: q quits, h explains the columns, tab selects a job, enter unfolds or folds it, r asks it for a "
    "report\n"
    "(if it was started with HEARTH_REPORT=FILE), left and right select the sort column, R reverses the "
    "order,\n"
    "up, down, page up and page down scroll, space takes a sample now.\n";

struct wishes {
    double delay;
    bool once, json, fold;
    struct strvec hosts;
    struct top_choice choice;
};

static int take_delay(struct wishes *w, const char *text) {
    char *end;
    errno = 0;
    w->delay = strtod(text, &end);
    if (end == text || *end || !isfinite(w->delay) || w->delay < 0 || w->delay > MOST_DELAY)
        return refuse("-d %s is not a time in seconds, from %g to %g", text, LEAST_DELAY, MOST_DELAY);
    return 0;
}

static int take_job(struct wishes *w, const char *text) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < 1 || number > INT_MAX)
        return refuse("--job %s is not the number of a job, as hearth top shows it", text);
    w->choice.job = (int)number;
    return 0;
}

enum { OPTION_ONCE = 256, OPTION_JSON, OPTION_FOLD, OPTION_JOB, OPTION_PROGRAM, OPTION_HOSTS };

static int top_command_take_option(struct wishes *w, int option) {
    switch (option) {
    case 'd':
        return take_delay(w, optarg);
    case OPTION_JOB:
        return take_job(w, optarg);
    case OPTION_HOSTS:
        return top_remote_hosts(optarg, &w->hosts);
    case OPTION_PROGRAM:
        w->choice.program = optarg;
        return 0;
    }
    *(option == OPTION_ONCE ? &w->once : option == OPTION_JSON ? &w->json : &w->fold) = true;
    return 0;
}

/* Refuses contradictory options. */
static int top_command_check(const struct wishes *w) {
    if (w->json && !w->once)
        return refuse("--json is for --once: hearth top --once --json");
    if (w->fold && !w->once)
        return refuse("--fold is for --once: on the screen, enter folds a job");
    if (w->delay < LEAST_DELAY && !(w->once && w->delay == 0))
        return refuse("-d %g is too short: from %g to %g%s", w->delay, LEAST_DELAY, MOST_DELAY,
                      w->once ? ", or 0 for no rates" : "");
    return 0;
}

static int top_command_read_options(struct wishes *w, int argc, char **argv) {
    static const struct option options[] = {{"delay", required_argument, NULL, 'd'},
                                            {"once", no_argument, NULL, OPTION_ONCE},
                                            {"json", no_argument, NULL, OPTION_JSON},
                                            {"fold", no_argument, NULL, OPTION_FOLD},
                                            {"job", required_argument, NULL, OPTION_JOB},
                                            {"program", required_argument, NULL, OPTION_PROGRAM},
                                            {"hosts", required_argument, NULL, OPTION_HOSTS},
                                            {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "+:d:", options, NULL)) != -1) {
        int err = option == '?' || option == ':' ? refuse_option(&command_top, option, argv)
                                                 : top_command_take_option(w, option);
        if (err)
            return err;
    }
    if (optind < argc)
        return refuse("hearth top takes no argument such as %s: see hearth help top", argv[optind]);
    return top_command_check(w);
}

/* ---- once ---- */

static void print_table(struct top_jobs *jobs, bool fold) {
    struct top_table t;
    if (!jobs->count) {
        puts(top_nobody);
        return;
    }
    for (size_t i = 0; i < jobs->count; i++)
        jobs->of[i].is_folded = fold;
    top_table_make(&t, jobs, (struct top_order){.column = -1}, UINT32_MAX);
    puts(t.head);
    for (size_t i = 0; i < t.count; i++)
        puts(t.lines[i].text);
    top_table_free(&t);
}

static void top_command_wait_for(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&time, &time) && errno == EINTR)
        ;
}

/* The jobs here; returns the seconds between the two samples. */
static double look_here(const struct wishes *w, struct top_jobs *jobs) {
    struct top_sample before = {0}, now;
    bool twice = w->delay > 0;
    if (twice) {
        top_sample_take(&before, NULL);
        top_command_wait_for(w->delay);
    }
    top_sample_take(&now, twice ? &before : NULL);
    top_jobs_make(jobs, &now, twice ? &before : NULL);
    double seconds = twice ? (double)(now.ns - before.ns) / 1e9 : 0;
    top_sample_free(&now);
    top_sample_free(&before);
    return seconds;
}

static int look_once(const struct wishes *w) {
    struct top_jobs jobs;
    double seconds = w->delay;
    if (w->choice.hosts)
        top_remote_look(w->choice.hosts, w->delay, &jobs);
    else
        seconds = look_here(w, &jobs);
    top_jobs_choose(&jobs, &w->choice);
    if (w->json)
        top_json_print(stdout, &jobs, seconds);
    else
        print_table(&jobs, w->fold);
    int err = 0;
    if (jobs.silent) {
        log_error("no answer from %s: check that ssh to it needs no password, and that hearth is there in "
                  "the same folder",
                  jobs.silent);
        err = 1;
    }
    top_jobs_free(&jobs);
    return err;
}

static int top(int argc, char **argv) {
    struct wishes w = {.delay = 1};
    int err = top_command_read_options(&w, argc, argv);
    w.choice.hosts = w.hosts.count ? &w.hosts : NULL;
    if (!err)
        err = w.once ? look_once(&w) : top_screen_run(w.delay, &w.choice);
    strvec_free(&w.hosts);
    return err;
}

const struct command command_top = {
    .name = "top",
    .summary = "live view of your running jobs: hit ratios, rates, queues, helpers, NVM",
    .help = help,
    .run = top};
