/* fail.c: fault injection, preloaded: makes the k-th system, MPI or UCX call of one kind fail, counting the calls of
 * Hearth's libraries.
 *
 *      TEST_FAIL=KIND:K[:on|:every]    KIND: a name in fail.h, or the name of an MPI call such as Comm_dup; K: which call, from
 *                                  1; on: all later calls fail as well; every: each K-th call fails
 *      TEST_FAIL_RANK=N            on this rank only
 *      TEST_FAIL_PROGRAM=NAME      calls of the program of this name, not of a library; without ranks
 *      TEST_FAIL_COUNT=FILE        that rank keeps the number of calls of each kind in this file, as words of 8 bytes
 *
 * Otherwise only calls from our own libraries count; their code ranges are read when this library is loaded, and the return
 * address identifies a call. Calls of MPI, UCX and the program itself never fail. libhearth-ucx, which is loaded later,
 * must be preloaded too. This library comes last among the preloaded ones: libhearth-mpi looks for MPI behind itself. */
#include "fail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const names[FAIL_KINDS] = {FAIL_NAMES};

enum { MOST_RANGES = 16 };
static struct range { uintptr_t begin, end; } ranges[MOST_RANGES];
static int range_count;

/* `calls` points into the file, if there is one, so that the counts survive however the process ends. */
static _Atomic unsigned long own_calls[FAIL_KINDS], *calls = own_calls;
static enum fail_kind failing = FAIL_KINDS;
static char failing_name[32]; /* of an MPI call */
static _Atomic unsigned long calls_of_name;
static unsigned long fail_at;
static bool from_there_on, each_time;
static _Atomic bool is_over;

/* ---- the caller ---- */

/* The path of the program itself is empty. */
static bool is_ours(const char *path) {
    const char *program = getenv("TEST_FAIL_PROGRAM");
    if (program)
        return !*path && strcmp(program, program_invocation_short_name) == 0;
    return strstr(path, "libhearth-mpi") || strstr(path, "libarmci") || strstr(path, "libvgasnet") ||
           strstr(path, "libhearth-core") || strstr(path, "libhearth-ucx");
}

static int add_ranges(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!is_ours(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < MOST_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && part->p_flags & PF_X)
            ranges[range_count++] = (struct range){info->dlpi_addr + part->p_vaddr,
                                                   info->dlpi_addr + part->p_vaddr + part->p_memsz};
    }
    return 0;
}

static bool is_ours_at(uintptr_t at) {
    for (int i = 0; i < range_count; i++)
        if (at >= ranges[i].begin && at < ranges[i].end)
            return true;
    return false;
}

/* The number of this call among those of the chosen kind or name; 0: it is of another. */
static unsigned long number_of(enum fail_kind kind, const char *name) {
    unsigned long n = atomic_fetch_add(&calls[kind], 1) + 1;
    if (name && strcmp(name, failing_name) == 0)
        return atomic_fetch_add(&calls_of_name, 1) + 1;
    return kind == failing ? n : 0;
}

/* Code in our libraries writes the counts of the coverage tree (coverage.h): from here on nothing fails. */
SHOWN void test_fail_stop(void);
SHOWN void test_fail_stop(void) {
    atomic_store(&is_over, true);
}

bool fail_now(enum fail_kind kind, const char *name, const void *caller) {
    if (!is_ours_at((uintptr_t)caller) || atomic_load(&is_over))
        return false;
    unsigned long n = number_of(kind, name);
    return n && (n == fail_at || (from_there_on && n > fail_at) || (each_time && n % fail_at == 0));
}

/* ---- begin and end ---- */

#ifdef HEARTH_COVERAGE_H
typedef int main_function(int, char **, char **);
static main_function *real_main;

/* What is registered before main would run behind the code that writes the counts. */
static int main_that_stops(int argc, char **argv, char **environment) {
    atexit(test_fail_stop);
    return real_main(argc, argv, environment);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void),
                           void *);
SHOWN start_function __libc_start_main;
SHOWN int __libc_start_main(main_function *main, int argc, char **argv, void (*before)(void),
                            void (*after)(void), void (*end)(void), void *stack) {
    NEXT_AS(start_function *, "__libc_start_main");
    real_main = main;
    return next(main_that_stops, argc, argv, before, after, end, stack);
}
#endif

