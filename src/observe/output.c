/* output.c: opens and closes the file of a report, and expands its name. A file is written under another name and renamed
 * when it is complete, so that readers, and a kill in between, never see a part of it. */
#include "observe/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

static bool is_disabled;

bool output_is_wanted(void) {
    const char *report = settings_get()->report;
    return !is_disabled && *report && strcmp(report, "0");
}

bool output_is_apart(void) {
    const char *report = settings_get()->report;
    return strstr(report, "%r") || strstr(report, "%p");
}

int output_kind(void) {
    return output_is_wanted() ? 1 + output_is_apart() : 0;
}

void output_disable(void) {
    is_disabled = true;
}

void output_differs(void) {
    log_warn(
        "HEARTH_REPORT is not the same on all ranks: no report is written; set it for all of them, by hearth "
        "run --report or an option of the launcher (mpirun -x HEARTH_REPORT)");
}

/* Expands %r, %p and %h in a file name. */
static void output_expand(const char *pattern, int rank, char *out, size_t room) {
    char host[256] = "";
    size_t n = 0;
    gethostname(host, sizeof host - 1);
    for (const char *c = pattern; *c && n + 1 < room; c++) {
        int wrote = 1;
        if (c[0] != '%' || !c[1] || !strchr("rph", c[1]))
            out[n] = *c;
        else if (*++c == 'r')
            wrote = snprintf(out + n, room - n, "%d", rank);
        else if (*c == 'p')
            wrote = snprintf(out + n, room - n, "%ld", (long)getpid());
        else
            wrote = snprintf(out + n, room - n, "%s", host);
        n += (size_t)wrote;
    }
    out[n < room ? n : room - 1] = 0;
}

/* run.json -> run.part.json */
static void insert_part(char *path, size_t room, const char *part) {
    char *name = strrchr(path, '/'), *dot = strrchr(name ? name : path, '.'), end[64];
    snprintf(end, sizeof end, "%s", dot ? dot : "");
    size_t n = dot ? (size_t)(dot - path) : strlen(path);
    snprintf(path + n, room - n, ".%s%s", part, end);
}

bool output_path(int rank, char *path, size_t room) {
    const char *report = settings_get()->report;
    if (!output_is_wanted())
        return false;
    char name[4096];
    output_expand(report, rank, name, sizeof name);
    settings_path(name, path, room);
    return true;
}

/* A file that is not regular, such as a pipe, is written in place, and so is one in a folder without write access. */
static int output_open_file(struct output *o) {
    struct stat st;
    if (lstat(o->path, &st) || S_ISREG(st.st_mode)) {
        snprintf(o->draft, sizeof o->draft, "%s.%ld.new", o->path, (long)getpid());
        unlink(o->draft); /* of a process that was killed, or a link of another user */
        int fd = open(o->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
    }
    o->draft[0] = 0;
    return open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool output_open(struct output *o, int rank, const char *part) {
    *o = (struct output){0};
    if (!output_path(rank, o->path, sizeof o->path))
        return false;
    if (part)
        insert_part(o->path, sizeof o->path, part);
    int fd = output_open_file(o);
    o->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->file)
        return true;
    log_error("HEARTH_REPORT: cannot write %s: %s; no report is written", o->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && o->draft[0])
        unlink(o->draft);
    return false;
}

/* If a write failed before, the stream knows this, but not its errno. A further byte then fails for the same reason. */
int output_fault(FILE *file) {
    errno = 0;
    if (!fflush(file) && !ferror(file))
        return 0;
    if (!errno) {
        fputc('\n', file);
        fflush(file);
    }
    return errno ? errno : EIO;
}

int output_complete(FILE *file, const char *draft, const char *path) {
    int fault = output_fault(file);
    if (fclose(file) && !fault)
        fault = errno;
    if (!fault && draft && rename(draft, path))
        fault = errno;
    return fault;
}

void output_close(struct output *o) {
    const char *draft = o->draft[0] ? o->draft : NULL;
    int fault = output_complete(o->file, draft, o->path);
    o->file = NULL;
    if (!fault)
        return;
    log_error("HEARTH_REPORT: writing %s failed: %s; the report is %s", o->path, strerror(fault),
              draft ? "not written" : "incomplete");
    if (draft)
        unlink(draft);
}

char *output_text(FILE *file, char **text) {
    bool is_whole = !ferror(file);
    if (!fclose(file) && is_whole)
        return *text;
    free(*text);
    return NULL;
}
