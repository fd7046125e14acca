/* serve_lookup.c: finds served windows by their handles.
 *
 * A hash table with chains, under the lock of served windows. serve_recent is the window of the most recent lookup, which is
 * read without the lock. So structures of freed windows are reused and never freed: serve_find may read one that another
 * thread releases. */
#include <stdlib.h>

#include "base/random.h"
#include "mpi/windows/serving/state/served.h"

enum { BUCKETS = 64 };

_Atomic(struct served *) serve_recent;
bool serve_is_threaded;
struct host_table serve_host;
pthread_mutex_t serve_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct served *buckets[BUCKETS];
static struct served *spare; /* structures of freed windows */

static struct served **served_bucket(MPI_Win handle) {
    return &buckets[random_mix((uint64_t)(uintptr_t)handle) % BUCKETS];
}

struct served *serve_find_slow(MPI_Win handle) {
    serve_lock();
    struct served *s = *served_bucket(handle);
    while (s && s->handle != handle)
        s = s->next;
    if (s)
        atomic_store_explicit(&serve_recent, s, memory_order_release);
    serve_unlock();
    return s;
}

void serve_lookup_add(struct served *s) {
    struct served **bucket = served_bucket(s->handle);
    serve_lock();
    s->next = *bucket;
    *bucket = s;
    serve_unlock();
}

void serve_lookup_remove(struct served *s) {
    serve_lock();
    struct served **link = served_bucket(s->handle);
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
    atomic_store_explicit(&serve_recent, NULL, memory_order_release);
    serve_unlock();
}

struct served *serve_lookup_take(void) {
    serve_lock();
    struct served *s = spare;
    if (s)
        spare = s->next;
    serve_unlock();
    return s ? s : malloc(sizeof *s);
}

void serve_lookup_keep(struct served *s) {
    s->handle = MPI_WIN_NULL;
    serve_lock();
    s->next = spare;
    spare = s;
    serve_unlock();
}
