/* output.c: opens and closes the file of a report, and expands its name. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

bool output_is_wanted(void) {
    const char *report = settings_get()->report;
    return *report && strcmp(report, "0");
}

bool output_is_apart(void) {
    const char *report = settings_get()->report;
    return strstr(report, "%r") || strstr(report, "%p");
}

static bool ends_in_json(const char *path) {
    size_t n = strlen(path);
    return n >= 5 && !strcmp(path + n - 5, ".json");
}

bool output_is_json(void) {
    return ends_in_json(settings_get()->report);
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

bool output_open(struct output *o, int rank, const char *part) {
    const char *report = settings_get()->report;
    *o = (struct output){.file = stderr};
    if (!strcmp(report, "1"))
        return true;
    output_expand(report, rank, o->path, sizeof o->path);
    if (part)
        insert_part(o->path, sizeof o->path, part);
    o->is_json = ends_in_json(o->path);
    int fd = open(o->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    o->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (o->file)
        return true;
    log_error("HEARTH_REPORT: cannot write %s: %s; no report is written", o->path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return false;
}

void output_close(struct output *o) {
    if (!o->path[0])
        fflush(o->file);
    else if (ferror(o->file) | fclose(o->file))
        log_error("HEARTH_REPORT: writing %s failed: %s; the report is incomplete", o->path, strerror(errno));
    o->file = NULL;
}
