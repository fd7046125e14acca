/* watch.c: see watch.h.
 *
 *      hearth run job.sh        LINKS/seen.PID is made; the process becomes the script and keeps its number
 *        mpirun -n 2 ./app      LINKS/mpirun removes the seen.PID of each of its ancestors
 *      the script has ended     the watcher finds seen.PID: no launcher was called through the links
 *
 * The script keeps its process, so that signals and exit status are its own. The watcher is no child of it. The mark is a file,
 * since a script may empty the environment.
 *
 *      hearth run --report F    the process becomes the launcher; when it has ended, the watcher looks at F and at F.parts */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tools.h"

static char *mark_path(const char *folder, int pid) {
    return need_text("%s/seen.%d", folder, pid);
}

/* ---- the watcher ---- */

static bool wait_for_end(int script) {
    struct pollfd end = {.fd = script, .events = POLLIN};
    while (poll(&end, 1, -1) < 0)
        if (errno != EINTR)
            return false;
    return true;
}

/* What the watcher does when the process has ended. */
typedef void watch_tell(const void *what);

/* Only stderr stays open, for the line: a reader of the output gets its end when the process ends. */
static void watch(int watched, watch_tell *tell, const void *what) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
    }
    if (wait_for_end(watched))
        tell(what);
}

/* Watches this process, by a process in between, so that init collects the watcher. */
static void start_watcher(int self, watch_tell *tell, const void *what) {
    fflush(NULL);
    pid_t between = fork();
    if (between == 0) {
        if (fork() == 0)
            watch(self, tell, what);
        _exit(0);
    }
    if (between > 0)
        waitpid(between, NULL, 0);
}

/* ---- a report ---- */

/* A file or folder as it was: a later write changes one of these. */
struct written {
    ino_t number;
    struct timespec changed;
};

struct watched_report {
    const char *path;
    char *parts;
    struct written path_before, parts_before;
};

static struct written written_now(const char *path) {
    struct stat s;
    return lstat(path, &s) ? (struct written){0} : (struct written){.number = s.st_ino, .changed = s.st_ctim};
}

static bool is_written(const char *path, struct written before) {
    struct written now = written_now(path);
    return now.number && (now.number != before.number || now.changed.tv_sec != before.changed.tv_sec ||
                          now.changed.tv_nsec != before.changed.tv_nsec);
}

static void tell_report(const void *what) {
    const struct watched_report *r = what;
    if (!r->path || is_written(r->path, r->path_before))
        return;
    if (is_written(r->parts, r->parts_before))
        log_warn(
            "%s: the job did not end through MPI_Finalize; hearth report %s shows what the ranks had written "
            "before",
            r->path, r->path);
    else
        log_warn(
            "%s: no rank has written a report: the job ended before MPI_Init was complete, or soon after it "
            "and not through MPI_Finalize; or a script emptied the environment, which holds --report",
            r->path);
}

/* path NULL: there is none. */
static struct watched_report report_as_it_is(const char *path) {
    struct watched_report r = {.path = path};
    if (!path)
        return r;
    r.parts = need_text("%s.parts", path);
    r.path_before = written_now(r.path);
    r.parts_before = written_now(r.parts);
    return r;
}

void watch_report(const char *path) {
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (self < 0)
        return;
    struct watched_report r = report_as_it_is(path);
    start_watcher(self, tell_report, &r);
    free(r.parts);
    close(self);
}

/* ---- a script ---- */

struct watched_script {
    const char *mark, *name;
    struct watched_report report;
};

static void tell_script(const void *what) {
    const struct watched_script *script = what;
    if (!unlink(script->mark))
        log_warn(
            "%s ended, and no launcher was called through the PATH that hearth run has set: nothing ran "
            "with Hearth. If it calls one by its path, or sets the PATH anew, write hearth run before that "
            "launcher in the script",
            script->name);
    else
        tell_report(&script->report);
}

void watch_script(const char *folder, const char *script, const char *report) {
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    char *mark = mark_path(folder, (int)getpid());
    unlink(mark); /* of an earlier process with this number */
    int file = self < 0 ? -1 : open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        close(file);
        struct watched_script s = {mark, script, report_as_it_is(report)};
        start_watcher(self, tell_script, &s);
        free(s.report.parts);
    }
    if (self >= 0)
        close(self);
    free(mark);
}

/* ---- a launcher ---- */

void watch_saw_launcher(const char *folder) {
    enum { DEEPEST = 64 };
    int pid = (int)getpid();
    for (int i = 0; i < DEEPEST && pid > 1; i++, pid = process_parent(pid)) {
        char *mark = mark_path(folder, pid);
        unlink(mark);
        free(mark);
    }
}
