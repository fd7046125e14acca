/* prebarrier.c: pre-barriers.
 *
 * A process inside an MPI call cannot answer messages that arrive through MPI, because the helper thread must not
 * call MPI. To keep such waits short, the processes of a collective call first make a barrier in which they keep
 * answering. The collective inside MPI then waits for no process that has not arrived. MPI permits every collective
 * call to synchronise.
 *
 * The barrier consists of Hearth's own messages, so that it uses no MPI resources: no communicator, no attribute
 * callback. Only the processes of a communicator that is left to MPI use MPI_Ibarrier. A window carries its processes
 * as an attribute. Most blocking collectives need no pre-barrier, because they are replaced by their non-blocking
 * equivalents (sync_calls.c). If all processes are reached through shared memory there is no pre-barrier: the helper
 * thread suffices. */
#include "mpi/messages/collective/prebarrier.h"

#include <limits.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/random.h"
#include "mpi/host/hooks.h"
#include "mpi/messages/calls/recv.h"
#include "mpi/messages/calls/send.h"
#include "mpi/messages/collective/comm_context.h"
#include "mpi/messages/transport/p2p_progress.h"

static int keyval = MPI_KEYVAL_INVALID;

/* ---- Hearth's own messages, under contexts that no communicator has ---- */

/* Sends an empty message to `to` and receives one from `from`. */
static void greet(struct comm *c, uint32_t context, int to, int from, int tag) {
    struct comm shadow = *c;
    struct p2p_request r, s;
    shadow.context = context;
    p2p_request_fill(&r, REQUEST_RECV, &shadow);
    p2p_request_fill(&s, REQUEST_SEND, &shadow);
    p2p_data_in_one(&r.data, "", 0);
    p2p_data_in_one(&s.data, "", 0);
    r.rank = from;
    s.rank = to;
    r.tag = s.tag = tag;
    p2p_lock();
    p2p_recv_begin(&r);
    p2p_send_begin(&s);
    p2p_wait(&s);
    p2p_wait(&r);
    p2p_unlock();
}

/* Dissemination barrier: each process exchanges messages with those 1, 2, 4 ... places away. ranks: NULL if equal to
 * the places. */
static void greet_all(struct comm *c, uint32_t context, const int ranks[], int count, int mine, int tag) {
    for (int away = 1; away < count; away *= 2) {
        int to = (mine + away) % count, from = (mine + count - away) % count;
        greet(c, context, ranks ? ranks[to] : to, ranks ? ranks[from] : from, tag);
    }
}

static void greet_members(struct comm *c, int number) {
    greet_all(c, PREBARRIER_CONTEXT | c->context, NULL, (int)c->size, c->rank, number);
}

/* The members of the group as ranks of comm; NULL if one of them is not in comm. */
static int *ranks_of(MPI_Group group, int count, MPI_Comm comm) {
    int *ranks = malloc(2 * (size_t)(count ? count : 1) * sizeof *ranks);
    MPI_Group all = MPI_GROUP_NULL;
    if (!ranks) /* the others would wait for this process */
        p2p_out_of_memory("the processes of a collective call");
    bool ok = host_Comm_group(comm, &all) == MPI_SUCCESS;
    for (int i = 0; ok && i < count; i++)
        ranks[count + i] = i;
    ok = ok && host_Group_translate_ranks(group, count, ranks + count, all, ranks) == MPI_SUCCESS;
    for (int i = 0; ok && i < count; i++)
        ok = ranks[i] != MPI_UNDEFINED;
    if (all != MPI_GROUP_NULL)
        host_Group_free(&all);
    if (ok)
        return ranks;
    free(ranks);
    return NULL;
}

/* The members of the group as ranks of the managed communicator comm; NULL if this process is not in the group or one
 * of them is not in comm. */
