/* p2p.h: internal interfaces of message passing.
 *
 *      the program:  Send ...    Recv, Probe ...    Wait, Test ...
 *                      |              |                  |
 *                   send.c         recv.c, probe.c    complete.c     arguments, requests, statuses, errors
 *                      |              |                  |
 *                   channel.c      arrive.c  <------  progress.c     numbers and order; the engine (match.h)
 *                      |              ^
 *            node.c (net.h, shared memory)    far.c (the host MPI)
 *
 * Everything below the first line requires the lock of lock.h.
 *
 * A communicator, request or message is "ours" if Hearth manages it; all others are left to the host MPI. */
#ifndef HEARTH_MPI_P2P_H
#define HEARTH_MPI_P2P_H

#include "match.h"
#include "mpi/core/acquire.h"
#include "mpi/core/layout.h"
#include "mpi/p2p/lock.h"
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
    int meetings;        /* windows and files created over it so far: meet.c */
    uint32_t next_child; /* next context that its members have agreed on for its duplicates */
    uint32_t children;   /* number of such contexts left */
    unsigned references; /* held by requests, windows and files, and one until it is freed */
    struct comm *next;   /* in its hash bucket */
};

/* The last one used, so that most lookups are one comparison. Not used with several threads. */
extern HIDDEN struct comm *comm_last;
struct comm *comm_find_slowly(MPI_Comm handle);

/* NULL if it is not managed. */
static inline struct comm *comm_find(MPI_Comm handle) {
    return LIKELY(comm_last->handle == handle) ? comm_last : comm_find_slowly(handle);
}

static inline int comm_world_rank(const struct comm *c, int rank) {
    return c->world ? c->world[rank] : rank;
}

/* The communicator if the arguments are valid and it is managed. NULL: the call goes to MPI, which also reports
 * errors. */
static inline struct comm *comm_to(MPI_Count count, int dest, int tag, MPI_Comm handle) {
    struct comm *c = comm_find(handle);
    bool good = c && (unsigned)dest < c->size && (unsigned)tag <= p2p_tag_most && count >= 0;
    return LIKELY(good) ? c : NULL;
}

static inline struct comm *comm_from(MPI_Count count, int source, int tag, MPI_Comm handle) {
    struct comm *c = comm_find(handle);
    bool good = c && ((unsigned)source < c->size || source == MPI_ANY_SOURCE) &&
                ((unsigned)tag <= p2p_tag_most || tag == MPI_ANY_TAG) && count >= 0;
    return LIKELY(good) ? c : NULL;
}

/* Whether a blocking call must not wait inside MPI: messages arrive through MPI, and would not be handled meanwhile. */
static inline bool comm_must_poll(void) {
    return UNLIKELY(p2p_on) && far_is_used;
}

/* The same for a communicator that is left to MPI. In a managed one MPI only receives calls that do not wait: errors
 * and MPI_PROC_NULL. */
static inline bool comm_must_poll_in(MPI_Comm handle) {
    return comm_must_poll() && !comm_find(handle);
}

/* Contexts of communicators are below COMM_CONTEXTS. Those above are for pre-barriers of a communicator's processes
 * and of other groups. */
enum { COMM_CONTEXTS = 0x7ffffff0 };
#define MEET_CONTEXT 0x80000000u
#define MEET_GROUP   0xfffffff0u
#define MEET_WORD    0xfffffff1u
#define MEET_LEADERS 0xfffffff2u

extern HIDDEN MPI_Group comm_world_group;
int comm_open(void);
void comm_close(void);
void comm_release(struct comm *c);

/* Describes the processes of a communicator that is left to MPI and assigns a context, for pre-barriers only.
 * Collective. NULL: not all of them are processes of this program, or memory ran out. */
struct comm *comm_shadow(MPI_Comm handle);

/* Calls the communicator's error handler and returns the code for the caller to return. Call without the lock. */
int comm_error(struct comm *c, int code);

/* ---- data.c: where the bytes of a message lie ---- */

struct opaque;

struct data {
    char *first;
    struct layout layout;   /* its shape describes the bytes relative to first; its offset is unused */
    struct opaque *opaque;  /* a type that only MPI can process: the bytes are packed in a buffer */
    uint64_t block, before; /* where the last partial copy ended: a block, and the bytes before it */
    /* For data_ends_inside, of a receive with a non-contiguous type: the type, and the number of types freed when it was posted. */
    MPI_Datatype type;
    uint64_t types_freed;
};

