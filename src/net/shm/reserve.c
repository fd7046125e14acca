/* reserve.c: grants promises of memory as long as the node has memory left for them.
 *
 *      memory of the node   |  used by others  |  backed, ours  |        room (memory_limit.c)        |
 *      promised                                |  backed        |  not yet   |
 *
 * A promise is granted if `promised`, including it, does not exceed the backed memory plus the room. This sum,
 * `allowed`, changes slowly. It is cached, so that most promises cost two atomic operations and the limits, which take
 * some 100 us to read, are rarely read. */
#include "net/shm/reserve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/shm/promise.h"
#include "net/shm/memory_limit.h"

enum { FILES = 64, LARGE = 1 << 20, SMALL_SHARE = 8 };
#define SECOND_NS 1000000000u

struct net_reserve {
    _Alignas(128) _Atomic uint64_t promised;
    _Atomic uint64_t allowed, read_ns;
    _Atomic uint64_t id; /* of the promises of this job on this node; 0: not chosen yet */
    struct reserve_file {
        _Atomic uint32_t state; /* FREE, WRITING, LISTED; releases and acquires the other fields */
        struct net_address address;
        uint64_t idle;
        struct net_promise *promise; /* of the process that lists it */
    } files[FILES];
};

enum { FREE, WRITING, LISTED };

size_t net_reserve_bytes(void) {
    return sizeof(struct net_reserve);
}

/* ---- what other jobs see ---- */

static uint64_t reserve_id(struct net_reserve *r) {
    uint64_t id = atomic_load(&r->id), chosen = id ? 0 : net_promise_id();
    if (id == 0 && atomic_compare_exchange_strong(&r->id, &id, chosen))
        id = chosen;
    return id;
}

/* The ledger entry of this process for the reserve. A process uses one reserve at a time. */
static struct net_promise *reserve_promise(struct net_reserve *r) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* outside of the ledger's lock (promise.c) */
    static struct net_promise *own;
    static uint64_t own_id;
    uint64_t id = reserve_id(r);
    pthread_mutex_lock(&lock);
    if (own_id != id) {
        net_promise_close(own);
        own = net_promise_open(id);
        own_id = id;
    }
    struct net_promise *p = own;
    pthread_mutex_unlock(&lock);
    return p;
}

/* ---- the limit ---- */

static uint64_t reserve_backed(const struct net_reserve *r) {
    uint64_t all = 0, bytes;
    for (int i = 0; i < FILES; i++) {
        const struct reserve_file *f = &r->files[i];
        if (atomic_load_explicit(&f->state, memory_order_acquire) == LISTED &&
            net_memfile_backed(&f->address, &bytes) == 0 && bytes > f->idle)
            all += bytes - f->idle;
    }
    return all;
}

/* Reads the backed memory first: a page that is touched in between is then missing in both terms, which is the safe
 * direction. */
static struct memory_limit reserve_read(struct net_reserve *r) {
    uint64_t backed = reserve_backed(r);
    struct memory_limit room = net_room_for(reserve_id(r));
    uint64_t allowed = room.bytes < UINT64_MAX - backed ? room.bytes + backed : UINT64_MAX;
    log_debug(LOG_NET, "shared memory: %s leaves %llu bytes, %llu are backed: %llu may be promised", room.who,
              (unsigned long long)room.bytes, (unsigned long long)backed, (unsigned long long)allowed);
    atomic_store_explicit(&r->allowed, allowed, memory_order_relaxed);
    atomic_store_explicit(&r->read_ns, clock_ns(), memory_order_relaxed);
    return room;
}

/* Whether the cached limit is recent enough: 10 s, or 1 s once a larger share of it is promised, since memory taken by
 * other processes then matters sooner. Small promises do not check. */
static bool reserve_is_fresh(const struct net_reserve *r, uint64_t bytes, uint64_t promised) {
    uint64_t allowed = atomic_load_explicit(&r->allowed, memory_order_relaxed);
    uint64_t good_for = promised > allowed / SMALL_SHARE ? SECOND_NS : 10ull * SECOND_NS;
    return bytes < LARGE || clock_ns() - atomic_load_explicit(&r->read_ns, memory_order_relaxed) < good_for;
}

static bool reserve_is_allowed(const struct net_reserve *r, uint64_t promised) {
    return promised <= atomic_load_explicit(&r->allowed, memory_order_relaxed);
}

static int reserve_refuse(const struct net_reserve *r, uint64_t bytes, uint64_t promised,
                          const struct memory_limit *room) {
    uint64_t allowed = atomic_load_explicit(&r->allowed, memory_order_relaxed);
    log_error(
        "shared memory: no room for %.1f MiB of this process: with it, %.1f MiB would be promised to "
        "this job on the node, and %s leaves %.1f MiB beside %.1f MiB that are promised to other jobs; %s",
        (double)bytes / (1 << 20), (double)promised / (1 << 20), room->who, (double)allowed / (1 << 20),
        (double)room->promised / (1 << 20), room->advice);
    return -ENOMEM;
}

int net_reserve_take(struct net_reserve *r, uint64_t bytes) {
    struct memory_limit room;
    if (net_room_is_beyond(bytes, &room)) {
        uint64_t others = atomic_load_explicit(&r->promised, memory_order_relaxed);
        reserve_read(r);
        return reserve_refuse(r, bytes, others + bytes, &room);
    }
    uint64_t promised = atomic_fetch_add_explicit(&r->promised, bytes, memory_order_relaxed) + bytes;
    net_promise_add(reserve_promise(r), (int64_t)bytes);
    if (bytes == 0 || (reserve_is_allowed(r, promised) && reserve_is_fresh(r, bytes, promised)))
        return 0;
    room = reserve_read(r);
    bool overflows = promised < bytes;
    if (!overflows && reserve_is_allowed(r, promised))
        return 0;
    net_reserve_give(r, bytes);
    return reserve_refuse(r, bytes, promised, &room);
}

void net_reserve_give(struct net_reserve *r, uint64_t bytes) {
    atomic_fetch_sub_explicit(&r->promised, bytes, memory_order_relaxed);
    net_promise_add(reserve_promise(r), -(int64_t)bytes);
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
        f->promise = net_promise_open(reserve_id(r));
        net_promise_file(f->promise, file, idle);
        atomic_store_explicit(&f->state, LISTED, memory_order_release);
        return i;
    }
    return -1;
}

void net_reserve_unlist(struct net_reserve *r, int number) {
    if (number < 0)
        return;
    net_promise_close(r->files[number].promise);
    atomic_store(&r->files[number].state, FREE);
}
