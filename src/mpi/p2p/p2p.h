/* p2p.h: internal interfaces of message passing.
 *
 *      the program:  Send ...    Recv, Probe ...    Wait, Test ...
 *                      |              |                  |
 *                   send.c         recv.c, probe.c    complete.c     arguments, requests, statuses, errors
 *                      |              |                  |
 *                   p2p_channel.c      arrive.c  <------  p2p_progress.c     numbers and order; the engine (match.h)
 *                      |              ^
 *            p2p_node.c (net.h, shared memory)    p2p_remote.c (the host MPI)
 *
 * Everything below the first line requires the lock of p2p_lock.h.
 *
 * A communicator, request or message is "ours" if Hearth manages it; all others are left to the host MPI. */
#ifndef HEARTH_MPI_P2P_H
#define HEARTH_MPI_P2P_H

#include "match.h"
#include "mpi/core/acquire.h"
#include "mpi/core/layout.h"
#include "mpi/p2p/state/p2p_lock.h"
#include "net/net.h"

extern HIDDEN int p2p_rank, p2p_size; /* in MPI_COMM_WORLD */
extern HIDDEN unsigned p2p_tag_most;
extern HIDDEN struct match *p2p_engine;

/* No memory for state that must not be lost: logs one line and aborts the job as MPI would. */
_Noreturn void p2p_out_of_memory(const char *what);

/* ---- comm.c: managed communicators ---- */

struct comm {
    MPI_Comm handle; /* MPI_COMM_NULL once freed */
    uint32_t context;
    int rank; /* rank of this process */
    unsigned size;
    int *world;          /* ranks in MPI_COMM_WORLD; NULL: identical */
    bool has_remote;     /* some member is reached through the host MPI */
    int prebarriers;     /* windows and files created over it so far: prebarrier.c */
    uint32_t next_child; /* next context that its members have agreed on for its duplicates */
    uint32_t children;   /* number of such contexts left */
    unsigned references; /* held by requests, windows and files, and one until it is freed */
    struct comm *next;   /* in its hash bucket */
};

/* The last one used, so that most lookups are one comparison. Not used with several threads. */
extern HIDDEN struct comm *p2p_comm_last;
struct comm *p2p_comm_find_slow(MPI_Comm handle);

/* NULL if it is not managed. */
static inline struct comm *p2p_comm_find(MPI_Comm handle) {
    return LIKELY(p2p_comm_last->handle == handle) ? p2p_comm_last : p2p_comm_find_slow(handle);
}

static inline int p2p_comm_world_rank(const struct comm *c, int rank) {
    return c->world ? c->world[rank] : rank;
}

/* The communicator if the arguments are valid and it is managed. NULL: the call goes to MPI, which also reports
 * errors. */
static inline struct comm *p2p_comm_to(MPI_Count count, int dest, int tag, MPI_Comm handle) {
    struct comm *c = p2p_comm_find(handle);
    bool good = c && (unsigned)dest < c->size && (unsigned)tag <= p2p_tag_most && count >= 0;
    return LIKELY(good) ? c : NULL;
}

static inline struct comm *p2p_comm_from(MPI_Count count, int source, int tag, MPI_Comm handle) {
    struct comm *c = p2p_comm_find(handle);
    bool good = c && ((unsigned)source < c->size || source == MPI_ANY_SOURCE) &&
                ((unsigned)tag <= p2p_tag_most || tag == MPI_ANY_TAG) && count >= 0;
    return LIKELY(good) ? c : NULL;
}

/* Whether a blocking call must not wait inside MPI: messages arrive through MPI, and would not be handled meanwhile. */
static inline bool p2p_comm_must_poll(void) {
    return UNLIKELY(p2p_on) && p2p_remote_is_used;
}

/* The same for a communicator that is left to MPI. In a managed one MPI only receives calls that do not wait: errors
 * and MPI_PROC_NULL. */
static inline bool p2p_comm_must_poll_in(MPI_Comm handle) {
    return p2p_comm_must_poll() && !p2p_comm_find(handle);
}

/* Contexts of communicators are below COMM_CONTEXTS. Those above are for pre-barriers of a communicator's processes
 * and of other groups. */
enum { COMM_CONTEXTS = 0x7ffffff0 };
#define PREBARRIER_CONTEXT 0x80000000u
#define PREBARRIER_GROUP   0xfffffff0u
#define PREBARRIER_WORD    0xfffffff1u
#define PREBARRIER_LEADERS 0xfffffff2u

extern HIDDEN MPI_Group p2p_comm_world_group;
int p2p_comm_open(void);
void p2p_comm_close(void);
void p2p_comm_release(struct comm *c);

