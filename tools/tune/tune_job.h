/* tune_job.h: runs the user's command once, as a job of its own that a signal to hearth tune ends. */
#ifndef HEARTH_TOOLS_TUNE_JOB_H
#define HEARTH_TOOLS_TUNE_JOB_H

#include <stdbool.h>

#include "run/launcher/flavour.h"
#include "run/strvec.h"

struct tune_jobs {
    int argc;
    char **argv; /* the user's command */
    enum flavour wanted;
    char *folder;            /* holds the files below; removed by tune_jobs_close */
    char *output, *errors;   /* files with stdout and stderr of the last job */
    char *report, *verified; /* its report, if it was asked to write one; messages of tune_job_verify */
    double limit;            /* seconds after which a job is ended; 0: none */
    int signal;              /* that ended a job; 0: none */
};

struct tune_end {
    double seconds;
    int status; /* exit code, or 128 and the signal */
    bool timed_out;
};

/* From here on SIGINT, SIGTERM and SIGHUP end the job that runs, not this process. Returns 0, or an exit code after an
 * error line. */
int tune_jobs_open(struct tune_jobs *jobs);
/* Removes all files. If a signal came, ends the process by it. */
void tune_jobs_close(struct tune_jobs *jobs);

/* Runs the command: settings NULL without Hearth, else with these. Returns 0, or -1 if a signal came. */
int tune_job_run(struct tune_jobs *jobs, const struct strvec *settings, struct tune_end *end);

/* Runs a shell command with the output of the last job as its input; `verified` then has its stderr. Returns its exit code, or -1 if a signal came. */
int tune_job_verify(struct tune_jobs *jobs, const char *command);

#endif