static inline uint64_t data_bytes(const struct data *d) {
    return d->layout.shape.bytes;
}

static inline void data_in_one(struct data *d, const void *first, uint64_t bytes) {
    d->first = (char *)first;
    d->layout = (struct layout){.shape = shape_contiguous(bytes)};
    d->opaque = NULL;
    d->block = d->before = 0;
}

/* Returns MPI_SUCCESS, or an error that the communicator's error handler has seen. Call without the lock. */
int data_describe(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type, struct comm *c,
                  bool receive);
void data_free(struct data *d);

static inline int data_make(struct data *d, const void *buffer, MPI_Count count, MPI_Datatype type,
                            struct comm *c, bool receive) {
    uint64_t size, bytes;
    if (UNLIKELY(!layout_is_plain(type, &size) || __builtin_mul_overflow(size, (uint64_t)count, &bytes) ||
                 !buffer))
        return data_describe(d, buffer, count, type, c, receive);
    data_in_one(d, buffer, bytes);
    return MPI_SUCCESS;
}

/* Copies bytes [from, from + bytes) of the message out of its memory, or into it. */
void data_gather_slowly(void *packed, struct data *d, uint64_t from, uint64_t bytes);
void data_scatter_slowly(struct data *d, uint64_t from, const void *packed, uint64_t bytes);

static inline void data_gather(void *packed, struct data *d, uint64_t from, uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        memcpy(packed, d->first + from, bytes);
    else
        data_gather_slowly(packed, d, from, bytes);
}

static inline void data_scatter(struct data *d, uint64_t from, const void *packed, uint64_t bytes) {
    if (LIKELY(shape_is_contiguous(&d->layout.shape)))
        memcpy(d->first + from, packed, bytes);
    else
        data_scatter_slowly(d, from, packed, bytes);
}

/* data_copy makes a packed copy of the bytes; data_detach replaces the original by one. -ENOMEM: nothing was changed. */
int data_copy(struct data *to, struct data *from);
int data_detach(struct data *d);

/* Opaque types: copies the program's memory into Hearth's buffer, or back. Only by a thread that may call MPI. */
int data_pack(struct data *d);
int data_unpack(struct data *d, uint64_t bytes);

/* Whether a message of so many bytes ends inside an element, which MPICH reports as an error for non-contiguous types. The calling
 * thread may call MPI. */
#ifdef OPEN_MPI
static inline bool data_ends_inside(const struct data *d, uint64_t bytes) {
    return false;
}
#else
bool data_ends_inside_slow(const struct data *d, uint64_t bytes);
static inline bool data_ends_inside(const struct data *d, uint64_t bytes) {
    return UNLIKELY(!shape_is_contiguous(&d->layout.shape) && bytes != data_bytes(d)) &&
           data_ends_inside_slow(d, bytes);
}
#endif

/* Types that the program has freed and no message uses any more. Call without the lock: attribute callbacks run. */
void data_free_types(void);
bool data_has_types_to_free(void);

int data_open(void);
void data_close(void);

/* ---- request.c ---- */

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
enum head_kind {
    HEAD_EAGER,
    HEAD_SYNC,
    HEAD_RTS,
    HEAD_NUMBERED = HEAD_RTS,
    HEAD_ACK,
    HEAD_CTS,
    HEAD_DATA,
    HEAD_FIN
};

