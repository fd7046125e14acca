/* parts.c: writes and merges the parts of a report: see parts.h.
 *
 *      part:   struct part_head, with the position of each member | text
 *
 * A rank writes its part under another name and renames it, so a part that exists is complete. A merge opens the parts one
 * after the other, once for each member of the report; a part that is replaced meanwhile contributes newer values. */
#include "base/parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "HEARTHP1"

enum { MEMBERS = 24, NAME = 32, PATH = 4096 + 64 };

struct part_member {
    char name[NAME];
    uint64_t is_list;
    uint64_t from, bytes; /* in the file; of a list without its brackets */
};

struct part_head {
    char magic[8];
    uint64_t job, rank, count;
    struct part_member members[MEMBERS];
};

/* ---- text, without the C library ---- */

struct builder {
    char *text;
    size_t used, room;
};

static void build_text(struct builder *b, const char *text) {
    while (*text && b->used + 1 < b->room)
        b->text[b->used++] = *text++;
    b->text[b->used] = 0;
}

static void build_number(struct builder *b, uint64_t value) {
    char digits[24];
    size_t n = sizeof digits - 1;
    digits[n] = 0;
    do
        digits[--n] = (char)('0' + value % 10);
    while (value /= 10);
    build_text(b, digits + n);
}

/* FOLDER/NAME.JOB, or with a number as the name */
static void build_path(const struct parts *p, const char *name, int number, const char *end,
                       char path[PATH]) {
    struct builder b = {.text = path, .room = PATH};
    build_text(&b, p->folder);
    build_text(&b, "/");
    build_text(&b, name);
    if (number >= 0)
        build_number(&b, (uint64_t)number);
    build_text(&b, ".");
    build_number(&b, p->job);
    build_text(&b, end);
}

/* ---- the members of a report ---- */

static const char *skip_string(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

static const char *skip_value(const char *at, const char *end) {
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (!depth && strchr(",]}\n", *at))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return at;
}

static const char *skip_between(const char *at, const char *end) {
    while (at < end && strchr(" \n,:{", *at))
        at++;
    return at;
}

/* Takes the member at this place; returns the place after it, or NULL if there is none. */
static const char *split_member(const char *text, const char *at, const char *end, struct part_member *m) {
    if (at >= end || *at != '"')
        return NULL;
    const char *after = skip_string(at, end);
    snprintf(m->name, sizeof m->name, "%.*s", (int)(after - at - 2), at + 1);
    at = after + (after < end && *after == ':');
    at += at < end && *at == ' ';
    after = skip_value(at, end);
    const char *last = after;
    m->is_list = at < end && *at == '[';
    if (m->is_list) {
        at++;
        for (last--; last > at && strchr(" \n", last[-1]);)
            last--;
    }
    m->from = sizeof(struct part_head) + (uint64_t)(at - text);
    m->bytes = (uint64_t)(last - at);
    return after;
}

static void split(struct part_head *head, const char *text, size_t length) {
    const char *end = text + length, *at = skip_between(text, end);
    while (head->count < MEMBERS && (at = split_member(text, at, end, &head->members[head->count]))) {
        head->count++;
        at = skip_between(at, end);
    }
}

/* ---- writing a part ---- */

/* Whether a rank has claimed the last report: its parts may be gone. */
static bool is_claimed(const struct parts *p) {
    char path[PATH];
    build_path(p, "ended", -1, "", path);
    return !access(path, F_OK) || access(p->folder, F_OK);
}

/* Whether build_path makes such a name: RANK.JOB or ended.JOB, with .new or without. */
static bool is_name_of_part(const char *name, uint64_t *job) {
    char *end;
    const char *dot = strchr(name, '.');
    size_t first = dot ? (size_t)(dot - name) : 0;
    bool is_rank = first > 0 && strspn(name, "0123456789") == first;
    if ((!is_rank && !(first == 5 && !strncmp(name, "ended", 5))) || dot[1] < '0' || dot[1] > '9')
        return false;
    *job = strtoull(dot + 1, &end, 10);
    return !*end || !strcmp(end, ".new");
}

/* Parts of earlier jobs. The folder belongs to the user, but may hold other files. */
static void remove_old(const struct parts *p) {
    uint64_t job;
    int file = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = file < 0 ? NULL : fdopendir(file);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_name_of_part(entry->d_name, &job) && job != p->job)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    else if (file >= 0)
        close(file);
}

