/* comm.c: the table of managed communicators.
 *
 * A communicator is managed if it is not an inter-communicator and all its members belong to this MPI_COMM_WORLD.
 * Each member decides that alone with the same result, so that all members use the same transport. Communicators from
 * other sources (spawned, connected, MPI_Comm_idup) are in no table, and their messages go to MPI.
 *
 *      buckets[hash of the handle] -> comm -> comm        handle, context, ranks in MPI_COMM_WORLD
 *
 * collective/comm_context.c describes a new communicator, collective/comm_create.c has the calls.
 *
 * MPI frees communicators in places that Hearth does not see (MPI-IO for example) and reuses their handles. Each
 * managed communicator therefore carries an attribute whose deletion removes it from the table. */
#include "mpi/messages/state/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/random.h"

enum { BUCKETS = 256 };

static struct comm world = {.references = 1, .step = 1}, self = {.references = 1, .size = 1};
static struct comm nobody = {.handle = (MPI_Comm)(intptr_t)1}; /* no such handle */
struct comm *p2p_comm_last = &nobody;

static struct comm *buckets[BUCKETS];
static int keyval = MPI_KEYVAL_INVALID;
MPI_Group p2p_comm_world_group;
unsigned p2p_tag_most;

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

int p2p_comm_fail(struct comm *c, int code) {
    p2p_comm_error(c, code);
    p2p_lock();
    p2p_comm_unlock(c, MPI_SUCCESS);
    return code;
}

struct comm *p2p_comm_discard(struct comm *c) {
    if (c) {
        free(c->world);
        free(c);
    }
    return NULL;
}

bool p2p_comm_find_remote(const struct comm *c) {
    for (unsigned i = 0; i < c->size; i++) {
        int rank = p2p_comm_world_rank(c, (int)i);
        if (rank != p2p_rank && !p2p_peer_is_local(rank))
            return true;
    }
    return false;
}

void p2p_comm_enter(MPI_Comm handle, struct comm *c) {
    if (host_Comm_set_attr(handle, keyval, c) != MPI_SUCCESS) /* the other members have entered it */
        p2p_mpi_failed("setting the attribute of a communicator");
    p2p_lock();
    table_add(c);
    p2p_unlock();
}

void p2p_comm_let_go(MPI_Comm handle) {
    if (p2p_comm_find(handle))
        host_Comm_delete_attr(handle, keyval);
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
    self.first = p2p_rank;
    world.has_remote = p2p_comm_find_remote(&world);
    table_add(&world);
    table_add(&self);
    p2p_comm_last = p2p_threads ? &nobody : &world;
    return rc;
}

void p2p_comm_close(void) {
    p2p_comm_last = &nobody;
    memset(buckets, 0, sizeof buckets);
    if (keyval != MPI_KEYVAL_INVALID)
        host_Comm_free_keyval(&keyval);
    if (p2p_comm_world_group)
        host_Group_free(&p2p_comm_world_group);
}
