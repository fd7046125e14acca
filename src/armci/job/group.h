/* group.h: groups, internal part. */
#ifndef HEARTH_ARMCI_GROUP_H
#define HEARTH_ARMCI_GROUP_H

#include <stddef.h>

#include "armci/job/armci_internal.h"

/* The members of a group that take part in a scope. Made at first use, by scope.c. */
struct armci_part {
    bool made;
    MPI_Comm comm; /* MPI_COMM_NULL if this process is not one of them */
    int *rank_of;  /* [group size]: the rank in comm, or -1 */
};

/* The block that all copies of a group point to; see the drawing in group.c. */
struct armci_group_block {
    struct armci_part part[SCOPE_MASTERS + 1];
    int table[];
};

static inline struct armci_group_block *armci_group_block(const ARMCI_Group *group) {
    return (struct armci_group_block *)((char *)group->grp_to_abs -
                                        offsetof(struct armci_group_block, table));
}

/* Opens world_group and default_group of armci_job, with all processes of its comm, on a communicator of their own:
 * programs get it and may use it freely. Collective. Returns 0, or a negative code after logging an error. */
int armci_group_open(void);
void armci_group_close(void);

/* A communicator of some members of a group, by their group ranks. Collective over these members. `tag` as for
 * MPI_Comm_create_group: one of the values below. */
enum { TAG_GROUP = 1, TAG_NODE, TAG_MASTERS, TAG_RANGE };
MPI_Comm armci_group_make_comm(const char *call, const ARMCI_Group *group, int count, const int *ranks,
                               int tag);

/* ---- scope.c ---- */

/* The communicator of the members that take part in a scope, in the order of their group ranks; MPI_COMM_NULL if
 * this process is not one of them. Calls armci_fail if it is not a member of the group. Collective over those
 * members. */
MPI_Comm armci_scope_comm(const char *call, const ARMCI_Group *group, int scope);

/* The rank there of an absolute id; calls armci_fail if that process does not take part. After armci_scope_comm. */
int armci_scope_rank(const char *call, const ARMCI_Group *group, int scope, int absolute);

void armci_scope_free(ARMCI_Group *group);

#endif