/* Whether parts may be written there: it does not exist yet, or is a folder of this user, and no link. */
static bool is_own_folder(const char *path) {
    struct stat st;
    return lstat(path, &st) ? errno == ENOENT : S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

bool parts_open(struct parts *p, const char *path, uint64_t job, int rank, int ranks) {
    struct stat st;
    size_t length = strlen(path);
    char here[2048] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return false;
    *p = (struct parts){.job = job, .rank = rank, .ranks = ranks};
    p->is_json = length >= 5 && !strcmp(path + length - 5, ".json");
    int n = snprintf(p->path, sizeof p->path, "%s%s%s", here, *here ? "/" : "", path);
    if (n >= (int)sizeof p->path || (!lstat(p->path, &st) && !S_ISREG(st.st_mode)))
        return false;
    snprintf(p->folder, sizeof p->folder, "%s.parts", p->path);
    if (!is_own_folder(p->folder))
        return false;
    if (!rank)
        remove_old(p);
    return true;
}

static int write_all(int file, const void *data, size_t bytes) {
    for (const char *at = data; bytes;) {
        ssize_t n = write(file, at, bytes);
        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* A new file: what has its name, of an earlier attempt or a link of another user, is removed and not written to. */
static int create(const char *path) {
    unlink(path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file < 0 ? -errno : file;
}

int parts_write(struct parts *p, const char *text, size_t length) {
    struct part_head head = {.job = p->job, .rank = (uint64_t)p->rank};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    char draft[PATH], path[PATH];
    if (p->is_json)
        split(&head, text, length);
    else
        head.members[head.count++] = (struct part_member){.from = sizeof head, .bytes = length};
    build_path(p, "", p->rank, ".new", draft);
    build_path(p, "", p->rank, "", path);
    if (p->is_written && is_claimed(p))
        return -ECANCELED;
    int file = create(draft);
    if (file == -ENOENT && (!mkdir(p->folder, 0777) || errno == EEXIST)) /* or another rank was faster */
        file = create(draft);
    if (file < 0)
        return file;
    p->is_written = true;
    int err = write_all(file, &head, sizeof head);
    err = err ? err : write_all(file, text, length);
    if (close(file) && !err)
        err = -errno;
    if (!err && rename(draft, path))
        err = -errno;
    if (err)
        unlink(draft);
    return err;
}

/* ---- merging ---- */

struct merge {
    const struct parts *parts;
    int out, err;
    size_t used;
    char buffer[4096];
};

static void merge_flush(struct merge *m) {
    if (!m->err)
        m->err = write_all(m->out, m->buffer, m->used);
    m->used = 0;
}

static void merge_put(struct merge *m, const char *text) {
    for (; *text; text++) {
        if (m->used == sizeof m->buffer)
            merge_flush(m);
        m->buffer[m->used++] = *text;
    }
}

/* Opens the part of a rank; negative if there is none. */
static int merge_open(const struct merge *m, int rank, struct part_head *head) {
    char path[PATH];
    build_path(m->parts, "", rank, "", path);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    if (read(file, head, sizeof *head) == (ssize_t)sizeof *head &&
        !memcmp(head->magic, MAGIC, sizeof head->magic) && head->job == m->parts->job &&
        head->count <= MEMBERS)
        return file;
    close(file);
    return -1;
}

static void merge_copy(struct merge *m, int file, const struct part_member *member) {
    uint64_t left = member->bytes;
    off_t from = (off_t)member->from;
    merge_flush(m);
    while (left && !m->err) {
        size_t most = left < sizeof m->buffer ? (size_t)left : sizeof m->buffer;
        ssize_t n = pread(file, m->buffer, most, from);
        if (n <= 0) {
            m->err = n < 0 ? -errno : -EIO;
            return;
        }
        m->used = (size_t)n;
        merge_flush(m);
        left -= (uint64_t)n;
        from += n;
    }
}

static const struct part_member *find_member(const struct part_head *head, const char *name) {
    for (uint64_t i = 0; i < head->count; i++)
        if (!strncmp(head->members[i].name, name, NAME))
            return &head->members[i];
    return NULL;
}

/* The member of this name from all parts, one after the other. */
static void merge_member(struct merge *m, const char *name, const char *between) {
    struct part_head head;
    bool is_first = true;
    for (int rank = 0; rank < m->parts->ranks && !m->err; rank++) {
        int file = merge_open(m, rank, &head);
        const struct part_member *member = file < 0 ? NULL : find_member(&head, name);
        if (member && member->bytes) {
            merge_put(m, is_first ? "" : between);
            merge_copy(m, file, member);
            is_first = false;
        }
        if (file >= 0)
            close(file);
    }
}

static void merge_json(struct merge *m, const char *why) {
    struct part_head first;
    int rank = 0, file = -1;
    while (rank < m->parts->ranks && (file = merge_open(m, rank, &first)) < 0)
        rank++;
    if (file < 0) {
        m->err = -ENOENT;
        return;
    }
    merge_put(m, "{\n  \"partial\": \"");
    merge_put(m, why);
    merge_put(m, "\"");
    for (uint64_t i = 0; i < first.count && !m->err; i++) {
        const struct part_member *member = &first.members[i];
        merge_put(m, ",\n  \"");
        merge_put(m, member->name);
        merge_put(m, member->is_list ? "\": [" : "\": ");
        if (member->is_list)
            merge_member(m, member->name, ",");
        else
            merge_copy(m, file, member);
        merge_put(m, member->is_list ? "\n  ]" : "");
    }
    merge_put(m, "\n}\n");
    close(file);
}

static void merge_text(struct merge *m, const char *why) {
    merge_put(m, "hearth: this report is partial: ");
    merge_put(m, why);
    merge_put(m, "\n");
    merge_member(m, "", "");
}

static int merge_into_draft(const struct parts *p, const char *why, const char *draft) {
    struct merge m = {.parts = p, .out = create(draft)};
    if (m.out < 0)
        return m.out;
    if (p->is_json)
        merge_json(&m, why);
    else
        merge_text(&m, why);
    merge_flush(&m);
    if (close(m.out) && !m.err)
        m.err = -errno;
    return m.err;
}

/* Merges one after the other, so that the newest state comes last. Bounded: a rank that was stopped must not stop others. Where the
 * file system has no locks, or one is held for long, an older state may win until the next merge. */
static int merge_lock(const struct parts *p) {
    enum { TRIES = 40, PAUSE_NS = 5000000 };
    int lock = open(p->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; lock >= 0 && i < TRIES && flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; i++)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    return lock;
}

static void build_draft(const struct parts *p, bool is_last, char draft[PATH]) {
    struct builder b = {.text = draft, .room = PATH};
    build_text(&b, p->path);
    build_text(&b, ".");
    build_number(&b, (uint64_t)getpid());
    build_text(&b, is_last ? ".last" : ".new");
}

int parts_merge(const struct parts *p, const char *why, bool is_last) {
    char draft[PATH];
    build_draft(p, is_last, draft);
    int lock = is_last ? -1 : merge_lock(p);
    int err = merge_into_draft(p, why, draft);
    if (!err && !is_last && is_claimed(p))
        err = -ECANCELED;
    if (!err && rename(draft, p->path))
        err = -errno;
    if (err)
        unlink(draft);
    if (lock >= 0)
        close(lock);
    return err;
}

bool parts_claim(const struct parts *p) {
    char path[PATH];
    build_path(p, "ended", -1, "", path);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* ---- the end ---- */

static void remove_part(const struct parts *p, const char *name, int number) {
    char path[PATH];
    build_path(p, name, number, "", path);
    unlink(path);
    build_path(p, name, number, ".new", path);
    unlink(path);
}

/* A rank that was writing its part meanwhile keeps the folder: then the claim must stay, too. */
void parts_remove_all(const struct parts *p) {
    char draft[PATH];
    build_draft(p, false, draft);
    unlink(draft); /* of a merge that a signal has interrupted */
    for (int rank = 0; rank < p->ranks; rank++)
        remove_part(p, "", rank);
    remove_part(p, "ended", -1);
    if (rmdir(p->folder))
        parts_claim(p);
}

/* The last rank removes the folder. */
void parts_remove_own(const struct parts *p) {
    remove_part(p, "", p->rank);
    rmdir(p->folder);
}
