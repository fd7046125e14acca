/* p2p_request.h: a send or receive in progress, and the handle under which the program knows it. */
#ifndef HEARTH_MPI_P2P_REQUEST_H
#define HEARTH_MPI_P2P_REQUEST_H

#include "base/compiler.h"
#include "hearth/match.h"
#include "mpi/messages/state/data.h"
#include "mpi/messages/state/p2p_header.h"

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_MESSAGE /* of Mprobe */,
    REQUEST_CONTROL /* a header waiting to be sent */,
    REQUEST_RESULT /* the result of a request of MPI that is complete, see requests/polled.c; without a communicator */
};
enum send_mode { MODE_STANDARD, MODE_SYNC, MODE_BUFFERED, MODE_READY };

#ifdef OPEN_MPI
enum { REQUEST_FORTRAN_ROOM = 256 }; /* see fortran.c */
#endif

struct p2p_message;

struct p2p_request {
#ifdef OPEN_MPI
    char fortran[REQUEST_FORTRAN_ROOM];
#endif
    uint32_t index; /* in the table; constant */
    uint8_t kind, mode;
    bool persistent;
    bool active; /* started; always true if not persistent */
    bool done;   /* complete, if active */
    bool orphan; /* the program holds no handle: released when done */
    bool posted; /* in the engine's queue */
    bool cancelled;
    bool placed;   /* opaque data has been unpacked */
    bool half;     /* received, but the send of this MPI_Isendrecv is not done */
    int rank, tag; /* as given by the program */
    struct comm *comm;
    struct data data;
    /* the result */
    int error, got_source, got_tag;
    uint64_t got_bytes;
    /* in progress */
    match_entry entry;
    struct p2p_peer *peer;
    struct header header;   /* REQUEST_SEND and REQUEST_CONTROL: the header to send */
    uint64_t moved, wanted; /* bytes of a transfer in pieces */
    unsigned flying;        /* its pieces that the network has not sent yet */
    uint64_t answer;        /* the receiver's request */
    void *spare;            /* temporary receive buffer: the message is larger than the receive */
    MPI_Request host;
    struct p2p_message *message; /* REQUEST_MESSAGE */
    struct p2p_request *partner; /* MPI_Isendrecv: the other half, until the send is done */
    struct p2p_request *next;    /* in a peer's queue, the list of transfers, or the free list */
    uint64_t buffered;           /* MODE_BUFFERED: bytes that it occupies in its buffer, since this flush */
    struct p2p_buffer *buffer;
    uint64_t buffer_flush;
    struct watcher *watcher; /* a thread that waits for it while another drives progress, or NULL */
};

/* A request with the common fields set. NULL if memory ran out. */
struct p2p_request *p2p_request_new(enum request_kind kind, struct comm *c);
void p2p_request_free(struct p2p_request *r);
void p2p_request_fill(struct p2p_request *r, enum request_kind kind, struct comm *c);
struct p2p_request *p2p_request_at(uint32_t index);
int p2p_request_open(void); /* returns an MPI error code */
void p2p_request_close(void);

#if HEARTH_MPI_ABI /* pointers whose bits are each MPI's own: addresses where no MPI can have an object (p2p_request.c) */
enum { REQUEST_RANGE = 1 << 24 };
extern HIDDEN uintptr_t p2p_request_range;
static inline bool p2p_request_is_ours(MPI_Request handle) {
    return (uintptr_t)handle - p2p_request_range < REQUEST_RANGE;
}
static inline struct p2p_request *p2p_request_of(MPI_Request handle) {
    return p2p_request_at((uint32_t)((uintptr_t)handle - p2p_request_range));
}
static inline MPI_Request p2p_request_handle(const struct p2p_request *r) {
    return (MPI_Request)(p2p_request_range + r->index);
}
#elif defined OPEN_MPI /* aligned pointers: bit 0 is free */
static inline bool p2p_request_is_ours(MPI_Request handle) {
    return (uintptr_t)handle & 1;
}
static inline struct p2p_request *p2p_request_of(MPI_Request handle) {
    return (struct p2p_request *)((uintptr_t)handle - 1);
}
static inline MPI_Request p2p_request_handle(const struct p2p_request *r) {
    return (MPI_Request)((uintptr_t)r + 1);
}
#else /* MPICH: an int. Its upper two bits, the kind of handle, are 0 only in MPI_REQUEST_NULL, 0x2c000000. */
static inline bool p2p_request_is_ours(MPI_Request handle) {
    return ((unsigned)handle & 0xf0000000u) == 0x10000000u;
}
static inline struct p2p_request *p2p_request_of(MPI_Request handle) {
    return p2p_request_at((unsigned)handle & 0x0fffffffu);
}
static inline MPI_Request p2p_request_handle(const struct p2p_request *r) {
    return (MPI_Request)(0x10000000u | r->index);
}
#endif

static inline bool p2p_message_is_ours(MPI_Message handle) {
    return p2p_request_is_ours((MPI_Request)handle);
}
static inline struct p2p_request *p2p_message_request(MPI_Message handle) {
    return p2p_request_of((MPI_Request)handle);
}

/* The one request that every Isend returns if it completes immediately. */
extern HIDDEN struct p2p_request *p2p_request_sent;

/* Marks its communication as complete; releases it if it is an orphan. Requires the lock. */
void p2p_request_finish(struct p2p_request *r);

/* Unpacks and releases finished receives that the program has freed, whose datatypes need a thread that may call MPI. Returns how
 * many. */
int p2p_request_bury(void);

/* Whether communication is in progress on this communicator; scans all requests. Requires the lock. */
bool p2p_request_is_pending(const struct comm *c);

/* The last step of a completed receive: unpacks data that only MPI can unpack. Returns its error. Only by a thread
 * that may call MPI, with or without the lock. */
static inline int p2p_request_conclude(struct p2p_request *r) {
    if (UNLIKELY(r->data.opaque && !r->cancelled && !r->placed)) {
        r->placed = true;
        int rc = p2p_data_unpack(&r->data, r->got_bytes);
        if (rc != MPI_SUCCESS && r->error == MPI_SUCCESS)
            r->error = rc;
    }
    if (p2p_data_ends_inside(&r->data, r->got_bytes) && r->error == MPI_SUCCESS && !r->cancelled)
        r->error = MPI_ERR_TRUNCATE;
    return r->error;
}

#endif
