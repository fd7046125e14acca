/* watch.c: see watch.h.
 *
 *      hearth run job.sh        LINKS/seen.PID is made; the process becomes the script and keeps its number
 *        mpirun -n 2 ./app      LINKS/mpirun removes the seen.PID of each of its ancestors
 *      the script has ended     the watcher finds seen.PID: no launcher was called through the links
 *
 * The script keeps its process, so that signals and exit status are its own. The watcher is no child of it. The mark is a file,
 * since a script may empty the environment. */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Only stderr stays open, for the line: a reader of the script's output gets its end when the script ends. */
static void watch(int script, const char *mark, const char *name) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        dup2(nothing, STDOUT_FILENO);
    }
    if (wait_for_end(script) && !unlink(mark))
        log_warn(
            "%s ended, and no launcher was called through the PATH that hearth run has set: nothing ran with "
            "Hearth. If it calls "
            "one by its path, or sets the PATH anew, write hearth run before that launcher in the script",
            name);
}

/* By a process in between, so that init collects the watcher. */
static void start_watcher(int script, const char *mark, const char *name) {
    pid_t between = fork();
    if (between == 0) {
        if (fork() == 0)
            watch(script, mark, name);
        _exit(0);
    }
    if (between > 0)
        waitpid(between, NULL, 0);
}

void watch_script(const char *folder, const char *script) {
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    char *mark = mark_path(folder, (int)getpid());
    unlink(mark); /* of an earlier process with this number */
    int file = self < 0 ? -1 : open(mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
        close(file);
        fflush(NULL);
        start_watcher(self, mark, script);
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
