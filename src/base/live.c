/* live.c: the page that `hearth top` reads.
 *
 * Counters are updated in place; the memory under them is a file that other processes may read:
 *
 *      0            page     allocated            free                    adopted      16 MB, of which only used pages are backed
 *      +------------+--------+--------------------+-----------------------+----------+
 *      | live_page  | window | cache | window ...|  ->               <-  | globals  |
 *      +------------+--------+--------------------+-----------------------+----------+
 *                       ^                                                      |
 *        objects: where each begins, and the meaning of its words          mapped at their own addresses
 *
 * The file is a memfd. It has no name that could be guessed, replaced by a link, or left behind: it disappears with
 * its process, however that ends. Readers find it as /proc/PID/fd/N, which the kernel opens only for the same user
 * (and root). For that the descriptor stays open, under a high number, out of the way of programs that close or reuse
 * low ones. If a program closes it, the process is no longer shown, without further effects. The file is sealed:
 * readers cannot write, even if they may open it, and its size does not change, so that no access raises SIGBUS.
 * Memory is backed before it is handed out.
 *
 * The alternative was a thread that copies the counters periodically. It would cost a thread in each process, a lock
 * around each list of windows, and the counters would be slightly old.
 *
 * The tables change rarely, under the lock and between two increments of `sequence`. The counters change at any time:
 * each is one aligned word, so a reader sees an old or a new value, and two of them may be some events apart.
 *
 * fork: the child gets a copy, at the same addresses, and is not shown. Between fork and that copy it does not
 * touch the parent's counters. */
#include "base/live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since Linux 6.3 */
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10 /* since Linux 5.1 */
#endif

enum { UNIT = 128, STEP = 1 << 16, MOST_SHAPES = 64, MOST_ADOPTED = 8, HIGH_NUMBER = 700 };

_Static_assert((int)LIVE_WHATS <= (int)LIVE_MOST_WHATS, "the page has room for all");

struct block { /* released block */
    struct block *next;
    size_t bytes;
};

struct shape {
    const struct live_field *fields;
    uint16_t first;
};

struct adopted {
    char *at;
    size_t bytes;
};

/* Guards everything below. No function that locks is called under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *base;             /* of the mapping; NULL: never created */
static struct live_page *page; /* NULL: not shown */
static int file = -1;
/* used: bytes handed out from below. backed: bytes that have memory. top: start of the adopted part. */
static size_t used, backed, top;
static struct block *given;
static struct shape shapes[MOST_SHAPES];
static unsigned shape_count;
static struct adopted adopted[MOST_ADOPTED];
static unsigned adopted_count;
static _Thread_local int own_thread = -1; /* index in page->threads */

const char *live_name(enum live_what what) {
    static const char *const names[] = {
#define LIVE(name, kind) #name,
#include "base/live.def"
#undef LIVE
    };
    return names[what];
}

enum live_kind live_kind_of(enum live_what what) {
    static const enum live_kind kinds[] = {
#define LIVE(name, kind) LIVE_KIND_##kind,
#include "base/live.def"
#undef LIVE
    };
    return kinds[what];
}

uint64_t live_read(const char *object, const struct live_field *f) {
    const void *at = object + f->offset;
    uint64_t value = f->bytes == 8   ? __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED)
                     : f->bytes == 4 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED)
                                     : __atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
    return f->sign < 0 ? -value : value;
}

/* ---- memory ---- */

static size_t live_whole_pages(size_t bytes) {
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + unit - 1) / unit * unit;
}

/* On a signal the kernel releases what it has allocated, so the call is repeated. */
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
    pthread_mutex_lock(&lock);
    char *memory = page ? take_again(whole) : NULL;
    if (page && !memory)
        memory = take_new(whole);
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    struct block *b = (struct block *)(void *)begin;
    *b = (struct block){.next = given, .bytes = bytes};
    given = b;
    pthread_mutex_unlock(&lock);
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

static size_t live_offset_of(const void *object) {
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
    pthread_mutex_lock(&lock);
    if (page && (uintptr_t)memory % unit == 0 && !live_offset_of(memory))
        (void)live_adopt_memory(memory, bytes); /* on failure it is not shown */
    pthread_mutex_unlock(&lock);
}

/* ---- the tables ---- */

