/* lock_table.c: a table of robust locks.
 *
 * Each lock has two cache lines of its own (processors fetch lines in pairs), since users of neighbouring locks are
 * unrelated. The block's number is multiplied by the golden ratio, and the upper bits select the lock. Adjacent
 * blocks are always 158 or 159 locks apart. Blocks at distances of powers of two, such as the same offsets in equal
 * parts, are spread too.
 *
 * The kernel releases the lock of a thread that dies (robust_word.h). That works for one lock at a time. A thread that needs
 * several, a range, holds a *guard* meanwhile: a robust mutex of the C library, with the set of its locks. The words of these
 * locks name the guard instead of the thread. If the holder of a guard has died, the next one to acquire the guard, or to try it
 * because it waits for such a word, releases the locks of the set first. */
#include "net/shm/lock_table.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/shm/robust_word.h"

enum { BITS = 8, LOCKS = 1 << BITS, GUARDS = 16 };

struct lock_table_slot {
    _Alignas(128) struct robust_word word;
};

struct slot_set {
    uint64_t bits[LOCKS / 64];
};

struct lock_table_guard {
    _Alignas(128) pthread_mutex_t mutex;
    struct slot_set held;
};

struct net_lock_table {
    struct lock_table_slot slots[LOCKS];
    struct lock_table_guard guards[GUARDS];
};

size_t net_lock_table_bytes(void) {
    return sizeof(struct net_lock_table);
}

static int make_guards(struct net_lock_table *s, const pthread_mutexattr_t *kind) {
    int err = 0;
    for (int i = 0; i < GUARDS && !err; i++)
        err = pthread_mutex_init(&s->guards[i].mutex, kind);
    return -err;
}

int net_lock_table_make(struct net_lock_table *s) {
    pthread_mutexattr_t kind;
    int err = pthread_mutexattr_init(&kind);
    if (err)
        return -err;
    err = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    if (!err)
        err = pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    err = err ? -err : make_guards(s, &kind);
    pthread_mutexattr_destroy(&kind);
    return err;
}

static size_t slot_of(uint64_t block) {
    return block * 0x9e3779b97f4a7c15u >> (64 - BITS);
}

static inline struct robust_word *word_of(struct net_lock_table *s, const void *address) {
    return &s->slots[slot_of((uint64_t)(uintptr_t)address / LOCK_TABLE_GRAIN)].word;
}

/* ---- guards ---- */

static uint32_t guard_holder(uint32_t guard) {
    return ROBUST_OTHER | guard;
}

static bool is_guarded(uint32_t value) {
    return (value & ROBUST_OTHER) != 0;
}

/* The first lock of a set, which is removed from it; -1: none is left. */
static int set_pop(struct slot_set *set) {
    for (int i = 0; i < LOCKS / 64; i++)
        if (set->bits[i]) {
            int bit = __builtin_ctzll(set->bits[i]);
            set->bits[i] &= set->bits[i] - 1;
            return 64 * i + bit;
        }
    return -1;
}

/* Releases the locks that the guard has. Its set may contain others, which it has not acquired yet. */
static void guard_clear(struct net_lock_table *s, uint32_t guard) {
    struct slot_set left = s->guards[guard].held;
    for (int i; (i = set_pop(&left)) >= 0;) {
        struct robust_word *word = &s->slots[i].word;
        uint32_t value = atomic_load_explicit(&word->value, memory_order_relaxed);
        if ((value & ~ROBUST_WAITERS) == guard_holder(guard))
            net_robust_release(word);
    }
    atomic_signal_fence(memory_order_seq_cst); /* who dies before has not lost the set */
    s->guards[guard].held = (struct slot_set){{0}};
}

/* Whether we hold the guard now, after pthread_mutex_lock or _trylock. */
static bool guard_is_ours(struct net_lock_table *s, uint32_t guard, int result) {
    if (result != EOWNERDEAD)
        return result == 0;
    guard_clear(s, guard);
    return pthread_mutex_consistent(&s->guards[guard].mutex) == 0;
}

static bool guard_try(struct net_lock_table *s, uint32_t guard) {
    return guard_is_ours(s, guard, pthread_mutex_trylock(&s->guards[guard].mutex));
}

/* Sleeps at most ROBUST_NAP_NS at a time: see net_robust_wait. */
static void guard_acquire(struct net_lock_table *s, uint32_t guard) {
    for (bool ours = guard_try(s, guard); !ours;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += ROBUST_NAP_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        ours = guard_is_ours(s, guard, pthread_mutex_timedlock(&s->guards[guard].mutex, &until));
    }
}

