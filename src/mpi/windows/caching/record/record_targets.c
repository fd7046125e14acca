/* record_targets.c: see record_targets.h. A target's rank in MPI_COMM_WORLD, and with it its row, is asked for when it is first
 * used. Gets are counted in the target, which they have at hand. */
#include "mpi/windows/caching/record/record_targets.h"

struct target_row *rma_record_row(const struct window *w, int target) {
    MPI_Group group;
    int rank = -1;
    if (!targets_are_observed)
        return NULL;
    if (host_Win_get_group(w->handle, &group) == MPI_SUCCESS) {
        rank = targets_world_rank(group, target);
        host_Group_free(&group);
    }
    return targets_row(rank);
}

void rma_record_collect_window(const struct window *w) {
    for (uint32_t i = 0; targets_are_observed && i < w->targets.count; i++) {
        struct rma_target *t = rma_window_target_at(w, i);
        if (!t->row)
            continue;
        targets_note_gets(t->row, t->asked.gets + t->fast_gets, t->asked.bytes);
        t->asked = (struct rma_asked){.gets = -t->fast_gets};
    }
}

static void record_collect_open(struct window *w, void *unused) {
    (void)unused;
    rma_record_collect_window(w);
}

void rma_record_collect(void) {
    rma_window_each(record_collect_open, NULL);
}
