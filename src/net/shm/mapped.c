/* mapped.c: finds the mapping that contains an address.
 *
 * A helper looks up every block that it serves, while another thread may map and unmap. The list is an array sorted
 * by address under a version (a seqlock). A writer makes the version odd, changes the array, and makes it even
 * again. A reader that overlaps with a writer discards what it read and returns -EAGAIN. The search takes log n
 * steps. Each thread caches its last result with its version: while the version is unchanged, a hit takes one load
 * and three comparisons.
 *
 * An array that has become too small is kept, as readers may still use it. Each array is twice as long as the one
 * before, so that all old arrays together are no longer than the current one.
 *
 * Every word is atomic:
 *      writer: version odd (relaxed); fields (release: a reader that sees one sees the odd version); even (release)
 *      reader: version (acquire); fields (acquire: the version is read again after them); version (relaxed)
 */
#include "net/shm/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/compiler.h"

struct span {
    _Atomic uint64_t base, bytes;
    void *_Atomic owner; /* as passed to net_mapped_add */
};

struct table {
    struct table *older; /* readers may still use it */
    size_t room;
    struct span spans[];
};

struct list {
    pthread_mutex_t lock; /* serialises writers; a leaf in the lock order */
    _Atomic uint64_t version;
    struct table *_Atomic table;
    _Atomic size_t count;
};

static struct list lists[MAPPED_LISTS] = {[MAPPED_SHARED] = {.lock = PTHREAD_MUTEX_INITIALIZER},
                                          [MAPPED_BLOCKS] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* ---- writers ---- */

static void mapped_put(struct span *to, uint64_t base, uint64_t bytes, void *owner) {
    atomic_store_explicit(&to->base, base, memory_order_release);
    atomic_store_explicit(&to->bytes, bytes, memory_order_release);
    atomic_store_explicit(&to->owner, owner, memory_order_release);
}

static void mapped_move(struct span *to, const struct span *from) {
    mapped_put(to, atomic_load_explicit(&from->base, memory_order_relaxed),
               atomic_load_explicit(&from->bytes, memory_order_relaxed),
               atomic_load_explicit(&from->owner, memory_order_relaxed));
}

static void change_begins(struct list *l) {
    atomic_fetch_add_explicit(&l->version, 1, memory_order_relaxed);
}

static void change_ends(struct list *l) {
    atomic_fetch_add_explicit(&l->version, 1, memory_order_release);
}

/* Room for one more range. The new array has the same content, so that readers may use either. */
static int mapped_grow(struct list *l) {
    struct table *old = atomic_load(&l->table);
    size_t used = atomic_load(&l->count), room = old ? 2 * old->room : 64;
    if (old && used < old->room)
        return 0;
    struct table *new = calloc(1, sizeof *new + room * sizeof *new->spans);
    if (!new)
        return -ENOMEM;
    new->older = old;
    new->room = room;
    for (size_t i = 0; i < used; i++)
        mapped_move(&new->spans[i], &old->spans[i]);
    atomic_store(&l->table, new); /* release; pairs with mapped_search */
    return 0;
}

static void mapped_insert(struct list *l, uint64_t base, uint64_t bytes, void *owner) {
    struct span *spans = atomic_load(&l->table)->spans;
    size_t i = atomic_load(&l->count);
    for (; i > 0 && atomic_load(&spans[i - 1].base) > base; i--)
        mapped_move(&spans[i], &spans[i - 1]);
    mapped_put(&spans[i], base, bytes, owner);
    atomic_fetch_add_explicit(&l->count, 1, memory_order_release);
}

int net_mapped_reserve(enum mapped_list list) {
    struct list *l = &lists[list];
    pthread_mutex_lock(&l->lock);
    int err = mapped_grow(l);
    pthread_mutex_unlock(&l->lock);
    return err;
}

int net_mapped_add(enum mapped_list list, uint64_t base, uint64_t bytes, void *owner) {
    struct list *l = &lists[list];
    pthread_mutex_lock(&l->lock);
    int err = mapped_grow(l);
    if (!err) {
        change_begins(l);
        mapped_insert(l, base, bytes, owner);
        change_ends(l);
    }
    pthread_mutex_unlock(&l->lock);
    return err;
}

static void remove_at(struct list *l, struct span *spans, size_t i) {
    size_t last = atomic_load(&l->count) - 1;
    for (; i < last; i++)
        mapped_move(&spans[i], &spans[i + 1]);
    atomic_store_explicit(&l->count, last, memory_order_release);
}

void net_mapped_remove(enum mapped_list list, uint64_t base) {
    struct list *l = &lists[list];
    pthread_mutex_lock(&l->lock);
    struct table *t = atomic_load(&l->table);
    for (size_t i = 0; i < atomic_load(&l->count); i++) {
        if (atomic_load(&t->spans[i].base) == base) {
            change_begins(l);
            remove_at(l, t->spans, i);
            change_ends(l);
            break;
        }
    }
    pthread_mutex_unlock(&l->lock);
}

/* ---- readers ---- */

static bool mapped_is_inside(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) {
    uint64_t offset = address - base; /* wraps for addresses below the base, and is then too large */
    return offset <= size && bytes <= size - offset;
}

/* The last range that begins at or below the address. Under a concurrent change the result is meaningless, but the
 * search terminates. */
static bool mapped_search(struct list *l, uint64_t address, struct mapped *found) {
    struct table *t = atomic_load_explicit(&l->table, memory_order_acquire);
    size_t low = 0, high = atomic_load_explicit(&l->count, memory_order_acquire);
    if (!t)
        return false;
    high = high < t->room ? high : t->room; /* the array may be older than the count */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (atomic_load_explicit(&t->spans[middle].base, memory_order_acquire) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    const struct span *s = &t->spans[low - 1];
    found->base = atomic_load_explicit(&s->base, memory_order_acquire);
    found->bytes = atomic_load_explicit(&s->bytes, memory_order_acquire);
    found->owner = atomic_load_explicit(&s->owner, memory_order_acquire);
    return true;
}

int net_mapped_find(enum mapped_list list, uint64_t address, uint64_t bytes, struct mapped *found) {
    static _Thread_local struct last {
        uint64_t version;
        struct mapped is; /* 0 bytes: none */
    } lasts[MAPPED_LISTS] __attribute__((tls_model("initial-exec")));
    struct list *l = &lists[list];
    struct last *last = &lasts[list];
    uint64_t now = atomic_load_explicit(&l->version, memory_order_acquire);
    if (UNLIKELY(now % 2))
        return -EAGAIN;
    if (UNLIKELY(last->version != now || !last->is.bytes ||
                 !mapped_is_inside(address, bytes, last->is.base, last->is.bytes))) {
        struct mapped seen = {0};
        bool any = mapped_search(l, address, &seen);
        if (atomic_load_explicit(&l->version, memory_order_relaxed) != now)
            return -EAGAIN;
        if (!any || !mapped_is_inside(address, bytes, seen.base, seen.bytes))
            return -EFAULT;
        last->version = now;
        last->is = seen;
    }
    *found = last->is;
    return 0;
}
