/* heater.c: a thread that touches every registered cache line, naps, and starts again ("hot caching").
 *
 * Caches do not evict lines that are used often. The thread runs on a core that shares a cache with the core that will
 * need the data. It keeps the data in the shared cache, or in its own, from which other cores fetch it faster than from
 * memory.
 *
 *      regions     chunk 0: 64 places, chunk 1: 128, ...; a place is {base, bytes}, empty if base is NULL
 *      touching    the place that the heater is in, or NULL
 *      word        pauses * 8 + EMPTY + STOP + ASLEEP: all that the heater waits for, in one futex
 *
 * The heater takes no lock; `lock` serialises heater_add and heater_retire. Chunks are never freed, so the heater may
 * read a place at any time. `touching` protects a region that the heater reads, as a hazard pointer does:
 *
 *      heater      touching = place;  then reads base: not NULL, so touches it;         then touching = NULL
 *      retire      base = NULL;       then reads touching: not this place, so returns;  else waits
 *
 * In every order of these four steps, either the heater sees that the region is gone or retire sees that the heater is
 * in it. The heater checks base again after every PIECE, so retire waits for one piece at most. It does not wait if the
 * heater naps, sleeps or has ended, because `touching` is NULL then.
 *
 * Reading memory that its owner writes at the same time is a data race in C. It is intended: the value is discarded.
 * Only heater_touch does it, and only heater_touch is hidden from ThreadSanitizer.
 *
 * heater_affinity.c decides whether it runs, on which core, and how much it touches. */
#include "heater/heater.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "heater/heater_affinity.h"

enum { FIRST_PLACES = 64, MOST_CHUNKS = 24, PIECE = 4096 };
enum { ASLEEP = 1, STOP = 2, EMPTY = 4, PAUSE = 8 };                            /* in `word` */
enum { SHORT_PAUSE = 1000000, NEXT_LOOK = 200000000, LATER_LOOK = 1000000000 }; /* ns */

struct region {
    const char *_Atomic base; /* seq_cst against `touching`; set last, after bytes */
    _Atomic size_t bytes;
    const void *key;     /* search key of retire; under `lock` */
    struct region *next; /* in the list of empty places; under `lock` */
};

static struct region
    *_Atomic chunks[MOST_CHUNKS]; /* release by heater_add_chunk, acquire by heater_touch_all */

/* Written by the heater only, on a cache line of its own, so that its writes slow no other thread. */
static struct {
    _Alignas(CACHE_LINE) struct region *_Atomic touching;
    _Atomic uint64_t rounds, lines; /* relaxed: only counters */
    _Atomic int core;               /* relaxed: only reported */
} heater = {.core = -1};

static _Alignas(CACHE_LINE) _Atomic uint32_t word = EMPTY;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all variables below */
static void *by_base;                                    /* tree of the regions */
static struct region *empty_places;
static uint64_t registered; /* bytes */
static unsigned chunk_count;
static pthread_t thread;
static bool running, unwanted, ended;

/* ---- touching ---- */

static const char *next_line(const char *p) {
    return (const char *)(((uintptr_t)p / CACHE_LINE + 1) * CACHE_LINE);
}

/* The intended data race: see above. It reads single bytes, so that no read goes beyond the region. */
__attribute__((noinline, no_sanitize("thread"))) static uint64_t heater_touch(const char *from,
                                                                              const char *end) {
    uint64_t lines = 0;
    for (; from < end; from = next_line(from), lines++)
        (void)*(const volatile char *)from;
    return lines;
}

/* If the instruction set can name the cache level to bring a line to, that is better than reading it. A read moves
 * the line into the heater's own cache, away from a core that writes it, and other cores fetch it from there no
 * faster than a walk in address order fetches it from memory. On Neoverse V1, ns per line for such a walk: from
 * memory 2.0, after reading 2.0, after this 1.3; in random order, 768 KB: 71, 65, 30. Repeatedly writing 1 MB of
 * heated memory took 2.7 times as long next to a heater that reads, and not longer next to this one. Its disadvantage
 * is speed: 10 ns a line, so a megabyte is warm again after 200 us, where reading takes 50. */
