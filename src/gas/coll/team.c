/* team.c: teams: their members, their barriers, and the synchronisation of their operations.
 *
 * The members of a new team must agree on an id that no other team of any member has. The id combines the node of the
 * first member with the number of teams that this node has seen created. Each member sends its number to all members
 * when a team is split. */
#include <stdlib.h>
#include <string.h>

#include "gas/am/am.h"
#include "gas/coll/coll.h"

static gasnet_team_handle_t all; /* lives as long as the process */
static _Atomic uint32_t made;    /* teams that this node has seen created */

/* ---- creation ---- */

gasnet_team_handle_t gas_team_new(const char *call, gasnet_node_t size) {
    gasnet_team_handle_t t = calloc(1, sizeof *t + size * sizeof t->nodes[0]);
    if (!t)
        gas_fail(call, "no memory for a team of %u", size);
    t->size = size;
    return t;
}

void gas_team_complete(gasnet_team_handle_t t) {
    bool *seen = calloc((size_t)gas_job.size, sizeof *seen);
    if (!seen)
        gas_fail("gasnet_coll_team_split", "no memory for a team of %u", t->size);
    for (gasnet_node_t i = 0; i < t->size; i++) {
        t->several |= seen[t->nodes[i]];
        seen[t->nodes[i]] = true;
        t->local += i < t->rank && t->nodes[i] == (gasnet_node_t)gas_job.rank;
    }
    free(seen);
}

void gas_team_open(void) {
    all = gas_team_new("gasnet_attach", (gasnet_node_t)gas_job.size);
    all->rank = (gasnet_node_t)gas_job.rank;
    for (gasnet_node_t i = 0; i < all->size; i++)
        all->nodes[i] = i;
}

gasnet_team_handle_t gasnetc_coll_team_all(void) {
    gas_need("GASNET_TEAM_ALL", 0);
    return all;
}

/* Contribution of a member to a split. */
struct member {
    gasnet_node_t color, relrank, node, parent; /* parent: rank in the team that is split */
    uint32_t made;
};

/* By relrank; ties, which are erroneous, by the previous rank. */
static int team_compare(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->relrank != y->relrank)
        return x->relrank < y->relrank ? -1 : 1;
    return x->parent < y->parent ? -1 : x->parent > y->parent;
}

static gasnet_team_handle_t team_of(const char *call, struct member *members, gasnet_node_t count,
                                    gasnet_node_t parent) {
    qsort(members, count, sizeof *members, team_compare);
    gasnet_team_handle_t t = gas_team_new(call, count);
    t->id = (uint64_t)(members[0].node + 1) << 32 | members[0].made;
    for (gasnet_node_t i = 0; i < count; i++) {
        t->nodes[i] = members[i].node;
        if (members[i].parent == parent)
            t->rank = i;
    }
    gas_team_complete(t);
    return t;
}

gasnet_team_handle_t gas_team_split(const char *call, gasnet_team_handle_t team, gasnet_node_t color,
                                    gasnet_node_t relrank) {
    struct member mine = {.color = color,
                          .relrank = relrank,
                          .node = (gasnet_node_t)gas_job.rank,
                          .parent = team->rank,
                          .made = atomic_fetch_add(&made, 1)};
    struct member *members = malloc(team->size * sizeof *members);
    if (!members)
        gas_fail(call, "no memory to split a team of %u", team->size);
    struct collective c = {.call = call, .team = team, .dst = members, .src = &mine, .bytes = sizeof mine};
    gas_schedule_wait(gas_coll_gather_all(&c));
    gasnet_node_t count = 0;
    for (gasnet_node_t i = 0; i < team->size; i++)
        if (members[i].color == color)
            members[count++] = members[i];
    gasnet_team_handle_t t = team_of(call, members, count, team->rank);
    free(members);
    return t;
}

gasnet_team_handle_t gasnet_coll_team_split(gasnet_team_handle_t team, gasnet_node_t color,
                                            gasnet_node_t relrank, void *clientdata) {
    const char *call = "gasnet_coll_team_split";
    (void)clientdata;
    gas_need(call, 0);
    return gas_team_split(call, gas_image_team(call, team, true), color, relrank);
}
ALSO(gasnet_team_handle_t, coll_team_split,
     (gasnet_team_handle_t team, gasnet_node_t color, gasnet_node_t relrank, void *clientdata));

void gasnet_coll_team_free(gasnet_team_handle_t team) {
    if (team == all)
        gas_fail("gasnet_coll_team_free", "the team of all nodes cannot be freed");
    if (team && team->barrier)
        gas_fail("gasnet_coll_team_free", "a barrier of the team was notified and not waited for");
    free(team);
}
ALSO(void, coll_team_free, (gasnet_team_handle_t team));

