/* comm.c: the managed communicators, and the context under which their messages are matched.
 *
 * A communicator is managed if it is not an inter-communicator and all its members belong to this MPI_COMM_WORLD.
 * Each member decides that alone with the same result, so that all members use the same transport. Communicators from
 * other sources (spawned, connected, MPI_Comm_idup) are in no table, and their messages go to MPI.
 *
 *      buckets[hash of the handle] -> comm -> comm        handle, context, ranks in MPI_COMM_WORLD
 *
 * The context is a 32-bit number that all members agree on when the communicator is created: the maximum of the next
 * free numbers of all members. It is never reused, so a message of a freed communicator cannot match a receive of a
 * later one. With threads, the same processes may create two communicators at once and see them in different orders.
 * Each member therefore claims the number, and if one of them has just assigned it to the other communicator, all try
 * again. A duplicate has the members of its original: the first duplicate agrees on CHILDREN numbers, and later ones
 * take them in turn, without a message.
 *
 * MPI frees communicators in places that Hearth does not see (MPI-IO for example) and reuses their handles. Each
 * managed communicator therefore carries an attribute whose deletion removes it from the table. */
#include <stdlib.h>

#include "mpi/core/hooks.h"
#include "mpi/p2p/collective/prebarrier.h"
#include "mpi/p2p/p2p.h"

enum { BUCKETS = 256, CLAIMS = 64, CHILDREN = 32 };

static struct comm world = {.references = 1}, self = {.references = 1, .size = 1};
static struct comm nobody = {.handle = (MPI_Comm)(intptr_t)1}; /* no such handle */
struct comm *p2p_comm_last = &nobody;

static struct comm *buckets[BUCKETS];
static int keyval = MPI_KEYVAL_INVALID;
MPI_Group p2p_comm_world_group;
static uint32_t next_context = 2; /* 0 and 1: MPI_COMM_WORLD, MPI_COMM_SELF */

/* ---- the table ---- */

static struct comm **comm_bucket_of(MPI_Comm handle) {
    return &buckets[random_mix((uint64_t)(uintptr_t)handle) % BUCKETS];
}

struct comm *p2p_comm_find_slow(MPI_Comm handle) {
    p2p_lock();
    struct comm *c = *comm_bucket_of(handle);
    while (c && c->handle != handle)
        c = c->next;
    if (c && !p2p_threads)
        p2p_comm_last = c;
    p2p_unlock();
    return c;
}

static void table_add(struct comm *c) {
    struct comm **bucket = comm_bucket_of(c->handle);
    c->next = *bucket;
    *bucket = c;
}

static void table_remove(struct comm *c) {
    struct comm **link = comm_bucket_of(c->handle);
    while (*link && *link != c)
        link = &(*link)->next;
    if (*link)
        *link = c->next;
    c->handle = MPI_COMM_NULL;
    if (p2p_comm_last == c)
        p2p_comm_last = &nobody;
}

void p2p_comm_release(struct comm *c) {
    if (--c->references)
        return;
    free(c->world);
    free(c);
}

/* MPI deletes the attribute because the communicator is being freed. */
static int comm_forget(MPI_Comm handle, int key, void *value, void *state) {
    struct comm *c = value;
    p2p_lock();
    table_remove(c);
    p2p_comm_release(c);
    p2p_unlock();
    return MPI_SUCCESS;
}

/* Logged once: a program that handles errors may run on for long without memory. */
static void say_no_memory(void) {
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        log_error(
            "HEARTH_MATCH: no memory for a message or its request; MPI's error handler is called. Is the "
            "memory limited (ulimit -v)? HEARTH_MATCH=off needs less");
}

int p2p_comm_error(struct comm *c, int code) {
    if (code == MPI_ERR_NO_MEM)
        say_no_memory();
    /* The handler of a freed communicator is no longer known. */
    MPI_Comm handle = c->handle == MPI_COMM_NULL ? MPI_COMM_WORLD : c->handle;
    host_Comm_call_errhandler(handle, code);
    return code;
}

/* ---- creation ---- */

/* Finds the ranks of its members in MPI_COMM_WORLD. Returns MPI_SUCCESS; -1 if one is not in it; or an error. */
static int find_members(struct comm *c) {
    MPI_Group group;
    int rc = host_Comm_group(c->handle, &group), *ranks = malloc(2 * c->size * sizeof *ranks);
    if (rc != MPI_SUCCESS || !ranks) {
        free(ranks);
        return rc != MPI_SUCCESS ? rc : MPI_ERR_NO_MEM;
    }
    bool same = (int)c->size == p2p_size;
    for (unsigned i = 0; i < c->size; i++)
        ranks[c->size + i] = (int)i;
    rc = host_Group_translate_ranks(group, (int)c->size, ranks + c->size, p2p_comm_world_group, ranks);
    host_Group_free(&group);
    for (unsigned i = 0; rc == MPI_SUCCESS && i < c->size; i++) {
        if (ranks[i] == MPI_UNDEFINED)
            rc = -1;
        same &= ranks[i] == (int)i;
    }
    if (rc == MPI_SUCCESS && !same)
        c->world = realloc(ranks, c->size * sizeof *ranks);
    if (!c->world)
        free(ranks);
    return rc;
}