static uint64_t bring_to_l3(const char *from, const char *end) {
#if defined(__aarch64__)
    uint64_t lines = 0;
    for (; from < end; from = next_line(from), lines++)
        __asm__ volatile("prfm pldl3keep, [%0]" ::"r"(from));
    return lines;
#else
    return heater_touch(from, end); /* as in the paper */
#endif
}

static bool is_l3; /* the heated cache is L3; used by the heater only */

/* Paused, stopped, or nothing is registered: also checked inside a round, because a round may take milliseconds. */
static bool is_wanted_elsewhere(void) {
    return atomic_load_explicit(&word, memory_order_relaxed) & ~(uint32_t)ASLEEP;
}

static uint64_t touch_pieces(struct region *r, const char *base, size_t bytes) {
    uint64_t lines = 0;
    for (size_t done = 0; done < bytes; done += PIECE) {
        size_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        lines += (is_l3 ? bring_to_l3 : heater_touch)(base + done, base + done + piece);
        if (atomic_load_explicit(&r->base, memory_order_relaxed) != base || is_wanted_elsewhere())
            break;
    }
    return lines;
}

/* Touches at most `most` bytes of it. */
static uint64_t touch_region(struct region *r, uint64_t most) {
    if (!atomic_load_explicit(&r->base, memory_order_relaxed))
        return 0;
    atomic_store(&heater.touching, r);        /* seq_cst: retire sees it, or the next line sees retire */
    const char *base = atomic_load(&r->base); /* seq_cst; acquire: the bytes; pairs with add_region */
    size_t bytes = atomic_load_explicit(&r->bytes, memory_order_relaxed);
    uint64_t lines = base ? touch_pieces(r, base, bytes < most ? bytes : most) : 0;
    atomic_store_explicit(&heater.touching, NULL, memory_order_release); /* pairs with wait_for_heater */
    return lines;
}

static void heater_count(_Atomic uint64_t *counter, uint64_t more) { /* it has one writer */
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + more, memory_order_relaxed);
}

static void heater_touch_all(uint64_t most) {
    uint64_t lines = 0;
    for (unsigned c = 0; c < MOST_CHUNKS; c++) {
        struct region *chunk = atomic_load_explicit(&chunks[c], memory_order_acquire);
        if (!chunk)
            break;
        for (size_t i = 0;
             i < (size_t)FIRST_PLACES << c && lines * CACHE_LINE < most && !is_wanted_elsewhere(); i++)
            lines += touch_region(&chunk[i], most - lines * CACHE_LINE);
    }
    heater_count(&heater.lines, lines);
    heater_count(&heater.rounds, !is_wanted_elsewhere());
}

/* ---- waiting ---- */

/* Waits until `word` differs from `seen`, a wakeup arrives, or `ns` nanoseconds have passed; 0: no limit. */
static void wait_for_change(uint32_t seen, uint64_t ns) {
    struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, ns ? &limit : NULL, NULL, 0);
}

static void heater_wake(void) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Wakes the heater if `removed`, which the caller has just removed from `word`, was its last reason to sleep. `before`
 * is the value of `word` before that. */
static void wake_if_last(uint32_t before, uint32_t removed) {
    if (before == (removed | ASLEEP))
        heater_wake();
}

static bool must_rest(uint32_t seen) {
    return seen >= EMPTY && !(seen & STOP);
}

/* A short pause is polled, so that resuming costs no system call; in a long one the heater sleeps. */
static void rest(uint32_t seen) {
    uint64_t start = clock_ns();
    while (must_rest(seen) && clock_ns() - start < SHORT_PAUSE) {
        wait_for_change(seen, SHORT_PAUSE / 50);
        seen = atomic_load_explicit(&word, memory_order_acquire);
    }
    while (must_rest(seen)) {
        if (!(seen & ASLEEP) && !atomic_compare_exchange_weak(&word, &seen, seen | ASLEEP))
            continue; /* it changed: look again; pairs with wake_if_last */
        wait_for_change(seen | ASLEEP, 0);
        seen = atomic_load_explicit(&word, memory_order_acquire);
    }
    atomic_fetch_and(&word, ~(uint32_t)ASLEEP);
}

/* ---- the thread ---- */

