/* segment.c: shared memory without a name.
 *
 * A file in /dev/shm has a name that can be guessed, or be somebody else's link, and stays behind when its
 * owner is killed. A memfd has none: the others of the node open it as /proc/PID/fd/N, which the kernel
 * allows those who may read the process's memory maps, and it is gone with the last one that has it open or
 * mapped.
 *
 * PID and N may mean something else to another process (a namespace of its own, a process that has ended).
 * So nothing is opened before it was looked at: a regular file, of our user, of the size announced, sealed
 * so that it cannot shrink under a reader (which would be a SIGBUS). Then the token at its start must be
 * the one announced.
 *
 * All memory is asked for when the segment is made. Otherwise a node that has none left would show that as
 * SIGBUS at some later store. */
#include "net/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* of Linux 6.3 */
#endif

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

/* What a net_address holds. */
struct place {
    struct segment_token token;
    uint64_t bytes;
    int32_t process, file;
};
_Static_assert(sizeof(struct place) <= sizeof(struct net_address), "an address has room for it");

static _Atomic unsigned fail_countdown;

void segment_fail_at(unsigned n) {
    atomic_store(&fail_countdown, n);
}

/* True, with errno, if a test wants the request that would follow to fail. */
static bool planned_failure(int error) {
    unsigned left = atomic_load(&fail_countdown);
    if (left > 1)
        atomic_store(&fail_countdown, left - 1);
    errno = error;
    return left == 1;
}

/* ---- the owner ---- */

static int create_failed(const char *what, size_t bytes) {
    int err = errno;
    log_warn("shared memory: %s of %zu bytes: %s; messages within the node go through MPI", what, bytes,
             strerror(err));
    return -err;
}

/* Linux from 6.3 on wants to be told that it is no program; before, it does not know the word. */
static int open_memory(void) {
    int file = planned_failure(EMFILE) ? -1 : memfd_create("hearth", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (file < 0 && errno == EINVAL)
        file = memfd_create("hearth", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return file;
}

/* Beyond RLIMIT_FSIZE there is not only an error but a signal that ends the program. */
static bool is_within_limit(size_t bytes) {
    struct rlimit limit;
    errno = EFBIG;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* The file's size, its memory, and that neither changes. */
static int fill(int file, size_t bytes) {
    if (!is_within_limit(bytes))
        return create_failed("the limit on file sizes (ulimit -f) forbids a file", bytes);
    if (planned_failure(EFBIG) || ftruncate(file, (off_t)bytes))
        return create_failed("cannot make a file", bytes);
    while (planned_failure(ENOSPC) || fallocate(file, 0, 0, (off_t)bytes))
        if (errno != EINTR)
            return create_failed("the node has no room for one", bytes);
    if (planned_failure(EPERM) || fcntl(file, F_ADD_SEALS, SEALS))
        return create_failed("cannot fix the size", bytes);
    return 0;
}

static void *map(int file, size_t bytes, int flags) {
    return planned_failure(ENOMEM) ? MAP_FAILED
                                   : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
}

static int make_token(struct segment_token *token) {
    if (planned_failure(ENOSYS))
        return -1;
    return getrandom(token, sizeof *token, 0) == sizeof *token ? 0 : -1;
}

static int create_in(int file, size_t bytes, struct segment *s, struct place *place) {
    int err = fill(file, bytes);
    if (err)
        return err;
    if (make_token(&place->token))
        return create_failed("no random numbers for one", bytes);
    void *base = map(file, bytes, MAP_POPULATE);
    if (base == MAP_FAILED)
        return create_failed("cannot map one", bytes);
    memcpy(base, &place->token, sizeof place->token);
    *s = (struct segment){.base = base, .bytes = bytes, .file = file, .process = place->process};
    return 0;
}

int segment_create(struct segment *s, size_t bytes, struct net_address *address) {
    int file = open_memory();
    if (file < 0)
        return create_failed("cannot open one", bytes);
    struct place place = {.bytes = bytes, .process = (int32_t)getpid(), .file = file};
    int err = create_in(file, bytes, s, &place);
    if (err) {
        close(file);
        return err;
    }
    memset(address, 0, sizeof *address);
    memcpy(address, &place, sizeof place);
    return 0;
}

/* ---- the others ---- */

/* What to look for, where it is not memory that is missing. */
static const char *hint(int err) {
    bool shut = err == EPERM || err == EACCES || err == ENOENT || err == ESTALE;
    return shut ? ". Are the processes in containers of their own, or of different users?" : "";
}

static int attach_failed(int rank, const struct place *place, const char *what, int err) {
    log_warn("shared memory of rank %d of this node, /proc/%d/fd/%d: cannot %s it: %s; messages within the "
             "node go "
             "through MPI%s",
             rank, place->process, place->file, what,
             err == ESTALE ? "it is not what was announced" : strerror(err), hint(err));
    return -err;
}

static int open_link(const char *folder, int file, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/fd/%d", folder, file);
    return planned_failure(EACCES) ? -1 : open(path, flags | O_CLOEXEC);
}

/* Without opening it, which might do something to what it is not. */
static int look(const struct place *place) {
    char folder[16];
    snprintf(folder, sizeof folder, "%d", place->process);
    return open_link(folder, place->file, O_PATH);
}

static bool is_announced(int seen, const struct place *place) {
    struct stat st;
    return !fstat(seen, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (uint64_t)st.st_size == place->bytes;
}

static bool is_sealed(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

static int map_checked(struct segment *s, int file, const struct place *place, int rank) {
    if (!is_sealed(file))
        return attach_failed(rank, place, "use", ESTALE);
    void *base = map(file, place->bytes, 0);
    if (base == MAP_FAILED)
        return attach_failed(rank, place, "map", errno);
    if (memcmp(base, &place->token, sizeof place->token)) {
        munmap(base, place->bytes);
        return attach_failed(rank, place, "use", ESTALE);
    }
    *s = (struct segment){.base = base, .bytes = place->bytes, .file = -1, .process = place->process};
    return 0;
}

static int open_checked(struct segment *s, int seen, const struct place *place, int rank) {
    if (!is_announced(seen, place))
        return attach_failed(rank, place, "use", ESTALE);
    int file = open_link("self", seen, O_RDWR);
    if (file < 0)
        return attach_failed(rank, place, "open", errno);
    int err = map_checked(s, file, place, rank);
    close(file);
    return err;
}

int segment_attach(struct segment *s, const struct net_address *address, int rank) {
    struct place place;
    memcpy(&place, address, sizeof place);
    int seen = look(&place);
    if (seen < 0)
        return attach_failed(rank, &place, "find", errno);
    int err = open_checked(s, seen, &place, rank);
    close(seen);
    return err;
}

void segment_close(struct segment *s) {
    if (!s->base)
        return;
    munmap(s->base, s->bytes);
    if (s->file >= 0)
        close(s->file);
    *s = (struct segment){.file = -1};
}
