/* comm.h: the managed communicators. A communicator, request or message is "ours" (managed) if Hearth handles its
 * messages; all others are left to the host MPI. */
#ifndef HEARTH_MPI_P2P_COMM_H
#define HEARTH_MPI_P2P_COMM_H

#include "base/compiler.h"
#include "mpi/messages/state/p2p_peer.h"

extern HIDDEN unsigned p2p_tag_most;

/* A buffer for MPI_Bsend: p2p_buffered.h. */
struct p2p_buffer {
    uint64_t room;     /* bytes; 0: none is attached */
    uint64_t used;     /* by the messages since the last flush */
    uint64_t flushes;  /* so far */
    unsigned messages; /* that have not left */
};

struct comm {
    MPI_Comm handle; /* MPI_COMM_NULL once freed */
    uint32_t context;
    int rank; /* rank of this process */
    unsigned size;
    int *world; /* ranks in MPI_COMM_WORLD; NULL: first, first + step, first + 2 step ... */
    int first, step;
    bool has_remote;     /* some member is reached through the host MPI */
    int prebarriers;     /* windows and files created over it so far: prebarrier.c */
    uint32_t next_child; /* next context that its members have agreed on for its duplicates */
    uint32_t children;   /* number of such contexts left */
    struct p2p_buffer buffer;
    unsigned references; /* held by requests, windows, files and waiting threads, and one until it is freed */
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
    return UNLIKELY(c->world != NULL) ? c->world[rank] : c->first + rank * c->step;
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

/* A described communicator becomes managed: from now on p2p_comm_find finds it, until MPI frees it. */
void p2p_comm_enter(MPI_Comm handle, struct comm *c);
/* The program is about to free the communicator. Some MPIs delete attributes only when the last communication is over; the
 * handle would still be found here until then. */
void p2p_comm_let_go(MPI_Comm handle);
void p2p_comm_release(struct comm *c);
/* Frees a description that was never entered. Returns NULL. */
struct comm *p2p_comm_discard(struct comm *c);
/* Whether some member is reached through the host MPI. */
bool p2p_comm_find_remote(const struct comm *c);

/* Calls the communicator's error handler and returns the code for the caller to return. Call without the lock. */
int p2p_comm_error(struct comm *c, int code);

/* The lock for a call that waits. With several threads it comes with a reference, because another thread may free the
 * communicator meanwhile. After an error the call keeps the reference until p2p_comm_fail, which calls the error handler. */
static inline void p2p_comm_lock(struct comm *c) {
    if (UNLIKELY(p2p_careful)) {
        p2p_lock_slow();
        c->references++;
    }
}

static inline void p2p_comm_unlock(struct comm *c, int code) {
    if (UNLIKELY(p2p_careful)) {
        if (LIKELY(code == MPI_SUCCESS))
            p2p_comm_release(c);
        p2p_unlock_slow();
    }
}

int p2p_comm_fail(struct comm *c, int code);

#endif
