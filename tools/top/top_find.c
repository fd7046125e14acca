/* top_find.c: finds the processes that publish counters.
 *
 * A page of counters is a memfd: it has no path, but a title that /proc/PID/fd shows. So the descriptors of all
 * processes of this user are searched. A process may have several pages, of libraries that do not know of each other
 * (libarmci in a program with libhearth-mpi preloaded): their counters are added. Processes that we may not inspect,
 * and those that have ended, are not shown. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/live.h"
#include "tools.h"
#include "top/top.h"

/* ---- the pages of a process ---- */

static bool top_find_has_title(const char *link) {
    static const char title[] = "/memfd:" LIVE_TITLE;
    return !strncmp(link, title, sizeof title - 1) &&
           (!link[sizeof title - 1] || link[sizeof title - 1] == ' ');
}

/* The process may reuse the descriptor number meanwhile, so the file that was checked is the one that is opened. */
static int open_titled(int folder, const char *number) {
    char path[64], link[128];
    int seen = openat(folder, number, O_PATH | O_CLOEXEC), opened = -1;
    if (seen < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", seen);
    ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    if (top_find_has_title(link))
        opened = open(path, O_RDONLY | O_CLOEXEC);
    close(seen);
    return opened;
}

static bool is_titled(int folder, const char *number) {
    char link[128];
    ssize_t n = readlinkat(folder, number, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    return top_find_has_title(link);
}

static bool add_page(int folder, const char *number, int own_pid, struct top_process *p) {
    int opened = is_titled(folder, number) ? open_titled(folder, number) : -1;
    bool added = opened >= 0 && top_page_add(opened, own_pid, p);
    if (opened >= 0)
        close(opened);
    return added;
}

/* The pid in the process's own namespace: in a container it differs from ours. */
static int own_pid_of(int pid) {
    char path[64], line[256];
    int own = pid;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "NSpid:", 6)) {
            char *last = strrchr(line, '\t');
            own = last ? atoi(last) : pid;
        }
    if (f)
        fclose(f);
    return own;
}

static bool add_pages(struct top_process *p) {
    char path[64];
    int own_pid = 0; /* found when first needed */
    bool added = false;
    snprintf(path, sizeof path, "/proc/%d/fd", p->pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_titled(dirfd(folder), entry->d_name))
            continue;
        own_pid = own_pid ? own_pid : own_pid_of(p->pid);
        added |= add_page(dirfd(folder), entry->d_name, own_pid, p);
    }
    if (folder)
        closedir(folder);
    return added;
}

/* ---- all processes ---- */

static const struct top_process *same(const struct top_sample *s, int pid, uint64_t started) {
    for (size_t i = 0; s && i < s->count; i++)
        if (s->of[i].pid == pid && s->of[i].started == started)
            return &s->of[i];
    return NULL;
}

const struct top_process *top_sample_find(const struct top_sample *s, const struct top_process *p) {
    return same(s, p->pid, p->started);
}

static void add_process(struct top_sample *s, const struct top_process *p) {
    if (!(s->count & (s->count - 1))) { /* the capacity is a power of two */
        struct top_process *more = need((s->count ? 2 * s->count : 1) * sizeof *more);
        if (s->count)
            memcpy(more, s->of, s->count * sizeof *more);
        free(s->of);
        s->of = more;
    }
    s->of[s->count++] = *p;
}

static void top_find_look_at(struct top_sample *s, const struct top_sample *before, int pid) {
    struct top_process p = {.pid = pid};
    struct top_stat stat;
    if (!add_pages(&p) || !top_stat_read(pid, &stat))
        return;
    p.started = stat.started;
    const struct top_process *known = same(before, pid, stat.started);
    if (known) {
        p.job = known->job;
        memcpy(p.program, known->program, sizeof p.program);
    } else {
        p.job = top_job_of(pid, &stat, p.size);
        top_program_read(pid, p.program, sizeof p.program);
    }
    add_process(s, &p);
}

static int by_job_and_rank(const void *a, const void *b) {
    const struct top_process *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

void top_sample_take(struct top_sample *s, const struct top_sample *before) {
    struct stat st;
    *s = (struct top_sample){.ns = clock_ns()};
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));)
        if (isdigit((unsigned char)entry->d_name[0]) && !fstatat(dirfd(proc), entry->d_name, &st, 0) &&
            st.st_uid == geteuid())
            top_find_look_at(s, before, atoi(entry->d_name));
    if (proc)
        closedir(proc);
    if (s->count)
        qsort(s->of, s->count, sizeof *s->of, by_job_and_rank);
}

void top_sample_free(struct top_sample *s) {
    free(s->of);
    *s = (struct top_sample){0};
}
