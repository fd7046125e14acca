/* reserve.c: memory promised, memory backed, and memory left.
 *
 *      memory of the node   |  used by others  |  backed, ours  |        room (room.c)        |
 *      promised                                |  backed        |  not yet   |
 *
 * A promise is good if `promised` does not exceed the backed memory plus the room. This sum, `allowed`, changes
 * slowly. It is cached, so that most promises cost two atomic operations and the limits are rarely read (some 100
 * us). */
#include "net/shm/reserve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"
#include "net/shm/room.h"

enum { FILES = 64, LARGE = 1 << 20, SMALL_SHARE = 8 };
#define SECOND_NS 1000000000u

struct net_reserve {
    _Alignas(128) _Atomic uint64_t promised;
    _Atomic uint64_t allowed, read_ns;
    struct reserve_file {
        _Atomic uint32_t state; /* FREE, WRITING, LISTED; releases and acquires the other fields */
        struct net_address address;
        uint64_t idle;
    } files[FILES];
};

enum { FREE, WRITING, LISTED };

static _Atomic uint64_t forced;

void net_reserve_force(uint64_t bytes) {
    atomic_store(&forced, bytes);
}

size_t net_reserve_bytes(void) {
    return sizeof(struct net_reserve);
}

/* ---- the limit ---- */

static uint64_t reserve_backed(const struct net_reserve *r) {
    uint64_t all = 0, bytes;
    for (int i = 0; i < FILES; i++) {
        const struct reserve_file *f = &r->files[i];
        if (atomic_load_explicit(&f->state, memory_order_acquire) == LISTED &&
            memfile_backed(&f->address, &bytes) == 0 && bytes > f->idle)
            all += bytes - f->idle;
    }
    return all;
}

/* Reads the backed memory first: a page that is touched in between is then missing in both terms, which is the safe
 * direction. */
static struct room reserve_read(struct net_reserve *r) {
    uint64_t backed = reserve_backed(r);
    struct room room = net_room();
    if (atomic_load(&forced))
        room = (struct room){atomic_load(&forced), "a test", "do nothing"};
    uint64_t allowed = room.bytes < UINT64_MAX - backed ? room.bytes + backed : UINT64_MAX;
    atomic_store_explicit(&r->allowed, allowed, memory_order_relaxed);
    atomic_store_explicit(&r->read_ns, clock_ns(), memory_order_relaxed);
    return room;
}

/* The more of the limit is promised, the sooner memory taken by others matters. */
static bool reserve_is_fresh(const struct net_reserve *r, uint64_t bytes, uint64_t promised) {
    uint64_t allowed = atomic_load_explicit(&r->allowed, memory_order_relaxed);
    uint64_t good_for = promised > allowed / SMALL_SHARE ? SECOND_NS : 10ull * SECOND_NS;
    return bytes < LARGE || clock_ns() - atomic_load_explicit(&r->read_ns, memory_order_relaxed) < good_for;
}

static bool reserve_is_allowed(const struct net_reserve *r, uint64_t promised) {
    return promised <= atomic_load_explicit(&r->allowed, memory_order_relaxed);
}

static int reserve_refuse(struct net_reserve *r, uint64_t bytes, uint64_t promised, const struct room *room) {
    uint64_t allowed = atomic_load_explicit(&r->allowed, memory_order_relaxed);
    atomic_fetch_sub_explicit(&r->promised, bytes, memory_order_relaxed);
    log_error("shared memory: no room for %.1f MiB of this process: with it, %.1f MiB would be promised to "
              "this job "
              "on the node, and %s leaves %.1f MiB; %s",
              (double)bytes / (1 << 20), (double)promised / (1 << 20), room->who, (double)allowed / (1 << 20),
              room->advice);
    return -ENOMEM;
}

int net_reserve_take(struct net_reserve *r, uint64_t bytes) {
    uint64_t promised = atomic_fetch_add_explicit(&r->promised, bytes, memory_order_relaxed) + bytes;
    if (bytes == 0 || (reserve_is_allowed(r, promised) && reserve_is_fresh(r, bytes, promised)))
        return 0;
    struct room room = reserve_read(r);
    bool overflows = promised < bytes;
    return overflows || !reserve_is_allowed(r, promised) ? reserve_refuse(r, bytes, promised, &room) : 0;
}

void net_reserve_give(struct net_reserve *r, uint64_t bytes) {
    atomic_fetch_sub_explicit(&r->promised, bytes, memory_order_relaxed);
}

/* ---- files ---- */

int net_reserve_list(struct net_reserve *r, const struct net_address *file, uint64_t idle) {
    for (int i = 0; i < FILES; i++) {
        struct reserve_file *f = &r->files[i];
        uint32_t state = FREE;
        if (!atomic_compare_exchange_strong(&f->state, &state, WRITING))
            continue;
        f->address = *file;
        f->idle = idle;
        atomic_store_explicit(&f->state, LISTED, memory_order_release);
        return i;
    }
    return -1;
}

void net_reserve_unlist(struct net_reserve *r, int number) {
    if (number >= 0)
        atomic_store(&r->files[number].state, FREE);
}
