/* comm_create.c: the calls that create and free communicators. MPI creates the communicator; then it becomes managed.
 *
 * A duplicate has the members of its original. At the first duplicate, the members agree on CONTEXT_CHILDREN contexts; later
 * ones take them in turn, without a message, until they are used up. */
#include <stdlib.h>

#include "base/log.h"
#include "mpi/host/acquire.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/collective/comm_context.h"
#include "mpi/messages/collective/prebarrier.h"
#include "mpi/messages/transport/p2p_progress.h"

static void comm_adopt(MPI_Comm handle) {
    struct comm *c = p2p_context_describe(handle);
    if (c)
        p2p_comm_enter(handle, c);
}

/* ---- a duplicate ---- */

/* Takes the next context for a duplicate; 0 if none is left. It is used up even if the duplicate fails, so that all members
 * count alike. */
static uint32_t take_child(struct comm *parent) {
    p2p_lock();
    uint32_t context = parent && parent->children ? parent->next_child++ : 0;
    if (context)
        parent->children--;
    p2p_unlock();
    return context;
}

/* Ends the program if memory runs out: the other members are not informed, and their messages would be lost. */
static struct comm *copy_of(const struct comm *parent, MPI_Comm handle, uint32_t context) {
    struct comm *c = malloc(sizeof *c);
    size_t bytes = parent->size * sizeof *c->world;
    int *ranks = parent->world ? malloc(bytes) : NULL;
    if (!c || (parent->world && !ranks))
        p2p_out_of_memory("a communicator");
    if (ranks)
        memcpy(ranks, parent->world, bytes);
    *c = (struct comm){.handle = handle,
                       .context = context,
                       .rank = parent->rank,
                       .size = parent->size,
                       .world = ranks,
                       .first = parent->first,
                       .step = parent->step,
                       .has_remote = parent->has_remote,
                       .references = 1};
    return c;
}

/* The members agree on a context for this duplicate and on those of the next ones. Returns false, on all members, if none
 * are left. */
static bool reserve_children(struct comm *parent, struct comm *c) {
    if (!p2p_context_find(c, false, CONTEXT_CHILDREN)) {
        log_warn("messages of a duplicate of %u processes are left to MPI: no free context for it", c->size);
        return false;
    }
    p2p_lock();
    parent->next_child = c->context + 1;
    parent->children = CONTEXT_CHILDREN - 1;
    p2p_unlock();
    return true;
}

/* context: what take_child returned. */
static void adopt_duplicate(MPI_Comm original, uint32_t context, MPI_Comm handle) {
    struct comm *parent = p2p_comm_find(original);
    if (!parent) {
        comm_adopt(handle);
        return;
    }
    struct comm *c = copy_of(parent, handle, context);
    if (context || reserve_children(parent, c))
        p2p_comm_enter(handle, c);
    else
        p2p_comm_discard(c);
}

/* ---- the calls ---- */

/* MPI creates the communicator, which may take long; then it becomes managed. */
#define MAKE_BY(name, params, args, prebarrier)                                                              \
    int hook_##name params {                                                                                 \
        prebarrier;                                                                                          \
        p2p_enter();                                                                                         \
        int rc = host_##name args;                                                                           \
        p2p_leave();                                                                                         \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            comm_adopt(*made);                                                                               \
        acquire(EVENT_GENERIC);                                                                              \
        return rc;                                                                                           \
    }

#define MAKE(name, params, args) MAKE_BY(name, params, args, p2p_prebarrier_all(comm))

#define DUPLICATE(name, params, args)                                                                        \
    int hook_##name params {                                                                                 \
        p2p_prebarrier_all(comm);                                                                            \
        uint32_t context = p2p_on ? take_child(p2p_comm_find(comm)) : 0;                                     \
        p2p_enter();                                                                                         \
        int rc = host_##name args;                                                                           \
        p2p_leave();                                                                                         \
        if (p2p_on && rc == MPI_SUCCESS)                                                                     \
            adopt_duplicate(comm, context, *made);                                                           \
        acquire(EVENT_GENERIC);                                                                              \
        return rc;                                                                                           \
    }