/* Describes the processes of a communicator that is left to MPI and assigns a context, for pre-barriers only.
 * Collective. NULL: not all of them are processes of this program, or memory ran out. */
struct comm *p2p_comm_shadow(MPI_Comm handle);

/* Calls the communicator's error handler and returns the code for the caller to return. Call without the lock. */
int p2p_comm_error(struct comm *c, int code);

/* ---- data.c: where the bytes of a message lie ---- */

struct opaque;

struct data {
    char *first;
    struct layout layout;   /* its shape describes the bytes relative to first; its offset is unused */
    struct opaque *opaque;  /* a type that only MPI can process: the bytes are packed in a buffer */
    uint64_t block, before; /* where the last partial copy ended: a block, and the bytes before it */
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
    d->block = d->before = 0;
}

/* Returns MPI_SUCCESS, or an error that the communicator's error handler has seen. Call without the lock. */
int p2p_data_describe(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type, struct comm *c,
                      bool receive);
void p2p_data_free(struct data *d);

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
#ifdef OPEN_MPI
static inline bool p2p_data_ends_inside(const struct data *d, uint64_t bytes) {
    return false;
}
#else
bool p2p_data_ends_inside_slow(const struct data *d, uint64_t bytes);
static inline bool p2p_data_ends_inside(const struct data *d, uint64_t bytes) {
    return UNLIKELY(!shape_is_contiguous(&d->layout.shape) && bytes != p2p_data_bytes(d)) &&
           p2p_data_ends_inside_slow(d, bytes);
}
#endif

/* Types that the program has freed and no message uses any more. Call without the lock: attribute callbacks run. */
void p2p_data_free_types(void);
bool p2p_data_has_types_to_free(void);

int p2p_data_open(void);
void p2p_data_close(void);

/* ---- p2p_request.c ---- */

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_MESSAGE /* of Mprobe */,
    REQUEST_CONTROL /* a header waiting to be sent */
};
enum send_mode { MODE_STANDARD, MODE_SYNC, MODE_BUFFERED, MODE_READY };

#ifdef OPEN_MPI
enum { REQUEST_FORTRAN_ROOM = 256 }; /* see fortran.c */
#endif

/* A header precedes every message. Messages that are matched are numbered per sender and receiver, and delivered in
 * that order. */
enum header_kind {
    HEADER_EAGER,
    HEADER_SYNC,
    HEADER_RTS,
    HEADER_NUMBERED = HEADER_RTS,
    HEADER_ACK,
    HEADER_CTS,
    HEADER_DATA,
    HEADER_FIN
};

struct header {
    uint64_t bytes : 56, kind : 8;
    uint64_t id; /* SYNC, RTS: the sender's request; otherwise the request at the receiver of this header */
    union {
        struct {
            uint32_t sequence, context;
            int32_t source, tag; /* source: rank in the communicator */
        };
        struct {
            uint64_t answer; /* CTS: the receiver's request */
            uint64_t place;  /* DATA: offset of the first byte; CTS through the host MPI: the tag */
        };
    };
};

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
    uint64_t answer;        /* the receiver's request */
    void *spare;            /* temporary receive buffer: the message is larger than the receive */
    MPI_Request host;
    struct p2p_message *message; /* REQUEST_MESSAGE */
    struct p2p_request *partner; /* MPI_Isendrecv: the other half, until the send is done */
    struct p2p_request *next;    /* in a peer's queue, the list of transfers, or the free list */
    uint64_t buffered;           /* MODE_BUFFERED: bytes that it occupies in the attached buffer */
    struct watcher *watcher;     /* a thread that waits for it while another drives progress, or NULL */
};

/* A request with the common fields set. NULL if memory ran out. */
struct p2p_request *p2p_request_new(enum request_kind kind, struct comm *c);
void p2p_request_free(struct p2p_request *r);
void p2p_request_fill(struct p2p_request *r, enum request_kind kind, struct comm *c);
struct p2p_request *p2p_request_at(uint32_t index);
void p2p_request_close(void);

#ifdef OPEN_MPI /* aligned pointers: bit 0 is free */
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

/* Returned by every Isend that completes immediately: one for all. */
extern HIDDEN struct p2p_request *p2p_request_sent;

/* Marks its communication as complete; releases it if it is an orphan. Requires the lock. */
void p2p_request_finish(struct p2p_request *r);

/* Releases finished orphans whose datatypes need a thread that may call MPI. Returns how many. */
int p2p_request_bury(void);

/* Whether communication is in progress on this communicator; scans all requests. Requires the lock. */
bool p2p_request_is_pending(const struct comm *c);