static int comm_agree(struct comm *c, const uint64_t mine[2], uint64_t all[2], MPI_Op op) {
    MPI_Request request;
    int rc = host_Iallreduce(mine, all, 2, MPI_UINT64_T, op, c->handle, &request);
    return rc == MPI_SUCCESS ? p2p_wait_host(&request, MPI_STATUS_IGNORE) : rc;
}

static uint32_t claims[CLAIMS]; /* the first of up to CHILDREN numbers that are not yet agreed on; 0: free */

/* Whether the numbers from here on are free; if so, reserves them for this communicator. */
static bool comm_claim(uint32_t context) {
    int slot = -1;
    bool taken = context < next_context;
    for (int i = 0; i < CLAIMS; i++) {
        taken |= claims[i] && claims[i] < context + CHILDREN && context < claims[i] + CHILDREN;
        slot = claims[i] ? slot : i;
    }
    if (taken || slot < 0)
        return false;
    claims[slot] = context;
    return true;
}

static void unclaim(uint32_t context, uint32_t used) {
    for (int i = 0; i < CLAIMS; i++)
        if (claims[i] == context)
            claims[i] = 0;
    if (used && next_context < context + used)
        next_context = context + used;
}

/* One proposal for `count` numbers. *agreed: all members accepted it. */
static int try_context(struct comm *c, bool failed, uint32_t count, uint32_t lead, bool *agreed) {
    p2p_lock();
    uint64_t mine[2] = {next_context + lead, failed}, all[2];
    p2p_unlock();
    int rc = comm_agree(c, mine, all, MPI_MAX);
    if (rc != MPI_SUCCESS || all[1] || all[0] + CHILDREN >= COMM_CONTEXTS)
        return rc != MPI_SUCCESS ? rc : -1;
    c->context = (uint32_t)all[0];
    p2p_lock();
    bool got = comm_claim(c->context);
    p2p_unlock();
    uint64_t refused[2] = {!got, 0};
    rc = p2p_threads ? comm_agree(c, refused, all, MPI_MAX) : MPI_SUCCESS;
    *agreed = rc == MPI_SUCCESS && (p2p_threads ? !all[0] : got);
    p2p_lock();
    if (got)
        unclaim(c->context, *agreed ? count : 0);
    p2p_unlock();
    return rc;
}

/* Retries leave a random gap, so that two communicators do not collide forever. */
static int find_context(struct comm *c, bool failed, uint32_t count) {
    bool agreed = false;
    int rc = try_context(c, failed, count, 0, &agreed);
    for (uint32_t tries = 1; rc == MPI_SUCCESS && !agreed; tries++)
        rc = try_context(c, failed, count,
                         (uint32_t)(random_mix((uintptr_t)c + clock_ticks()) % (2 * CHILDREN * tries)),
                         &agreed);
    return rc;
}

static struct comm *discard(struct comm *c) {
    if (c) {
        free(c->world);
        free(c);
    }
    return NULL;
}

static bool has_remote(const struct comm *c) {
    for (unsigned i = 0; i < c->size; i++) {
        int rank = p2p_comm_world_rank(c, (int)i);
        if (rank != p2p_rank && p2p_peers[rank].node < 0)
            return true;
    }
    return false;
}

/* Determines members and context. All members get here, or none: they decide everything before find_context alike,
 * except for lack of memory, which find_context communicates. NULL: its messages are left to MPI. */
static struct comm *comm_describe(MPI_Comm handle) {
    int inter = 1, size = 0;
    if (handle == MPI_COMM_NULL || host_Comm_test_inter(handle, &inter) != MPI_SUCCESS || inter)
        return NULL;
    struct comm *c = calloc(1, sizeof *c), small = {.handle = handle};
    struct comm *asked = c ? c : &small;
    host_Comm_size(handle, &size);
    asked->handle = handle;
    asked->size = (unsigned)size;
    host_Comm_rank(handle, &asked->rank);
    int rc = find_members(asked);
    if (rc == -1)
        return discard(c);
    if (find_context(asked, !c || rc != MPI_SUCCESS, 1) != MPI_SUCCESS) {
        log_warn(
            "messages of a communicator of %d processes are left to MPI: no memory or no free context for it",
            size);
        free(small.world);
        return discard(c);
    }
    c->references = 1;
    c->has_remote = has_remote(c);
    return c;
}

