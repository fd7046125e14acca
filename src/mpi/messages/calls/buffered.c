/* buffered.c: the calls that attach, detach and flush buffers for MPI_Bsend. A buffer belongs to the host MPI, which
 * uses it for unmanaged communicators; state/p2p_buffered.c has the rest.
 *
 * Each call waits for Hearth's messages, and then MPI's call for MPI's. The non-blocking flushes do not wait for
 * Hearth's: those are in Hearth's memory, and the program's buffer is free of them. */
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/state/p2p_buffered.h"
#include "mpi/messages/transport/p2p_enter.h"
#include "mpi/messages/transport/p2p_progress.h"

static uint64_t room_of(const void *buffer, MPI_Count size) {
#if HEARTH_MPI_4_1
    if (buffer == MPI_BUFFER_AUTOMATIC)
        return P2P_BUFFERED_UNLIMITED;
#endif
    return size > 0 ? (uint64_t)size : 1; /* too small for any message; 0 is no buffer */
}

/* The messages of sessions are not limited while a session has a buffer. */
static uint64_t room_of_sessions(bool more) {
    static unsigned attached;
    attached += more ? 1u : -1u;
    return attached ? P2P_BUFFERED_UNLIMITED : 0;
}

/* b: NULL if the buffer is attached to an unmanaged communicator. room: 0 if it was detached. */
static void note_room(struct p2p_buffer *b, uint64_t room) {
    if (!b)
        return;
    p2p_lock();
    b->room = b == &p2p_buffered_sessions ? room_of_sessions(room) : room;
    p2p_unlock();
}

/* All buffered messages have been sent when the program gets its buffer back. */
static void buffered_wait_for_all(const struct p2p_buffer *b) {
    struct pause pause = {0};
    p2p_lock();
    while (b && b->messages)
        p2p_wait_round_locked(&pause);
    p2p_unlock();
}

/* Each macro takes the parameter before the others with its argument, or nothing, and where the space is counted. */
#define NO_OWNER(...)      (__VA_ARGS__)
#define OWNER_COMM(...)    (MPI_Comm comm, __VA_ARGS__)
#define OWNER_SESSION(...) (MPI_Session session, __VA_ARGS__)
#define PASS_COMM(...)     (comm, __VA_ARGS__)
#define PASS_SESSION(...)  (session, __VA_ARGS__)
#define BUFFER_OF_COMM     comm_buffer(comm)

#define ATTACH(name, owner, pass, where, count_t)                                                            \
    int hook_##name owner(void *buffer, count_t size) {                                                      \
        int rc = host_##name pass(buffer, size);                                                             \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            note_room(where, room_of(buffer, size));                                                         \
        return rc;                                                                                           \
    }

#define DETACH(name, owner, pass, where, count_t)                                                            \
    int hook_##name owner(void *buffer, count_t *size) {                                                     \
        if (p2p_on)                                                                                          \
            buffered_wait_for_all(where);                                                                    \
        p2p_enter();                                                                                         \
        int rc = host_##name pass(buffer, size);                                                             \
        p2p_leave();                                                                                         \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            note_room(where, 0);                                                                             \
        acquire(EVENT_GENERIC);                                                                              \
        return rc;                                                                                           \
    }

ATTACH(Buffer_attach, NO_OWNER, NO_OWNER, &p2p_buffered_process, int)
DETACH(Buffer_detach, NO_OWNER, NO_OWNER, &p2p_buffered_process, int)
#if HEARTH_MPI_COUNTS
ATTACH(Buffer_attach_c, NO_OWNER, NO_OWNER, &p2p_buffered_process, MPI_Count)
DETACH(Buffer_detach_c, NO_OWNER, NO_OWNER, &p2p_buffered_process, MPI_Count)
#endif

#if HEARTH_MPI_4_1
static struct p2p_buffer *comm_buffer(MPI_Comm comm) {
    struct comm *c = p2p_comm_find(comm);
    return c ? &c->buffer : NULL;
}

#define FLUSH(name, params, args, where)                                                                     \
    int hook_##name params {                                                                                 \
        if (p2p_on)                                                                                          \
            buffered_wait_for_all(where);                                                                    \
        p2p_enter();                                                                                         \
        int rc = host_##name args;                                                                           \
        p2p_leave();                                                                                         \
        acquire(EVENT_GENERIC);                                                                              \
        return rc;                                                                                           \
    }

static void start_flush(struct p2p_buffer *b) {
    p2p_lock();
    if (b)
        p2p_buffered_flush(b);
    p2p_unlock();
}

#define IFLUSH(name, params, args, where)                                                                    \
    int hook_##name params {                                                                                 \
        if (p2p_on)                                                                                          \
            start_flush(where);                                                                              \
        return host_##name args;                                                                             \
    }

ATTACH(Comm_attach_buffer, OWNER_COMM, PASS_COMM, BUFFER_OF_COMM, int)
ATTACH(Comm_attach_buffer_c, OWNER_COMM, PASS_COMM, BUFFER_OF_COMM, MPI_Count)
DETACH(Comm_detach_buffer, OWNER_COMM, PASS_COMM, BUFFER_OF_COMM, int)
DETACH(Comm_detach_buffer_c, OWNER_COMM, PASS_COMM, BUFFER_OF_COMM, MPI_Count)
ATTACH(Session_attach_buffer, OWNER_SESSION, PASS_SESSION, &p2p_buffered_sessions, int)
ATTACH(Session_attach_buffer_c, OWNER_SESSION, PASS_SESSION, &p2p_buffered_sessions, MPI_Count)
DETACH(Session_detach_buffer, OWNER_SESSION, PASS_SESSION, &p2p_buffered_sessions, int)
DETACH(Session_detach_buffer_c, OWNER_SESSION, PASS_SESSION, &p2p_buffered_sessions, MPI_Count)
FLUSH(Buffer_flush, (void), (), &p2p_buffered_process)
FLUSH(Comm_flush_buffer, (MPI_Comm comm), (comm), BUFFER_OF_COMM)
FLUSH(Session_flush_buffer, (MPI_Session session), (session), &p2p_buffered_sessions)
IFLUSH(Buffer_iflush, (MPI_Request * request), (request), &p2p_buffered_process)
IFLUSH(Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request), (comm, request), BUFFER_OF_COMM)
IFLUSH(Session_iflush_buffer, (MPI_Session session, MPI_Request *request), (session, request),
       &p2p_buffered_sessions)
#endif
