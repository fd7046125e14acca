/* group.c: groups of processes, each with a communicator.
 *
 * ARMCI_Group is public and freely copied by its owners (Global Arrays keeps it by value), so it holds only
 * constants. The rest lies in front of the table that all copies point to:
 *
 *      ARMCI_Group                      one block
 *      +------------+                  +---------------------------------+
 *      | comm       |                  | part[]: members on my node, and |
 *      | grp_to_abs |---------.        | the masters of the nodes        |  made at first use
 *      | abs_to_grp |-------. |        +---------------------------------+
 *      | rank, size |       |  '------>| absolute id of each member      |
 *      +------------+       '--------->| group rank of each process      |
 *                                      +---------------------------------+
 *
 * A group is created by its members alone: MPI_Comm_create_group. A caller that is not a member gets a group with
 * rank -1, size 0 and no block. The program may use the communicator of a group. We send no messages on it, only
 * collectives, which cannot be confused with the program's as long as all members call both in the same order. */
#include "armci/job/group.h"

#include <errno.h>
#include <stdlib.h>

#include "hearth/armci/armcix.h"
#include "base/compiler.h"
#include "base/log.h"

/* The sizes are those of ARMCI-MPI, for which Global Arrays was compiled: with handles of 4 bytes as in MPICH, or 8
 * as in Open MPI. */
enum { HANDLE = sizeof(MPI_Comm) };
_Static_assert(sizeof(void *) == 8 && sizeof(armci_size_t) == 8, "64 bits");
_Static_assert(offsetof(ARMCI_Group, comm) == 0, "Global Arrays hands it to its users");
_Static_assert(offsetof(ARMCI_Group, noncoll_pgroup_comm) == HANDLE, "as in ARMCI-MPI");
_Static_assert(offsetof(ARMCI_Group, grp_to_abs) == 2 * HANDLE, "as in ARMCI-MPI");
_Static_assert(offsetof(ARMCI_Group, abs_to_grp) == 2 * HANDLE + 8, "as in ARMCI-MPI");
_Static_assert(offsetof(ARMCI_Group, rank) == 2 * HANDLE + 16, "as in ARMCI-MPI");
_Static_assert(offsetof(ARMCI_Group, size) == 2 * HANDLE + 20, "as in ARMCI-MPI");
_Static_assert(sizeof(ARMCI_Group) == 2 * HANDLE + 24, "as in ARMCI-MPI");
_Static_assert(sizeof(armci_hdl_t) == 8, "as in ARMCI-MPI");
_Static_assert(sizeof(struct armcix_mutex_hdl_s) == 2 * HANDLE + 48, "as in ARMCI-MPI");
_Static_assert(offsetof(struct armcix_mutex_hdl_s, grp) == 8, "as in ARMCI-MPI");
_Static_assert(sizeof(armci_giov_t) == 24 && offsetof(armci_giov_t, bytes) == 16, "as in ARMCI-MPI");

static void set_none(ARMCI_Group *group) {
    *group = (ARMCI_Group){.comm = MPI_COMM_NULL, .noncoll_pgroup_comm = MPI_COMM_NULL, .rank = -1};
}

/* ---- creation ---- */

static void fill_table(const char *call, ARMCI_Group *group, int *ranks) {
    MPI_Group all, members;
    for (int i = 0; i < armci_job.size; i++)
        ranks[i] = i;
    armci_check(call, MPI_Comm_group(armci_job.comm, &all));
    armci_check(call, MPI_Comm_group(group->comm, &members));
    armci_check(call, MPI_Group_translate_ranks(members, group->size, ranks, all, group->grp_to_abs));
    armci_check(call, MPI_Group_translate_ranks(all, armci_job.size, ranks, members, group->abs_to_grp));
    MPI_Group_free(&all);
    MPI_Group_free(&members);
}

/* Makes a group from a communicator, and takes ownership of it. */
static void group_adopt(const char *call, MPI_Comm comm, ARMCI_Group *group) {
    set_none(group);
    if (comm == MPI_COMM_NULL)
        return;
    group->comm = comm;
    armci_check(call, MPI_Comm_rank(comm, &group->rank));
    armci_check(call, MPI_Comm_size(comm, &group->size));
    size_t entries = (size_t)group->size + (size_t)armci_job.size;
    struct armci_group_block *b = calloc(1, sizeof *b + entries * sizeof *b->table);
    int *ranks = malloc((size_t)armci_job.size * sizeof *ranks);
    if (!b || !ranks)
        armci_fail(call, "no memory for a group of %d processes", group->size);
    group->grp_to_abs = b->table;
    group->abs_to_grp = b->table + group->size;
    fill_table(call, group, ranks);
    free(ranks);
}

/* Whether this process is in the list. All entries must be members of the parent. */
static bool group_is_listed(const char *call, const ARMCI_Group *parent, int count, const int *list) {
    bool listed = false;
    for (int i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= parent->size)
            armci_fail(call, "process %d, number %d of the list, is not one of the %d of the parent group",
                       list[i], i, parent->size);
        if (list[i] == parent->rank && listed)
            armci_fail(call, "process %d is twice in the list", list[i]);
        listed |= list[i] == parent->rank;
    }
    return listed;
}

