/* lock_help.h: counts how often locks of a lock table are taken, and lets blocks be written only while they are locked. The
 * linker wraps net_lock_table_lock, _try and _unlock: see CMakeLists.txt. */
#ifndef HEARTH_TEST_LOCK_HELP_H
#define HEARTH_TEST_LOCK_HELP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "net/shm/lock_table.h"

static _Atomic unsigned lock_count, try_count, unlock_count; /* try_count: successful ones */

/* If set, blocks can be written only while they are locked. */
static bool guarded;

void __real_hearth_core_net_lock_table_lock(struct net_lock_table *s, const void *address);
bool __real_hearth_core_net_lock_table_try(struct net_lock_table *s, const void *address);
void __real_hearth_core_net_lock_table_unlock(struct net_lock_table *s, const void *address);
void __wrap_hearth_core_net_lock_table_lock(struct net_lock_table *s, const void *address);
bool __wrap_hearth_core_net_lock_table_try(struct net_lock_table *s, const void *address);
void __wrap_hearth_core_net_lock_table_unlock(struct net_lock_table *s, const void *address);

static inline void guard(const void *address, int access) {
    uintptr_t block = (uintptr_t)address / LOCK_TABLE_GRAIN * LOCK_TABLE_GRAIN;
    if (guarded)
        mprotect((void *)block, LOCK_TABLE_GRAIN, access);
}

void __wrap_hearth_core_net_lock_table_lock(struct net_lock_table *s, const void *address) {
    lock_count++;
    __real_hearth_core_net_lock_table_lock(s, address);
    guard(address, PROT_READ | PROT_WRITE);
}

bool __wrap_hearth_core_net_lock_table_try(struct net_lock_table *s, const void *address) {
    bool got = __real_hearth_core_net_lock_table_try(s, address);
    try_count += got;
    if (got)
        guard(address, PROT_READ | PROT_WRITE);
    return got;
}

void __wrap_hearth_core_net_lock_table_unlock(struct net_lock_table *s, const void *address) {
    unlock_count++;
    guard(address, PROT_READ);
    __real_hearth_core_net_lock_table_unlock(s, address);
}

static inline void forget_lock_counts(void) {
    lock_count = try_count = unlock_count = 0;
}

/* Whether the lock of this place is held; blocks may share one. */
static inline bool lock_is_held(struct net_lock_table *s, const void *place) {
    bool got = __real_hearth_core_net_lock_table_try(s, place);
    if (got)
        __real_hearth_core_net_lock_table_unlock(s, place);
    return !got;
}

#endif
