/* record_targets.c: see record_targets.h. A target's rank in MPI_COMM_WORLD, and with it its row, is asked for when it is first
 * used. */
#include "mpi/rma/record/record_targets.h"

static struct target_row *target_row_find(const struct window *w, int target) {
    MPI_Group group;
    int rank = -1;
    if (host_Win_get_group(w->handle, &group) == MPI_SUCCESS) {
        rank = targets_world_rank(group, target);
        host_Group_free(&group);
    }
    return targets_row(rank);
}

void rma_record_target_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                            MPI_Datatype type, uint64_t ticks) {
    struct window *w = targets_are_observed ? rma_window_find(win) : NULL;
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    if (!t)
        return;
    rma_lock();
    if (!t->row)
        t->row = target_row_find(w, target);
    rma_unlock();
    targets_note(t->row, what, what == ACCESS_SYNC ? 0 : targets_bytes(count, type), ticks);
}
