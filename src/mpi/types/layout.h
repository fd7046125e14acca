/* layout.h: MPI datatypes as shapes: where the bytes of `count` elements of a type lie, and in which order.
 *
 * The description of a type is kept in a table under its handle, from first use until layout_forget. All functions
 * may be called by many threads at once, provided that, as MPI requires, no thread uses a type that another frees. */
#ifndef HEARTH_MPI_LAYOUT_H
#define HEARTH_MPI_LAYOUT_H

#include <stdatomic.h>

#include "base/compiler.h"
#include "mpi/host/host.h"
#include "tables/shape.h"

struct layout {
    struct shape shape; /* relative to the first byte */
    /* of the first byte, from the buffer address or displacement given to MPI; 0 if no bytes */
    int64_t offset;
    void *owned; /* the list, if any: lives until layout_free, even if the type is freed before */
};

/* Returns 0; -ENOTSUP if the type cannot be described (unknown combiner or handle, too many blocks); or -ENOMEM. On
 * an error the caller passes the access to MPI. No MPI error handler is called for MPI_DATATYPE_NULL or an invalid
 * handle. */
int layout_make(MPI_Count count, MPI_Datatype type, struct layout *out);
/* The same with 64 times as many blocks, where MPI cannot execute the access: lists of up to 1 GB. */
int layout_make_long(MPI_Count count, MPI_Datatype type, struct layout *out);
void layout_free(struct layout *l);

/* False for MPI_DATATYPE_NULL, and for invalid handles as far as MPI's handles show it. A query of MPI with one of these would call an error
 * handler, and not the one of the access. */
bool layout_is_handle(MPI_Datatype type);

/* Whether a message of so many bytes of this type ends inside a basic element. False if the type cannot be described. */
bool layout_ends_inside(MPI_Datatype type, uint64_t bytes);

/* Call before MPI frees the type: MPI may then reuse the handle for a new type. */
void layout_forget(MPI_Datatype type);

/* Creates a committed datatype, in bytes, for this shape, relative to its first byte; to be freed with
 * host_Type_free. Returns 0 or an MPI error code; MPI_ERR_COUNT, without calling MPI, if the counts exceed an int. */
int layout_to_type(const struct shape *s, MPI_Datatype *type);

/* One element of a type. */
struct layout_element {
    struct layout layout;
    int64_t extent; /* from one element to the next */
    bool predefined;
    int error; /* why it cannot be described; 0 if it can */
};

/* A type in the table. layout.c explains why readers need no lock. */
struct layout_type {
    _Atomic uint64_t key;
    _Atomic uint64_t plain; /* size of an element if layout_is_plain, else 0 */
    _Atomic bool trusted;   /* MPI has accepted it: it is committed */
    _Atomic(struct layout_type *) next;
    struct layout_element element;
};

enum { LAYOUT_BUCKET_BITS = 12 };
extern HIDDEN _Atomic(struct layout_type *) layout_types[1 << LAYOUT_BUCKET_BITS];

/* Handles are integers in some MPIs and pointers in others. */
static inline uint64_t layout_key(MPI_Datatype type) {
    return (uint64_t)(uintptr_t)type;
}

static inline _Atomic(struct layout_type *) *layout_bucket(uint64_t key) {
    return &layout_types[key * 0x9e3779b97f4a7c15u >> (64 - LAYOUT_BUCKET_BITS)];
}

/* NULL if unknown; rarely also while another thread adds or removes a type in the same bucket. */
static inline const struct layout_type *layout_find(MPI_Datatype type) {
    uint64_t key = layout_key(type);
    const struct layout_type *t = atomic_load_explicit(layout_bucket(key), memory_order_acquire);
    while (t && atomic_load_explicit(&t->key, memory_order_acquire) != key)
        t = atomic_load_explicit(&t->next, memory_order_acquire);
    return t;
}

/* Whether `type` is trusted and known to be contiguous from its address on (no offset, no gaps, extent == size). Sets
 * the size of one element. If false, use layout_make. */
static inline bool layout_is_plain(MPI_Datatype type, uint64_t *size) {
    const struct layout_type *t = layout_find(type);
    *size = t ? atomic_load_explicit(&t->plain, memory_order_relaxed) : 0;
    return LIKELY(*size != 0);
}

/* The same for two types, which are mostly one. */
static inline bool layout_are_plain(MPI_Datatype one, MPI_Datatype other, uint64_t *size,
                                    uint64_t *other_size) {
    if (!layout_is_plain(one, size))
        return false;
    *other_size = *size;
    return LIKELY(one == other) || layout_is_plain(other, other_size);
}

/* Whether MPI is known to accept this type for communication: predefined, or layout_trust was called for it. */
static inline bool layout_is_trusted(MPI_Datatype type) {
    const struct layout_type *t = layout_find(type);
    return t && atomic_load_explicit(&t->trusted, memory_order_relaxed);
}

/* MPI accepted the type: it is committed, and remains so. */
void layout_trust(MPI_Datatype type);

#endif
