/* record_targets.c: see record_targets.h. A target's rank in MPI_COMM_WORLD, and with it its row, is asked for when it is first
 * used. Gets are counted in the target, which they have at hand. */
#include "mpi/rma/record/record_targets.h"

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

static struct rma_target *record_target_find(MPI_Win win, int target) {
    struct window *w = targets_are_observed ? rma_window_find(win) : NULL;
    struct rma_target *t = w ? rma_window_target(w, target) : NULL;
    return t && t->row ? t : NULL;
}

void rma_record_target_slow(MPI_Win win, int target, enum target_access what, MPI_Count count,
                            MPI_Datatype type) {
    struct rma_target *t = record_target_find(win, target);
    if (t)
        targets_note(t->row, what, targets_bytes(count, type));
}

void rma_record_ticks(MPI_Win win, int target, uint64_t ticks) {
    struct rma_target *t = record_target_find(win, target);
    if (t)
        targets_note_row_ticks(t->row, ticks);
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
