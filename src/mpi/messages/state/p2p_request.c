/* p2p_request.c: the table of requests, and their handles.
 *
 *      chunks[] -> 1024 requests     index = chunk * 1024 + place; free ones are chained
 *
 * Hearth's handles have a bit pattern of their own, so that one AND recognises a managed request (p2p_request.h). In the
 * standard ABI they are addresses of a range that is reserved and never accessed, one byte for each request. Chunks do
 * not move and are not freed before the end, so that a handle can be followed without the lock. The request of a
 * blocking call is on its stack and has no handle. */
#include "mpi/messages/state/p2p_request.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "mpi/messages/state/fortran.h"
#include "mpi/messages/state/p2p_buffered.h"
#include "mpi/messages/state/watcher.h"

enum { CHUNK = 1024, CHUNKS = 16384 };

static struct p2p_request *chunks[CHUNKS];
static uint32_t chunk_count;
static struct p2p_request *free_ones;
static struct p2p_request *finished; /* orphaned receives that only a thread that may call MPI can unpack */

struct p2p_request *p2p_request_sent;

#if HEARTH_MPI_ABI
_Static_assert(REQUEST_RANGE == CHUNK * CHUNKS, "an address for each request");
uintptr_t p2p_request_range = UINTPTR_MAX - REQUEST_RANGE; /* until it is reserved: no handle is in it */

int p2p_request_open(void) {
    void *range = mmap(NULL, REQUEST_RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return MPI_ERR_NO_MEM;
    p2p_request_range = (uintptr_t)range; /* for good: the program may keep a handle */
    return MPI_SUCCESS;
}
#else
int p2p_request_open(void) {
    return MPI_SUCCESS;
}
#endif

struct p2p_request *p2p_request_at(uint32_t index) {
    return &chunks[index / CHUNK][index % CHUNK];
}

static bool request_grow(void) {
    struct p2p_request *more = chunk_count < CHUNKS ? aligned_alloc(CACHE_LINE, CHUNK * sizeof *more) : NULL;
    if (!more)
        return false;
    memset(more, 0, CHUNK * sizeof *more);
    for (uint32_t i = CHUNK; i-- > 0;) {
        more[i].index = chunk_count * CHUNK + i;
        p2p_fortran_number(&more[i]);
        more[i].next = free_ones;
        free_ones = &more[i];
    }
    chunks[chunk_count++] = more;
    return true;
}

void p2p_request_fill(struct p2p_request *r, enum request_kind kind, struct comm *c) {
    r->kind = (uint8_t)kind;
    r->mode = MODE_STANDARD;
    r->persistent = r->done = r->orphan = r->posted = r->cancelled = r->half = r->placed = false;
    r->active = true;
    r->comm = c;
    r->error = MPI_SUCCESS;
    r->spare = NULL;
    r->message = NULL;
    r->partner = NULL;
    r->buffered = 0;
    r->watcher = NULL;
}

struct p2p_request *p2p_request_new(enum request_kind kind, struct comm *c) {
    if (UNLIKELY(!free_ones && !request_grow()))
        return NULL;
    struct p2p_request *r = free_ones;
    free_ones = r->next;
    ASSERT(r->index < chunk_count * CHUNK && p2p_request_at(r->index) == r);
    ASSERT(!r->comm);
    p2p_request_fill(r, kind, c);
    p2p_data_in_one(&r->data, "", 0);
    if (c)
        c->references++;
    return r;
}

void p2p_request_free(struct p2p_request *r) {
    p2p_data_free(&r->data);
    if (r->comm)
        p2p_comm_release(r->comm);
    r->comm = NULL; /* see p2p_request_is_pending */
    r->next = free_ones;
    free_ones = r;
}

static void finish_orphan(struct p2p_request *r) {
    if (r->kind != REQUEST_RECV || !r->data.opaque) {
        p2p_request_free(r);
        return;
    }
    r->next = finished;
    finished = r;
}

/* MPI_Isendrecv: the program holds the receive, which completes when both are done; the send is an orphan. */
static void finish_half(struct p2p_request *r) {
    struct p2p_request *other = r->partner;
    if (r->kind == REQUEST_RECV) { /* the send will complete it */
        r->half = true;
        return;
    }
    r->partner = other->partner = NULL;
    p2p_request_finish(r);
    if (other->half)
        p2p_request_finish(other);
}

void p2p_request_finish(struct p2p_request *r) {
    if (UNLIKELY(r->spare != NULL)) {
        free(r->spare);
        r->spare = NULL;
    }
    if (UNLIKELY(r->buffered))
        p2p_buffered_give(r);
    if (UNLIKELY(r->partner != NULL)) {
        finish_half(r);
        return;
    }
    ASSERT(!r->done && !r->partner);
    r->done = true;
    if (UNLIKELY(r->watcher != NULL))
        p2p_watcher_wake(r);
    if (UNLIKELY(r->orphan))
        finish_orphan(r);
}

/* Only by a thread that may call MPI. */
int p2p_request_bury(void) {
    int n = 0;
    while (finished) {
        struct p2p_request *r = finished;
        finished = r->next;
        p2p_request_conclude(r);
        p2p_request_free(r);
        n++;
    }
    return n;
}

/* An orphan is in the table until p2p_request_bury releases it. */
static bool is_pending(const struct p2p_request *r) {
    return (r->kind == REQUEST_SEND || r->kind == REQUEST_RECV) && r->active && (!r->done || r->orphan);
}

bool p2p_request_is_pending(const struct comm *c) {
    for (uint32_t i = 0; i < chunk_count * CHUNK; i++)
        if (p2p_request_at(i)->comm == c && is_pending(p2p_request_at(i)))
            return true;
    return false;
}

void p2p_request_close(void) {
    for (uint32_t i = 0; i < chunk_count; i++) {
        free(chunks[i]);
        chunks[i] = NULL;
    }
    chunk_count = 0;
    free_ones = finished = NULL;
}