/* ---- fortran.c ---- */

/* Open MPI's Fortran calls read a handle's number from the object that it points to. */
#ifdef OPEN_MPI
int p2p_fortran_open(void);
void p2p_fortran_number(struct p2p_request *r);
#else
static inline int p2p_fortran_open(void) {
    return MPI_SUCCESS;
}
static inline void p2p_fortran_number(struct p2p_request *r) {
}
#endif

/* ---- counters for the report ---- */

struct p2p_counters {
    uint64_t node, far, self; /* messages sent, by transport */
    uint64_t node_bytes, far_bytes, self_bytes;
    uint64_t rendezvous, pulled, reordered, delayed; /* delayed: had to wait for space */
};
/* In memory of their own, because hearth top reads them: see live.h. */
union p2p_counted {
    struct p2p_counters of;
    char alone[LIVE_ALONE];
};
extern HIDDEN union p2p_counted p2p_counted;

/* ---- p2p_channel.c: the transport to each process of MPI_COMM_WORLD ---- */

struct p2p_message; /* arrived and not yet matched: arrive.c */

struct p2p_peer {
    uint32_t sent, received; /* numbered messages so far */
    int node;                /* its rank on this node, or -1: through the host MPI */
    int world;
    struct p2p_request *first, *last; /* queue of requests that wait for space */
    struct p2p_peer *next_waiting;    /* list of peers with a non-empty queue */
    struct p2p_message *held;         /* messages that arrived out of order, sorted */
    uint32_t owed;                    /* answers that this process waits for */
    struct p2p_peer *next_owing;      /* list of peers with owed > 0 */
    bool waiting, owing;
};

/* The largest message to the own process that is copied before a receive is posted. */
enum { SELF_EAGER = 16 << 10 };

extern HIDDEN struct net_node *p2p_node; /* NULL: no shared memory */
extern HIDDEN uint64_t p2p_node_eager, p2p_remote_eager;
extern HIDDEN struct p2p_peer *p2p_peers;
extern HIDDEN struct p2p_peer *p2p_channel_waiting; /* list of peers with a non-empty queue */
/* Peers of this node that owe an answer or space, or did so recently. */
extern HIDDEN struct p2p_peer *p2p_channel_owing;

int p2p_channel_open(void);
void p2p_channel_close(void);

/* The largest message that is sent eagerly. */
static inline uint64_t p2p_channel_eager(const struct p2p_peer *p) {
    return LIKELY(p->node >= 0) ? p2p_node_eager : p2p_remote_eager;
}

/* Counts a message that was sent eagerly. */
static inline void p2p_channel_count(const struct p2p_peer *p, uint64_t bytes) {
    if (LIKELY(p->node >= 0)) {
        p2p_counted.of.node++;
        p2p_counted.of.node_bytes += bytes;
    } else {
        p2p_counted.of.far++;
        p2p_counted.of.far_bytes += bytes;
    }
}

/* Sends a header and bytes [from, from + bytes) of the data. Returns 0; 1 if MPI has accepted them but not sent them
 * yet; or -EAGAIN if there is no space at the moment. */
int p2p_channel_try(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from,
                    uint64_t bytes);
/* Sends r->head and the data after what is already queued; completes the request or keeps it, depending on its mode. */
void p2p_channel_send(struct p2p_request *r);
/* Sends a header alone; queues it if there is no space. */
void p2p_channel_control(struct p2p_peer *p, enum header_kind kind, uint64_t id, uint64_t bytes,
                         uint64_t answer, uint64_t place);
/* Sends as much of the queues as there is space for. Returns how many requests were sent. far: also through the host
 * MPI. */
int p2p_channel_flush(bool remote);
void p2p_channel_owe(struct p2p_peer *p);
void p2p_channel_paid(struct p2p_peer *p);
/* Wakes peers of this node that owe an answer and block in an MPI call. Returns false if no peer owes anything. */
bool p2p_channel_wake(void);
/* The receiver answered the RTS: sends that many bytes, in pieces. */
void p2p_channel_stream(struct p2p_request *r, uint64_t wanted, uint64_t answer);

/* ---- arrive.c ---- */

/* A header arrived, with its payload, which is valid during the call. */
void p2p_arrive_message(struct p2p_peer *p, const struct header *h, const void *payload);

/* A message of this process to itself. */
void p2p_arrive_self(struct p2p_request *r);

/* Receives a message that a receive has found in the queue, and frees it. */
void p2p_arrive_take(struct p2p_request *r, struct p2p_message *m);