static void prepare_thread(void) {
    pthread_setname_np(pthread_self(), "hearth-heater");
    (void)prctl(PR_SET_TIMERSLACK, 1); /* the default slack, 50 us, is five times the default nap */
    if (heater_affinity_open())
        log_info(LOG_HEATER, "the allowed cores are unknown; it runs only with HEARTH_HEATER=on");
    is_l3 = heater_affinity_level() == 3;
}

static void *heat(void *unused) {
    struct heater_place place = {.insist = settings_get()->heater == HEATER_ON, .core = -1};
    uint64_t nap = settings_get()->heater_us * 1000, most = 0, next_look = 0, now;
    bool heats = false;
    prepare_thread();
    for (uint32_t seen; !((seen = atomic_load_explicit(&word, memory_order_acquire)) & STOP);) {
        if (must_rest(seen)) {
            rest(seen);
            continue;
        }
        if ((now = clock_ns()) >= next_look) {
            heats = heater_affinity_choose(&place);
            atomic_store_explicit(&heater.core, heats ? sched_getcpu() : -1, memory_order_relaxed);
            most = heater_affinity_most();
            next_look = now + (heats ? LATER_LOOK : NEXT_LOOK);
        }
        if (heats)
            heater_touch_all(most);
        if (!heats || nap)
            wait_for_change(seen, heats ? nap : NEXT_LOOK);
    }
    atomic_store_explicit(&heater.core, -1, memory_order_relaxed);
    return NULL;
}

/* ---- thread lifetime ---- */

static void heater_before_fork(void) {
    pthread_mutex_lock(&lock);
    heater_affinity_before_fork();
}

static void in_parent(void) {
    heater_affinity_after_fork();
    pthread_mutex_unlock(&lock);
}

/* The child has the memory but not the thread. The next heater_add starts one. */
static void heater_in_child(void) {
    running = false;
    atomic_fetch_and(&word, ~(uint32_t)(ASLEEP | STOP));
    atomic_store(&heater.touching, NULL);
    atomic_store(&heater.core, -1);
    in_parent();
}

/* The affinity is widened, so that the heater need not wait for the caller's core if the caller is bound to it. Other C
 * libraries cannot: the heater then moves when it first runs. */
static void widen_affinity(pthread_attr_t *attributes) {
#if defined(__GLIBC__)
    cpu_set_t anywhere;
    memset(&anywhere, 0xff, sizeof anywhere);
    pthread_attr_setaffinity_np(attributes, sizeof anywhere, &anywhere);
#endif
}

/* Signals are blocked: they are for the program's own threads. */
static int create_thread(void) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    widen_affinity(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, &attributes, heat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return err;
}

static bool may_run(void) {
    long online = sysconf(_SC_NPROCESSORS_ONLN), others = heater_affinity_neighbours();
    int wanted = settings_get()->heater;
    return !unwanted && !ended && registered &&
           (wanted == HEATER_ON || (wanted == HEATER_AUTO && online > others));
}

/* Requires the lock, as does start_if_wanted. */
static void end_thread(void) {
    if (!running)
        return;
    atomic_fetch_or(&word, STOP);
    heater_wake();
    pthread_join(thread, NULL);
    atomic_fetch_and(&word, ~(uint32_t)STOP);
    running = false;
}

/* At exit, or before the library is unloaded. If another thread holds the lock, the process is exiting, and the
 * heater ends with it. */
static void end_for_good(void) {
    if (pthread_mutex_trylock(&lock))
        return;
    ended = true;
    end_thread();
    pthread_mutex_unlock(&lock);
}

static void watch_process(void) {
    pthread_atfork(heater_before_fork, in_parent, heater_in_child);
    atexit(end_for_good);
}

static void start_if_wanted(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (running || !may_run()) {
        log_trace(LOG_HEATER, "%s",
                  running ? "runs already"
                          : "does not run: it is off, nothing is registered, or no core is left for it");
        return;
    }
    log_debug(LOG_HEATER, "starts for %zu bytes", (size_t)registered);
    pthread_once(&once, watch_process);
    int err = create_thread();
    if (err)
        log_warn("heater: cannot create its thread: %s; registered memory is not kept in the CPU's caches",
                 strerror(err));
    running = !err;
    unwanted = err != 0;
}

void heater_start(void) {
    pthread_mutex_lock(&lock);
    unwanted = false;
    start_if_wanted();
    pthread_mutex_unlock(&lock);
}

