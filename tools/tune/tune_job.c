/* tune_job.c: one run of the user's command.
 *
 *      hearth tune --- sigtimedwait: SIGCHLD, SIGINT, SIGTERM, SIGHUP, or the time limit
 *          |
 *          +-- launcher, in a process group of its own, so that Ctrl-C reaches hearth tune alone
 *                +-- ranks, in groups that the launcher chooses
 *
 * To end a job, the launcher gets SIGTERM, on which it ends its ranks and removes their files. If it takes too long, its group
 * gets SIGKILL. Processes that lose their parent become children of hearth tune (PR_SET_CHILD_SUBREAPER), which kills them
 * then: nothing of a job that was ended survives it.
 *
 * The files lie in the current folder, as rank 0, which writes the report, may run on another node with another /tmp. */
#include "tune/tune_job.h"

#include <ftw.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "run/run.h"
#include "tools.h"

enum { PATIENCE = 10 }; /* seconds for a launcher to end its job */

static sigset_t awaited, before;

/* ---- files ---- */

static int make_folder(struct tune_jobs *jobs) {
    char here[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    jobs->folder = getcwd(here, sizeof here) ? need_text("%s/.hearth-tune-XXXXXX", here) : need_copy("");
    if (mkdtemp(jobs->folder))
        return 0;
    free(jobs->folder);
    jobs->folder = need_text("%s/hearth-tune-XXXXXX", temporary && *temporary == '/' ? temporary : "/tmp");
    if (mkdtemp(jobs->folder))
        return 0;
    int err = refuse("cannot make a folder for output in the current folder or in %s: %s; change to "
                     "a folder that you may write to",
                     jobs->folder, strerror(errno));
    free(jobs->folder);
    jobs->folder = NULL;
    return err;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *place) {
    (void)st, (void)kind, (void)place;
    remove(path);
    return 0; /* and the others */
}

/* Ranks that were killed leave parts of a report. */
static void remove_folder(const struct tune_jobs *jobs) {
    enum { DESCRIPTORS = 8 };
    nftw(jobs->folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

int tune_jobs_open(struct tune_jobs *jobs) {
    int err = make_folder(jobs);
    if (err)
        return err;
    jobs->output = need_text("%s/output", jobs->folder);
    jobs->errors = need_text("%s/errors", jobs->folder);
    jobs->report = need_text("%s/report.json", jobs->folder);
    jobs->verified = need_text("%s/verified", jobs->folder);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGHUP);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    return 0;
}

void tune_jobs_close(struct tune_jobs *jobs) {
    if (!jobs->folder)
        return;
    remove_folder(jobs);
    free(jobs->folder);
    free(jobs->output);
    free(jobs->errors);
    free(jobs->report);
    free(jobs->verified);
    jobs->folder = NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (jobs->signal) {
        fflush(NULL);
        signal(jobs->signal, SIG_DFL);
        raise(jobs->signal);
    }
}

/* ---- the end of a job ---- */

static double tune_now(void) {
    return (double)clock_ns() * 1e-9;
}

/* Kills the children of this process; returns whether there were any. */
static bool kill_children(void) {
    DIR *all = opendir("/proc");
    bool any = false;
    for (struct dirent *entry; all && (entry = readdir(all));)
        if (*entry->d_name >= '1' && *entry->d_name <= '9' &&
            process_parent(atoi(entry->d_name)) == getpid()) {
            kill((pid_t)atoi(entry->d_name), SIGKILL);
            any = true;
        }
    if (all)
        closedir(all);
    return any;
}

static void reap_children(void) {
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* Orphans arrive here when their parents die, so one round is not enough. */
static void sweep(void) {
    for (int round = 0; round < 200 && kill_children(); round++) {
        reap_children();
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    reap_children();
}

/* Waits for the process, a signal, or the time. Returns the signal that came, 0: the process has ended, -1: the time is up. */
static int await(pid_t process, double until, int *status) {
    for (;;) {
        siginfo_t info;
        if (waitpid(process, status, WNOHANG) == process)
            return 0;
        double left = until - tune_now();
        if (left <= 0)
            return -1;
        left = left < 1 ? left : 1;
        struct timespec patience = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        int got = sigtimedwait(&awaited, &info, &patience);
        if (got > 0 && got != SIGCHLD)
            return got;
    }
}

static void end_job(pid_t job, int *status) {
    double until = tune_now() + PATIENCE;
    kill(-job, SIGTERM);
    int came;
    while ((came = await(job, until, status)) > 0) /* further signals change nothing */
        ;
    kill(-job, SIGKILL);
    if (came < 0)
        waitpid(job, status, 0);
    sweep();
}

/* Waits for the job, and ends it if a signal comes or the time is up. */
static int tune_job_await(struct tune_jobs *jobs, pid_t job, double limit, struct tune_end *end) {
    int status = 0;
    double started = tune_now();
    int came = await(job, started + (limit > 0 ? limit : 1e9), &status);
    end->seconds = tune_now() - started;
    if (came)
        end_job(job, &status);
    reap_children();
    end->timed_out = came < 0;
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    jobs->signal = came > 0 ? came : 0;
    return came > 0 ? -1 : 0;
}

/* ---- the start of a job ---- */

static void redirect(const char *path, int flags, int descriptor) {
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        _exit(126);
    if (file != descriptor)
        close(file);
}

/* In the child. Every run reads the input from its start if it is a file; a terminal or a pipe cannot be read again. */
static void child_begin(const struct tune_jobs *jobs) {
    struct stat st;
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    bool is_file = !fstat(STDIN_FILENO, &st) && S_ISREG(st.st_mode);
    redirect(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY, STDIN_FILENO);
    redirect(jobs->output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    redirect(jobs->errors, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
}

int tune_job_run(struct tune_jobs *jobs, const struct strvec *settings, struct tune_end *end) {
    struct run_options options = {.wanted = jobs->wanted, .is_bare = !settings, .no_profile = true};
    if (settings)
        options.settings = *settings;
    fflush(NULL);
    unlink(jobs->report);
    pid_t job = fork();
    if (!job) {
        child_begin(jobs);
        _exit(run_command(&options, jobs->argc, jobs->argv));
    }
    *end = (struct tune_end){.status = 126};
    if (job < 0) {
        log_error("cannot start a process: %m");
        return 0;
    }
    setpgid(job, job); /* also done by the child: whichever is first */
    return tune_job_await(jobs, job, jobs->limit, end);
}

int tune_job_verify(struct tune_jobs *jobs, const char *command) {
    struct tune_end end;
    fflush(NULL);
    pid_t job = fork();
    if (!job) {
        setpgid(0, 0);
        sigprocmask(SIG_SETMASK, &before, NULL);
        redirect(jobs->output, O_RDONLY, STDIN_FILENO);
        redirect("/dev/null", O_WRONLY, STDOUT_FILENO);
        redirect(jobs->verified, O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (job < 0)
        return 126;
    setpgid(job, job);
    return tune_job_await(jobs, job, 0, &end) ? -1 : end.status;
}