static void guard_release(struct net_lock_table *s, uint32_t guard) {
    pthread_mutex_unlock(&s->guards[guard].mutex);
}

/* The guard that a word names. */
static uint32_t guard_of(uint32_t value) {
    return value & ~(ROBUST_WAITERS | ROBUST_OTHER);
}

/* ---- one lock ---- */

/* For a word that was not free. If it names a guard, nobody may wait for the guard itself while holding locks: the thread may
 * have released this word since, and acquired the guard again for others. Trying the guard shows whether its holder has died,
 * and ends the kernel's watch on the word. */
static __attribute__((noinline)) void lock_slow(struct net_lock_table *s, struct robust_word *word,
                                                uint32_t holder, uint32_t seen) {
    for (uint32_t waiters = 0;;) {
        waiters |= net_robust_wait(word);
        if (waiters && is_guarded(seen) && guard_try(s, guard_of(seen)))
            guard_release(s, guard_of(seen));
        if (!is_guarded(holder))
            net_robust_watch(word);
        if (net_robust_take(word, holder | waiters, &seen))
            return;
    }
}

static bool try_slow(struct net_lock_table *s, struct robust_word *word, uint32_t holder, uint32_t seen) {
    if (!is_guarded(seen) || !guard_try(s, guard_of(seen)))
        return false;
    guard_release(s, guard_of(seen));
    if (!is_guarded(holder))
        net_robust_watch(word);
    return net_robust_take(word, holder, &seen);
}

void net_lock_table_lock(struct net_lock_table *s, const void *address) {
    struct robust_word *word = word_of(s, address);
    uint32_t seen, self = net_robust_watch(word);
    if (UNLIKELY(!net_robust_take(word, self, &seen)))
        lock_slow(s, word, self, seen);
}

bool net_lock_table_try(struct net_lock_table *s, const void *address) {
    struct robust_word *word = word_of(s, address);
    uint32_t seen, self = net_robust_watch(word);
    bool ours = net_robust_take(word, self, &seen) || try_slow(s, word, self, seen);
    if (!ours)
        net_robust_unwatch();
    return ours;
}

void net_lock_table_unlock(struct net_lock_table *s, const void *address) {
    net_robust_release(word_of(s, address));
    net_robust_unwatch();
}

/* ---- ranges ---- */

/* The locks of all blocks of a range; two blocks may have the same. */
static struct slot_set slots_of(const void *address, size_t bytes) {
    struct slot_set set = {{0}};
    uint64_t first = (uint64_t)(uintptr_t)address / LOCK_TABLE_GRAIN,
             last = ((uint64_t)(uintptr_t)address + bytes - 1) / LOCK_TABLE_GRAIN;
    ASSERT(last - first < LOCK_TABLE_RANGE);
    for (uint64_t block = first; block <= last; block++)
        set.bits[slot_of(block) / 64] |= (uint64_t)1 << slot_of(block) % 64;
    return set;
}

/* A thread always uses the same guard, so that it finds it again. */
static uint32_t own_guard(void) {
    return net_robust_id() % GUARDS;
}

static bool range_acquire(struct net_lock_table *s, const void *address, size_t bytes, bool waits) {
    uint32_t guard = own_guard(), holder = guard_holder(guard), seen;
    struct slot_set left = slots_of(address, bytes);
    if (waits)
        guard_acquire(s, guard);
    else if (!guard_try(s, guard))
        return false;
    s->guards[guard].held = left;
    atomic_signal_fence(memory_order_seq_cst); /* who dies from here on leaves the set */
    for (int i; (i = set_pop(&left)) >= 0;) {
        struct robust_word *word = &s->slots[i].word;
        if (LIKELY(net_robust_take(word, holder, &seen)))
            continue;
        if (waits) {
            lock_slow(s, word, holder, seen);
        } else if (!try_slow(s, word, holder, seen)) {
            guard_clear(s, guard);
            guard_release(s, guard);
            return false;
        }
    }
    return true;
}

void net_lock_table_lock_range(struct net_lock_table *s, const void *address, size_t bytes) {
    range_acquire(s, address, bytes, true);
}

bool net_lock_table_try_range(struct net_lock_table *s, const void *address, size_t bytes) {
    return range_acquire(s, address, bytes, false);
}

void net_lock_table_unlock_range(struct net_lock_table *s) {
    uint32_t guard = own_guard();
    guard_clear(s, guard);
    guard_release(s, guard);
}