void heater_stop(void) {
    pthread_mutex_lock(&lock);
    unwanted = true;
    end_thread();
    pthread_mutex_unlock(&lock);
}

/* ---- regions ---- */

static int heater_compare_keys(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const struct region *)a)->key, y = (uintptr_t)((const struct region *)b)->key;
    return (x > y) - (x < y);
}

/* Adds places, in a chunk twice as large as the last. */
static int heater_add_chunk(void) {
    size_t places = (size_t)FIRST_PLACES << chunk_count;
    struct region *chunk = chunk_count < MOST_CHUNKS ? calloc(places, sizeof *chunk) : NULL;
    if (!chunk)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < places; i++)
        chunk[i].next = &chunk[i + 1];
    empty_places = chunk;
    atomic_store_explicit(&chunks[chunk_count++], chunk,
                          memory_order_release); /* pairs with heater_touch_all */
    return 0;
}

static int add_region(const void *base, size_t bytes) {
    int err = empty_places ? 0 : heater_add_chunk();
    if (err)
        return err;
    struct region *r = empty_places;
    r->key = base;
    struct region **found = tsearch(r, &by_base, heater_compare_keys);
    if (!found)
        return -ENOMEM;
    if (*found != r)
        return -EEXIST;
    empty_places = r->next;
    registered += bytes;
    atomic_store_explicit(&r->bytes, bytes, memory_order_relaxed);
    atomic_store(&r->base, base); /* release: a reader of the base sees the bytes; pairs with touch_region */
    wake_if_last(atomic_fetch_and(&word, ~(uint32_t)EMPTY), EMPTY);
    return 0;
}

void heater_add(const void *base, size_t bytes) {
    if (!base || !bytes || settings_get()->heater == HEATER_OFF)
        return;
    heater_affinity_note_caller();
    pthread_mutex_lock(&lock);
    int err = add_region(base, bytes);
    if (!err)
        start_if_wanted();
    pthread_mutex_unlock(&lock);
    if (err)
        log_warn("heater: %zu bytes at %p are not kept warm: %s", bytes, base,
                 err == -EEXIST ? "they are already registered" : "the system has no memory");
}

/* The heater may have been preempted inside the region: first yield the core to it, then sleep. */
static void wait_for_heater(const struct region *r) {
    struct timespec a_while = {.tv_nsec = 20000};
    for (unsigned i = 0; atomic_load(&heater.touching) == r; i++) /* seq_cst, acquire; pairs with
                                                                     touch_region */
        if (i < 64)
            sched_yield();
        else
            nanosleep(&a_while, NULL);
}

static void retire_region(struct region *r) {
    tdelete(r, &by_base, heater_compare_keys);
    registered -= atomic_load_explicit(&r->bytes, memory_order_relaxed);
    if (!registered)
        atomic_fetch_or(&word, EMPTY);
    atomic_store(&r->base, NULL); /* seq_cst: before `touching` is read */
    wait_for_heater(r);
    r->next = empty_places;
    empty_places = r;
}

void heater_retire(const void *base) {
    struct region wanted = {.key = base};
    pthread_mutex_lock(&lock);
    struct region **found = tfind(&wanted, &by_base, heater_compare_keys);
    if (found) /* absent if the heater is off, or there was no memory to add it */
        retire_region(*found);
    pthread_mutex_unlock(&lock);
}

/* ---- calls of the program ---- */

void heater_pause(void) {
    atomic_fetch_add(&word, PAUSE);
}

void heater_resume(void) {
    uint32_t before = atomic_fetch_sub(&word, PAUSE);
    if (LIKELY(before >= PAUSE)) {
        wake_if_last(before, PAUSE);
        return;
    }
    atomic_fetch_add(&word, PAUSE);
    log_error("hearth_heater_resume: the heater was not paused; the call is ignored");
}

void heater_counters(struct heater_counters *counters) {
    pthread_mutex_lock(&lock);
    *counters = (struct heater_counters){.rounds = atomic_load_explicit(&heater.rounds, memory_order_relaxed),
                                         .lines = atomic_load_explicit(&heater.lines, memory_order_relaxed),
                                         .bytes = registered,
                                         .core = atomic_load_explicit(&heater.core, memory_order_relaxed)};
    pthread_mutex_unlock(&lock);
}
