/* parts.c: writes the parts of a report: see parts.h.
 *
 * A part is written under another name and renamed, so a part that exists is complete. All files are named relative to the
 * descriptor of the folder, which is opened once and belongs to this user: what somebody else puts at its path later is never
 * used. */
#include "observe/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 64 };

/* ---- names ---- */

static const char *skip_number(const char *at, uint64_t *value) {
    char *end = (char *)at;
    *value = *at >= '0' && *at <= '9' ? strtoull(at, &end, 10) : 0;
    return end;
}

bool parts_name_read(const char *name, int *rank, uint64_t *job, bool *is_draft) {
    bool is_end = !strncmp(name, PARTS_ENDED ".", sizeof PARTS_ENDED);
    uint64_t number = 0;
    const char *dot = is_end ? name + sizeof PARTS_ENDED - 1 : skip_number(name, &number);
    const char *after = dot > name && *dot == '.' ? skip_number(dot + 1, job) : dot;
    *rank = is_end ? -1 : (int)number;
    *is_draft = !strcmp(after, PARTS_DRAFT);
    return after > dot + 1 && number <= INT32_MAX && (!*after || *is_draft);
}

static void name_part(const struct parts *p, const char *end, char name[NAME]) {
    snprintf(name, NAME, "%d.%" PRIu64 "%s", p->rank, p->job, end);
}

/* ended.JOB, for a signal handler, which cannot call snprintf. */
static void name_end(const struct parts *p, char name[NAME]) {
    char digits[24];
    size_t n = sizeof digits - 1;
    uint64_t job = p->job;
    digits[n] = 0;
    do
        digits[--n] = (char)('0' + job % 10);
    while (job /= 10);
    strcpy(name, PARTS_ENDED ".");
    strcat(name, digits + n);
}

/* ---- the folder ---- */

static bool is_same_folder(const struct parts *p, const struct stat *st) {
    return st->st_dev == p->device && st->st_ino == p->inode;
}

static bool is_open(const struct parts *p) {
    struct stat st;
    return p->folder >= 0 && !fstat(p->folder, &st) && is_same_folder(p, &st);
}

/* Returns 0, -ENOENT if there is no folder, or another negative code. */
static int folder_open(struct parts *p) {
    struct stat st;
    int folder = open(p->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    int err = fstat(folder, &st) ? -errno : st.st_uid != geteuid() ? -EPERM : 0;
    err = err || !p->inode || is_same_folder(p, &st) ? err : -ESTALE; /* not the one of this job */
    if (err) {
        close(folder);
        return err;
    }
    p->folder = folder;
    p->device = st.st_dev;
    p->inode = st.st_ino;
    return 0;
}

/* Only this user may put files there. The folder is made once: after its end nothing of the job may return. */
static int folder_make(struct parts *p) {
    if (is_open(p))
        return 0;
    int err = folder_open(p);
    if (err != -ENOENT || p->inode)
        return err;
    if (mkdir(p->path, 0755) && errno != EEXIST) /* or another rank was faster */
        return -errno;
    return folder_open(p);
}

/* Parts of earlier jobs. The folder may hold other files. */
static void remove_old(const struct parts *p) {
    int rank, file = openat(p->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t job;
    bool is_draft;
    DIR *folder = file < 0 ? NULL : fdopendir(file);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (parts_name_read(entry->d_name, &rank, &job, &is_draft) && job != p->job)
            unlinkat(p->folder, entry->d_name, 0);
    if (folder)
        closedir(folder);
    else if (file >= 0)
        close(file);
}

bool parts_open(struct parts *p, const char *report, uint64_t job, int rank) {
    struct stat st;
    *p = (struct parts){.job = job, .rank = rank, .folder = -1};
    int n = snprintf(p->path, sizeof p->path, "%s" PARTS_FOLDER, report);
    if (n >= (int)sizeof p->path || (!lstat(report, &st) && !S_ISREG(st.st_mode)))
        return false;
    int err = folder_open(p);
    if (!err && !rank)
        remove_old(p);
    return !err || err == -ENOENT;
}

/* ---- writing ---- */

static int write_all(int file, const char *data, size_t bytes) {
    while (bytes) {
        ssize_t n = write(file, data, bytes);
        if (n < 0 && errno != EINTR)
            return -errno;
        data += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* A new file: what has its name, of an earlier attempt or a link, is removed and not written to. */
static int write_new(int folder, const char *name, const char *text, size_t length) {
    unlinkat(folder, name, 0);
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int err = file < 0 ? -errno : write_all(file, text, length);
    if (file >= 0 && close(file) && !err)
        err = -errno;
    return err;
}

int parts_write(struct parts *p, const char *text, size_t length) {
    char draft[NAME], name[NAME];
    name_part(p, PARTS_DRAFT, draft);
    name_part(p, "", name);
    int err = folder_make(p);
    if (err)
        return err;
    err = write_new(p->folder, draft, text, length);
    if (!err && renameat(p->folder, draft, p->folder, name))
        err = -errno;
    if (err)
        unlinkat(p->folder, draft, 0);
    return err;
}

void parts_end(struct parts *p, const char *why) {
    char name[NAME];
    if (!is_open(p) && (p->inode || folder_open(p)))
        return;
    name_end(p, name);
    int file = openat(p->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    write_all(file, why, strlen(why));
    close(file);
}

void parts_remove(struct parts *p) {
    char name[NAME];
    if (!is_open(p))
        return;
    name_part(p, "", name);
    unlinkat(p->folder, name, 0);
    name_end(p, name);
    unlinkat(p->folder, name, 0);
    close(p->folder);
    p->folder = -1;
    rmdir(p->path); /* of the last rank */
}
