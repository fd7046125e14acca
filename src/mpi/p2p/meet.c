/* meet.c: a process that sits in a call of MPI cannot answer messages that come through MPI, because the helper thread must not call
 * it. So that none waits there for long, the processes of a collective call meet first, in a barrier in which they go on
 * answering; what then remains to be done inside MPI waits for nobody who is not there. MPI allows every collective call to
 * synchronise.
 *
 * Blocking collectives need no such meeting: they are made of their non-blocking twins (acquire.c). Calls that are collective over a
 * window find its processes by a communicator that the window carries as an attribute. Where all processes are reached
 * through shared memory nobody meets: the helper thread does it all. */
#include "mpi/p2p/meet.h"

#include <stdlib.h>

#include "mpi/hooks.h"
#include "mpi/p2p/p2p.h"

static int keyval = MPI_KEYVAL_INVALID;

void meet_here(MPI_Comm comm) {
    MPI_Request request;
    if (host_Ibarrier(comm, &request) == MPI_SUCCESS)
        p2p_wait_host(&request, MPI_STATUS_IGNORE);
}

void meet_slowly(MPI_Comm comm) {
    if (far_is_used && comm_find(comm))
        meet_here(comm);
}

/* ---- some of a communicator: by messages of our own, under contexts that no communicator has ---- */

/* An empty message there and one from there. */
static void greet(struct comm *c, uint32_t context, int to, int from, int tag) {
    struct comm shadow = *c;
    struct request r, s;
    shadow.context = context;
    request_fill(&r, REQUEST_RECV, &shadow);
    request_fill(&s, REQUEST_SEND, &shadow);
    data_in_one(&r.data, "", 0);
    data_in_one(&s.data, "", 0);
    r.rank = from;
    s.rank = to;
    r.tag = s.tag = tag;
    p2p_lock();
    recv_begin(&r);
    send_begin(&s);
    p2p_wait(&s);
    p2p_wait(&r);
    p2p_unlock();
}

/* Each greets the ones 1, 2, 4 ... places away: when all is done everybody has heard of everybody. */
static void greet_all(struct comm *c, const int ranks[], int count, int mine, int tag) {
    for (int away = 1; away < count; away *= 2)
        greet(c, MEET_CONTEXT, ranks[(mine + away) % count], ranks[(mine + count - away) % count], tag);
}

/* Places in the group, as ranks of comm; NULL if the group is not one of its processes. */
static int *ranks_of(MPI_Group group, int count, MPI_Comm comm) {
    int *ranks = malloc(2 * (size_t)count * sizeof *ranks);
    MPI_Group all = MPI_GROUP_NULL;
    bool ok = ranks && host_Comm_group(comm, &all) == MPI_SUCCESS;
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

void meet_group(MPI_Comm comm, MPI_Group group, int tag) {
    struct comm *c = meet_is_needed() && group != MPI_GROUP_NULL ? comm_find(comm) : NULL;
    int count = 0, mine = MPI_UNDEFINED;
    if (!c || (unsigned)tag > p2p_tag_most || host_Group_size(group, &count) != MPI_SUCCESS ||
        host_Group_rank(group, &mine) != MPI_SUCCESS || mine == MPI_UNDEFINED)
        return;
    int *ranks = ranks_of(group, count, comm);
    if (ranks)
        greet_all(c, ranks, count, mine, tag);
    else
        log_debug("processes do not meet before MPI_Comm_create_group: no memory, or a group of others");
    free(ranks);
}

/* The leaders speak for those who have met on their side; then they tell them. */
void meet_leaders(MPI_Comm comm, int leader, MPI_Comm peers, int remote_leader, int tag) {
    struct comm *c = meet_is_needed() ? comm_find(comm) : NULL;
    if (!c)
        return;
    meet_here(comm);
    struct comm *p = c->rank == leader ? comm_to(0, remote_leader, tag, peers) : NULL;
    if (p)
        greet(p, MEET_CONTEXT + 1, remote_leader, remote_leader, tag);
    meet_here(comm);
}

/* Only if all are processes of this program: others may know nothing of it. */
void meet_both(MPI_Comm comm) {
    MPI_Group there;
    int inter = 0, count = 0;
    if (!meet_is_needed() || comm == MPI_COMM_NULL || host_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        !inter)
        return;
    if (host_Comm_remote_group(comm, &there) != MPI_SUCCESS)
        return;
    host_Group_size(there, &count);
    int *ranks = ranks_of(there, count, MPI_COMM_WORLD);
    host_Group_free(&there);
    if (ranks)
        meet_here(comm);
    free(ranks);
}

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

bool meet_is_among_us(MPI_Comm comm) {
    int inter = 0;
    if (comm_find(comm))
        return true;
    if (comm == MPI_COMM_NULL || host_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return false;
    return are_ours(host_Comm_group, comm) && (!inter || are_ours(host_Comm_remote_group, comm));
}

/* ---- windows ---- */

static int drop(MPI_Win win, int key, void *value, void *state) {
    MPI_Comm comm = (MPI_Comm)(intptr_t)value;
    return host_real.Comm_free(&comm);
}

void meet_keep_slowly(MPI_Comm comm, MPI_Win win) {
    MPI_Comm copy;
    if (!far_is_used || !comm_find(comm))
        return;
    if (keyval == MPI_KEYVAL_INVALID &&
        host_Win_create_keyval(MPI_WIN_NULL_COPY_FN, drop, &keyval, NULL) != MPI_SUCCESS)
        return;
    if (host_real.Comm_dup(comm, &copy) == MPI_SUCCESS)
        host_Win_set_attr(win, keyval, (void *)(intptr_t)copy);
}

void meet_window_slowly(MPI_Win win) {
    void *value;
    int found = 0;
    if (!far_is_used || keyval == MPI_KEYVAL_INVALID || win == MPI_WIN_NULL)
        return;
    if (host_Win_get_attr(win, keyval, &value, &found) == MPI_SUCCESS && found)
        meet_here((MPI_Comm)(intptr_t)value);
}

/* By tests, with progress in between. */
int meet_wait(MPI_Win win) {
    struct pause pause = {0};
    int flag = 0, rc;
    while ((rc = hook_Win_test(win, &flag)) == MPI_SUCCESS && !flag) {
        p2p_lock();
        int n = p2p_progress();
        p2p_unlock();
        if (!n)
            p2p_pause(&pause);
    }
    return rc;
}
