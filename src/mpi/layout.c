/* layout.c: the table of known types.
 *
 * Asking MPI what a type is made of takes a microsecond or more, so the answer is kept under the type's
 * handle:
 *
 *      layout_types[]   -> {key, plain, next, element} -> {key, plain, next, element} -> NULL
 *      (4096 buckets)
 *      spare            -> {0, ...} -> ...               of forgotten types, to be used again
 *
 * Readers take no lock. They may: records never go back to the system, a record is complete before its key is
 * set, and a record whose key is that of a live type stays as it is, because a type is forgotten only when
 * the program frees it, which must not race with its use. A reader that stands on a record of another type
 * while it is forgotten and used again may be led into another bucket and miss what it looks for; it then
 * describes the type once more, and layout_keep finds that it is there. Writers hold the mutex. The number of
 * records is that of the most types alive at once.
 *
 * Types inside others are not kept, unless predefined: they can outlive the program's handle, and nobody
 * would tell when it is given to a new type.
 *
 * Dropped: growing the number of buckets. A program with 10 000 live types finds one in 2.5 steps on average.
 */
#include "mpi/layout.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "mpi/layout_build.h"

enum { KEPT_BYTES_MAX = 64 << 20 }; /* of all lists in the table; types beyond are described at each use */

_Atomic(struct layout_type *) layout_types[1 << LAYOUT_BUCKET_BITS];

static pthread_mutex_t writing =
    PTHREAD_MUTEX_INITIALIZER; /* rank: innermost; guards what follows, and all changes */
static struct layout_type *spare;
static uint64_t kept_bytes;

static uint64_t list_bytes(const struct layout_element *e) {
    return e->layout.owned ? e->layout.shape.blocks * sizeof(struct shape_block) : 0;
}

static uint64_t plain_size(const struct layout_element *e) {
    const struct layout *l = &e->layout;
    bool plain = !e->error && l->shape.blocks == 1 && !l->offset && (int64_t)l->shape.bytes == e->extent;
    return plain ? l->shape.bytes : 0;
}

static struct layout_type *take_record(void) {
    struct layout_type *t = spare;
    if (!t)
        return calloc(1, sizeof *t);
    spare = atomic_load_explicit(&t->next, memory_order_relaxed);
    return t;
}

static void add_record(MPI_Datatype type, const struct layout_element *e) {
    struct layout_type *t = take_record();
    if (!t)
        return;
    uint64_t key = layout_key(type);
    _Atomic(struct layout_type *) *bucket = layout_bucket(key);
    t->element = *e;
    t->element.layout = layout_share(&e->layout);
    atomic_store_explicit(&t->trusted, e->predefined, memory_order_relaxed);
    atomic_store_explicit(&t->plain, e->predefined ? plain_size(e) : 0, memory_order_relaxed);
    kept_bytes += list_bytes(e);
    atomic_store_explicit(&t->next, atomic_load_explicit(bucket, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&t->key, key,
                          memory_order_release); /* pairs with layout_find, as do next and the bucket */
    atomic_store_explicit(bucket, t, memory_order_release);
}

void layout_trust(MPI_Datatype type) {
    struct layout_type *t = (struct layout_type *)layout_find(type);
    if (!t)
        return;
    atomic_store_explicit(&t->trusted, true, memory_order_relaxed);
    atomic_store_explicit(&t->plain, plain_size(&t->element), memory_order_relaxed);
}

void layout_keep(MPI_Datatype type, const struct layout_element *e) {
    pthread_mutex_lock(&writing);
    if (kept_bytes + list_bytes(e) <= KEPT_BYTES_MAX && !layout_find(type))
        add_record(type, e);
    pthread_mutex_unlock(&writing);
}

static void drop_record(struct layout_type *t, _Atomic(struct layout_type *) *link) {
    atomic_store_explicit(link, atomic_load_explicit(&t->next, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&t->key, 0, memory_order_relaxed); /* no type has this handle */
    kept_bytes -= list_bytes(&t->element);
    layout_free(&t->element.layout);
    atomic_store_explicit(&t->next, spare, memory_order_release);
    spare = t;
}

void layout_forget(MPI_Datatype type) {
    uint64_t key = layout_key(type);
    _Atomic(struct layout_type *) *link = layout_bucket(key);
    struct layout_type *t;
    pthread_mutex_lock(&writing);
    while ((t = atomic_load_explicit(link, memory_order_relaxed)) &&
           atomic_load_explicit(&t->key, memory_order_relaxed) != key)
        link = &t->next;
    if (t && !t->element.predefined) /* freeing those is an error, and others may be reading */
        drop_record(t, link);
    pthread_mutex_unlock(&writing);
}

/* MPI_DATATYPE_NULL and what is no handle at all would call an error handler, and not the one of the access.
 */
static bool is_handle(MPI_Datatype type) {
#ifdef MPICH_VERSION /* kind of object in bits 26 to 29, where it is stored above: 0 is nowhere */
    if (((unsigned)type >> 26 & 15) != 3 || (unsigned)type >> 30 == 0)
        return false;
#endif
    return type != MPI_DATATYPE_NULL && layout_key(type) != 0;
}

static void learn(MPI_Datatype type, struct layout_element *e) {
    if (!is_handle(type)) {
        e->error = -ENOTSUP;
        return;
    }
    if (layout_describe(type, e) != -ENOMEM) /* what cannot be described is worth remembering as well */
        layout_keep(type, e);
}

static int make_from(const struct layout_element *e, MPI_Count count, struct layout *out) {
    if (e->error)
        return e->error;
    struct layout l = layout_share(&e->layout);
    int rc = layout_repeat(&l, count, e->extent);
    if (!rc)
        *out = l;
    return rc;
}

int layout_make(MPI_Count count, MPI_Datatype type, struct layout *out) {
    if (count < 0)
        return -ENOTSUP;
    const struct layout_type *known = layout_find(type);
    if (LIKELY(known != NULL))
        return make_from(&known->element, count, out);
    struct layout_element e = {.error = 0};
    learn(type, &e);
    int rc = make_from(&e, count, out);
    layout_free(&e.layout);
    return rc;
}
