/* leftovers.c: shared memory that dead jobs of this user left in /dev/shm.
 *
 * Hearth's own shared memory has no names and vanishes with its processes (net/shm/memfile.c). That of the MPIs has
 * names: a job that is killed leaves files there, which occupy memory. A leftover is
 *
 *      a regular file, not a link, that belongs to this user,
 *      with a name that Open MPI, MPICH or UCX gives,
 *      that no process has mapped or open,
 *      and that is older than a minute: there is a moment between creating a file and mapping it.
 *
 * /proc tells which processes have a file open. A process of this user that we may not inspect could have any of
 * them open, and then no file counts as a leftover. Processes of other users can only have files that are accessible
 * to others. If there is such a process that we may not inspect, these files are left alone. Processes in other
 * containers that share the folder are not seen; their mappings stay valid when the name is removed. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "info/info.h"
#include "tools.h"

enum { YOUNGEST = 60 }; /* seconds */

static const char *const patterns[] = {"vader_segment.*", "sm_segment.*",    "osc_rdma.*",
                                       "osc_sm.*",        "ucx_shm_posix_*", "mpich_*",
                                       "MPICH_*",         "psm_shm.*",       "psm2_shm.*"};

struct leftover {
    char name[256];
    struct stat st;
    bool is_used;
};

struct leftovers {
    struct leftover *of;
    size_t count;
    int folder;     /* descriptor */
    bool is_unsure; /* a process of this user could not be inspected */
    bool is_unsure_of_others;
};

#define FOLDER "/dev/shm"

/* ---- candidates ---- */

static bool is_known_name(const char *name) {
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!fnmatch(patterns[i], name, 0))
            return true;
    return false;
}

static bool is_old(const struct stat *st) {
    return time(NULL) - st->st_mtime >= YOUNGEST;
}

static bool is_candidate(int folder, const char *name, struct stat *st) {
    return is_known_name(name) && !fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st->st_mode) &&
           st->st_uid == geteuid() && is_old(st);
}

static void leftover_add(struct leftovers *l, const char *name, const struct stat *st) {
    if (!(l->count & (l->count - 1))) { /* the capacity is a power of two */
        struct leftover *more = need((l->count ? 2 * l->count : 1) * sizeof *more);
        if (l->count)
            memcpy(more, l->of, l->count * sizeof *more);
        free(l->of);
        l->of = more;
    }
    snprintf(l->of[l->count].name, sizeof l->of->name, "%s", name);
    l->of[l->count++].st = *st;
}

static void list_candidates(struct leftovers *l) {
    int copy = dup(l->folder);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    struct stat st;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_candidate(l->folder, entry->d_name, &st))
            leftover_add(l, entry->d_name, &st);
    if (folder)
        closedir(folder);
    else if (copy >= 0)
        close(copy);
}

/* ---- users of the files ---- */

static void leftover_mark_used(struct leftovers *l, dev_t device, ino_t inode) {
    for (size_t i = 0; i < l->count; i++)
        if (l->of[i].st.st_ino == inode && l->of[i].st.st_dev == device)
            l->of[i].is_used = true;
}

/* The kernel appends " (deleted)" to the path of a file that has no name any more. */
static bool is_name(const char *at, const char *name) {
    size_t length = strlen(name);
    return !strncmp(at, name, length) && strchr(" \n", at[length]);
}

/* Some filesystems show another device in maps than stat does, so the end of the path is compared too. */
static void mark_named(struct leftovers *l, const char *path) {
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && i < l->count; i++)
        if (is_name(slash + 1, l->of[i].name))
            l->of[i].is_used = true;
}

/* False: the process may not be inspected. */
static bool read_maps(struct leftovers *l, const char *process) {
    char path[300], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%s/maps", process);
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT || errno == ESRCH;
    errno = 0;
    while (getline(&line, &room, file) > 0) {
        unsigned high, low;
        unsigned long long inode;
        int at = 0;
        if (sscanf(line, "%*s %*s %*s %x:%x %llu %n", &high, &low, &inode, &at) < 3 || !inode)
            continue;
        leftover_mark_used(l, makedev(high, low), (ino_t)inode);
        mark_named(l, line + at);
    }
    bool good = !ferror(file) || errno == ESRCH;
    free(line);
    fclose(file);
    return good;
}