static bool is_chosen_rank(void) {
    const char *chosen = getenv("TEST_FAIL_RANK"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return !chosen || (rank && strcmp(chosen, rank) == 0);
}

static void keep_counts(const char *path) {
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (fd >= 0 && syscall(SYS_ftruncate, fd, sizeof own_calls) == 0)
        memory = (void *)syscall(SYS_mmap, NULL, sizeof own_calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED)
        calls = memory;
}

/* For programs: a plan as in TEST_FAIL, which counts from here on; NULL: none. */
SHOWN void test_fail_arm(const char *plan);
SHOWN void test_fail_arm(const char *plan) {
    char kind[sizeof failing_name], from[8] = "";
    failing = FAIL_KINDS;
    failing_name[0] = 0;
    for (int i = 0; i < FAIL_KINDS; i++)
        atomic_store(&calls[i], 0);
    atomic_store(&calls_of_name, 0);
    if (!plan || sscanf(plan, "%31[A-Za-z_]:%lu:%7s", kind, &fail_at, from) < 2)
        return;
    from_there_on = strcmp(from, "on") == 0;
    each_time = strcmp(from, "every") == 0;
    for (int i = 0; i < FAIL_KINDS; i++)
        if (strcmp(names[i], kind) == 0)
            failing = i;
    if (failing == FAIL_KINDS)
        strcpy(failing_name, kind);
}

__attribute__((constructor)) static void prepare(void) {
    if (!is_chosen_rank())
        return;
    if (getenv("TEST_FAIL_COUNT"))
        keep_counts(getenv("TEST_FAIL_COUNT"));
    dl_iterate_phdr(add_ranges, NULL);
    test_fail_arm(getenv("TEST_FAIL"));
}

/* ---- memory ---- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void *refuse_memory(void) {
    errno = ENOMEM;
    return NULL;
}

SHOWN void *malloc(size_t bytes) {
    return FAILS(FAIL_MEMORY) ? refuse_memory() : __libc_malloc(bytes);
}

SHOWN void *calloc(size_t count, size_t bytes) {
    return FAILS(FAIL_MEMORY) ? refuse_memory() : __libc_calloc(count, bytes);
}

SHOWN void *realloc(void *old, size_t bytes) {
    return FAILS(FAIL_MEMORY) ? refuse_memory() : __libc_realloc(old, bytes);
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes) {
    return FAILS(FAIL_MEMORY) ? refuse_memory() : __libc_memalign(alignment, bytes);
}

SHOWN char *strdup(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = FAILS(FAIL_MEMORY) ? refuse_memory() : __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

SHOWN int vasprintf(char **text, const char *format, va_list arguments) {
    NEXT(vasprintf);
    return FAILS(FAIL_MEMORY) ? -1 : next(text, format, arguments);
}

SHOWN int posix_memalign(void **to, size_t alignment, size_t bytes) {
    void *memory = FAILS(FAIL_MEMORY) ? NULL : __libc_memalign(alignment, bytes);
    if (memory)
        *to = memory;
    return memory ? 0 : ENOMEM;
}

SHOWN void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (!FAILS(FAIL_MEMORY))
        return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

SHOWN int memfd_create(const char *name, unsigned flags) {
    if (!FAILS(FAIL_MEMORY))
        return (int)syscall(SYS_memfd_create, name, flags);
    errno = EMFILE;
    return -1;
}

SHOWN FILE *open_memstream(char **text, size_t *bytes) {
    NEXT(open_memstream);
    return FAILS(FAIL_MEMORY) ? refuse_memory() : next(text, bytes);
}

/* ---- files ---- */

static int refuse_file(int why) {
    errno = why;
    return -1;
}

SHOWN int open(const char *path, int flags, ...) {
    NEXT(open);
    va_list rest;
    va_start(rest, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
    va_end(rest);
    return FAILS(FAIL_FILES) ? refuse_file(EMFILE) : next(path, flags, mode);
}

SHOWN ssize_t read(int fd, void *to, size_t bytes) {
    NEXT(read);
    return FAILS(FAIL_FILES) ? refuse_file(EIO) : next(fd, to, bytes);
}

SHOWN ssize_t write(int fd, const void *from, size_t bytes) {
    NEXT(write);
    return fd != STDERR_FILENO && FAILS(FAIL_FILES) ? refuse_file(ENOSPC) : next(fd, from, bytes);
}

SHOWN ssize_t pread(int fd, void *to, size_t bytes, off_t at) {
    NEXT(pread);
    return FAILS(FAIL_FILES) ? refuse_file(EIO) : next(fd, to, bytes, at);
}

SHOWN ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at) {
    NEXT(pwrite);
    return FAILS(FAIL_FILES) ? refuse_file(ENOSPC) : next(fd, from, bytes, at);
}

SHOWN int fsync(int fd) {
    NEXT(fsync);
    return FAILS(FAIL_FILES) ? refuse_file(EIO) : next(fd);
}

SHOWN int fdatasync(int fd) {
    NEXT(fdatasync);
    return FAILS(FAIL_FILES) ? refuse_file(EIO) : next(fd);
}

SHOWN int ftruncate(int fd, off_t bytes) {
    NEXT(ftruncate);
    return FAILS(FAIL_FILES) ? refuse_file(ENOSPC) : next(fd, bytes);
}

SHOWN int fallocate(int fd, int mode, off_t at, off_t bytes) {
    NEXT(fallocate);
    return FAILS(FAIL_FILES) ? refuse_file(ENOSPC) : next(fd, mode, at, bytes);
}

SHOWN int openat(int folder, const char *path, int flags, ...) {
    NEXT(openat);
    va_list rest;
    va_start(rest, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
    va_end(rest);
    return FAILS(FAIL_FILES) ? refuse_file(EMFILE) : next(folder, path, flags, mode);
}

SHOWN int fstat(int fd, struct stat *about) {
    NEXT(fstat);
    return FAILS(FAIL_FILES) ? refuse_file(EIO) : next(fd, about);
}

SHOWN int mkdir(const char *path, mode_t mode) {
    NEXT(mkdir);
    return FAILS(FAIL_FILES) ? refuse_file(EACCES) : next(path, mode);
}

SHOWN int rename(const char *from, const char *to) {
    NEXT(rename);
    return FAILS(FAIL_FILES) ? refuse_file(EACCES) : next(from, to);
}

static void *refuse_stream(void) {
    errno = EMFILE;
    return NULL;
}

SHOWN FILE *fopen(const char *path, const char *mode) {
    NEXT(fopen);
    return FAILS(FAIL_FILES) ? refuse_stream() : next(path, mode);
}

SHOWN FILE *fdopen(int fd, const char *mode) {
    NEXT(fdopen);
    return FAILS(FAIL_FILES) ? refuse_stream() : next(fd, mode);
}

SHOWN DIR *opendir(const char *path) {
    NEXT(opendir);
    return FAILS(FAIL_FILES) ? refuse_stream() : next(path);
}

/* ---- threads ---- */

SHOWN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                         void *arg) {
    NEXT(pthread_create);
    return FAILS(FAIL_THREADS) ? EAGAIN : next(thread, attributes, start, arg);
}
