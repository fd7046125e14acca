/* serve_target.c: the targets of a served window.
 *
 *      ranks of this node    made with the window, as all of them must be reached; numbers 0, 1, 2 ... by ascending rank
 *      ranks of other nodes  made when this process first uses them: see tables/rank_table.h
 *
 * A target that was never used has no operation in flight, no lock of MPI_Win_lock, and is in no epoch of MPI_Win_start: these calls
 * make its record. The epochs of MPI_Win_fence and MPI_Win_lock_all are those of all targets. They are noted in the window, for records
 * that are made later, and in every record, so that an operation looks at nothing else.
 *
 * serve_lock guards the records and both notes. The helper's thread only looks up, and only ranks of its node. */
#include <limits.h>

#include "base/log.h"
#include "mpi/windows/serving/remote/domain.h"
#include "mpi/windows/serving/serving.h"
#include "tables/rank_table.h"

struct served_target serve_no_target = {.head = {.rank = -1}};

/* Stands for a target for which there is no memory: no access lies in it, so that each is refused. */
static struct served_target lost_target = {.head = {.rank = -1}};

/* ---- records ---- */

static struct served_target *target_prepare(struct served *s, int rank) {
    struct served_target *t = (struct served_target *)(void *)rank_table_prepare(&s->targets, rank);
    if (!t)
        log_error(
            "windows: no memory for the state of target %d: is the memory of this process limited (ulimit "
            "-v)?",
            rank);
    return t;
}

struct served_target *serve_target_make_here(struct served *s, int rank) {
    struct served_target *t = target_prepare(s, rank);
    if (t)
        rank_table_add(&s->targets, &t->head);
    return t;
}

/* A target of another node, with serve_lock held. */
static struct served_target *target_add(struct served *s, int rank) {
    struct served_target *t = target_prepare(s, rank);
    if (!t)
        return NULL;
    struct rank_memory m = memory_table_read(&s->ranks.table, rank);
    *t = (struct served_target){.head = t->head,
                                .base = m.base,
                                .bytes = s->dynamic ? PTRDIFF_MAX : m.bytes,
                                .unit = (uint32_t)m.unit,
                                .held = s->locked_all ? (uint8_t)(s->held_all | HOLD_REMOTE) : HOLD_NONE,
                                .fenced = s->fenced,
                                .node = serve_domain_node(s->domain, m.process, rank),
                                .remote = s};
    rank_table_add(&s->targets, &t->head);
    return t;
}

/* Another thread may have made it meanwhile. */
static struct served_target *target_make_slow(struct served *s, int rank) {
    serve_lock();
    struct served_target *t = serve_target_find(s, rank);
    if (t->head.rank < 0)
        t = target_add(s, rank);
    serve_unlock();
    return t;
}

struct served_target *serve_target_make(struct served *s, int rank) {
    struct served_target *t = serve_target_find(s, rank);
    return t->head.rank >= 0 ? t : target_make_slow(s, rank);
}

struct served_target *serve_target_enter(struct served *s, int rank) {
    struct served_target *t = serve_target_find(s, rank);
    if (serve_epoch_is_open(t))
        return t;
    if ((unsigned)rank >= (unsigned)s->size || !(s->fenced || s->locked_all))
        return NULL;
    t = serve_target_make(s, rank);
    return t ? t : &lost_target;
}

bool serve_target_is_mapped(MPI_Win handle, int rank) {
    const struct served *s = serve_find(handle);
    return s && serve_target_find(s, rank)->mapped;
}

/* ---- epochs of all targets ---- */

static struct served_target *target_at(const struct served *s, uint32_t number) {
    return (struct served_target *)(void *)rank_table_at(&s->targets, number);
}

void serve_target_mark_fenced(struct served *s, bool fenced) {
    serve_lock();
    for (uint32_t i = 0; s->fenced != fenced && i < s->targets.count; i++)
        target_at(s, i)->fenced = fenced;
    s->fenced = fenced;
    serve_unlock();
}

void serve_target_mark_held(struct served *s, enum hold hold) {
    uint8_t held = hold == HOLD_NONE ? HOLD_NONE : (uint8_t)(hold | HOLD_REMOTE);
    serve_lock();
    for (uint32_t i = (uint32_t)s->here_count; i < s->targets.count; i++)
        target_at(s, i)->held = held;
    s->held_all = (uint8_t)hold;
    s->locked_all = hold != HOLD_NONE;
    serve_unlock();
}