static bool read_descriptors(struct leftovers *l, const char *process) {
    char path[300];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%s/fd", process);
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT || errno == ESRCH;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && !fstatat(dirfd(folder), entry->d_name, &st, 0))
            leftover_mark_used(l, st.st_dev, st.st_ino);
    closedir(folder);
    return true;
}

static void look_into(struct leftovers *l, int proc, const char *process) {
    struct stat st;
    if (fstatat(proc, process, &st, 0))
        return; /* it has ended */
    bool seen = read_maps(l, process);
    seen &= read_descriptors(l, process);
    if (!strcmp(process, "1")) /* init of the system or container, which may not be inspectable */
        return;
    if (!seen && st.st_uid == geteuid())
        l->is_unsure = true;
    else if (!seen)
        l->is_unsure_of_others = true;
}

static void look_into_all(struct leftovers *l) {
    DIR *proc = opendir("/proc");
    if (!proc) {
        l->is_unsure = true;
        return;
    }
    for (struct dirent *entry; (entry = readdir(proc));)
        if (isdigit((unsigned char)entry->d_name[0]))
            look_into(l, dirfd(proc), entry->d_name);
    closedir(proc);
}

static bool is_left(const struct leftovers *l, const struct leftover *file) {
    return !file->is_used && !(l->is_unsure_of_others && (file->st.st_mode & 077));
}

/* ---- listing and removal ---- */

/* Removes the file only if it is still the one that was examined. */
static bool remove_one(const struct leftovers *l, const struct leftover *file) {
    struct stat st;
    if (fstatat(l->folder, file->name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT;
    if (st.st_ino != file->st.st_ino || st.st_dev != file->st.st_dev || st.st_mtime != file->st.st_mtime)
        return true; /* a new file of the same name */
    if (!unlinkat(l->folder, file->name, 0)) {
        printf("removed %s/%s, %lld KB\n", FOLDER, file->name, (long long)st.st_blocks / 2);
        return true;
    }
    log_error("cannot remove %s/%s: %s", FOLDER, file->name, strerror(errno));
    return false;
}

static bool remove_all(const struct leftovers *l) {
    bool good = true;
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (is_left(l, &l->of[i])) {
            good &= remove_one(l, &l->of[i]);
            count++;
        }
    if (!count)
        printf("no files of dead jobs in %s\n", FOLDER);
    return good;
}

static void list_all(const struct leftovers *l) {
    size_t count = 0;
    double bytes = 0;
    for (size_t i = 0; i < l->count; i++)
        if (is_left(l, &l->of[i])) {
            count++;
            bytes += 512.0 * (double)l->of[i].st.st_blocks;
        }
    check_say(count ? GRADE_NOTE : GRADE_OK, "leftovers", count ? "hearth info --clean removes them" : NULL,
              count ? "%zu files of dead jobs in %s, %.1f MB of memory" : "no file of a dead job", count,
              FOLDER, bytes / 1048576);
    for (size_t i = 0; i < l->count; i++)
        if (is_left(l, &l->of[i]))
            printf("         %s\n", l->of[i].name);
}

static bool leftover_report(struct leftovers *l, bool is_to_be_removed) {
    if (!l->is_unsure) {
        if (!is_to_be_removed)
            list_all(l);
        return !is_to_be_removed || remove_all(l);
    }
    static const char *const why = "/proc does not show which files one of your processes uses";
    if (is_to_be_removed)
        log_error("nothing is removed: %s; try again when it has ended", why);
    else
        check_say(GRADE_NOTE, "leftovers", "try again when it has ended", "unknown: %s", why);
    return !is_to_be_removed;
}

bool leftovers_report(bool is_to_be_removed) {
    struct leftovers l = {.folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (l.folder < 0 && is_to_be_removed) {
        log_error("nothing is removed: cannot open %s: %s", FOLDER, strerror(errno));
        return false;
    }
    if (l.folder < 0) {
        check_say(GRADE_NOTE, "leftovers", NULL, "unknown: %s: %s", FOLDER, strerror(errno));
        return true;
    }
    list_candidates(&l);
    look_into_all(&l);
    bool good = leftover_report(&l, is_to_be_removed);
    free(l.of);
    close(l.folder);
    return good;
}
