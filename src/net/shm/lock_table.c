/* lock_table.c: a table of robust process-shared mutexes.
 *
 * Each mutex has two cache lines of its own (processors fetch lines in pairs), since users of neighbouring mutexes
 * are unrelated. The block's number is multiplied by the golden ratio, and the upper bits select the lock. Adjacent
 * blocks are always 158 or 159 locks apart. Blocks at distances of powers of two, such as the same offsets in equal
 * parts, are spread too.
 *
 * The kernel handles the death of a holder: it walks the list that the C library keeps for each thread, and marks
 * the mutexes on it. A robust mutex costs some 10 ns more than a plain one, lock and unlock together. A futex word
 * of our own could not be on that list without being such a mutex. */
#include "net/shm/lock_table.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

enum { BITS = 8, LOCKS = 1 << BITS };

struct lock_table_slot {
    _Alignas(128) pthread_mutex_t mutex;
};

struct net_lock_table {
    struct lock_table_slot lock_table[LOCKS];
};

size_t net_lock_table_bytes(void) {
    return sizeof(struct net_lock_table);
}

static int make_mutexes(struct net_lock_table *s, const pthread_mutexattr_t *kind) {
    int err = 0;
    for (int i = 0; i < LOCKS && !err; i++)
        err = pthread_mutex_init(&s->lock_table[i].mutex, kind);
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
    err = err ? -err : make_mutexes(s, &kind);
    pthread_mutexattr_destroy(&kind);
    return err;
}

static size_t slot_of(uint64_t block) {
    return block * 0x9e3779b97f4a7c15u >> (64 - BITS);
}

static pthread_mutex_t *mutex_of(struct net_lock_table *s, const void *address) {
    return &s->lock_table[slot_of((uint64_t)(uintptr_t)address / LOCK_TABLE_GRAIN)].mutex;
}

/* Whether we hold the mutex now. If its last holder died with it, makes it usable again. */
static bool lock_table_is_ours(pthread_mutex_t *mutex, int result) {
    if (result == EOWNERDEAD)
        result = pthread_mutex_consistent(mutex);
    return result == 0;
}

static void lock_table_acquire(pthread_mutex_t *mutex) {
    bool ours = lock_table_is_ours(mutex, pthread_mutex_lock(mutex));
    assert(ours);
    (void)ours;
}

void net_lock_table_lock(struct net_lock_table *s, const void *address) {
    lock_table_acquire(mutex_of(s, address));
}

bool net_lock_table_try(struct net_lock_table *s, const void *address) {
    pthread_mutex_t *mutex = mutex_of(s, address);
    return lock_table_is_ours(mutex, pthread_mutex_trylock(mutex));
}

void net_lock_table_unlock(struct net_lock_table *s, const void *address) {
    pthread_mutex_unlock(mutex_of(s, address));
}

/* ---- ranges ---- */

struct slot_set {
    uint64_t bits[LOCKS / 64];
};

/* The locks of all blocks of a range; two blocks may have the same. */
static struct slot_set slots_of(const void *address, size_t bytes) {
    struct slot_set set = {{0}};
    uint64_t first = (uint64_t)(uintptr_t)address / LOCK_TABLE_GRAIN,
             last = ((uint64_t)(uintptr_t)address + bytes - 1) / LOCK_TABLE_GRAIN;
    assert(last - first < LOCK_TABLE_RANGE);
    for (uint64_t block = first; block <= last; block++)
        set.bits[slot_of(block) / 64] |= (uint64_t)1 << slot_of(block) % 64;
    return set;
}

void net_lock_table_lock_range(struct net_lock_table *s, const void *address, size_t bytes) {
    struct slot_set set = slots_of(address, bytes);
    for (int i = 0; i < LOCKS / 64; i++)
        for (uint64_t left = set.bits[i]; left; left &= left - 1)
            lock_table_acquire(&s->lock_table[64 * i + __builtin_ctzll(left)].mutex);
}

void net_lock_table_unlock_range(struct net_lock_table *s, const void *address, size_t bytes) {
    struct slot_set set = slots_of(address, bytes);
    for (int i = 0; i < LOCKS / 64; i++)
        for (uint64_t left = set.bits[i]; left; left &= left - 1)
            pthread_mutex_unlock(&s->lock_table[64 * i + __builtin_ctzll(left)].mutex);
}
