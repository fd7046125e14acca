/* promise.c: writes the ledger of this process, and sums up the ledgers of all processes of the user.
 *
 * A ledger is a memory file, like that of `hearth top` (observe/live.c): it has no name, vanishes with its process, and only the same user can
 * open it, as /proc/PID/fd/N. N is one of a few high numbers, so that readers need not examine every descriptor of every process. A forked
 * child inherits the descriptor, so the ledger names the process that writes it, and readers ignore it in other processes.
 *
 *      process of job A          process of job A           process of job B
 *      id 7: 100 MiB             id 7: 100 MiB, file F      id 9: 300 MiB, file G        F has 150 MiB of memory, G has 20:
 *                                                                                        50 and 280 MiB are still to come
 *
 * The writer claims an entry by its state, and then stores its id; a reader ignores entries whose id is 0. `file` and `idle` are stored before
 * `has_file` is set (release), and read after it (acquire). If an entry is closed while a reader works, its bytes are 0 or those of the next
 * promise: a reader errs by one promise at most. */
#include "net/shm/promise.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define TITLE "hearth-promised"
#define MAGIC "HEARTHP1" /* changes with the layout */

enum { ENTRIES = 128, FIRST_NUMBER = 720, NUMBERS = 4 };
enum { FREE, TAKEN };

struct net_promise {
    _Alignas(128) _Atomic uint32_t state;
    _Atomic uint32_t has_file;
    _Atomic uint64_t id;
    _Atomic int64_t bytes;
    uint64_t idle;
    struct net_address file;
};