static int *places_in(MPI_Group group, MPI_Comm comm, int *count, int *mine) {
    if (group == MPI_GROUP_NULL || host_Group_size(group, count) != MPI_SUCCESS ||
        host_Group_rank(group, mine) != MPI_SUCCESS || *mine == MPI_UNDEFINED)
        return NULL;
    return ranks_of(group, *count, comm);
}

void p2p_prebarrier_group(MPI_Comm comm, MPI_Group group, int tag) {
    struct comm *c = p2p_prebarrier_is_needed() ? p2p_comm_find(comm) : NULL;
    int count, mine;
    int *ranks = c && (unsigned)tag <= p2p_tag_most ? places_in(group, comm, &count, &mine) : NULL;
    if (ranks)
        greet_all(c, PREBARRIER_GROUP, ranks, count, mine, tag);
    free(ranks);
}

static int prebarrier_number_of(const char *word) {
    uint64_t hash = 0;
    for (; word && *word; word++)
        hash = random_mix(hash ^ (unsigned char)*word);
    return (int)(hash & INT_MAX);
}

void p2p_prebarrier_word(MPI_Group group, const char *word) {
    int count, mine;
    int *ranks = p2p_prebarrier_is_needed() ? places_in(group, MPI_COMM_WORLD, &count, &mine) : NULL;
    if (ranks)
        greet_all(p2p_comm_find(MPI_COMM_WORLD), PREBARRIER_WORD, ranks, count, mine,
                  prebarrier_number_of(word));
    free(ranks);
}

/* Exchanges messages with the leader of the other side. */
static void greet_leader(MPI_Group others, int leader, int tag) {
    int there = MPI_UNDEFINED;
    if (host_Group_translate_ranks(others, 1, &leader, p2p_comm_world_group, &there) == MPI_SUCCESS &&
        there != MPI_UNDEFINED)
        greet(p2p_comm_find(MPI_COMM_WORLD), PREBARRIER_LEADERS, there, there, tag);
}

/* Each side makes a barrier, then the leaders exchange messages, then each side makes another barrier. */
void p2p_prebarrier_sides(MPI_Group group, int leader, MPI_Group others, int remote_leader,
                          const char *word) {
    int mine = MPI_UNDEFINED;
    if (!p2p_prebarrier_is_needed() || group == MPI_GROUP_NULL)
        return;
    p2p_prebarrier_word(group, word);
    if (host_Group_rank(group, &mine) == MPI_SUCCESS && mine == leader)
        greet_leader(others, remote_leader, prebarrier_number_of(word));
    p2p_prebarrier_word(group, word);
}

void p2p_prebarrier_leaders(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag) {
    MPI_Group there;
    int mine = MPI_UNDEFINED;
    if (!p2p_prebarrier_is_needed() || comm == MPI_COMM_NULL || host_Comm_rank(comm, &mine) != MPI_SUCCESS)
        return;
    p2p_prebarrier_all_slow(comm);
    if (mine == leader && peers != MPI_COMM_NULL && host_Comm_group(peers, &there) == MPI_SUCCESS) {
        greet_leader(there, remote_leader, tag);
        host_Group_free(&there);
    }
    p2p_prebarrier_all_slow(comm);
}

/* ---- all processes of a communicator ---- */

static bool are_ours(int get(MPI_Comm, MPI_Group *), MPI_Comm comm) {
    MPI_Group group;
    int count = 0;
    if (get(comm, &group) != MPI_SUCCESS)
        return false;
    host_Group_size(group, &count);
    int *ranks = ranks_of(group, count, MPI_COMM_WORLD);
    host_Group_free(&group);
    bool ours = ranks != NULL;
    free(ranks);
    return ours;
}

/* Whether all processes of an unmanaged communicator belong to this program: only then do all of them make the
 * pre-barrier. */