static void enter(MPI_Comm handle, struct comm *c) {
    if (host_Comm_set_attr(handle, keyval, c) != MPI_SUCCESS) {
        discard(c);
        return;
    }
    p2p_lock();
    table_add(c);
    p2p_unlock();
}

static void comm_adopt(MPI_Comm handle) {
    struct comm *c = comm_describe(handle);
    if (c)
        enter(handle, c);
}

/* ---- a duplicate ---- */

/* The next number for a duplicate; 0 if there is none. Whatever becomes of the duplicate, so that all members count alike. */
static uint32_t take_child(struct comm *parent) {
    p2p_lock();
    uint32_t context = parent && parent->children ? parent->next_child++ : 0;
    if (context)
        parent->children--;
    p2p_unlock();
    return context;
}

/* The others do not ask whether there is memory here: without, messages would be lost. */
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
                       .has_remote = parent->has_remote,
                       .references = 1};
    return c;
}

/* The first duplicate: its members agree on numbers for those that follow, too. False, on all members: there are none left. */
static bool reserve_children(struct comm *parent, struct comm *c) {
    if (find_context(c, false, CHILDREN) != MPI_SUCCESS) {
        log_warn("messages of a duplicate of %u processes are left to MPI: no number for it", c->size);
        return false;
    }
    p2p_lock();
    parent->next_child = c->context + 1;
    parent->children = CHILDREN - 1;
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
        enter(handle, c);
    else
        discard(c);
}

struct comm *p2p_comm_shadow(MPI_Comm handle) {
    struct comm *c = comm_describe(handle);
    if (c)
        c->handle = MPI_COMM_NULL;
    return c;
}

/* ---- MPI_COMM_WORLD and MPI_COMM_SELF ---- */

int p2p_comm_open(void) {
    int rc = host_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_forget, &keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = host_Comm_group(MPI_COMM_WORLD, &p2p_comm_world_group);
    world.handle = MPI_COMM_WORLD;
    world.rank = p2p_rank;
    world.size = (unsigned)p2p_size;
    self.handle = MPI_COMM_SELF;
    self.context = 1;
    self.world = malloc(sizeof *self.world);
    if (!self.world)
        return MPI_ERR_NO_MEM;
    self.world[0] = p2p_rank;
    world.has_remote = has_remote(&world);
    table_add(&world);
    table_add(&self);
    p2p_comm_last = p2p_threads ? &nobody : &world;
    return rc;
}

void p2p_comm_close(void) {
    p2p_comm_last = &nobody;
    free(self.world);
    self.world = NULL;
    memset(buckets, 0, sizeof buckets);
    if (keyval != MPI_KEYVAL_INVALID)
        host_Comm_free_keyval(&keyval);
    if (p2p_comm_world_group)
        host_Group_free(&p2p_comm_world_group);
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

#if MPI_VERSION >= 4
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

/* Some MPIs delete attributes only when the last communication is over; the handle would still be found here until
 * then. */
static void comm_let_go(MPI_Comm handle) {
    if (is_freeable(handle) && p2p_comm_find(handle))
        host_Comm_delete_attr(handle, keyval);
}

/* Collective by definition, but neither MPI waits in it for others, and programs rely on that: no pre-barrier. */
int hook_Comm_free(MPI_Comm *comm) {
    if (p2p_on && comm)
        comm_let_go(*comm);
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
    while (c->references > 1 && p2p_request_is_pending(c)) {
        if (p2p_progress())
            continue;
        p2p_unlock();
        p2p_pause(&pause);
        p2p_lock();
    }
    p2p_unlock();
}

/* Open MPI waits in it for all members, MPICH does not. */
static void prebarrier_to_disconnect(MPI_Comm comm) {
#ifdef OPEN_MPI
    if (is_freeable(comm))
        p2p_prebarrier_all(comm);
#endif
}

int hook_Comm_disconnect(MPI_Comm *comm) {
    struct comm *c = p2p_on && comm && is_freeable(*comm) ? p2p_comm_find(*comm) : NULL;
    if (c)
        comm_wait_for_all(c);
    if (p2p_on && comm)
        prebarrier_to_disconnect(*comm);
    if (c)
        comm_let_go(*comm);
    p2p_enter();
    int rc = host_Comm_disconnect(comm);
    p2p_leave();
    acquire(EVENT_GENERIC);
    return rc;
}
