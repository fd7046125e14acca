/* alias.c: aliasing windows, that is, windows over the same memory.
 *
 * All ranks exchange the addresses of their memory when a window is created, so that overlaps are known. A write
 * through one window must drop entries from the caches of the windows that alias it. */
#include "mpi/rma/alias.h"

#include <errno.h>
#include <stdlib.h>

#include "mpi/rma/admission.h"
#include "mpi/rma/inflight/inflight.h"

/* The rank of this process in the window, or -1. */
static int rank_of(const struct window *w, uint64_t process) {
    for (int i = 0; i < w->size; i++)
        if (w->targets[i].process == process)
            return i;
    return -1;
}

/* Most windows have the same ranks in the same order, so the same rank is tried first. */
static int rank_of_process(const struct window *w, uint64_t process, int guess) {
    if (guess < w->size && w->targets[guess].process == process)
        return guess;
    return rank_of(w, process);
}

static bool parts_overlap(const struct window *a, const struct rma_target *x, const struct window *b,
                          const struct rma_target *y) {
    if (a->dynamic || b->dynamic)
        return true;
    return x->base < y->base + y->bytes && y->base < x->base + x->bytes;
}

/* For each rank of a: its rank in b if their memory overlaps there, else -1. Sets *shared to whether any overlaps. */
static int *shared_ranks(const struct window *a, const struct window *b, bool *shared) {
    int *ranks = malloc((size_t)a->size * sizeof *ranks);
    *shared = !ranks; /* no memory: unknown, so assume an overlap */
    for (int i = 0; ranks && i < a->size; i++) {
        int there = rank_of_process(b, a->targets[i].process, i);
        ranks[i] = there >= 0 && parts_overlap(a, &a->targets[i], b, &b->targets[there]) ? there : -1;
        *shared |= ranks[i] >= 0;
    }
    return ranks;
}

/* Returns 0, or -ENOMEM if the windows may overlap and this cannot be recorded. */
static int alias_add(struct window *w, struct window *other) {
    bool shared;
    int *ranks = shared_ranks(w, other, &shared);
    struct alias *more =
        shared && ranks ? realloc(w->aliases.list, (w->aliases.count + 1) * sizeof *more) : NULL;
    if (!more) {
        free(ranks);
        return shared ? -ENOMEM : 0;
    }
    if (!w->aliases.count && !rma_admission_caches(w))
        rma_inflight_assume_busy(w); /* nothing was tracked so far */
    w->aliases.list = more;
    w->aliases.list[w->aliases.count++] = (struct alias){.window = other, .rank_there = ranks};
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
    if (!alias_add(w, other) && !alias_add(other, w))
        return;
    log_warn("windows %llu and %llu: no memory to record that they may overlap; they are not cached",
             (unsigned long long)w->serial, (unsigned long long)other->serial);
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
