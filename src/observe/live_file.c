/* live_file.c: allocates the memory of the page that `hearth top` reads.
 *
 * Counters are updated in place; the memory under them is a file that other processes may read:
 *
 *      0            page     allocated            free                    adopted      16 MB, of which only used pages are backed
 *      +------------+--------+--------------------+-----------------------+----------+
 *      | live_page  | window | cache | window ...|  ->               <-  | globals  |
 *      +------------+--------+--------------------+-----------------------+----------+
 *                       ^                                                      |
 *        live_page lists where each object begins, and its counters        mapped at their own addresses
 *
 * The file is a memfd. It has no name that could be guessed, replaced by a link, or left behind: it disappears with
 * its process, however that ends. Readers find it as /proc/PID/fd/N, which the kernel opens only for the same user
 * (and root). For that the descriptor stays open, under a high number, out of the way of programs that close or reuse
 * low ones. If a program closes it, the process is no longer shown; nothing else changes. The file is sealed: readers
 * cannot write, even if they may open it, and its size does not change, so that no access raises SIGBUS. Memory is
 * backed before it is handed out.
 *
 * The alternative was a thread that copies the counters periodically. It would cost a thread in each process, a lock
 * around each list of windows, and the counters would be slightly old.
 *
 * fork: in the child a private copy replaces the mapping, at the same addresses, and the child is not shown. Between
 * fork and that copy it does not touch the parent's counters. */
#include "observe/live_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since Linux 6.3 */
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* since Linux 5.1 */
#endif

enum { UNIT = 128, STEP = 1 << 16, MOST_ADOPTED = 8, HIGH_NUMBER = 700 };

struct block { /* released block */
    struct block *next;
    size_t bytes;
};

struct adopted {
    char *at;
    size_t bytes;
};

pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
struct live_page *live_shown;

/* Guarded by live_lock. */
static char *base; /* of the mapping; NULL: never created */
static int file = -1;
/* used: bytes handed out from below. backed: bytes that have memory. top: start of the adopted part. */
static size_t used, backed, top;
static struct block *given;
static struct adopted adopted[MOST_ADOPTED];
static unsigned adopted_count;

/* ---- memory ---- */

static size_t live_whole_pages(size_t bytes) {
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + unit - 1) / unit * unit;
}

/* A signal interrupts fallocate, and the kernel then releases all pages of the call, so it is repeated. */
static int live_fill(size_t from, size_t bytes) {
    while (fallocate(file, 0, (off_t)from, (off_t)bytes))
        if (errno != EINTR)
            return -errno;
    return 0;
}

static void *take_again(size_t bytes) {
    for (struct block **link = &given; *link; link = &(*link)->next)
        if ((*link)->bytes == bytes) {
            struct block *b = *link;
            *link = b->next;
            return memset(b, 0, bytes);
        }
    return NULL;
}

static void *take_new(size_t bytes) {
    if (bytes > top - used)
        return NULL;
    if (used + bytes > backed) {
        size_t more = (used + bytes - backed + STEP - 1) / STEP * STEP;
        if (more > top - backed || live_fill(backed, more))
            return NULL;
        backed += more;
    }
    used += bytes;
    return base + used - bytes;
}

