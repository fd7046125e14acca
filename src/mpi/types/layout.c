/* layout.c: the table of known types.
 *
 * A query of MPI for the contents of a type takes a microsecond or more, so its description is kept under the type's
 * handle:
 *
 *      layout_types[]   -> {key, plain, next, element} -> {key, plain, next, element} -> NULL
 *      (4096 buckets)
 *      spare            -> {0, ...} -> ...               of forgotten types, to be reused
 *
 * Readers take no lock. This is safe because records are never returned to the system, a record is complete before
 * its key is set, and a record whose key is that of a live type does not change: a type is forgotten only when the
 * program frees it, which must not race with its use. A reader at a record of another type, which is forgotten and
 * reused meanwhile, may be led into another bucket and miss its type. It then describes the type again, and
 * layout_keep finds the existing record. Writers hold the mutex. The number of records is the largest number of types
 * alive at once.
 *
 * Inner types are not kept unless they are predefined: they can outlive the program's handle, and Hearth would not
 * learn when the handle is reused for a new type. A thread that describes a type may find the record of an inner type whose
 * handle another thread frees at the same time, which MPI allows. Such records are copied under the mutex.
 *
 * Rejected: growing the number of buckets. A program with 10 000 live types finds one in 2.5 steps on average. */
#include "mpi/types/layout.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/types/layout_build.h"

enum { KEPT_BYTES_MAX = 64 << 20 }; /* of all lists in the table; further types are described at each use */

_Atomic(struct layout_type *) layout_types[1 << LAYOUT_BUCKET_BITS];

/* Lock order: innermost. Guards the variables below and all changes of the table. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
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
    ASSERT(key != 0 && !layout_find(type));
    t->element = *e;
    t->element.layout = layout_share(&e->layout);
    atomic_store_explicit(&t->trusted, e->predefined, memory_order_relaxed);
    atomic_store_explicit(&t->plain, e->predefined ? plain_size(e) : 0, memory_order_relaxed);
    kept_bytes += list_bytes(e);
    atomic_store_explicit(&t->next, atomic_load_explicit(bucket, memory_order_relaxed), memory_order_release);
    /* Release: pairs with layout_find, as do next and the bucket. */
    atomic_store_explicit(&t->key, key, memory_order_release);
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

bool layout_copy_known(MPI_Datatype type, struct layout_element *out) {
    pthread_mutex_lock(&writing);
    const struct layout_type *known = layout_find(type);
    if (known) {
        *out = known->element;
        out->layout = layout_share(&known->element.layout);
    }
    pthread_mutex_unlock(&writing);
    return known != NULL;
}

static void drop_record(struct layout_type *t, _Atomic(struct layout_type *) *link) {
    atomic_store_explicit(link, atomic_load_explicit(&t->next, memory_order_relaxed), memory_order_release);
    atomic_store_explicit(&t->key, 0, memory_order_relaxed); /* no type has this handle */
    ASSERT(kept_bytes >= list_bytes(&t->element) && !t->element.predefined);
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
    if (t && !t->element.predefined) /* freeing predefined types is an error, and other threads may be
                                        reading them */
        drop_record(t, link);
    pthread_mutex_unlock(&writing);
}

bool layout_is_handle(MPI_Datatype type) {
#ifdef MPICH_VERSION /* object kind in bits 26 to 29; storage kind above, where 0 is invalid */
    if (((unsigned)type >> 26 & 15) != 3 || (unsigned)type >> 30 == 0)
        return false;
#elif HEARTH_MPI_ABI /* constants are below a page; those of datatypes begin with the bits 10 */
    if ((uintptr_t)type < ABI_CONSTANTS && (uintptr_t)type >> 8 != 2 && (uintptr_t)type >> 8 != 3)
        return false;
#endif
    return type != MPI_DATATYPE_NULL && layout_key(type) != 0;
}

static void learn(MPI_Datatype type, struct layout_element *e) {
    if (!layout_is_handle(type)) {
        e->error = -ENOTSUP;
        return;
    }
    if (layout_describe(type, e) != -ENOMEM) /* types that cannot be described are kept as well */
        layout_keep(type, e);
}

static int make_from(const struct layout_element *e, MPI_Count count, uint64_t most, struct layout *out) {
    if (e->error)
        return e->error;
    struct layout l = layout_share(&e->layout);
    int rc = layout_repeat(&l, count, e->extent, most);
    ASSERT(rc || !l.shape.list || l.shape.blocks <= most);
    if (!rc)
        *out = l;
    return rc;
}

static int make_most(MPI_Count count, MPI_Datatype type, uint64_t most, struct layout *out) {
    if (count < 0)
        return -ENOTSUP;
    const struct layout_type *known = layout_find(type);
    if (LIKELY(known != NULL))
        return make_from(&known->element, count, most, out);
    struct layout_element e = {.error = 0};
    learn(type, &e);
    int rc = make_from(&e, count, most, out);
    layout_free(&e.layout);
    return rc;
}

int layout_make(MPI_Count count, MPI_Datatype type, struct layout *out) {
    return make_most(count, type, LAYOUT_BLOCKS_MAX, out);
}

int layout_make_long(MPI_Count count, MPI_Datatype type, struct layout *out) {
    return make_most(count, type, LAYOUT_BLOCKS_LONG, out);
}