const struct header *p2p_message_header(const struct p2p_message *m);
void p2p_message_drop(struct p2p_message *m);
void p2p_arrive_open(void);
void p2p_arrive_close(void);

/* ---- rendezvous.c ---- */

/* The receive matches an RTS. address: the sender's bytes, or 0 if they cannot be pulled. */
void p2p_rendezvous_begin(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                          uint64_t address);
void p2p_rendezvous_cts(struct p2p_request *r, struct p2p_peer *p, const struct header *h);
void p2p_rendezvous_data(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                         const void *payload);

/* ---- p2p_node.c ---- */

int p2p_node_open(void);
void p2p_node_close(void);
int p2p_node_poll(void);

/* ---- p2p_remote.c ---- */

int p2p_remote_open(void);
int p2p_remote_start(void);   /* once the processes of this node are known */
void p2p_remote_listen(void); /* once all processes agree to start */
void p2p_remote_close(void);
int p2p_remote_try(struct p2p_peer *p, const struct header *h, struct data *d, uint64_t from, uint64_t bytes);
/* After p2p_remote_try has returned 1: the request completes when the bounce buffer has been sent. */
void p2p_remote_own(struct p2p_request *r);
/* one: at most one message, for a caller that checks after each. */
int p2p_remote_poll(bool one);
bool p2p_remote_is_idle(void);
/* The payload of a large message. */
void p2p_remote_receive(struct p2p_request *r, struct p2p_peer *p, const struct header *h);
void p2p_remote_send_bulk(struct p2p_request *r, uint64_t tag);
int p2p_remote_barrier(MPI_Request *request);

/* ---- p2p_progress.c ---- */

/* One round of progress. Returns the number of events. Requires the lock, and a thread that may call MPI. */
int p2p_progress(void);
/* A smaller round, for a caller that checks for completion after each. */
int p2p_progress_some(void);
/* The same for a thread that may not call MPI. */
int p2p_progress_node(void);

/* Backs off between two idle rounds of a wait. Call without the lock. */
struct pause {
    uint64_t since;
};
void p2p_pause(struct pause *p);

/* on_node: number of processes on this node. */
void p2p_progress_open(int on_node);

/* Waits for the request. Requires the lock, and releases it in between. */
void p2p_wait(struct p2p_request *r);
/* Wakes the thread that waits for this request, which is done. */
void p2p_wake_watcher(struct p2p_request *r);

/* Waits for a request of the host MPI and returns its code. Call without the lock. */
int p2p_wait_host(MPI_Request *request, MPI_Status *status);

/* The same for the request of a non-blocking equivalent whose start returned rc. */
static inline int p2p_wait_nonblocking(int rc, MPI_Request *request, MPI_Status *status) {
    return rc == MPI_SUCCESS ? p2p_wait_host(request, status) : rc;
}

/* ---- send.c, recv.c, persistent.c ---- */

/* Starts the communication of a request whose fields are set. Requires the lock. */
void p2p_send_begin(struct p2p_request *r);
void p2p_recv_begin(struct p2p_request *r);

/* Sends a copy within the attached buffer; no caller waits for it. Returns an MPI error code. Requires the lock. */
int p2p_send_copy(struct comm *c, struct data *d, int dest, int tag);

/* The last step of a completed receive: unpacks data that only MPI can unpack. Returns its error. Only by a thread
 * that may call MPI. */
int p2p_recv_conclude(struct p2p_request *r);

/* ---- probe.c ---- */

/* Waits until a communicator that is left to MPI has such a message. Returns an MPI error code. */
int p2p_probe_wait(int source, int tag, MPI_Comm comm);

/* ---- complete.c ---- */

/* MPI_Wait for a managed request. */
int p2p_complete_wait(MPI_Request *request, MPI_Status *status);

/* ---- p2p_foreign.c ---- */

#ifdef OPEN_MPI
static inline void p2p_foreign_forget(MPI_Request request) {
}
#else
/* The handle belongs to a persistent MPI request that is being started. */
void p2p_foreign_forget(MPI_Request request);
#endif

/* ---- buffered.c ---- */

/* Reserves space in the attached buffer for a message; false if there is not enough. */
bool p2p_buffered_take(struct p2p_request *r);
void p2p_buffered_give(struct p2p_request *r);

/* ---- status.c ---- */

void p2p_status_open(void);
void p2p_status_set(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled);
static inline void p2p_status_empty(MPI_Status *status) {
    p2p_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}
void p2p_status_of(MPI_Status *status, const struct p2p_request *r);

/* ---- start.c ---- */

void p2p_start(void);
/* In MPI_Finalize: returns when all processes are in it. */
void p2p_finish(void);

#endif
