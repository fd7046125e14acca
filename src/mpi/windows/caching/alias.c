/* alias.c: aliasing windows, that is, windows over the same memory.
 *
 * All ranks exchange the addresses of their memory when a window is created, so that overlaps are known. A write
 * through one window must drop entries from the caches of the windows that alias it.
 *
 * Whether two windows alias each other is found out at once, in O(ranks). At which rank of the other window a target's memory
 * lies is found out at the first write to that target. */
#include "mpi/windows/caching/alias.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "mpi/windows/caching/admission.h"
#include "mpi/windows/caching/inflight/inflight.h"

enum { NOT_THERE = -1, NOT_KNOWN = -2 };

/* ---- overlaps ---- */

struct overlap {
    const struct window *a, *b;
    bool found;
};

static bool ranks_overlap(const struct window *a, int rank_a, const struct window *b, int rank_b) {
    if (a->dynamic || b->dynamic)
        return true;
    struct rank_memory x = memory_table_read(&a->memory.table, rank_a),
                       y = memory_table_read(&b->memory.table, rank_b);
    return x.base < y.base + y.bytes && y.base < x.base + x.bytes;
}

static bool overlap_visit(void *arg, int rank_a, int rank_b) {
    struct overlap *o = arg;
    return o->found = ranks_overlap(o->a, rank_a, o->b, rank_b);
}

/* 1: the windows overlap at some process; 0: they do not; or -ENOMEM. Processes of several worlds cannot be compared with those
 * of one: -ENOTSUP. */
static int windows_overlap(const struct window *a, const struct window *b) {
    struct overlap o = {.a = a, .b = b};
    if (a->memory.table.one_world != b->memory.table.one_world)
        return -ENOTSUP;
    int err = memory_table_common(&a->memory.table, &b->memory.table, overlap_visit, &o);
    return err ? err : o.found;
}

static int rank_there(const struct window *a, const struct window *b, int rank) {
    int there = memory_table_find(&b->memory.table, memory_table_process(&a->memory.table, rank), rank);
    return there >= 0 && ranks_overlap(a, rank, b, there) ? there : NOT_THERE;
}

/* Room for the ranks of all targets made so far; false: no memory. */
static bool alias_grow(const struct window *w, struct alias *a, uint32_t number) {
    if (number < a->room)
        return true;
    uint32_t room = w->targets.count > number ? w->targets.count : number + 1;
    room = room < 2 * a->room ? 2 * a->room : room;
    int *more = realloc(a->rank_there, room * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = a->room; i < room; i++)
        more[i] = NOT_KNOWN;
    a->rank_there = more;
    a->room = room;
    return true;
}

int rma_alias_rank_there(const struct window *w, struct alias *a, int rank) {
    const struct rma_target *t = rma_window_peek(w, rank);
    if (t->head.rank < 0 || !alias_grow(w, a, t->head.number))
        return rank_there(w, a->window, rank);
    int *known = &a->rank_there[t->head.number];
    if (*known == NOT_KNOWN)
        *known = rank_there(w, a->window, rank);
    return *known;
}

/* ---- the lists ---- */

static int alias_add(struct window *w, struct window *other) {
    struct alias *more = realloc(w->aliases.list, (w->aliases.count + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    if (!w->aliases.count && !rma_admission_caches(w))
        rma_inflight_assume_busy(w); /* nothing was tracked so far */
    w->aliases.list = more;
    w->aliases.list[w->aliases.count++] = (struct alias){.window = other};
    return 0;
}

static void alias_remove(struct window *w, const struct window *other) {
    for (size_t i = 0; i < w->aliases.count; i++)
        if (w->aliases.list[i].window == other) {
            free(w->aliases.list[i].rank_there);
            w->aliases.list[i--] = w->aliases.list[--w->aliases.count];
        }
}

static void alias_compare(struct window *other, void *arg) {
    struct window *w = arg;
    if (!w->cacheable && !other->cacheable)
        return;
    int status = windows_overlap(w, other);
    if (status > 0)
        status = w->untracked || other->untracked             ? -EAGAIN
                 : alias_add(w, other) || alias_add(other, w) ? -ENOMEM
                                                              : 0;
    if (!status) {
        log_trace(LOG_WINDOWS, "windows %llu and %llu: writes through one %s entries of the other",
                  (unsigned long long)w->serial, (unsigned long long)other->serial,
                  w->aliases.count ? "may drop" : "drop no");
        return;
    }
    log_warn("windows %llu and %llu may overlap, but %s; they are not cached", (unsigned long long)w->serial,
             (unsigned long long)other->serial,
             status == -ENOMEM    ? "there is no memory to record it"
             : status == -ENOTSUP ? "one of them has processes of several MPI_COMM_WORLDs"
                                  : "not all writes to one of them are tracked");
    rma_admission_refuse(w);
    rma_admission_refuse(other);
}

void rma_alias_join(struct window *w) {
    rma_window_each(alias_compare, w);
}

static void part_from(struct window *other, void *arg) {
    alias_remove(other, arg);
}

void rma_alias_leave(struct window *w) {
    rma_window_each(part_from, w);
    while (w->aliases.count)
        free(w->aliases.list[--w->aliases.count].rank_there);
    free(w->aliases.list);
    w->aliases.list = NULL;
}