static size_t units(size_t bytes) {
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* The size is stored before the returned memory. */
void *live_take(size_t bytes) {
    if (bytes > LIVE_FILE_BYTES)
        return NULL;
    size_t whole = UNIT + units(bytes);
    pthread_mutex_lock(&live_lock);
    char *memory = live_shown ? take_again(whole) : NULL;
    if (live_shown && !memory)
        memory = take_new(whole);
    pthread_mutex_unlock(&live_lock);
    if (!memory)
        return NULL;
    *(size_t *)(void *)memory = whole;
    return memory + UNIT;
}

static bool live_is_inside(const void *memory) {
    return base && (const char *)memory >= base && (const char *)memory < base + LIVE_FILE_BYTES;
}

bool live_give(void *memory) {
    if (!live_is_inside(memory))
        return false;
    char *begin = (char *)memory - UNIT;
    size_t bytes = *(size_t *)(void *)begin;
    pthread_mutex_lock(&live_lock);
    struct block *b = (struct block *)(void *)begin;
    *b = (struct block){.next = given, .bytes = bytes};
    given = b;
    pthread_mutex_unlock(&live_lock);
    return true;
}

void *live_alloc(size_t bytes) {
    void *memory = live_take(bytes);
    if (!memory && bytes < SIZE_MAX - UNIT && (memory = aligned_alloc(UNIT, units(bytes))))
        memset(memory, 0, bytes);
    return memory;
}

void live_free(void *memory) {
    if (!live_give(memory))
        free(memory);
}

int live_memory_open(struct memory *m, size_t bytes, struct memory_budget *budget) {
    size_t length = bytes <= LIVE_FILE_BYTES ? live_whole_pages(bytes) : 0;
    void *memory = length ? live_take(length) : NULL;
    if (!memory)
        return memory_open(m, bytes, budget);
    int err = memory_budget_take(budget, length);
    if (err) {
        live_give(memory);
        return err;
    }
    *m = (struct memory){.base = memory, .bytes = length, .budget = budget};
    return 0;
}

void live_memory_close(struct memory *m) {
    if (!live_is_inside(m->base)) {
        memory_close(m);
        return;
    }
    live_give(m->base);
    memory_budget_give(m->budget, m->bytes);
    *m = (struct memory){0};
}

/* Moves a mapping over another one. Uses the system call, because UCX replaces the C library's mremap by its own,
 * which does not pass on the destination. */
static int live_move(char *from, size_t bytes, char *to) {
    long at = syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    return at == -1 ? -errno : 0;
}

/* Copies the contents into the file, and moves that part of the mapping over the original, in one step. */
static int live_adopt_memory(char *memory, size_t bytes) {
    if (adopted_count == MOST_ADOPTED || bytes > top - backed)
        return -ENOSPC;
    int err = live_fill(top - bytes, bytes);
    if (err)
        return err;
    char *part = base + top - bytes;
    memcpy(part, memory, bytes);
    err = live_move(part, bytes, memory);
    if (err)
        return err;
    top -= bytes;
    adopted[adopted_count++] = (struct adopted){.at = memory, .bytes = bytes};
    return 0;
}

size_t live_offset_of(const void *object) {
    size_t end = LIVE_FILE_BYTES;
    for (unsigned i = 0; i < adopted_count; i++) {
        end -= adopted[i].bytes;
        size_t inside = (size_t)((const char *)object - adopted[i].at);
        if ((const char *)object >= adopted[i].at && inside < adopted[i].bytes)
            return end + inside;
    }
    return live_is_inside(object) ? (size_t)((const char *)object - base) : 0;
}

void live_adopt(void *memory, size_t bytes) {
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);
    bytes = live_whole_pages(bytes);
    pthread_mutex_lock(&live_lock);
    if (live_shown && (uintptr_t)memory % unit == 0 && !live_offset_of(memory))
        (void)live_adopt_memory(memory, bytes); /* on failure it is not shown */
    pthread_mutex_unlock(&live_lock);
}

/* ---- the file ---- */

/* From Linux 6.3 on the flag states that the file is not executable; earlier kernels do not know it. */
static int live_open_memory(void) {
    int made = memfd_create(LIVE_TITLE, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (made < 0 && errno == EINVAL)
        made = memfd_create(LIVE_TITLE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return -1;
    int high = fcntl(made, F_DUPFD_CLOEXEC, HIGH_NUMBER);
    if (high < 0)
        return made; /* the limit on descriptors is lower */
    close(made);
    return high;
}

/* A file larger than RLIMIT_FSIZE raises not only an error but a signal that ends the program. */
static bool live_is_within_limit(void) {
    struct rlimit limit;
    errno = EFBIG;
    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= LIVE_FILE_BYTES;
}

/* Existing mappings stay writable. */
static int seal(void) {
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!fcntl(file, F_ADD_SEALS, seals | F_SEAL_FUTURE_WRITE))
        return 0;
    return errno == EINVAL ? fcntl(file, F_ADD_SEALS, seals) : -1;
}

static int map_file(void) {
    if (!live_is_within_limit() || fchmod(file, 0600) || ftruncate(file, LIVE_FILE_BYTES))
        return -1;
    size_t first = (sizeof(struct live_page) + STEP - 1) / STEP * STEP;
    int err = live_fill(0, first);
    if (err) {
        errno = -err;
        return -1;
    }
    void *got = mmap(NULL, LIVE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (got == MAP_FAILED)
        return -1;
    if (seal()) {
        munmap(got, LIVE_FILE_BYTES);
        return -1;
    }
    base = got;
    used = units(sizeof(struct live_page));
    backed = first;
    top = LIVE_FILE_BYTES;
    return 0;
}

/* Replaces the mapping by private memory with the same contents at the same address. If there is no memory, the child
 * keeps the mapping. */
static void live_replace(char *at, size_t bytes) {
    char *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, at, bytes);
    if (live_move(copy, bytes, at))
        munmap(copy, bytes);
}

static void live_in_child(void) {
    live_shown = NULL;
    if (base)
        live_replace(base, backed);
    for (unsigned i = 0; i < adopted_count; i++)
        live_replace(adopted[i].at, adopted[i].bytes);
}

static void live_before_fork(void) {
    pthread_mutex_lock(&live_lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&live_lock);
}

static void after_fork_in_child(void) {
    live_in_child();
    pthread_mutex_unlock(&live_lock);
}

struct live_page *live_file_make(void) {
    file = live_open_memory();
    if (file >= 0 && !map_file())
        return pthread_atfork(live_before_fork, after_fork, after_fork_in_child)
                   ? NULL
                   : (struct live_page *)(void *)base;
    log_info(LOG_REPORT, "hearth top will not show this process: no memory to share: %s", strerror(errno));
    if (file >= 0)
        close(file);
    file = -1;
    return NULL;
}
