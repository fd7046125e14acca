/* data.c: the bytes of a message, for any datatype.
 *
 * Most messages are contiguous. Others are described by a shape (layout.h), which says where the blocks are and lives
 * as long as the message, even if the program frees the type meanwhile. A type that cannot be described is opaque:
 * its bytes are packed into Hearth's memory before they are sent, or unpacked from there by the call that completes
 * the receive. MPI does that with a message to the own process, which, unlike MPI_Unpack, can also end in the middle
 * of an element. It gets the program's own type and count: MPI need not move a type derived from it in the same way, and
 * a duplicate would call the program's attribute functions. An MPI that counts bytes in an int gets a large message in
 * parts of whole elements. If the program frees the type meanwhile, MPI frees it after the last message.
 *
 * At the first use of a type, Hearth has MPI send it to MPI_PROC_NULL, or receive it from there. A type that is
 * uncommitted or invalid thus gets MPI's own error. */
#include "mpi/messages/state/data.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/host/hooks.h"
#include "mpi/observe/targets.h"
#include "mpi/windows/caching/window/bypassed_type.h"

struct opaque {
    void *buffer;
    MPI_Count count;
    uint64_t size;     /* of an element */
    MPI_Aint extent;   /* from one element to the next */
    MPI_Datatype type; /* MPI_DATATYPE_NULL: only a copy of the bytes, in no list */
    bool freed;        /* by the program */
    struct opaque *next;
};

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static struct opaque *opaques; /* with a type */
static struct opaque *ended;   /* their types must be freed by a thread that holds no lock */

static _Atomic uint64_t types_freed; /* by the program, so far */

static MPI_Comm alone = MPI_COMM_NULL;

/* The most bytes that MPI packs or unpacks in one call. */
static const uint64_t part_most = HEARTH_MPI_COUNTS ? UINT64_MAX : INT_MAX;

int p2p_data_open(void) {
    int rc = host_real.Comm_dup(MPI_COMM_SELF, &alone);
    return rc == MPI_SUCCESS ? host_Comm_set_errhandler(alone, MPI_ERRORS_RETURN) : rc;
}

void p2p_data_close(void) {
    p2p_data_free_types();
    if (alone != MPI_COMM_NULL)
        host_real.Comm_free(&alone);
}

/* ---- validation by MPI ---- */

static int data_show(const void *buffer, MPI_Count count, MPI_Datatype type, struct comm *c, bool receive) {
#if HEARTH_MPI_COUNTS
    if (receive)
        return host_real.Recv_c((void *)buffer, count, type, MPI_PROC_NULL, 0, c->handle, MPI_STATUS_IGNORE);
    return host_real.Send_c(buffer, count, type, MPI_PROC_NULL, 0, c->handle);
#else
    if (receive)
        return host_real.Recv((void *)buffer, (int)count, type, MPI_PROC_NULL, 0, c->handle,
                              MPI_STATUS_IGNORE);
    return host_real.Send(buffer, (int)count, type, MPI_PROC_NULL, 0, c->handle);
#endif
}

/* ---- opaque types ---- */

static int send_to_self(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                        MPI_Count to_count, MPI_Datatype to_type) {
#if HEARTH_MPI_COUNTS
    return host_real.Sendrecv_c(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, alone,
                                MPI_STATUS_IGNORE);
#else
    return host_real.Sendrecv(from, (int)from_count, from_type, 0, 0, to, (int)to_count, to_type, 0, 0, alone,
                              MPI_STATUS_IGNORE);
#endif
}

/* All threads use one communicator and one tag, some under the lock and some not, and would otherwise receive each
 * other's bytes. */
static int to_self(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                   MPI_Count to_count, MPI_Datatype to_type) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    if (p2p_threads)
        pthread_mutex_lock(&turn);
    int rc = send_to_self(from, from_count, from_type, to, to_count, to_type);
    if (p2p_threads)
        pthread_mutex_unlock(&turn);
    return rc;
}

