/* data.h: where the bytes of a message lie, for any datatype. */
#ifndef HEARTH_MPI_P2P_DATA_H
#define HEARTH_MPI_P2P_DATA_H

#include "base/compiler.h"
#include "data/data.h"
#include "mpi/types/layout.h"
#include "mpi/messages/state/comm.h"
#include "tables/shape.h"

struct opaque;

struct data {
    char *first;
    struct layout layout;      /* its shape describes the bytes relative to first; its offset is unused */
    struct opaque *opaque;     /* a type that only MPI can process: the bytes are packed in a buffer */
    uint64_t at;               /* the byte where the last partial copy ended */
    struct data_cursor cursor; /* there, unless `at` is 0 */
    /* For p2p_data_ends_inside, of a receive with a non-contiguous type: the type, and the number of types freed when it was posted. */
    MPI_Datatype type;
    uint64_t types_freed;
};

static inline uint64_t p2p_data_bytes(const struct data *d) {
    return d->layout.shape.bytes;
}

static inline void p2p_data_in_one(struct data *d, const void *first, uint64_t bytes) {
    d->first = (char *)first;
    d->layout = (struct layout){.shape = shape_contiguous(bytes)};
    d->opaque = NULL;
    d->at = 0;
}

/* Returns MPI_SUCCESS, or an error that the communicator's error handler has seen. Call without the lock. */
int p2p_data_describe(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type, struct comm *c,
                      bool receive);
void p2p_data_free_slow(struct data *d);
static inline void p2p_data_free(struct data *d) {
    if (UNLIKELY(d->opaque || d->layout.owned))
        p2p_data_free_slow(d);
}

static inline int p2p_data_make(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type,
                                struct comm *c, bool receive) {
    uint64_t size, bytes;
    if (UNLIKELY(!layout_is_plain(type, &size) || __builtin_mul_overflow(size, (uint64_t)count, &bytes) ||
                 !buffer))
        return p2p_data_describe(d, buffer, count, type, c, receive);
    p2p_data_in_one(d, buffer, bytes);
    return MPI_SUCCESS;
}

/* Copies bytes [from, from + bytes) of the message out of its memory, or into it. */
void p2p_data_gather_slow(void *packed, struct data *d, uint64_t from, uint64_t bytes);
void p2p_data_scatter_slow(struct data *d, uint64_t from, const void *packed, uint64_t bytes);

static inline void p2p_data_gather(void *packed, struct data *d, uint64_t from, uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        memcpy(packed, d->first + from, bytes);
    else
        p2p_data_gather_slow(packed, d, from, bytes);
}

static inline void p2p_data_scatter(struct data *d, uint64_t from, const void *packed, uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        memcpy(d->first + from, packed, bytes);
    else
        p2p_data_scatter_slow(d, from, packed, bytes);
}

/* p2p_data_copy makes a packed copy of the bytes; p2p_data_detach replaces the original by one. -ENOMEM: nothing was changed. */
int p2p_data_copy(struct data *to, struct data *from);
int p2p_data_detach(struct data *d);

/* Opaque types: copies the program's memory into Hearth's buffer, or back. Only by a thread that may call MPI. */
int p2p_data_pack(struct data *d);
int p2p_data_unpack(struct data *d, uint64_t bytes);

/* Whether a message of so many bytes ends inside an element, which MPICH reports as an error for non-contiguous types. The calling
 * thread may call MPI. */
bool p2p_data_ends_inside_slow(const struct data *d, uint64_t bytes);
static inline bool p2p_data_ends_inside(const struct data *d, uint64_t bytes) {
    return !host_is_open_mpi() &&
           UNLIKELY(!shape_is_contiguous(&d->layout.shape) && bytes != p2p_data_bytes(d)) &&
           p2p_data_ends_inside_slow(d, bytes);
}

/* Types that the program has freed and no message uses any more. Call without the lock: attribute callbacks run. */
void p2p_data_free_types(void);
bool p2p_data_has_types_to_free(void);

int p2p_data_open(void);
void p2p_data_close(void);

#endif