DUPLICATE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
DUPLICATE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MAKE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MAKE(Comm_split_type, (MPI_Comm comm, int kind, int key, MPI_Info info, MPI_Comm *made),
     (comm, kind, key, info, made))
MAKE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKE_BY(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
        (comm, group, tag, made), p2p_prebarrier_group(comm, group, tag))
MAKE(Cart_create,
     (MPI_Comm comm, int dims, const int sizes[], const int periods[], int reorder, MPI_Comm *made),
     (comm, dims, sizes, periods, reorder, made))
MAKE(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
MAKE(Graph_create,
     (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made),
     (comm, nodes, index, edges, reorder, made))
MAKE(Dist_graph_create,
     (MPI_Comm comm, int n, const int sources[], const int degrees[], const int targets[],
      const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
     (comm, n, sources, degrees, targets, weights, info, reorder, made))
MAKE(Dist_graph_create_adjacent,
     (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int targets[],
      const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
     (comm, in, sources, in_weights, out, targets, out_weights, info, reorder, made))
MAKE_BY(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made),
        p2p_prebarrier_all(comm))

/* The result is not managed, but it is created from a communicator that may be. */
int hook_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag,
                          MPI_Comm *made) {
    p2p_prebarrier_leaders(comm, leader, peers, remote_leader, tag);
    p2p_enter();
    int rc = host_Intercomm_create(comm, leader, peers, remote_leader, tag, made);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}

#if HEARTH_MPI_4_0
int hook_Comm_create_from_group(MPI_Group group, const char *word, MPI_Info info, MPI_Errhandler handler,
                                MPI_Comm *made) {
    p2p_prebarrier_word(group, word);
    p2p_enter();
    int rc = host_Comm_create_from_group(group, word, info, handler, made);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}

int hook_Intercomm_create_from_groups(MPI_Group group, int leader, MPI_Group others, int remote_leader,
                                      const char *word, MPI_Info info, MPI_Errhandler handler,
                                      MPI_Comm *made) {
    p2p_prebarrier_sides(group, leader, others, remote_leader, word);
    p2p_enter();
    int rc =
        host_Intercomm_create_from_groups(group, leader, others, remote_leader, word, info, handler, made);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}
#endif

static bool is_freeable(MPI_Comm handle) {
    return handle != MPI_COMM_NULL && handle != MPI_COMM_WORLD && handle != MPI_COMM_SELF;
}

/* Collective by definition, but neither MPI waits in it for others, and programs rely on that: no pre-barrier. */
int hook_Comm_free(MPI_Comm *comm) {
    if (p2p_on && comm && is_freeable(*comm))
        p2p_comm_let_go(*comm);
    p2p_enter();
    int rc = host_Comm_free(comm);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}

/* MPI_Comm_disconnect returns when all communication is complete. Complete or inactive requests may still hold
 * references. */
static void comm_wait_for_all(struct comm *c) {
    struct pause pause = {0};
    p2p_lock();
    while (c->references > 1 && p2p_request_is_pending(c))
        p2p_wait_round_locked(&pause);
    p2p_unlock();
}

/* Open MPI waits in it for all members, MPICH does not. */
static void prebarrier_to_disconnect(MPI_Comm comm) {
    if (host_is_open_mpi() && is_freeable(comm))
        p2p_prebarrier_all(comm);
}

int hook_Comm_disconnect(MPI_Comm *comm) {
    struct comm *c = p2p_on && comm && is_freeable(*comm) ? p2p_comm_find(*comm) : NULL;
    if (c)
        comm_wait_for_all(c);
    if (p2p_on && comm)
        prebarrier_to_disconnect(*comm);
    if (c)
        p2p_comm_let_go(*comm);
    p2p_enter();
    int rc = host_Comm_disconnect(comm);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}