/* The elements of the next part. */
static uint64_t part_elements(const struct opaque *o, uint64_t done) {
    uint64_t left = (uint64_t)o->count - done, most = part_most / o->size;
    return left < most ? left : most;
}

/* Packs or unpacks the first bytes of the message. Only the last part may end inside an element. */
static int move_parts(struct data *d, uint64_t bytes, bool pack) {
    const struct opaque *o = d->opaque;
    int rc = MPI_SUCCESS;
    for (uint64_t from = 0, part; rc == MPI_SUCCESS && from < bytes; from += part) {
        uint64_t done = from / o->size, n = part_elements(o, done), left = bytes - from;
        void *memory = (void *)((uintptr_t)o->buffer + done * (uint64_t)o->extent), *packed = d->first + from;
        part = left < n * o->size ? left : n * o->size;
        rc = pack ? to_self(memory, (MPI_Count)n, o->type, packed, (MPI_Count)part, MPI_BYTE)
                  : to_self(packed, (MPI_Count)part, MPI_BYTE, memory, (MPI_Count)n, o->type);
    }
    return rc;
}

int p2p_data_pack(struct data *d) {
    return move_parts(d, p2p_data_bytes(d), true);
}

int p2p_data_unpack(struct data *d, uint64_t bytes) {
    return move_parts(d, bytes, false);
}

static void add_opaque(struct opaque *o) {
    pthread_mutex_lock(&listing);
    o->next = opaques;
    opaques = o;
    pthread_mutex_unlock(&listing);
}

/* Returns true if o was the last to use a type that the program has freed; o is then in the list `ended`. */
static bool remove_opaque(struct opaque *o) {
    bool used = false;
    pthread_mutex_lock(&listing);
    struct opaque **link = &opaques;
    while (*link != o)
        link = &(*link)->next;
    *link = o->next;
    for (struct opaque *other = opaques; other; other = other->next)
        used |= other->freed && other->type == o->type;
    bool last = o->freed && !used;
    if (last) {
        o->next = ended;
        ended = o;
    }
    pthread_mutex_unlock(&listing);
    return last;
}

/* Whether messages still use the type; if so, it is freed after the last of them. */
static bool keep_type(MPI_Datatype type) {
    bool used = false;
    pthread_mutex_lock(&listing);
    for (struct opaque *o = opaques; o; o = o->next)
        if (o->type == type)
            used = o->freed = true;
    pthread_mutex_unlock(&listing);
    return used;
}

void p2p_data_free_types(void) {
    pthread_mutex_lock(&listing);
    struct opaque *o = ended;
    ended = NULL;
    pthread_mutex_unlock(&listing);
    for (struct opaque *next; o; o = next) {
        next = o->next;
        host_real.Type_free(&o->type);
        free(o);
    }
}

bool p2p_data_has_types_to_free(void) {
    return UNLIKELY(ended != NULL);
}

