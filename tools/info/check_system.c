/* check_system.c: checks the limits and kernel features that Hearth needs, by trying them where a trial leaves nothing
 * behind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "info/info.h"
#include "tools.h"

enum { PAGE = 4096, FEW_FILES = 1024, LITTLE_LOCKED = 64 << 10 };
#define LITTLE_ROOM ((double)(64u << 20)) /* for windows and messages of a few ranks */

/* ---- shared memory ---- */

static void check_system_room(void) {
    struct statvfs s;
    if (statvfs("/dev/shm", &s)) {
        check_say(GRADE_BAD, "/dev/shm", "mount a tmpfs there, or give the container one (--shm-size)",
                  "missing: %s; MPI has no shared memory", strerror(errno));
        return;
    }
    double room = (double)s.f_bavail * (double)s.f_frsize;
    bool little = room < LITTLE_ROOM;
    check_say(
        little ? GRADE_BAD : GRADE_OK, "/dev/shm",
        little ? "remove files of dead jobs (hearth info --clean), or enlarge it: mount -o remount,size=..."
               : NULL,
        "%.0f MB free%s", room / 1048576,
        little ? ": an MPI window that does not fit ends the program with SIGBUS at its first use" : "");
}

static void check_memlock(void) {
    struct rlimit limit = {0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        check_say(GRADE_OK, "locked memory", NULL, "not limited");
    else if (limit.rlim_cur > LITTLE_LOCKED)
        check_say(GRADE_NOTE, "locked memory",
                  "with InfiniBand: ulimit -l unlimited, in limits.conf or the job script",
                  "%llu KB: enough over TCP and shared memory; networks that register memory need more",
                  (unsigned long long)limit.rlim_cur >> 10);
    else
        check_say(GRADE_BAD, "locked memory", "ulimit -l unlimited, in limits.conf or the job script",
                  "%llu KB: io_uring and networks that register memory will fail",
                  (unsigned long long)limit.rlim_cur >> 10);
}

static void check_files(void) {
    struct rlimit limit = {0};
    getrlimit(RLIMIT_NOFILE, &limit);
    bool few = limit.rlim_cur < FEW_FILES;
    check_say(few ? GRADE_BAD : GRADE_OK, "file descriptors", few ? "ulimit -n 4096" : NULL,
              "%llu: each process with which a rank communicates over TCP takes one",
              (unsigned long long)limit.rlim_cur);
}

/* ---- disk and page faults, for vGASNet ---- */

static void check_uring(void) {
#ifdef __NR_io_uring_setup
    uint32_t parameters[32] = {0}; /* struct io_uring_params: 120 bytes */
    long ring = syscall(__NR_io_uring_setup, 4, parameters);
    int error = errno;
#else
    long ring = -1;
    int error = ENOSYS;
#endif
    if (ring >= 0) {
        close((int)ring);
        check_say(GRADE_OK, "io_uring", NULL, "works");
        return;
    }
    check_say(
        GRADE_NOTE, "io_uring",
        error == EPERM ? "sysctl kernel.io_uring_disabled=0, or allow it in the container's seccomp profile"
                       : NULL,
        "%s; segments on NVM are read and written by threads instead, which is slower", strerror(error));
}

static bool has_userfault(int flags, int *error) {
    int file = (int)syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags);
    *error = errno;
    if (file >= 0)
        close(file);
    return file >= 0;
}

static void check_userfault(void) {
    enum {
        /* UFFD_USER_MODE_ONLY of Linux 5.11: does not report faults in the kernel, such as in read(2). */
        USER_ONLY = 1
    };
    int error;
    if (has_userfault(0, &error))
        check_say(GRADE_OK, "userfaultfd", NULL, "works");
    else if (has_userfault(USER_ONLY, &(int){0}))
        check_say(GRADE_NOTE, "userfaultfd", "sysctl vm.unprivileged_userfaultfd=1",
                  "only for faults in user mode: with HEARTH_LOCAL=userfault, system calls on a "
                  "segment fail");
    else
        check_say(GRADE_NOTE, "userfaultfd",
                  "leave HEARTH_LOCAL=signal, or sysctl vm.unprivileged_userfaultfd=1",
                  "%s; local access to segments uses signals", strerror(error));
}

/* The folder that vGASNet would use. */
static const char *nvm_folder(void) {
    const char *folder = secure_getenv("HEARTH_NVM_DIR"), *temporary = secure_getenv("TMPDIR");
    if (folder && *folder)
        return folder;
    return temporary && *temporary ? temporary : "/var/tmp";
}

/* A file that never has a name; on filesystems without O_TMPFILE, one that is unlinked at once. */
static int open_nameless(const char *folder, int flags) {
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return file;
    char *path = need_text("%s/hearth-check-XXXXXX", folder);
    file = mkostemp(path, O_CLOEXEC | flags);
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

/* 0, or the error of a direct write. */
static int try_direct(const char *folder) {
    void *page = NULL;
    int file = open_nameless(folder, O_DIRECT), error = 0;
    if (file < 0)
        return errno;
    if (posix_memalign(&page, PAGE, PAGE))
        error = ENOMEM;
    else if (pwrite(file, memset(page, 1, PAGE), PAGE, 0) != PAGE)
        error = errno ? errno : EIO;
    free(page);
    close(file);
    return error;
}

static void check_direct(void) {
    const char *folder = nvm_folder();
    int file = open_nameless(folder, 0), error = errno;
    if (file < 0) {
        check_say(GRADE_BAD, "NVM folder",
                  "set HEARTH_NVM_DIR to a folder on the node's own disk in which you may write",
                  "cannot write in %s: %s; vGASNet cannot store its segments", folder, strerror(error));
        return;
    }
    close(file);
    error = try_direct(folder);
    if (!error)
        check_say(GRADE_OK, "NVM folder", NULL, "direct I/O works in %s", folder);
    else
        check_say(GRADE_NOTE, "NVM folder", "set HEARTH_NVM_DIR to a folder on ext4 or xfs",
                  "no direct I/O in %s: %s; pages are then cached twice, by Hearth and by the system", folder,
                  strerror(error));
}

void check_system(void) {
    check_system_room();
    check_memlock();
    check_files();
    check_uring();
    check_userfault();
    check_direct();
}