static void begin_change(void) {
    uint32_t now = atomic_load_explicit(&page->sequence, memory_order_relaxed);
    atomic_store_explicit(&page->sequence, now + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(void) {
    uint32_t now = atomic_load_explicit(&page->sequence, memory_order_relaxed);
    atomic_store_explicit(&page->sequence, now + 1, memory_order_release);
}

/* The position of these fields in the table; -1 if there is no space. */
static int place_fields(const struct live_field *fields, unsigned count) {
    for (unsigned i = 0; i < shape_count; i++)
        if (shapes[i].fields == fields)
            return shapes[i].first;
    if (shape_count == MOST_SHAPES || count > LIVE_MOST_FIELDS - page->field_count)
        return -1;
    unsigned first = page->field_count;
    memcpy(&page->fields[first], fields, count * sizeof *fields);
    page->field_count += count;
    shapes[shape_count++] = (struct shape){.fields = fields, .first = (uint16_t)first};
    return (int)first;
}

static void live_add_object(size_t offset, const struct live_field *fields, unsigned count) {
    for (uint32_t i = 0; i < page->object_count; i++)
        if (page->objects[i].offset == offset)
            return; /* shown already */
    int first = offset && page->object_count < LIVE_MOST_OBJECTS ? place_fields(fields, count) : -1;
    if (first < 0)
        page->unshown++;
    else
        page->objects[page->object_count++] = (struct live_object){
            .offset = (uint32_t)offset, .first = (uint16_t)first, .count = (uint16_t)count};
}

void live_show(const void *object, const struct live_field *fields, unsigned count) {
    pthread_mutex_lock(&lock);
    if (page) {
        begin_change();
        live_add_object(live_offset_of(object), fields, count);
        end_change();
    }
    pthread_mutex_unlock(&lock);
}

static void live_keep(const struct live_object *o, const char *object) {
    for (unsigned i = o->first; i < o->first + o->count; i++) {
        const struct live_field *f = &page->fields[i];
        if (live_kind_of((enum live_what)f->what) == LIVE_KIND_count)
            page->kept[f->what] += live_read(object, f);
    }
}

static void remove_object(const void *object, size_t offset) {
    for (uint32_t i = 0; i < page->object_count; i++)
        if (page->objects[i].offset == offset) {
            begin_change();
            live_keep(&page->objects[i], object);
            page->objects[i] = page->objects[--page->object_count];
            end_change();
            return;
        }
}

void live_hide(const void *object) {
    pthread_mutex_lock(&lock);
    size_t offset = page ? live_offset_of(object) : 0;
    if (offset)
        remove_object(object, offset);
    pthread_mutex_unlock(&lock);
}

/* ---- threads ---- */

static int free_thread(void) {
    for (int i = 0; i < LIVE_MOST_THREADS; i++)
        if (!page->threads[i].id)
            return i;
    return -1;
}

static void set_thread(int place, int id, enum live_role role) {
    begin_change();
    page->threads[place] = (struct live_thread){.id = id, .role = (int32_t)role};
    end_change();
}

void live_thread_begins(enum live_role role) {
    pthread_mutex_lock(&lock);
    own_thread = page ? free_thread() : -1;
    if (own_thread >= 0)
        set_thread(own_thread, (int)syscall(SYS_gettid), role);
    pthread_mutex_unlock(&lock);
}

void live_thread_ends(void) {
    pthread_mutex_lock(&lock);
    if (page && own_thread >= 0)
        set_thread(own_thread, 0, LIVE_NO_THREAD);
    own_thread = -1;
    pthread_mutex_unlock(&lock);
}

/* ---- opening ---- */

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

/* Replaces the mapping by private memory with the same contents at the same address. If there is none, the child
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
    page = NULL;
    if (base)
        live_replace(base, backed);
    for (unsigned i = 0; i < adopted_count; i++)
        live_replace(adopted[i].at, adopted[i].bytes);
}

static void live_before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void) {
    live_in_child();
    pthread_mutex_unlock(&lock);
}

static int live_make_file(void) {
    file = live_open_memory();
    if (file >= 0 && !map_file())
        return pthread_atfork(live_before_fork, after_fork, after_fork_in_child);
    log_info("hearth top will not show this process: no memory to share: %s", strerror(errno));
    if (file >= 0)
        close(file);
    file = -1;
    return -1;
}

static void live_identify(int rank, int size) {
    begin_change();
    memcpy(page->magic, LIVE_MAGIC, sizeof page->magic);
    page->pid = (int32_t)getpid();
    page->rank = rank;
    page->size = size;
    end_change();
}

void live_open(int rank, int size) {
    static bool tried;
    bool wanted = settings_get()->live;
    pthread_mutex_lock(&lock);
    if (wanted && !tried && !live_make_file())
        page = (struct live_page *)(void *)base;
    tried = true;
    if (page && !page->size)
        live_identify(rank, size);
    pthread_mutex_unlock(&lock);
}

void live_close(void) {
    pthread_mutex_lock(&lock);
    if (page) {
        begin_change();
        page->size = 0;
        end_change();
    }
    pthread_mutex_unlock(&lock);
}