/* What is known of the type is forgotten before MPI frees it, because MPI may then reuse its handle immediately. */
int hook_Type_free(MPI_Datatype *type) {
    atomic_fetch_add_explicit(&types_freed, 1, memory_order_relaxed);
    if (type) {
        targets_forget_type(*type);
        layout_forget(*type);
        rma_bypassed_type_forget(*type);
    }
    if (LIKELY(!p2p_on) || !type || !keep_type(*type))
        return host_Type_free(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

static int make_opaque(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type) {
    MPI_Count size;
    MPI_Aint low, extent;
    uint64_t bytes;
    int rc = host_Type_size_x(type, &size);
    if (rc == MPI_SUCCESS)
        rc = host_Type_get_extent(type, &low, &extent);
    if (rc != MPI_SUCCESS)
        return rc;
    if (__builtin_mul_overflow((uint64_t)size, (uint64_t)count, &bytes) || (uint64_t)size > part_most)
        return MPI_ERR_COUNT;
    struct opaque *o = malloc(sizeof *o);
    char *packed = o ? malloc(bytes + 1) : NULL;
    if (!packed) {
        free(o);
        return MPI_ERR_NO_MEM;
    }
    *o = (struct opaque){
        .buffer = (void *)buffer, .count = count, .size = (uint64_t)size, .extent = extent, .type = type};
    add_opaque(o);
    p2p_data_in_one(d, packed, bytes);
    d->opaque = o;
    return MPI_SUCCESS;
}

static void free_opaque(struct opaque *o) {
    if (o->type == MPI_DATATYPE_NULL || !remove_opaque(o))
        free(o);
}

/* ---- all types ---- */

int p2p_data_describe(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type, struct comm *c,
                      bool receive) {
    if (!layout_is_trusted(type) || !buffer) {
        int rc = data_show(buffer, count, type, c, receive);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (!count) { /* the type may be invalid: MPICH accepts MPI_DATATYPE_NULL here */
        p2p_data_in_one(d, "", 0);
        return MPI_SUCCESS;
    }
    struct layout l;
    int rc = layout_make(count, type, &l), error = MPI_SUCCESS;
    layout_trust(type);
    if (!rc) {
        p2p_data_in_one(d, l.shape.bytes ? (const char *)buffer + l.offset : "", 0);
        d->layout = l;
        d->type = type;
        d->types_freed = atomic_load_explicit(&types_freed, memory_order_relaxed);
    } else {
        error = rc == -ENOMEM ? MPI_ERR_NO_MEM : make_opaque(d, buffer, count, type);
    }
    if (error == MPI_SUCCESS && d->opaque && !receive)
        error = p2p_data_pack(d);
    return error == MPI_SUCCESS ? MPI_SUCCESS : p2p_comm_error(c, error);
}

void p2p_data_free_slow(struct data *d) {
    if (d->opaque) {
        free_opaque(d->opaque);
        free(d->first);
    } else {
        layout_free(&d->layout);
    }
    p2p_data_in_one(d, "", 0);
}

/* ---- the end of a message ---- */

/* A shape has no elements, so the type is queried, provided that no type has been freed since: the handle of a freed type
 * may denote another one. */
bool p2p_data_ends_inside_slow(const struct data *d, uint64_t bytes) {
    return bytes && d->types_freed == atomic_load_explicit(&types_freed, memory_order_relaxed) &&
           layout_ends_inside(d->type, bytes);
}

/* ---- partial copies ---- */

/* The cursor at byte `from`. Parts mostly come in order, so that it has not far to go. */
static struct data_cursor *cursor_at(struct data *d, uint64_t from) {
    if (!d->at || from < d->at) {
        data_cursor_start(&d->cursor, &d->layout.shape, 0);
        d->at = 0;
    }
    d->cursor.shape = &d->layout.shape; /* which moves when a request takes the data over */
    data_cursor_skip(&d->cursor, from - d->at);
    return &d->cursor;
}

void p2p_data_gather_slow(void *packed, struct data *d, uint64_t from, uint64_t bytes) {
    data_cursor_gather(cursor_at(d, from), packed, d->first, bytes);
    d->at = from + bytes;
}

void p2p_data_scatter_slow(struct data *d, uint64_t from, const void *packed, uint64_t bytes) {
    data_cursor_scatter(cursor_at(d, from), d->first, packed, bytes);
    d->at = from + bytes;
}

/* The copy is owned like that of an opaque type, but has no type. */
int p2p_data_copy(struct data *to, struct data *from) {
    uint64_t bytes = p2p_data_bytes(from);
    struct opaque *none = malloc(sizeof *none);
    char *copy = none ? malloc(bytes + 1) : NULL;
    if (!copy) {
        free(none);
        return -ENOMEM;
    }
    p2p_data_gather(copy, from, 0, bytes);
    p2p_data_in_one(to, copy, bytes);
    *none = (struct opaque){.type = MPI_DATATYPE_NULL};
    to->opaque = none;
    return 0;
}

int p2p_data_detach(struct data *d) {
    struct data copy;
    int rc = p2p_data_copy(&copy, d);
    if (rc)
        return rc;
    p2p_data_free(d);
    *d = copy;
    return 0;
}
