/* scope.c: the participants of a group's collective: all members, the members on this node, or the first of each
 * node.
 *
 * The nodes are those that domain.c reports. A communicator for a part is created when it is first needed: a caller
 * that needs it is in a collective of that part, so all participants are present. Two parts need no communicator of
 * their own: all members have the group's, and a single member has MPI_COMM_SELF, as every node in ARMCI-MPI's
 * topology. */
#include "armci/job/group.h"

#include <stdlib.h>

#include "base/compiler.h"

static int node_of_member(const ARMCI_Group *group, int rank) {
    return armci_domain_id(ARMCI_DOMAIN_SMP, group->grp_to_abs[rank]);
}

/* Both write the group ranks of the participants to `list`, which has room for all members, and return how many. */
static int list_node(const ARMCI_Group *group, int *list) {
    int count = 0, mine = node_of_member(group, group->rank);
    for (int i = 0; i < group->size; i++)
        if (node_of_member(group, i) == mine)
            list[count++] = i;
    return count;
}

static int list_masters(const char *call, const ARMCI_Group *group, int *list) {
    int count = 0;
    bool *seen = calloc((size_t)armci_domain_count(ARMCI_DOMAIN_SMP), sizeof *seen);
    if (!seen)
        armci_fail(call, "no memory for a list of the nodes");
    for (int i = 0; i < group->size; i++) {
        int node = node_of_member(group, i);
        if (!seen[node])
            list[count++] = i;
        seen[node] = true;
    }
    free(seen);
    return count;
}

static MPI_Comm scope_comm_of(const char *call, const ARMCI_Group *group, int scope, int count,
                              const int *list) {
    if (count == group->size)
        return group->comm;
    if (count == 1)
        return MPI_COMM_SELF;
    return armci_group_make_comm(call, group, count, list, scope == SCOPE_NODE ? TAG_NODE : TAG_MASTERS);
}

static void make_part(const char *call, const ARMCI_Group *group, int scope, struct armci_part *part) {
    size_t room = (size_t)group->size * sizeof(int);
    int *list = malloc(room), count;
    part->rank_of = malloc(room);
    if (!list || !part->rank_of)
        armci_fail(call, "no memory for a list of %d processes", group->size);
    count = scope == SCOPE_NODE ? list_node(group, list) : list_masters(call, group, list);
    for (int i = 0; i < group->size; i++)
        part->rank_of[i] = -1;
    for (int i = 0; i < count; i++)
        part->rank_of[list[i]] = i;
    part->comm =
        part->rank_of[group->rank] < 0 ? MPI_COMM_NULL : scope_comm_of(call, group, scope, count, list);
    part->made = true;
    free(list);
}

MPI_Comm armci_scope_comm(const char *call, const ARMCI_Group *group, int scope) {
    armci_need_open(call);
    if (UNLIKELY(group->rank < 0))
        armci_fail(call, "this process is not a member of the group");
    if (LIKELY(scope == SCOPE_ALL))
        return group->comm;
    if (scope != SCOPE_NODE && scope != SCOPE_MASTERS)
        armci_fail(call, "scope %d is unknown: use SCOPE_ALL, SCOPE_NODE or SCOPE_MASTERS", scope);
    struct armci_part *part = &armci_group_block(group)->part[scope];
    if (!part->made)
        make_part(call, group, scope, part);
    return part->comm;
}

int armci_scope_rank(const char *call, const ARMCI_Group *group, int scope, int absolute) {
    int member = absolute >= 0 && absolute < armci_job.size ? group->abs_to_grp[absolute] : MPI_UNDEFINED;
    int rank = member == MPI_UNDEFINED ? -1
               : scope == SCOPE_ALL    ? member
                                       : armci_group_block(group)->part[scope].rank_of[member];
    if (UNLIKELY(rank < 0))
        armci_fail(call, "process %d does not take part: it is not in the group or not in the scope",
                   absolute);
    return rank;
}

void armci_scope_free(ARMCI_Group *group) {
    for (int scope = SCOPE_NODE; scope <= SCOPE_MASTERS; scope++) {
        struct armci_part *part = &armci_group_block(group)->part[scope];
        if (part->made && part->comm != MPI_COMM_NULL && part->comm != MPI_COMM_SELF &&
            part->comm != group->comm)
            MPI_Comm_free(&part->comm);
        free(part->rank_of);
    }
}