/* ---- queries ---- */

/* The queries number the nodes of a team, not its images: a node with several members counts once, at the first. */
static bool team_is_first(gasnet_team_handle_t t, gasnet_node_t member) {
    gasnet_node_t i = 0;
    while (t->several && i < member && t->nodes[i] != t->nodes[member])
        i++;
    return !t->several || i == member;
}

gasnet_node_t gasnet_coll_team_size(gasnet_team_handle_t team) {
    gasnet_node_t count = 0;
    if (!team->several)
        return team->size;
    for (gasnet_node_t i = 0; i < team->size; i++)
        count += team_is_first(team, i);
    return count;
}
ALSO(gasnet_node_t, coll_team_size, (gasnet_team_handle_t team));

gasnet_node_t gasnet_coll_team_rank(gasnet_team_handle_t team) {
    return team->several ? gasnet_coll_team_node2rank(team, (gasnet_node_t)gas_job.rank) : team->rank;
}
ALSO(gasnet_node_t, coll_team_rank, (gasnet_team_handle_t team));

gasnet_node_t gasnet_coll_team_rank2node(gasnet_team_handle_t team, int rank) {
    gasnet_node_t before = 0;
    for (gasnet_node_t i = 0; i < team->size && rank >= 0; i++)
        if (team_is_first(team, i) && before++ == (gasnet_node_t)rank)
            return team->nodes[i];
    gas_fail("gasnet_coll_team_rank2node", "there is no rank %d in a team of %u", rank,
             gasnet_coll_team_size(team));
}
ALSO(gasnet_node_t, coll_team_rank2node, (gasnet_team_handle_t team, int rank));

gasnet_node_t gasnet_coll_team_node2rank(gasnet_team_handle_t team, gasnet_node_t node) {
    gasnet_node_t before = 0;
    for (gasnet_node_t i = 0; i < team->size; i++)
        if (team->nodes[i] == node)
            return before;
        else
            before += team_is_first(team, i);
    return (gasnet_node_t)-1;
}
ALSO(gasnet_node_t, coll_team_node2rank, (gasnet_team_handle_t team, gasnet_node_t node));

/* ---- barriers ---- */

/* The merged barrier ids of all ranks heard of so far; sent in messages. */
struct known {
    uint32_t mismatch, named;
    int32_t id; /* if named */
};

/* In the memory of the operation. */
struct team_barrier {
    struct known known;
};

static struct known known_by(int id, int flags) {
    return (struct known){.mismatch = (flags & GASNET_BARRIERFLAG_MISMATCH) != 0,
                          .named = !(flags & GASNET_BARRIERFLAG_ANONYMOUS),
                          .id = id};
}

/* The barrier of GASNET_TEAM_ALL is of its nodes, or of its images. */
static gasnet_team_handle_t barrier_team(const char *call, gasnet_team_handle_t team, int flags) {
    return gas_image_team(call, team, (flags & GASNET_BARRIERFLAG_IMAGES) != 0);
}

static void team_merge(struct known *k, const struct known *with) {
    k->mismatch |= with->mismatch | (k->named && with->named && k->id != with->id);
    if (with->named)
        k->id = with->id;
    k->named |= with->named;
}

static void merge_step(struct gasnet_coll_operation *o, struct step *s) {
    struct team_barrier *b = s->arg;
    (void)o;
    team_merge(&b->known, (const struct known *)(void *)s->at);
}

void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags) {
    const char *call = "gasnet_coll_barrier_notify";
    team = barrier_team(call, team, flags);
    struct gasnet_coll_operation *o = gas_schedule_new(call, team);
    if (team->barrier)
        gas_fail(call,
                 "the last barrier of this team was not waited for: call gasnet_coll_barrier_wait first");
    struct team_barrier *b = gas_schedule_memory(o, sizeof *b);
    *b = (struct team_barrier){.known = known_by(id, flags)};
    gasnet_node_t size = team->size, rank = team->rank;
    uint32_t tag = TAG_DATA;
    for (uint64_t distance = 1; distance < size; distance *= 2, tag++) {
        struct known *heard = gas_schedule_memory(o, sizeof *heard);
        gas_schedule_send(o, (gasnet_node_t)((rank + distance) % size), tag, &b->known, sizeof b->known);
        gas_schedule_receive(o, (gasnet_node_t)((rank + size - distance) % size), tag, heard, sizeof *heard);
        gas_schedule_next_round(o);
        gas_schedule_run(o, merge_step, b, heard);
    }
    team->notified = b;
    team->barrier = gas_schedule_start(o);
}
ALSO(void, coll_barrier_notify, (gasnet_team_handle_t team, int id, int flags));

