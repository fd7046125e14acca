/* store_file.c: opens, creates, locks and checks the file of a store.
 *
 * A temporary file never has a name where the filesystem supports that; elsewhere its name is removed before anything
 * is written. So it disappears however the process ends. A named file is created under its name immediately, so that
 * two jobs that create it conflict here and not at their first checkpoint. Links are not followed, and an existing file
 * must be a regular file of our own user.
 *
 * The size is set at creation and never changes: writes that extend a file serialise, and a wrong size later shows that
 * the file was truncated. Only the blocks of records and tables are allocated immediately, so that a checkpoint does
 * not fail for lack of space for them. */
#include "pages/store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "pages/store/store_disk.h"

enum { LOCK_TRIES = 400, LOCK_PAUSE = 10000 }; /* us */

/* ---- error lines ---- */

static const char *advice(int error) {
    switch (-error) {
    case ENOSPC:
    case EDQUOT:
        return ". Free some, or choose another folder (HEARTH_NVM_DIR)";
    case EFBIG:
        return ". Raise the limit on file sizes (ulimit -f), or choose a filesystem that supports larger "
               "ones";
    case EEXIST:
        return ". Remove it, or choose another name";
    case EACCES:
    case EPERM:
    case ENOENT:
    case ENOTDIR:
    case EROFS:
        return ". Choose a folder in which you may write (HEARTH_NVM_DIR)";
    case EMFILE:
        return ". Raise the limit on open files (ulimit -n)";
    case ELOOP:
        return ". Links are not followed";
    }
    return "";
}

static int file_cannot(const struct store *s, const char *what, int error) {
    log_error("cannot %s %s: %s%s", what, s->label, strerror(-error), advice(error));
    return error;
}

static int file_refuse(const struct store *s, int error, const char *why) {
    log_error("cannot use %s: %s", s->label, why);
    return error;
}

/* ---- opening ---- */

/* Where the filesystem has no unnamed files: a name that cannot be guessed, for a moment. */
static int open_unlinked(int folder) {
    char name[64];
    uint64_t token[2];
    if (getrandom(token, sizeof token, 0) != sizeof token)
        return -ENOSYS;
    snprintf(name, sizeof name, ".hearth-%016" PRIx64 "%016" PRIx64, token[0], token[1]);
    int file = pages_disk_open(folder, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    int err = file < 0 ? file : pages_disk_unlink(folder, name);
    if (err >= 0)
        return file;
    if (file >= 0)
        close(file);
    return err;
}

static int open_temporary(int folder) {
    int file = pages_disk_open(folder, ".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
    bool has_none = file == -EOPNOTSUPP || file == -EISDIR || file == -ENOENT;
    return has_none ? open_unlinked(folder) : file;
}

static int open_named(int folder, const struct store_options *o) {
    char name[256];
    snprintf(name, sizeof name, "%s.%d", o->name, o->rank);
    return pages_disk_open(folder, name, o->kind == STORE_NEW ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, 0600);
}

static int open_by_kind(int folder, const struct store_options *o) {
    return o->kind == STORE_TEMPORARY ? open_temporary(folder) : open_named(folder, o);
}

/* ---- new files ---- */

/* A write beyond RLIMIT_FSIZE not only fails, but raises a signal that ends the program. */
static bool file_is_within_limit(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static int file_set_size(struct store *s) {
    uint64_t tables = s->is_named ? s->kept[1].at + s->table_bytes : 0;
    int err = file_is_within_limit(pages_store_file_bytes(s))
                  ? pages_disk_resize(s->file, pages_store_file_bytes(s))
                  : -EFBIG;
    if (!err && tables)
        err = pages_disk_reserve(s->file, 0, tables);
    return err ? file_cannot(s, "make room for", err) : 0;
}

/* ---- existing files ---- */

static int file_check(const struct store *s) {
    struct stat st;
    if (fstat(s->file, &st))
        return file_cannot(s, "look at", -EIO);
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return file_refuse(s, -EPERM, "it is not a file of this user");
    if ((uint64_t)st.st_size < RECORDS * RECORD_BYTES)
        return file_refuse(s, -EBADMSG, "it is truncated. Remove it, or restore it from a copy");
    return 0;
}

/* ---- common ---- */

/* A killed job holds the lock until its last request has ended, which on a busy machine may be seconds after its
 * processes; so the lock is retried for some time. */
static int file_lock(struct store *s) {
    int err = pages_disk_lock(s->file);
    for (int i = 0; err == -EWOULDBLOCK && i < LOCK_TRIES; i++) {
        usleep(LOCK_PAUSE);
        err = pages_disk_lock(s->file);
    }
    if (err == -EWOULDBLOCK)
        return file_refuse(s, -EBUSY, "another job has it open");
    return err ? file_cannot(s, "lock", err) : 0;
}

/* Some filesystems accept the flag and reject the transfer. */
static bool can_read(struct store *s) {
    return pages_disk_read(s->file, s->block, STORE_ALIGNMENT, 0) != -EINVAL;
}

static int file_choose_way(struct store *s, bool buffered) {
    s->is_direct = !buffered && !pages_disk_go_direct(s->file);
    if (!s->is_direct || can_read(s))
        return 0;
    s->is_direct = false;
    int err = pages_disk_go_buffered(s->file);
    return err ? file_cannot(s, "use the page cache for", err) : 0;
}

static int set_up(struct store *s, const struct store_options *o) {
    int err = s->is_named ? file_lock(s) : 0;
    if (!err)
        err = o->kind == STORE_AGAIN ? file_check(s) : file_set_size(s);
    return err ? err : file_choose_way(s, o->buffered);
}

/* Makes the directory entry durable too. */
static int keep_name(struct store *s, int folder, const struct store_options *o) {
    int err = fsync(folder) ? -errno : 0;
    return err ? file_cannot(s, "keep the name of", err) : 0;
}

void pages_store_forget(const struct store_options *o) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s.%d", o->folder, o->name, o->rank);
    if (length > 0 && (size_t)length < sizeof path)
        (void)unlink(path);
}

static int open_in(struct store *s, int folder, const struct store_options *o) {
    int file = open_by_kind(folder, o);
    if (file == -ENOENT && o->kind == STORE_AGAIN)
        return -ENOENT;
    if (file < 0)
        return file_cannot(s, o->kind == STORE_AGAIN ? "open" : "make", file);
    s->file = file;
    int err = set_up(s, o);
    if (!err && o->kind == STORE_NEW)
        err = pages_store_epoch_begin(s, o);
    if (!err && o->kind == STORE_NEW)
        err = keep_name(s, folder, o);
    if (err && o->kind == STORE_NEW)
        pages_store_forget(o);
    return err;
}

int pages_store_file_open(struct store *s, const struct store_options *o) {
    int folder = open(o->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        int error = errno;
        log_error("cannot open the folder %s for segments: %s%s", o->folder, strerror(error), advice(-error));
        return error == ENOENT ? -ENOTDIR : -error; /* ENOENT is reserved for the file itself */
    }
    int err = open_in(s, folder, o);
    close(folder);
    return err;
}