struct head {
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

struct request {
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
    struct peer *peer;
    struct head head;       /* REQUEST_SEND and REQUEST_CONTROL: the header to send */
    uint64_t moved, wanted; /* bytes of a transfer in pieces */
    uint64_t answer;        /* the receiver's request */
    void *spare;            /* temporary receive buffer: the message is larger than the receive */
    MPI_Request host;
    struct message *message; /* REQUEST_MESSAGE */
    struct request *partner; /* MPI_Isendrecv: the other half, until the send is done */
    struct request *next;    /* in a peer's queue, the list of transfers, or the free list */
    uint64_t buffered;       /* MODE_BUFFERED: bytes that it occupies in the attached buffer */
    struct watcher *watcher; /* a thread that waits for it while another drives progress, or NULL */
};

/* A request with the common fields set. NULL if memory ran out. */
struct request *request_new(enum request_kind kind, struct comm *c);
void request_free(struct request *r);
void request_fill(struct request *r, enum request_kind kind, struct comm *c);
struct request *request_at(uint32_t index);
void request_close(void);

#ifdef OPEN_MPI /* aligned pointers: bit 0 is free */
static inline bool request_is_ours(MPI_Request handle) {
    return (uintptr_t)handle & 1;
}
static inline struct request *request_of(MPI_Request handle) {
    return (struct request *)((uintptr_t)handle - 1);
}
static inline MPI_Request request_handle(const struct request *r) {
    return (MPI_Request)((uintptr_t)r + 1);
}
#else /* MPICH: an int. Its upper two bits, the kind of handle, are 0 only in MPI_REQUEST_NULL, 0x2c000000. */
static inline bool request_is_ours(MPI_Request handle) {
    return ((unsigned)handle & 0xf0000000u) == 0x10000000u;
}
static inline struct request *request_of(MPI_Request handle) {
    return request_at((unsigned)handle & 0x0fffffffu);
}
static inline MPI_Request request_handle(const struct request *r) {
    return (MPI_Request)(0x10000000u | r->index);
}
#endif

static inline bool message_is_ours(MPI_Message handle) {
    return request_is_ours((MPI_Request)handle);
}
static inline struct request *message_request(MPI_Message handle) {
    return request_of((MPI_Request)handle);
}

/* Returned by every Isend that completes immediately: one for all. */
extern HIDDEN struct request *request_sent;

/* Marks its communication as complete; releases it if it is an orphan. Requires the lock. */
void request_finish(struct request *r);

/* Releases finished orphans whose datatypes need a thread that may call MPI. Returns how many. */
int request_bury(void);

/* Whether communication is in progress on this communicator; scans all requests. Requires the lock. */
bool request_is_pending(const struct comm *c);

/* ---- fortran.c ---- */

/* Open MPI's Fortran calls read a handle's number from the object that it points to. */
#ifdef OPEN_MPI
int fortran_open(void);
void fortran_number(struct request *r);
#else
static inline int fortran_open(void) {
    return MPI_SUCCESS;
}
static inline void fortran_number(struct request *r) {
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

/* ---- channel.c: the transport to each process of MPI_COMM_WORLD ---- */

struct message; /* arrived and not yet matched: arrive.c */

struct peer {
    uint32_t sent, received; /* numbered messages so far */
    int node;                /* its rank on this node, or -1: through the host MPI */
    int world;
    struct request *first, *last; /* queue of requests that wait for space */
    struct peer *next_waiting;    /* list of peers with a non-empty queue */
    struct message *held;         /* messages that arrived out of order, sorted */
    uint32_t owed;                /* answers that this process waits for */
    struct peer *next_owing;      /* list of peers with owed > 0 */
    bool waiting, owing;
};

/* The largest message to the own process that is copied before a receive is posted. */
enum { SELF_EAGER = 16 << 10 };

extern HIDDEN struct net_node *p2p_node; /* NULL: no shared memory */
extern HIDDEN uint64_t node_eager, far_eager;
extern HIDDEN struct peer *p2p_peers;
extern HIDDEN struct peer *channel_waiting; /* list of peers with a non-empty queue */
/* Peers of this node that owe an answer or space, or did so recently. */
extern HIDDEN struct peer *channel_owing;

int channel_open(void);
void channel_close(void);

/* The largest message that is sent eagerly. */
static inline uint64_t channel_eager(const struct peer *p) {
    return LIKELY(p->node >= 0) ? node_eager : far_eager;
}

/* Counts a message that was sent eagerly. */
static inline void channel_count(const struct peer *p, uint64_t bytes) {
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
int channel_try(struct peer *p, const struct head *h, struct data *d, uint64_t from, uint64_t bytes);
/* Sends r->head and the data after what is already queued; completes the request or keeps it, depending on its mode. */
void channel_send(struct request *r);
/* Sends a header alone; queues it if there is no space. */
void channel_control(struct peer *p, enum head_kind kind, uint64_t id, uint64_t bytes, uint64_t answer,
                     uint64_t place);
/* Sends as much of the queues as there is space for. Returns how many requests were sent. far: also through the host
 * MPI. */
int channel_flush(bool far);
void channel_owe(struct peer *p);
void channel_paid(struct peer *p);
/* Wakes peers of this node that owe an answer and block in an MPI call. Returns false if no peer owes anything. */
bool channel_wake(void);
/* The receiver answered the RTS: sends that many bytes, in pieces. */
void channel_stream(struct request *r, uint64_t wanted, uint64_t answer);

/* ---- arrive.c ---- */

/* A header arrived, with its payload, which is valid during the call. */
void arrive(struct peer *p, const struct head *h, const void *payload);

/* A message of this process to itself. */
void arrive_self(struct request *r);

/* Receives a message that a receive has found in the queue, and frees it. */
void arrive_take(struct request *r, struct message *m);

const struct head *message_head(const struct message *m);
void message_drop(struct message *m);
void arrive_open(void);
void arrive_close(void);

/* ---- rendezvous.c ---- */

/* The receive matches an RTS. address: the sender's bytes, or 0 if they cannot be pulled. */
void rendezvous_begin(struct request *r, struct peer *p, const struct head *h, uint64_t address);
void rendezvous_cts(struct request *r, struct peer *p, const struct head *h);
void rendezvous_data(struct request *r, struct peer *p, const struct head *h, const void *payload);

/* ---- node.c ---- */

int node_open(void);
void node_close(void);
int node_poll(void);

/* ---- far.c ---- */

int far_open(void);
int far_start(void);   /* once the processes of this node are known */
void far_listen(void); /* once all processes agree to start */
void far_close(void);
int far_try(struct peer *p, const struct head *h, struct data *d, uint64_t from, uint64_t bytes);
/* After far_try has returned 1: the request completes when the bounce buffer has been sent. */
void far_own(struct request *r);
/* one: at most one message, for a caller that checks after each. */
int far_poll(bool one);
bool far_is_idle(void);
/* The payload of a large message. */
void far_receive(struct request *r, struct peer *p, const struct head *h);
void far_send_bulk(struct request *r, uint64_t tag);
int far_barrier(MPI_Request *request);

/* ---- progress.c ---- */

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
void progress_open(int on_node);

/* Waits for the request. Requires the lock, and releases it in between. */
void p2p_wait(struct request *r);
/* Wakes the thread that waits for this request, which is done. */
void p2p_wake_watcher(struct request *r);

/* Waits for a request of the host MPI and returns its code. Call without the lock. */
int p2p_wait_host(MPI_Request *request, MPI_Status *status);

/* The same for the request of a non-blocking equivalent whose start returned rc. */
static inline int p2p_wait_twin(int rc, MPI_Request *request, MPI_Status *status) {
    return rc == MPI_SUCCESS ? p2p_wait_host(request, status) : rc;
}

/* ---- send.c, recv.c, persistent.c ---- */

/* Starts the communication of a request whose fields are set. Requires the lock. */
void send_begin(struct request *r);
void recv_begin(struct request *r);

/* Sends a copy within the attached buffer; no caller waits for it. Returns an MPI error code. Requires the lock. */
int send_copy(struct comm *c, struct data *d, int dest, int tag);

/* The last step of a completed receive: unpacks data that only MPI can unpack. Returns its error. Only by a thread
 * that may call MPI. */
int recv_conclude(struct request *r);

/* ---- probe.c ---- */

/* Waits until a communicator that is left to MPI has such a message. Returns an MPI error code. */
int probe_wait(int source, int tag, MPI_Comm comm);

/* ---- complete.c ---- */

/* MPI_Wait for a managed request. */
int complete_wait(MPI_Request *request, MPI_Status *status);

/* ---- foreign.c ---- */

#ifdef OPEN_MPI
static inline void foreign_forget(MPI_Request request) {
}
#else
/* The handle belongs to a persistent MPI request that is being started. */
void foreign_forget(MPI_Request request);
#endif

/* ---- buffered.c ---- */

/* Reserves space in the attached buffer for a message; false if there is not enough. */
bool buffered_take(struct request *r);
void buffered_give(struct request *r);

/* ---- status.c ---- */

void status_open(void);
void status_set(MPI_Status *status, int source, int tag, uint64_t bytes, bool cancelled);
static inline void status_empty(MPI_Status *status) {
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
}
void status_of(MPI_Status *status, const struct request *r);

/* ---- start.c ---- */

void p2p_start(void);
/* In MPI_Finalize: returns when all processes are in it. */
void p2p_finish(void);

#endif
