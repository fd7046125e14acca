/* profile.c: reads and writes profiles, in $XDG_CONFIG_HOME/hearth/profiles or ~/.config/hearth/profiles.
 *
 * A profile is applied without being asked for, so one that another user could have written, or that does not parse, is not
 * applied in part: the caller reports the reason and goes on without it. */
#include "run/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/output.h"
#include "tools.h"

enum { MOST_BYTES = 65536 };

static int profile_fault(char *why, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int profile_fault(char *why, size_t room, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, room, format, arguments);
    va_end(arguments);
    return -1;
}

/* ---- where ---- */

bool profile_path(const struct identity *id, char path[PATH_MAX]) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char ranks[32] = "any";
    bool is_config = config && *config == '/'; /* the XDG rules ignore relative ones */
    if (!is_config && !(home && *home == '/'))
        return false;
    if (id->ranks)
        snprintf(ranks, sizeof ranks, "n%" PRIu64, id->ranks);
    return snprintf(path, PATH_MAX, "%s%s/hearth/profiles/%s-%s-%s.conf", is_config ? config : home,
                    is_config ? "" : "/.config", id->name, id->key, ranks) < PATH_MAX;
}

/* ---- reading ---- */

/* The file's content, terminated by 0; NULL with the reason. */
static char *profile_load(int file, char *why, size_t room) {
    struct stat st;
    if (fstat(file, &st) || !S_ISREG(st.st_mode)) {
        profile_fault(why, room, "it is not a plain file");
        return NULL;
    }
    if (st.st_size > MOST_BYTES) {
        profile_fault(why, room, "it is too large for a profile (%lld bytes)", (long long)st.st_size);
        return NULL;
    }
    char *text = need(MOST_BYTES + 1);
    ssize_t n, length = 0;
    while ((n = read(file, text + length, (size_t)(MOST_BYTES - length))) > 0)
        length += n;
    if (n == 0 && !memchr(text, 0, (size_t)length))
        return text;
    profile_fault(why, room, "%s", n < 0 ? strerror(errno) : "it is not a text file");
    free(text);
    return NULL;
}

static int profile_take_line(char *line, unsigned number, struct profile *p, char *why, size_t room) {
    struct settings scratch;
    char reason[512];
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n && strchr(" \t\r", line[n - 1]);)
        line[--n] = 0;
    if (!*line || *line == '#')
        return 0;
    char *equals = strchr(line, '=');
    if (!equals)
        return profile_fault(why, room, "line %u is not NAME=value: %.40s", number, line);
    *equals = 0;
    const struct setting *s = settings_find(line), *nearest = s ? s : settings_nearest(line);
    if (!s)
        return profile_fault(why, room, "line %u: %.60s is not a setting of Hearth%s%s%s", number, line,
                             nearest ? "; did you mean " : "", nearest ? nearest->name : "",
                             nearest ? "?" : "");
    if (settings_parse(s, equals + 1, &scratch, reason, sizeof reason))
        return profile_fault(why, room, "line %u: %s", number, reason);
    *equals = '=';
    strvec_add(&p->settings, line);
    return 0;
}

static int profile_parse(char *text, struct profile *p, char *why, size_t room) {
    unsigned number = 1;
    int err = 0;
    for (char *line = text, *next; line && !err; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        err = profile_take_line(line, number, p, why, room);
    }
    if (err)
        strvec_free(&p->settings);
    return err;
}

static int profile_read(int file, const char *path, struct profile *p, char *why, size_t room) {
    char *text = profile_load(file, why, room);
    int err = text ? profile_parse(text, p, why, room) : -1;
    free(text);
    if (!err)
        snprintf(p->path, sizeof p->path, "%s", path);
    return err;
}

int profile_read_named(const char *path, struct profile *p, char *why, size_t room) {
    *p = (struct profile){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return profile_fault(why, room, "%s", strerror(errno));
    int err = profile_read(file, path, p, why, room);
    close(file);
    return err;
}

/* Whether only this user, or root, can have written it. */
static bool is_ours(const struct stat *st) {
    return (st->st_uid == geteuid() || st->st_uid == 0) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int profile_check_folder(const char *path, char *why, size_t room) {
    char folder[PATH_MAX];
    struct stat st;
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    if (!stat(folder, &st) && is_ours(&st))
        return 0;
    return profile_fault(why, room, "other users can write in %s: chmod go-w it", folder);
}

int profile_read_own(const char *path, struct profile *p, char *why, size_t room) {
    struct stat st;
    *p = (struct profile){0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (file < 0)
        return profile_fault(why, room, "%s",
                             errno == ELOOP ? "it is a link; name the file that it leads to with --profile"
                                            : strerror(errno));
    int err = profile_check_folder(path, why, room);
    if (!err && !fstat(file, &st) && !is_ours(&st))
        err = profile_fault(why, room, "other users can write to it, or own it: chmod go-w it");
    err = err ? err : profile_read(file, path, p, why, room);
    close(file);
    return err;
}

void profile_free(struct profile *p) {
    strvec_free(&p->settings);
}

/* ---- writing ---- */

/* Makes the folders above this file that are missing, for this user alone, as the XDG rules say. */
static int make_folders(const char *path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(folder, 0700) && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return 0;
}

static void profile_print(FILE *file, const char *head, const struct strvec *settings) {
    fputs(head, file);
    for (size_t i = 0; i < settings->count; i++)
        fprintf(file, "%s\n", settings->of[i]);
}

/* Returns 0, or an errno. */
static int write_draft(int fd, const char *draft, const char *path, const char *head,
                       const struct strvec *settings) {
    FILE *file = fdopen(fd, "w");
    if (!file) {
        int fault = errno;
        close(fd);
        return fault;
    }
    profile_print(file, head, settings);
    if (!fflush(file) && fsync(fd)) {
        int fault = errno;
        fclose(file);
        return fault;
    }
    return output_complete(file, draft, path);
}

int profile_write(const char *path, const char *head, const struct strvec *settings, char *why, size_t room) {
    char *draft = need_text("%s.XXXXXX", path);
    int fd = make_folders(path) ? -1 : mkstemp(draft);
    int fault = fd < 0 ? errno : write_draft(fd, draft, path, head, settings);
    if (fault)
        profile_fault(why, room, "%s", strerror(fault));
    if (fault && fd >= 0)
        unlink(draft);
    free(draft);
    return fault ? -1 : 0;
}

/* ---- the order of settings ---- */

const char *profile_value(const struct strvec *settings, const struct setting *s) {
    for (size_t i = settings->count; i--;) {
        const char *equals = strchr(settings->of[i], '=');
        char name[64];
        int n = snprintf(name, sizeof name, "%.*s", (int)(equals - settings->of[i]), settings->of[i]);
        if (n < (int)sizeof name && settings_find(name) == s)
            return equals + 1;
    }
    return NULL;
}

const char *profile_environment(const struct setting *s) {
    const char *text = getenv(s->name);
    return text && *text ? text : NULL;
}
