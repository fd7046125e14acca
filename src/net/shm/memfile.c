/* memfile.c: shared memory without names.
 *
 * A file in /dev/shm has a name that can be guessed or can be another user's link, and it remains when its owner is
 * killed. A memfd has no name. The other processes of the node open it as /proc/PID/fd/N, which the kernel permits
 * to processes that may read the owner's memory maps. It vanishes with the last process that has it open or mapped.
 *
 * PID and N may mean something else to another process (its own namespace, or the owner has ended). So a file is
 * checked before it is opened: a regular file, of our user, of the announced size, which the kernel reports as
 * created under a title with 128 random bits. It must also be sealed against shrinking, which would raise SIGBUS in
 * a reader. */
#include "net/shm/memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since Linux 6.3 */
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* since Linux 4.17 */
#endif

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, TITLE = 64 };

_Static_assert(sizeof(struct memfile_place) <= sizeof(struct net_address), "an address has room for it");

static int memfile_failed(const char *words, const char **what) {
    *what = words;
    return -errno;
}

struct memfile_place net_memfile_place(const struct net_address *address) {
    struct memfile_place place;
    memcpy(&place, address, sizeof place);
    return place;
}

const char *net_memfile_reason(int error) {
    return error == ESTALE ? "it is not what was announced" : strerror(error);
}

const char *net_memfile_hint(int error) {
    bool shut = error == EPERM || error == EACCES || error == ENOENT || error == ESTALE;
    if (error == EMFILE)
        return ". Raise the limit on open files (ulimit -n)";
    return shut ? ". Are the processes in containers of their own, or of different users?" : "";
}

/* ---- the owner ---- */

static int make_token(struct segment_token *token) {
    return getrandom(token, sizeof *token, 0) == sizeof *token ? 0 : -1;
}

static void print_title(const struct segment_token *token, char title[TITLE]) {
    snprintf(title, TITLE, "hearth-%016" PRIx64 "%016" PRIx64, token->words[0], token->words[1]);
}

/* Linux 6.3 and later expect this flag for files that are not executable; earlier kernels reject it. */
static int memfile_open_memory(const struct segment_token *token) {
    char title[TITLE];
    print_title(token, title);
    int file = memfd_create(title, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (file < 0 && errno == EINVAL)
        file = memfd_create(title, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return file;
}

/* Exceeding RLIMIT_FSIZE is not only an error: a signal ends the program. */
static bool memfile_is_within_limit(uint64_t bytes) {
    struct rlimit limit;
    errno = EFBIG;
    if (bytes > INT64_MAX)
        return false;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Sets the size of the file, and seals it. */
static int memfile_set_size(int file, uint64_t bytes, const char **what) {
    if (!memfile_is_within_limit(bytes))
        return memfile_failed("the limit on file sizes (ulimit -f) forbids a file", what);
    if (ftruncate(file, (off_t)bytes))
        return memfile_failed("cannot set the size of a file", what);
    if (fcntl(file, F_ADD_SEALS, SEALS))
        return memfile_failed("cannot seal a file", what);
    return 0;
}

int net_memfile_make(uint64_t bytes, int *file, struct net_address *address, const char **what) {
    struct memfile_place place = {.bytes = bytes, .process = (int32_t)getpid()};
    if (make_token(&place.token))
        return memfile_failed("no random numbers to name a file", what);
    place.file = memfile_open_memory(&place.token);
    if (place.file < 0)
        return memfile_failed("cannot create a file", what);
    int err = memfile_set_size(place.file, bytes, what);
    if (err) {
        close(place.file);
        return err;
    }
    memset(address, 0, sizeof *address);
    memcpy(address, &place, sizeof place);
    *file = place.file;
    return 0;
}

/* In pieces: when a signal interrupts the call, the kernel releases all that the call had allocated. Under a
 * profiler's timer, one long call would never finish. */
int net_memfile_fill(int file, uint64_t from, uint64_t bytes, const char **what) {
    enum { PIECE = 4 << 20 };
    while (bytes) {
        uint64_t piece = bytes < PIECE ? bytes : PIECE;
        if (!fallocate(file, 0, (off_t)from, (off_t)piece)) {
            from += piece;
            bytes -= piece;
        } else if (errno != EINTR) {
            return memfile_failed("the node has no memory for a file", what);
        }
    }
    return 0;
}

/* ---- the others ---- */

static int memfile_open_link(const char *folder, int file, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/fd/%d", folder, file);
    return open(path, flags | O_CLOEXEC);
}

/* Does not open it, which could have side effects on an unrelated file. */
static int memfile_look(const struct memfile_place *place) {
    char folder[16];
    snprintf(folder, sizeof folder, "%d", place->process);
    return memfile_open_link(folder, place->file, O_PATH);
}

/* The kernel reports "/memfd:TITLE (deleted)". */
static bool memfile_has_title(int seen, const struct segment_token *token) {
    char path[64], link[TITLE + 32], title[TITLE];
    snprintf(path, sizeof path, "/proc/self/fd/%d", seen);
    ssize_t length = readlink(path, link, sizeof link - 1);
    link[length > 0 ? length : 0] = '\0';
    print_title(token, title);
    size_t head = strlen("/memfd:");
    return !strncmp(link, "/memfd:", head) && !strncmp(link + head, title, strlen(title));
}

static bool is_announced(int seen, const struct memfile_place *place) {
    struct stat st;
    return !fstat(seen, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           (uint64_t)st.st_size == place->bytes && memfile_has_title(seen, &place->token);
}

int net_memfile_backed(const struct net_address *address, uint64_t *bytes) {
    struct memfile_place place = net_memfile_place(address);
    struct stat st;
    int seen = memfile_look(&place), err = -ESTALE;
    if (seen < 0)
        return -errno;
    if (is_announced(seen, &place) && !fstat(seen, &st)) {
        *bytes = (uint64_t)st.st_blocks * 512;
        err = 0;
    }
    close(seen);
    return err;
}

static bool is_sealed(int file) {
    int seals = fcntl(file, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

static int memfile_open_checked(int seen, const struct memfile_place *place, int *file, const char **what) {
    *what = "use";
    if (!is_announced(seen, place))
        return -ESTALE;
    int opened = memfile_open_link("self", seen, O_RDWR);
    if (opened < 0)
        return memfile_failed("open", what);
    if (!is_sealed(opened)) {
        close(opened);
        return -ESTALE;
    }
    *file = opened;
    return 0;
}

int net_memfile_find(const struct net_address *address, int *file, const char **what) {
    struct memfile_place place = net_memfile_place(address);
    int seen = memfile_look(&place);
    if (seen < 0)
        return memfile_failed("find", what);
    int err = memfile_open_checked(seen, &place, file, what);
    close(seen);
    return err;
}

/* ---- both ---- */

/* A kernel that does not know MAP_FIXED_NOREPLACE treats the address as a hint. */
static int memfile_map_at(int file, uint64_t bytes, void *at, int flags, void **base) {
    flags |= MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0);
    void *got = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (got == MAP_FAILED)
        return -errno;
    if (at && got != at) {
        munmap(got, bytes);
        return -EEXIST;
    }
    *base = got;
    return 0;
}

int net_memfile_map(int file, uint64_t bytes, void *at, int flags, void **base, const char **what) {
    *what = "map";
    return memfile_map_at(file, bytes, at, flags, base);
}
