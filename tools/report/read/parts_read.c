/* parts_read.c: see parts_read.h.
 *
 * Every part is read once and as a whole, so all values of a rank are of one moment, also while the job runs. If a part disappears
 * meanwhile, its job has just ended: then everything is looked at again. Files of other users are left out. */
#include "report/read/parts_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "observe/parts.h"
#include "report/read/parts_merge.h"
#include "report/report.h"
#include "tools.h"

struct folder {
    DIR *entries;
    int file;
    uid_t owner;
    uint64_t job; /* of the newest part */
    struct timespec newest;
    struct part *parts; /* of that job, in the order of the ranks */
    size_t count;
    char why[128]; /* the reason in ended.JOB; empty: there is none */
};

/* ---- finding the parts ---- */

static bool is_later(struct timespec a, struct timespec b) {
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static bool is_of_owner(const struct folder *f, const struct stat *st) {
    return S_ISREG(st->st_mode) && st->st_uid == f->owner;
}

static bool folder_open(struct folder *f, const char *report) {
    char *path = need_text("%s" PARTS_FOLDER, report);
    struct stat st;
    *f = (struct folder){.file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    free(path);
    if (f->file < 0)
        return false;
    if (!fstat(f->file, &st))
        f->owner = st.st_uid;
    f->entries = fdopendir(f->file);
    if (!f->entries)
        close(f->file);
    return f->entries;
}

static void folder_close(struct folder *f) {
    for (size_t i = 0; i < f->count; i++)
        free(f->parts[i].text);
    free(f->parts);
    closedir(f->entries);
}

/* Finds the job whose part is the newest, and notes the ranks that have written one. */
static void folder_list(struct folder *f) {
    int rank;
    uint64_t job;
    bool is_draft;
    struct stat st;
    for (struct dirent *entry; (entry = readdir(f->entries));) {
        if (!parts_name_read(entry->d_name, &rank, &job, &is_draft) || is_draft || rank < 0 ||
            fstatat(f->file, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !is_of_owner(f, &st) || !st.st_size)
            continue;
        if (job != f->job && f->count && !is_later(st.st_mtim, f->newest))
            continue; /* of an earlier job */
        if (job != f->job)
            f->count = 0;
        f->job = job;
        f->newest = !f->count || is_later(st.st_mtim, f->newest) ? st.st_mtim : f->newest;
        f->parts = list_grown(f->parts, f->count, 1, sizeof *f->parts);
        f->parts[f->count++] = (struct part){.rank = rank};
    }
}

/* Whether the report itself was written after all parts, or belongs to somebody else than they do. */
static bool is_over(const struct folder *f, const char *report) {
    struct stat st;
    return !stat(report, &st) && (st.st_uid != f->owner || !is_later(f->newest, st.st_mtim));
}

/* ---- reading them ---- */

/* Returns a text to be freed, NULL if it cannot be read. */
static char *folder_read(const struct folder *f, const char *name, size_t *length) {
    int file = openat(f->file, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    char *text = NULL;
    *length = 0;
    if (file >= 0 && !fstat(file, &st) && is_of_owner(f, &st)) {
        size_t bytes = (size_t)st.st_size;
        text = need(bytes + 1);
        for (ssize_t n; *length < bytes && (n = read(file, text + *length, bytes - *length)) > 0;)
            *length += (size_t)n;
        text[*length] = 0;
    }
    if (file >= 0)
        close(file);
    return text;
}

static bool read_texts(struct folder *f) {
    for (size_t i = 0; i < f->count; i++) {
        char *name = need_text("%d.%" PRIu64, f->parts[i].rank, f->job);
        f->parts[i].text = folder_read(f, name, &f->parts[i].length);
        free(name);
        if (!f->parts[i].text)
            return false;
    }
    return true;
}

/* As plain text, which needs no escapes in JSON. */
static void read_why(struct folder *f) {
    char *name = need_text(PARTS_ENDED ".%" PRIu64, f->job);
    size_t length, n = 0;
    char *text = folder_read(f, name, &length);
    for (size_t i = 0; i < length && n + 1 < sizeof f->why; i++)
        if (text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\')
            f->why[n++] = text[i];
    free(text);
    free(name);
}

static int by_rank(const void *a, const void *b) {
    return ((const struct part *)a)->rank - ((const struct part *)b)->rank;
}

/* ---- together ---- */

char *parts_read(const char *report, size_t *length) {
    enum { TRIES = 5 };
    struct folder f;
    char *text = NULL;
    for (int i = 0; !text && i < TRIES && folder_open(&f, report); i++) {
        folder_list(&f);
        bool is_there = f.count && !is_over(&f, report);
        if (is_there && read_texts(&f)) {
            qsort(f.parts, f.count, sizeof *f.parts, by_rank);
            read_why(&f);
            text = parts_merge(f.parts, f.count, f.why, length);
        }
        folder_close(&f);
        if (!is_there)
            break;
    }
    return text;
}