MPI_Comm armci_group_make_comm(const char *call, const ARMCI_Group *group, int count, const int *ranks,
                               int tag) {
    MPI_Group all, members;
    MPI_Comm comm;
    armci_check(call, MPI_Comm_group(group->comm, &all));
    armci_check(call, MPI_Group_incl(all, count, ranks, &members));
    armci_check(call, MPI_Comm_create_group(group->comm, members, tag, &comm));
    MPI_Group_free(&all);
    MPI_Group_free(&members);
    return comm;
}

static void group_create(const char *call, int count, const int *list, ARMCI_Group *parent,
                         ARMCI_Group *group) {
    armci_need_open(call);
    ARMCI_Group made;
    set_none(&made);
    if (parent->rank >= 0 && group_is_listed(call, parent, count, list))
        group_adopt(call, armci_group_make_comm(call, parent, count, list, TAG_GROUP), &made);
    log_debug(LOG_ARMCI, "%s: a group of %d of %d ranks%s", call, count, parent->size,
              made.rank < 0 ? ", without this one" : "");
    *group = made; /* group may point to the parent */
}

void ARMCI_Group_create(int grp_size, int *pid_list, ARMCI_Group *group_out) {
    group_create("ARMCI_Group_create", grp_size, pid_list, &armci_job.default_group, group_out);
}

void ARMCI_Group_create_child(int grp_size, int *pid_list, ARMCI_Group *group_out,
                              ARMCI_Group *group_parent) {
    group_create("ARMCI_Group_create_child", grp_size, pid_list, group_parent, group_out);
}

int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *new_group) {
    armci_need_open("ARMCIX_Group_split");
    MPI_Comm comm;
    if (parent->rank < 0)
        return MPI_ERR_COMM;
    int err = MPI_Comm_split(parent->comm, color, key, &comm);
    if (err == MPI_SUCCESS)
        group_adopt("ARMCIX_Group_split", comm, new_group);
    return err;
}

int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *new_group) {
    armci_need_open("ARMCIX_Group_dup");
    MPI_Comm comm;
    if (parent->rank < 0)
        return MPI_ERR_COMM;
    int err = MPI_Comm_dup(parent->comm, &comm);
    if (err == MPI_SUCCESS)
        group_adopt("ARMCIX_Group_dup", comm, new_group);
    return err;
}

/* ---- release ---- */

static void dissolve(ARMCI_Group *group) {
    armci_scope_free(group);
    free(armci_group_block(group));
    MPI_Comm_free(&group->comm);
    set_none(group);
}

void ARMCI_Group_free(ARMCI_Group *group) {
    armci_need_open("ARMCI_Group_free");
    if (group->rank < 0) {
        set_none(group);
        return;
    }
    if (group->grp_to_abs == armci_job.world_group.grp_to_abs)
        armci_fail("ARMCI_Group_free", "the group of all processes cannot be freed");
    if (group->grp_to_abs == armci_job.default_group.grp_to_abs)
        armci_job.default_group = armci_job.world_group;
    dissolve(group);
}

/* ---- queries ---- */

int ARMCI_Group_rank(ARMCI_Group *group, int *rank) {
    *rank = group->rank;
    return group->rank < 0;
}

void ARMCI_Group_size(ARMCI_Group *group, int *size) {
    *size = group->size;
}

int ARMCI_Absolute_id(ARMCI_Group *group, int group_rank) {
    if (UNLIKELY(group_rank < 0 || group_rank >= group->size))
        armci_fail("ARMCI_Absolute_id", "rank %d is not in a group of %d", group_rank, group->size);
    return group->grp_to_abs[group_rank];
}

void ARMCI_Group_set_default(ARMCI_Group *group) {
    armci_need_open("ARMCI_Group_set_default");
    armci_job.default_group = *group;
}

void ARMCI_Group_get_default(ARMCI_Group *group_out) {
    armci_need_open("ARMCI_Group_get_default");
    *group_out = armci_job.default_group;
}

void ARMCI_Group_get_world(ARMCI_Group *group_out) {
    armci_need_open("ARMCI_Group_get_world");
    *group_out = armci_job.world_group;
}

void ARMCIX_Get_world_comm(MPI_Comm *comm) {
    armci_need_open("ARMCIX_Get_world_comm");
    *comm = armci_job.world_group.comm;
}

int armci_group_open(void) {
    MPI_Comm comm;
    if (MPI_Comm_dup(armci_job.comm, &comm) != MPI_SUCCESS) {
        log_error("ARMCI_Init: MPI could not duplicate the communicator of all processes");
        return -EIO;
    }
    group_adopt("ARMCI_Init", comm, &armci_job.world_group);
    armci_job.default_group = armci_job.world_group;
    return 0;
}

void armci_group_close(void) {
    dissolve(&armci_job.world_group);
    set_none(&armci_job.default_group);
}