static int end_barrier(gasnet_team_handle_t team, int id, int flags) {
    struct known waited =
        known_by(id, flags); /* as in barrier.c: the name in wait, if any, must be the agreed one */
    team_merge(&waited, &team->notified->known);
    gas_schedule_free(team->barrier);
    team->barrier = NULL;
    team->notified = NULL;
    return waited.mismatch ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

static gasnet_team_handle_t notified_team(const char *call, gasnet_team_handle_t team, int flags) {
    gas_need(call, 0);
    gas_need_free(call);
    team = barrier_team(call, team, flags);
    if (!team->barrier)
        gas_fail(call, "there is no barrier to wait for: call gasnet_coll_barrier_notify first");
    return team;
}

int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags) {
    team = notified_team("gasnet_coll_barrier_try", team, flags);
    gas_poll();
    return gas_schedule_is_complete(team->barrier) ? end_barrier(team, id, flags) : GASNET_ERR_NOT_READY;
}
ALSO(int, coll_barrier_try, (gasnet_team_handle_t team, int id, int flags));

int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags) {
    unsigned round = 0;
    team = notified_team("gasnet_coll_barrier_wait", team, flags);
    while (!gas_schedule_is_complete(team->barrier))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
    return end_barrier(team, id, flags);
}
ALSO(int, coll_barrier_wait, (gasnet_team_handle_t team, int id, int flags));

int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags) {
    gasnet_coll_barrier_notify(team, id, flags);
    return gasnet_coll_barrier_wait(team, id, flags);
}
ALSO(int, coll_barrier, (gasnet_team_handle_t team, int id, int flags));

/* ---- synchronisation ---- */

static void team_begin(const char *call) {
    gas_need(call, 0);
    gas_need_free(call);
    gas_poll();
}

static void team_look_at_all(gasnet_coll_handle_t *handles, size_t count, size_t *valid, size_t *complete) {
    *valid = *complete = 0;
    for (size_t i = 0; i < count; i++) {
        if (handles[i] == GASNET_COLL_INVALID_HANDLE)
            continue;
        ++*valid;
        if (gas_schedule_try(handles[i])) {
            handles[i] = GASNET_COLL_INVALID_HANDLE;
            ++*complete;
        }
    }
}

int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
    team_begin("gasnet_coll_try_sync");
    return handle == GASNET_COLL_INVALID_HANDLE || gas_schedule_try(handle) ? GASNET_OK
                                                                            : GASNET_ERR_NOT_READY;
}
ALSO(int, coll_try_sync, (gasnet_coll_handle_t handle));

int gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles) {
    size_t valid, complete;
    team_begin("gasnet_coll_try_sync_some");
    team_look_at_all(phandle, numhandles, &valid, &complete);
    return valid == 0 || complete > 0 ? GASNET_OK : GASNET_ERR_NOT_READY;
}
ALSO(int, coll_try_sync_some, (gasnet_coll_handle_t * phandle, size_t numhandles));

int gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles) {
    size_t valid, complete;
    team_begin("gasnet_coll_try_sync_all");
    team_look_at_all(phandle, numhandles, &valid, &complete);
    return valid == complete ? GASNET_OK : GASNET_ERR_NOT_READY;
}
ALSO(int, coll_try_sync_all, (gasnet_coll_handle_t * phandle, size_t numhandles));

void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) {
    team_begin("gasnet_coll_wait_sync");
    if (handle != GASNET_COLL_INVALID_HANDLE)
        gas_schedule_wait(handle);
}
ALSO(void, coll_wait_sync, (gasnet_coll_handle_t handle));

void gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t numhandles) {
    unsigned round = 0;
    while (gasnet_coll_try_sync_some(phandle, numhandles) == GASNET_ERR_NOT_READY)
        gas_poll_rest(&round);
}
ALSO(void, coll_wait_sync_some, (gasnet_coll_handle_t * phandle, size_t numhandles));

void gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t numhandles) {
    for (size_t i = 0; i < numhandles; i++) {
        gasnet_coll_wait_sync(phandle[i]);
        phandle[i] = GASNET_COLL_INVALID_HANDLE;
    }
}
ALSO(void, coll_wait_sync_all, (gasnet_coll_handle_t * phandle, size_t numhandles));
