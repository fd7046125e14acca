/* message.c: ARMCI's messages and collectives, over MPI.
 *
 * Messages use armci_job.comm, which is private to ARMCI. So their tags, which the program chooses, cannot collide with
 * the tags of the program's own MPI messages. Collectives of groups use the groups' communicators. None of these calls
 * waits for one-sided operations; the helper of the node serves other processes' operations meanwhile. */
#include "armci/job/domain.h"
#include "armci/job/group.h"

#include <stdlib.h>

int armci_msg_me(void) {
    armci_need_open("armci_msg_me");
    return armci_job.rank;
}

int armci_msg_nproc(void) {
    armci_need_open("armci_msg_nproc");
    return armci_job.size;
}

/* ---- messages ---- */

void armci_msg_snd(int tag, void *buffer, int len, int to) {
    armci_need_open("armci_msg_snd");
    armci_check("armci_msg_snd", MPI_Send(buffer, len, MPI_BYTE, to, tag, armci_job.comm));
}

static int message_receive(const char *call, int tag, void *buffer, int room, int *length, int from) {
    MPI_Status status;
    armci_need_open(call);
    armci_check(call, MPI_Recv(buffer, room, MPI_BYTE, from, tag, armci_job.comm, &status));
    if (length)
        armci_check(call, MPI_Get_count(&status, MPI_BYTE, length));
    return status.MPI_SOURCE;
}

void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from) {
    message_receive("armci_msg_rcv", tag, buffer, buflen, msglen, from);
}

int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen) {
    return message_receive("armci_msg_rcvany", tag, buffer, buflen, msglen, MPI_ANY_SOURCE);
}

/* ---- barriers ---- */

void parmci_msg_barrier(void) {
    armci_need_open("armci_msg_barrier");
    armci_check("armci_msg_barrier", MPI_Barrier(armci_job.comm));
}

void parmci_msg_group_barrier(ARMCI_Group *group) {
    MPI_Comm comm = armci_scope_comm("armci_msg_group_barrier", group, SCOPE_ALL);
    armci_check("armci_msg_group_barrier", MPI_Barrier(comm));
}

/* As ALIAS, which handles only upper-case names. */
__attribute__((weak, alias("parmci_msg_barrier"))) void armci_msg_barrier(void);
__attribute__((weak, alias("parmci_msg_group_barrier"))) void armci_msg_group_barrier(ARMCI_Group *group);

/* ---- broadcasts ---- */

/* The root is checked only if there are other participants: ARMCI-MPI, whose nodes have one process each, accepts
 * any root for a node. */
static void broadcast(const char *call, int scope, void *buffer, int len, int root,
                      const ARMCI_Group *group) {
    MPI_Comm comm = armci_scope_comm(call, group, scope);
    if (comm == MPI_COMM_NULL || comm == MPI_COMM_SELF)
        return;
    armci_check(call, MPI_Bcast(buffer, len, MPI_BYTE, armci_scope_rank(call, group, scope, root), comm));
}

void armci_msg_bcast(void *buffer, int len, int root) {
    broadcast("armci_msg_bcast", SCOPE_ALL, buffer, len, root, &armci_job.world_group);
}

void armci_msg_brdcst(void *buffer, int len, int root) {
    broadcast("armci_msg_brdcst", SCOPE_ALL, buffer, len, root, &armci_job.world_group);
}

void armci_msg_bcast_scope(int scope, void *buffer, int len, int root) {
    broadcast("armci_msg_bcast_scope", scope, buffer, len, root, &armci_job.world_group);
}

void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group) {
    broadcast("armci_msg_group_bcast_scope", scope, buf, len, root, group);
}

void armci_msg_clus_brdcst(void *buf, int len) {
    armci_need_open("armci_msg_clus_brdcst");
    int root = armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, 0);
    broadcast("armci_msg_clus_brdcst", SCOPE_NODE, buf, len, root, &armci_job.world_group);
}

/* Uses a communicator for this one call: the ranges are not known in advance, and messages of our own could be
 * mistaken for the program's. */
void armci_grp_clus_brdcst(void *buf, int len, int grp_master, int grp_clus_nproc, ARMCI_Group *mastergroup) {
    static const char call[] = "armci_grp_clus_brdcst";
    armci_scope_comm(call, mastergroup, SCOPE_ALL);
    int count = grp_clus_nproc, place = mastergroup->rank - grp_master;
    if (grp_master < 0 || count < 1 || count > mastergroup->size - grp_master)
        armci_fail(call, "%d processes from %d on are not in a group of %d", count, grp_master,
                   mastergroup->size);
    if (place < 0 || place >= count || count == 1)
        return;
    int *ranks = malloc((size_t)count * sizeof *ranks);
    if (!ranks)
        armci_fail(call, "no memory for a list of %d processes", count);
    for (int i = 0; i < count; i++)
        ranks[i] = grp_master + i;
    MPI_Comm comm = armci_group_make_comm(call, mastergroup, count, ranks, TAG_RANGE);
    free(ranks);
    armci_check(call, MPI_Bcast(buf, len, MPI_BYTE, 0, comm));
    MPI_Comm_free(&comm);
}

/* ---- addresses ---- */

static void message_exchange(const char *call, void **addresses, int n, const ARMCI_Group *group) {
    MPI_Comm comm = armci_scope_comm(call, group, SCOPE_ALL);
    if (n != group->size)
        armci_fail(call, "%d addresses for a group of %d processes", n, group->size);
    armci_check(call, MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, addresses, sizeof *addresses,
                                    MPI_BYTE, comm));
}

void armci_exchange_address(void *ptr_ar[], int n) {
    message_exchange("armci_exchange_address", ptr_ar, n, &armci_job.world_group);
}

void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group) {
    message_exchange("armci_exchange_address_grp", ptr_arr, n, group);
}

/* ---- trees ---- */

/* The process with this index in a scope, or -1. */
static int at_index(int scope, int index) {
    if (scope == SCOPE_NODE)
        return armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, -1, index);
    if (scope == SCOPE_MASTERS)
        return index < 0 ? -1 : armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, index, 0);
    return index < armci_job.size ? index : -1;
}

/* The index of this process, or -1. */
static int own_index(int scope) {
    if (scope == SCOPE_ALL)
        return armci_job.rank;
    int place = armci_domain_place(armci_job.rank);
    return scope == SCOPE_NODE ? place : place ? -1 : armci_domain_my_id(ARMCI_DOMAIN_SMP);
}

void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right) {
    armci_need_open("armci_msg_bintree");
    int own = own_index(scope);
    *Root = at_index(scope, 0);
    *Up = own > 0 ? at_index(scope, (own - 1) / 2) : -1;
    *Left = own >= 0 ? at_index(scope, 2 * own + 1) : -1;
    *Right = own >= 0 ? at_index(scope, 2 * own + 2) : -1;
}
