/* top_ask.c: asks the processes of a job for a report, through the word that each of them shares (observe/ask.h). Those that write no
 * report have none. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "observe/ask.h"
#include "top/top.h"

static bool is_ask(int folder, const char *number) {
    static const char title[] = "/memfd:" ASK_TITLE;
    char link[128];
    ssize_t n = readlinkat(folder, number, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    return !strncmp(link, title, sizeof title - 1);
}

static bool ask_one(int pid) {
    char path[64];
    bool asked = false;
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && is_ask(dirfd(folder), entry->d_name))
            asked |= !ask_process(pid, atoi(entry->d_name));
    if (folder)
        closedir(folder);
    return asked;
}

size_t top_ask(const struct top_job *job) {
    size_t asked = 0;
    for (size_t i = 0; i < job->count; i++)
        asked += ask_one(job->rows[i].pid);
    return asked;
}