static bool is_among_us(MPI_Comm comm) {
    int inter = 0;
    if (comm == MPI_COMM_NULL || host_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return false;
    return are_ours(host_Comm_group, comm) && (!inter || are_ours(host_Comm_remote_group, comm));
}

static void prebarrier_in_mpi(MPI_Comm comm) {
    MPI_Request request;
    if (host_Ibarrier(comm, &request) == MPI_SUCCESS)
        p2p_wait_host(&request, MPI_STATUS_IGNORE);
}

void p2p_prebarrier_all_slow(MPI_Comm comm) {
    struct comm *c = p2p_remote_is_used ? p2p_comm_find(comm) : NULL;
    log_trace(LOG_MESSAGES, "a call that blocks inside MPI: %s",
              c                    ? "pre-barrier of the communicator's processes"
              : p2p_remote_is_used ? "pre-barrier inside MPI, if all processes are ours"
                                   : "no pre-barrier, as no message goes through MPI");
    if (c)
        greet_members(c, 0);
    else if (p2p_remote_is_used && is_among_us(comm))
        prebarrier_in_mpi(comm);
}

bool p2p_prebarrier_or_replace(MPI_Comm comm, bool may) {
    struct comm *c = p2p_comm_find(comm);
    if (may && (c ? c->has_remote : is_among_us(comm))) {
        log_trace(LOG_MESSAGES,
                  "a blocking collective call becomes its non-blocking equivalent, with progress in between");
        return true;
    }
    p2p_prebarrier_all_slow(comm);
    return false;
}

/* ---- repeated pre-barriers ---- */

struct prebarrier p2p_prebarrier_number(MPI_Comm comm, bool made) {
    struct comm *c = p2p_comm_find(comm);
    struct prebarrier m = {NULL, 1};
    if (!c && !made)
        return m;
    if (!c) {
        m.comm = p2p_context_shadow(comm);
        return m;
    }
    p2p_lock();
    m.number = ++c->prebarriers; /* also if nothing was created, so that it stays equal on all processes */
    c->references += made;
    p2p_unlock();
    m.comm = made ? c : NULL;
    return m;
}

void p2p_prebarrier_repeat(const struct prebarrier *m) {
    greet_members(m->comm, m->number);
}

void p2p_prebarrier_drop(struct prebarrier *m) {
    p2p_lock();
    p2p_comm_release(m->comm);
    p2p_unlock();
}

static void windows_change(int more) {
    p2p_lock();
    p2p_progress_windows(more);
    p2p_unlock();
}

static int prebarrier_drop(MPI_Win win, int key, void *value, void *state) {
    p2p_prebarrier_drop(value);
    windows_change(-1);
    free(value);
    return MPI_SUCCESS;
}

void p2p_prebarrier_keep_slow(int rc, MPI_Comm comm, const MPI_Win *win) {
    struct prebarrier m = p2p_prebarrier_number(comm, rc == MPI_SUCCESS),
                      *kept = m.comm ? malloc(sizeof *kept) : NULL;
    if (!m.comm)
        return;
    if (keyval == MPI_KEYVAL_INVALID)
        host_Win_create_keyval(MPI_WIN_NULL_COPY_FN, prebarrier_drop, &keyval, NULL);
    if (!kept)
        p2p_out_of_memory("the processes of a window");
    *kept = m;
    if (host_Win_set_attr(*win, keyval, kept) != MPI_SUCCESS)
        p2p_out_of_memory("the processes of a window");
    windows_change(1);
}

void p2p_prebarrier_window_slow(MPI_Win win) {
    void *value;
    int found = 0;
    if (!p2p_remote_is_used || keyval == MPI_KEYVAL_INVALID || win == MPI_WIN_NULL)
        return;
    if (host_Win_get_attr(win, keyval, &value, &found) == MPI_SUCCESS && found)
        p2p_prebarrier_repeat(value);
}

/* Tests in a loop, with progress in between. */
int p2p_prebarrier_wait(MPI_Win win) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = hook_Win_test(win, &flag)) == MPI_SUCCESS && !flag)
        p2p_wait_round(&pause);
    return rc;
}