struct ledger {
    char magic[8];
    int32_t process;
    struct net_promise entries[ENTRIES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the two below; a leaf */
static struct ledger *ledger;                            /* NULL: none yet */
static pid_t owner; /* the process that created the ledger, or tried to */

uint64_t net_promise_id(void) {
    uint64_t id = 0;
    if (getrandom(&id, sizeof id, 0) != sizeof id || id == 0)
        id = clock_ns() ^ (uint64_t)getpid() << 32;
    return id ? id : 1;
}

/* ---- the ledger of this process ---- */

/* Creates the file under one of the descriptor numbers that readers check; -1: they are all in use, or no file could be created. */
static int ledger_file(void) {
    int made = memfd_create(TITLE, MFD_CLOEXEC);
    int file = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, FIRST_NUMBER);
    if (made >= 0)
        close(made);
    if (file < FIRST_NUMBER + NUMBERS && file >= 0 && ftruncate(file, sizeof(struct ledger)) == 0)
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static struct ledger *ledger_make(void) {
    int file = ledger_file();
    void *at = file < 0 ? MAP_FAILED
                        : mmap(NULL, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        if (file >= 0)
            close(file);
        log_info(LOG_NET,
                 "shared memory: no ledger could be created: other jobs do not see this process's promises");
        return NULL;
    }
    struct ledger *made = at;
    made->process = (int32_t)getpid();
    memcpy(made->magic, MAGIC, sizeof made->magic);
    return made;
}

/* A forked child creates its own. */
static struct ledger *ledger_own(void) {
    pthread_mutex_lock(&lock);
    if (owner != getpid()) {
        owner = getpid();
        ledger = ledger_make();
    }
    struct ledger *own = ledger;
    pthread_mutex_unlock(&lock);
    return own;
}

struct net_promise *net_promise_open(uint64_t id) {
    struct ledger *own = ledger_own();
    for (int i = 0; own && i < ENTRIES; i++) {
        struct net_promise *p = &own->entries[i];
        uint32_t state = FREE;
        if (!atomic_compare_exchange_strong(&p->state, &state, TAKEN))
            continue;
        atomic_store(&p->id, id);
        return p;
    }
    return NULL;
}

void net_promise_close(struct net_promise *p) {
    if (!p)
        return;
    atomic_store(&p->bytes, 0);
    atomic_store(&p->has_file, 0);
    atomic_store(&p->id, 0);
    atomic_store(&p->state, FREE);
}

void net_promise_add(struct net_promise *p, int64_t bytes) {
    if (p)
        atomic_fetch_add_explicit(&p->bytes, bytes, memory_order_relaxed);
}

void net_promise_file(struct net_promise *p, const struct net_address *file, uint64_t idle) {
    if (!p)
        return;
    p->file = *file;
    p->idle = idle;
    atomic_store_explicit(&p->has_file, 1, memory_order_release);
}

/* ---- all ledgers ---- */

enum { ACCOUNTS = 256 };

struct accounts {
    uint64_t but; /* the id that is left out; 0: none */
    bool (*counts)(const char *process, const void *arg);
    const void *arg;
    int count;
    struct account {
        uint64_t id;
        int64_t promised, backed;
    } of[ACCOUNTS];
};

static struct account *account_of(struct accounts *all, uint64_t id) {
    for (int i = 0; i < all->count; i++)
        if (all->of[i].id == id)
            return &all->of[i];
    if (all->count == ACCOUNTS)
        return NULL;
    all->of[all->count] = (struct account){.id = id};
    return &all->of[all->count++];
}

static void add_entry(struct accounts *all, const struct net_promise *p) {
    uint64_t id = atomic_load(&p->id), bytes;
    if (atomic_load_explicit(&p->state, memory_order_acquire) != TAKEN || id == 0 || id == all->but)
        return;
    struct account *a = account_of(all, id);
    if (!a)
        return;
    a->promised += atomic_load_explicit(&p->bytes, memory_order_relaxed);
    if (atomic_load_explicit(&p->has_file, memory_order_acquire) &&
        net_memfile_backed(&p->file, &bytes) == 0 && bytes > p->idle)
        a->backed += (int64_t)(bytes - p->idle);
}

static void add_ledger(struct accounts *all, int file, int process) {
    struct stat st;
    if (fstat(file, &st) || st.st_size != sizeof(struct ledger))
        return;
    const struct ledger *l = mmap(NULL, sizeof *l, PROT_READ, MAP_SHARED, file, 0);
    if (l == MAP_FAILED)
        return;
    if (!memcmp(l->magic, MAGIC, sizeof l->magic) && l->process == process)
        for (int i = 0; i < ENTRIES; i++)
            add_entry(all, &l->entries[i]);
    munmap((void *)(uintptr_t)l, sizeof *l);
}

static bool is_ledger(int folder, const char *path) {
    static const char title[] = "/memfd:" TITLE " (deleted)";
    char link[sizeof title + 1];
    return readlinkat(folder, path, link, sizeof link) == sizeof title - 1 &&
           !memcmp(link, title, sizeof title - 1);
}

static void add_process(struct accounts *all, int folder, const char *name) {
    struct stat st;
    char path[64];
    if (fstatat(folder, name, &st, 0) || st.st_uid != geteuid())
        return;
    for (int n = FIRST_NUMBER; n < FIRST_NUMBER + NUMBERS; n++) {
        if (snprintf(path, sizeof path, "%s/fd/%d", name, n) >= (int)sizeof path || !is_ledger(folder, path))
            continue;
        if (all->counts && !all->counts(name, all->arg))
            return;
        int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        add_ledger(all, file, atoi(name));
        close(file);
    }
}

static uint64_t promises_left(const struct accounts *asked) {
    struct accounts *all = malloc(sizeof *all);
    DIR *processes = all ? opendir("/proc") : NULL;
    uint64_t left = 0;
    if (processes) {
        *all = *asked;
        for (struct dirent *e = readdir(processes); e; e = readdir(processes))
            if (isdigit((unsigned char)e->d_name[0]))
                add_process(all, dirfd(processes), e->d_name);
        closedir(processes);
    }
    for (int i = 0; processes && i < all->count; i++)
        if (all->of[i].promised > all->of[i].backed)
            left += (uint64_t)(all->of[i].promised - all->of[i].backed);
    free(all);
    return left;
}

uint64_t net_promise_others(uint64_t id, bool (*counts)(const char *process, const void *arg),
                            const void *arg) {
    return promises_left(&(struct accounts){.but = id, .counts = counts, .arg = arg});
}
