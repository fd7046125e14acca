/* record_targets.c: see record_targets.h. A target's rank in MPI_COMM_WORLD is asked for when it is first used. */
#include "mpi/rma/record/record_targets.h"

#include "mpi/rma/window/window.h"

enum { WORLD_UNKNOWN = 0 };

static int target_world(struct window *w, int target) {
    struct rma_target *t = &w->targets[target];
    MPI_Group group;
    if (UNLIKELY(t->world == WORLD_UNKNOWN)) {
        t->world = -1;
        if (host_Win_get_group(w->handle, &group) == MPI_SUCCESS) {
            int rank = targets_world_rank(group, target);
            t->world = rank < 0 ? -1 : rank + 1;
            host_Group_free(&group);
        }
    }
    return t->world < 0 ? -1 : t->world - 1;
}

void rma_record_target(MPI_Win win, int target, enum target_access what, MPI_Count count, MPI_Datatype type,
                       uint64_t ticks) {
    struct window *w = targets_are_observed ? rma_window_find(win) : NULL;
    if (!w || !rma_window_target(w, target))
        return;
    rma_lock();
    int world = target_world(w, target);
    rma_unlock();
    targets_note(world, what, what == ACCESS_SYNC ? 0 : targets_bytes(count, type), ticks);
}
