/* targets.c: see targets.h.
 *
 * A message names its peer by its rank in a communicator. The ranks in MPI_COMM_WORLD of all members are asked for once per
 * communicator, and kept as its attribute: MPI frees them with the communicator, whose handle it may then reuse. */
#include "mpi/observe/targets.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/settings.h"
#include "mpi/observe/call_time.h"
#include "mpi/observe/target_table.h"
#include "observe/output.h"

bool targets_are_observed;
static struct target_table targets_table;
bool targets_has_threads;
struct recent_peer targets_recent[TARGETS_RECENT];
struct recent_type targets_types[TARGETS_TYPES];
static pthread_mutex_t targets_mutex = PTHREAD_MUTEX_INITIALIZER;
static int members_key = MPI_KEYVAL_INVALID;

/* The members of a communicator that messages can go to. */
struct comm_members {
    int count;
    int world[]; /* rank in MPI_COMM_WORLD; -1: none */
};

static void targets_lock(void) {
    if (UNLIKELY(targets_has_threads))
        pthread_mutex_lock(&targets_mutex);
}

static void targets_unlock(void) {
    if (UNLIKELY(targets_has_threads))
        pthread_mutex_unlock(&targets_mutex);
}

/* Those of the most recent communicator, as looking up an attribute takes longer than the rest; NULL: none. */
static const struct comm_members *recent_members;
static MPI_Comm recent_comm;

static int members_free(MPI_Comm comm, int key, void *members, void *state) {
    (void)key, (void)state;
    targets_lock();
    if (members == recent_members)
        recent_members = NULL;
    for (int i = 0; i < TARGETS_RECENT; i++)
        if (targets_recent[i].comm == comm)
            targets_recent[i].row = NULL;
    targets_unlock();
    free(members);
    return MPI_SUCCESS;
}

void targets_open(bool wanted, bool threads) {
    bool observes = wanted && settings_get()->record;
    if (observes &&
        host_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, members_free, &members_key, NULL) != MPI_SUCCESS)
        observes = false;
    targets_has_threads = threads;
    targets_are_observed = observes;
}

struct target_row *targets_row(int rank) {
    targets_lock();
    struct target_row *row = target_table_row(&targets_table, rank);
    targets_unlock();
    return row;
}

void targets_note(struct target_row *row, enum target_access what, uint64_t bytes) {
    targets_lock();
    targets_add(row, what, bytes);
    targets_unlock();
}

void targets_note_gets(struct target_row *row, uint64_t gets, uint64_t bytes) {
    targets_lock();
    target_row_add(row, TARGET_GETS, gets, bytes);
    targets_unlock();
}

void targets_note_row_ticks(struct target_row *row, uint64_t ticks) {
    targets_lock();
    row->counters[TARGET_TICKS] += ticks;
    targets_unlock();
}

static uint64_t targets_type_size(MPI_Datatype type) {
    uint64_t size;
    MPI_Count asked = 0;
    if (LIKELY(layout_is_plain(type, &size)))
        return size;
    return host_Type_size_x(type, &asked) == MPI_SUCCESS && asked > 0 ? (uint64_t)asked : 0;
}

uint64_t targets_bytes(MPI_Count count, MPI_Datatype type) {
    return count > 0 ? (uint64_t)count * targets_type_size(type) : 0;
}

/* Without threads only: they do not use these. */
static uint64_t targets_note_type(MPI_Datatype type) {
    uint64_t size = targets_type_size(type);
    if (!targets_has_threads)
        *targets_recent_type(type) = (struct recent_type){type, size};
    return size;
}

void targets_forget_type(MPI_Datatype type) {
    struct recent_type *t = targets_recent_type(type);
    if (t->type == type)
        *t = (struct recent_type){0};
}

/* ---- ranks in MPI_COMM_WORLD ---- */

static void world_ranks(MPI_Group group, int count, const int *ranks, int *world) {
    MPI_Group all;
    bool is_known = host_has_world() && host_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS;
    if (is_known) {
        is_known = host_Group_translate_ranks(group, count, ranks, all, world) == MPI_SUCCESS;
        host_Group_free(&all);
    }
    for (int i = 0; i < count; i++)
        world[i] = is_known && world[i] != MPI_UNDEFINED ? world[i] : -1;
}

int targets_world_rank(MPI_Group group, int rank) {
    int world = -1;
    world_ranks(group, 1, &rank, &world);
    return world;
}

static struct comm_members *members_make(MPI_Comm comm) {
    MPI_Group group;
    int is_inter = 0, count = 0;
    host_Comm_test_inter(comm, &is_inter);
    if ((is_inter ? host_Comm_remote_group(comm, &group) : host_Comm_group(comm, &group)) != MPI_SUCCESS)
        return NULL;
    host_Group_size(group, &count);
    struct comm_members *m = malloc(sizeof *m + 2 * (size_t)count * sizeof *m->world);
    if (m) {
        int *ranks = m->world + count;
        for (int i = 0; i < count; i++)
            ranks[i] = i;
        m->count = count;
        world_ranks(group, count, ranks, m->world);
    }
    host_Group_free(&group);
    return m;
}

/* NULL: unknown. Requires the lock. */
static const struct comm_members *members_of(MPI_Comm comm) {
    struct comm_members *m = NULL;
    int found = 0;
    if (LIKELY(recent_members && recent_comm == comm))
        return recent_members;
    if (host_Comm_get_attr(comm, members_key, &m, &found) != MPI_SUCCESS)
        return NULL;
    m = found ? m : members_make(comm);
    if (!found && m && host_Comm_set_attr(comm, members_key, m) != MPI_SUCCESS) {
        free(m);
        m = NULL;
    }
    recent_comm = comm;
    recent_members = m;
    return m;
}

/* NULL: the peer is no rank, or nothing is observed. */
static struct target_row *peer_row(MPI_Comm comm, int peer) {
    int world = peer;
    if (peer < 0 || !targets_are_observed)
        return NULL;
    targets_lock();
    if (comm != MPI_COMM_WORLD) {
        const struct comm_members *m = members_of(comm);
        world = m && peer < m->count ? m->world[peer] : -1;
    }
    struct target_row *row = target_table_row(&targets_table, world);
    if (comm == MPI_COMM_WORLD || recent_members) /* else its end would not be noticed */
        targets_recent[(unsigned)peer % TARGETS_RECENT] =
            (struct recent_peer){.comm = comm, .peer = peer, .row = row};
    targets_unlock();
    return row;
}

void targets_count_message_slow(MPI_Comm comm, int peer, MPI_Count count, MPI_Datatype type) {
    struct target_row *row = peer_row(comm, peer);
    if (row)
        targets_note(row, ACCESS_MESSAGE, count > 0 ? (uint64_t)count * targets_note_type(type) : 0);
}

void targets_note_ticks(MPI_Comm comm, int peer, uint64_t ticks) {
    struct target_row *row = peer_row(comm, peer);
    if (row)
        targets_note_row_ticks(row, ticks);
}

void targets_json(struct json *j) {
    if (targets_are_observed)
        target_table_json(j, &targets_table, call_time_limit());
}
