/* comm_context.c: the context of a communicator, under which its messages are matched.
 *
 * The context is a 32-bit number that all members agree on when the communicator is created: the maximum of the next
 * free numbers of all members. It is never reused, so a message of a freed communicator cannot match a receive of a
 * later one. A process with threads may create two communicators at once, and processes may see them in different
 * orders. If some process has threads, each member therefore claims the number, and if one of them has just assigned it
 * to the other communicator, all try again. */
#include "mpi/messages/collective/comm_context.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "mpi/messages/transport/p2p_progress.h"

enum { CLAIMS = 64 };

static uint32_t next_context = 2; /* 0 and 1: MPI_COMM_WORLD, MPI_COMM_SELF */

/* Finds the ranks of its members in MPI_COMM_WORLD. Those of most communicators, such as the rows and columns of a grid, are equally
 * far apart and need no table. Returns MPI_SUCCESS; -1 if one is not in it; or an error. */
static int find_members(struct comm *c) {
    MPI_Group group;
    int rc = host_Comm_group(c->handle, &group), *ranks = malloc(2 * c->size * sizeof *ranks);
    if (rc != MPI_SUCCESS || !ranks) {
        free(ranks);
        if (rc == MPI_SUCCESS)
            host_Group_free(&group);
        return rc != MPI_SUCCESS ? rc : MPI_ERR_NO_MEM;
    }
    for (unsigned i = 0; i < c->size; i++)
        ranks[c->size + i] = (int)i;
    rc = host_Group_translate_ranks(group, (int)c->size, ranks + c->size, p2p_comm_world_group, ranks);
    host_Group_free(&group);
    c->first = ranks[0];
    c->step = c->size > 1 ? ranks[1] - ranks[0] : 0;
    bool regular = true;
    for (unsigned i = 0; rc == MPI_SUCCESS && i < c->size; i++) {
        if (ranks[i] == MPI_UNDEFINED)
            rc = -1;
        regular &= ranks[i] == (int64_t)c->first + (int64_t)i * c->step;
    }
    if (rc != MPI_SUCCESS || regular) {
        free(ranks);
        return rc;
    }
    int *fitted = realloc(ranks, c->size * sizeof *ranks);
    c->world = fitted ? fitted : ranks;
    return MPI_SUCCESS;
}

/* The highest of all members' numbers. If it fails, this member does not know what the others agreed on. */
static void comm_agree(struct comm *c, const uint64_t mine[2], uint64_t all[2]) {
    MPI_Request request;
    int rc = host_Iallreduce(mine, all, 2, MPI_UINT64_T, MPI_MAX, c->handle, &request);
    if (rc == MPI_SUCCESS)
        rc = p2p_wait_host(&request, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS)
        p2p_mpi_failed("agreeing on the context of a communicator");
}

static uint32_t
    claims[CLAIMS]; /* the first of up to CONTEXT_CHILDREN numbers that are not yet agreed on; 0: free */

/* Whether the numbers from here on are free; if so, reserves them for this communicator. */
static bool comm_claim(uint32_t context) {
    int slot = -1;
    bool taken = context < next_context;
    for (int i = 0; i < CLAIMS; i++) {
        taken |=
            claims[i] && claims[i] < context + CONTEXT_CHILDREN && context < claims[i] + CONTEXT_CHILDREN;
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

/* One proposal for `count` numbers. *agreed: all members accepted it. Returns false if it fails on all members. */
static bool try_context(struct comm *c, bool failed, uint32_t count, uint32_t lead, bool *agreed) {
    p2p_lock();
    uint64_t mine[2] = {next_context + lead, failed}, all[2];
    p2p_unlock();
    comm_agree(c, mine, all);
    if (all[1] || all[0] + CONTEXT_CHILDREN >= COMM_CONTEXTS)
        return false;
    c->context = (uint32_t)all[0];
    p2p_lock();
    bool got = comm_claim(c->context);
    p2p_unlock();
    uint64_t refused[2] = {!got, 0};
    if (p2p_some_threads)
        comm_agree(c, refused, all);
    *agreed = p2p_some_threads ? !all[0] : got;
    p2p_lock();
    if (got)
        unclaim(c->context, *agreed ? count : 0);
    p2p_unlock();
    return true;
}

/* Retries leave a random gap, so that two communicators do not collide forever. */
bool p2p_context_find(struct comm *c, bool failed, uint32_t count) {
    bool agreed = false, ok = try_context(c, failed, count, 0, &agreed);
    for (uint32_t tries = 1; ok && !agreed; tries++)
        ok = try_context(
            c, failed, count,
            (uint32_t)(random_mix((uintptr_t)c + clock_ticks()) % (2 * CONTEXT_CHILDREN * tries)), &agreed);
    return ok;
}

/* Either all members call p2p_context_find, or none does: every check before it has the same result on all members, except
 * for lack of memory, which p2p_context_find communicates. */
struct comm *p2p_context_describe(MPI_Comm handle) {
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
    if (rc == -1) {
        log_debug(
            LOG_MESSAGES,
            "messages of a communicator of %d processes are left to MPI: some are not of MPI_COMM_WORLD",
            size);
        return p2p_comm_discard(c);
    }
    if (!p2p_context_find(asked, !c || rc != MPI_SUCCESS, 1)) {
        log_warn(
            "messages of a communicator of %d processes are left to MPI: no memory or no free context for it",
            size);
        free(small.world);
        return p2p_comm_discard(c);
    }
    c->references = 1;
    c->has_remote = p2p_comm_find_remote(c);
    log_debug(LOG_MESSAGES, "a communicator of %d processes has context %u; %s", size, (unsigned)c->context,
              c->has_remote ? "some are on other nodes" : "all are on this node");
    return c;
}

struct comm *p2p_context_shadow(MPI_Comm handle) {
    struct comm *c = p2p_context_describe(handle);
    if (c)
        c->handle = MPI_COMM_NULL;
    return c;
}
