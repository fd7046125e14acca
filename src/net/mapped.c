/* mapped.c: which mapping is this address in?
 *
 * Asked for every block that a helper serves, while another thread may map and unmap. An array sorted
 * by address under a version (a seqlock): whoever changes it makes the version odd, changes, and makes
 * it even again; who reads it between takes nothing of what it read for true, and says so. The array
 * is searched in log n steps. Each thread remembers what it found last, and under which version: as
 * long as that has not changed, one load and three comparisons are enough.
 *
 * An array that has become too small is left to those who may still read it. Each is twice as long as
 * the one before, so that all of these together are no longer than the last.
 *
 * Every word is an atomic:
 *      writer: version odd (relaxed); fields (release: who sees one sees that it is odd); even (release)
 *      reader: version (acquire); fields (acquire: the version is read again after them); version (relaxed) */
#include "net/mapped.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/base.h"

struct span {
    _Atomic uint64_t base, bytes;
};

struct table {
    struct table *older; /* which somebody may still read */
    size_t room;
    struct span spans[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who change; a leaf */
static _Atomic uint64_t version;
static struct table *_Atomic table;
static _Atomic size_t count;

/* ---- those who change it ---- */

static void put(struct span *to, uint64_t base, uint64_t bytes) {
    atomic_store_explicit(&to->base, base, memory_order_release);
    atomic_store_explicit(&to->bytes, bytes, memory_order_release);
}

static void move(struct span *to, const struct span *from) {
    put(to, atomic_load_explicit(&from->base, memory_order_relaxed),
        atomic_load_explicit(&from->bytes, memory_order_relaxed));
}

static void change_begins(void) {
    atomic_fetch_add_explicit(&version, 1, memory_order_relaxed);
}

static void change_ends(void) {
    atomic_fetch_add_explicit(&version, 1, memory_order_release);
}

/* Room for one more; the new array holds the same, so that readers may take either. */
static int reserve(void) {
    struct table *old = atomic_load(&table);
    size_t used = atomic_load(&count), room = old ? 2 * old->room : 64;
    if (old && used < old->room)
        return 0;
    struct table *new = calloc(1, sizeof *new + room * sizeof *new->spans);
    if (!new)
        return -ENOMEM;
    new->older = old;
    new->room = room;
    for (size_t i = 0; i < used; i++)
        move(&new->spans[i], &old->spans[i]);
    atomic_store(&table, new); /* release; partner: search */
    return 0;
}

static void insert(uint64_t base, uint64_t bytes) {
    struct span *spans = atomic_load(&table)->spans;
    size_t i = atomic_load(&count);
    for (; i > 0 && atomic_load(&spans[i - 1].base) > base; i--)
        move(&spans[i], &spans[i - 1]);
    put(&spans[i], base, bytes);
    atomic_fetch_add_explicit(&count, 1, memory_order_release);
}

int mapped_add(uint64_t base, uint64_t bytes) {
    pthread_mutex_lock(&lock);
    int err = reserve();
    if (!err) {
        change_begins();
        insert(base, bytes);
        change_ends();
    }
    pthread_mutex_unlock(&lock);
    return err;
}

static void remove_at(struct span *spans, size_t i) {
    size_t last = atomic_load(&count) - 1;
    for (; i < last; i++)
        move(&spans[i], &spans[i + 1]);
    atomic_store_explicit(&count, last, memory_order_release);
}

void mapped_remove(uint64_t base) {
    pthread_mutex_lock(&lock);
    struct table *t = atomic_load(&table);
    for (size_t i = 0; i < atomic_load(&count); i++) {
        if (atomic_load(&t->spans[i].base) == base) {
            change_begins();
            remove_at(t->spans, i);
            change_ends();
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ---- those who ask ---- */

static bool is_inside(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) {
    uint64_t offset = address - base; /* wraps below the base, and is then too large */
    return offset <= size && bytes <= size - offset;
}

/* The last that begins at or below it; what comes out under a version that changed is worth nothing,
 * but it ends. */
static bool search(uint64_t address, uint64_t *base, uint64_t *size) {
    struct table *t = atomic_load_explicit(&table, memory_order_acquire);
    size_t low = 0, high = atomic_load_explicit(&count, memory_order_acquire);
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
    *base = atomic_load_explicit(&t->spans[low - 1].base, memory_order_acquire);
    *size = atomic_load_explicit(&t->spans[low - 1].bytes, memory_order_acquire);
    return true;
}

int mapped_find(uint64_t address, uint64_t bytes, uint64_t *base, uint64_t *size) {
    static _Thread_local struct {
        uint64_t version, base, size; /* size 0: nothing */
    } last __attribute__((tls_model("initial-exec")));
    uint64_t now = atomic_load_explicit(&version, memory_order_acquire);
    if (UNLIKELY(now % 2))
        return -EAGAIN;
    if (UNLIKELY(last.version != now || !last.size || !is_inside(address, bytes, last.base, last.size))) {
        uint64_t found_base = 0, found_size = 0;
        bool found = search(address, &found_base, &found_size);
        if (atomic_load_explicit(&version, memory_order_relaxed) != now)
            return -EAGAIN;
        if (!found || !is_inside(address, bytes, found_base, found_size))
            return -EFAULT;
        last.version = now;
        last.base = found_base;
        last.size = found_size;
    }
    *base = last.base;
    *size = last.size;
    return 0;
}
