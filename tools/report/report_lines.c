/* report_lines.c: source lines of call sites, from the debug information of the program's file. Debian's addr2line reads it, if
 * it is installed; it is started without a shell, and what it prints is not trusted. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/report.h"
#include "run/strvec.h"
#include "tools.h"

extern char **environ;

/* Starts it; its output can be read from the descriptor. Returns its process id, or -1. */
static pid_t lines_start(struct site *const *sites, size_t count, int *output) {
    int ends[2];
    pid_t pid = -1;
    struct strvec words = {0};
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    strvec_add(&words, "addr2line");
    strvec_add(&words, "-e");
    strvec_add(&words, sites[0]->file);
    for (size_t i = 0; i < count; i++) {
        char *offset = need_text("0x%" PRIx64, sites[i]->offset);
        strvec_add(&words, offset);
        free(offset);
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, words.of[0], &actions, NULL, words.of, environ))
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    strvec_free(&words);
    close(ends[1]);
    *output = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

/* "/src/solver.c:41 (discriminator 2)" -> "solver.c:41"; NULL if the line is unknown. */
static char *lines_clean(char *text) {
    text[strcspn(text, " \n")] = 0;
    char *colon = strrchr(text, ':'), *slash = strrchr(text, '/');
    if (!colon || colon[1] < '1' || colon[1] > '9' || !strncmp(text, "??", 2))
        return NULL;
    char *name = slash ? slash + 1 : text;
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || (unsigned char)*c > '~')
            return NULL;
    return need_copy(name);
}

void report_lines(struct site *const *sites, size_t count) {
    int output, status;
    pid_t pid = lines_start(sites, count, &output);
    FILE *file = pid < 0 ? NULL : fdopen(output, "r");
    char *text = NULL;
    size_t room = 0;
    for (size_t i = 0; file && i < count && getline(&text, &room, file) > 0; i++)
        sites[i]->line = lines_clean(text);
    free(text);
    if (file)
        fclose(file);
    else if (pid >= 0)
        close(output);
    while (pid >= 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}
