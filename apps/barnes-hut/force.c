/* force.c: the force phase: for each body of this rank a walk through the global tree.
 *
 * Over most networks a get is served only while its target is inside MPI. A rank whose walks need no get for a
 * while (all hits in blocks, or all nodes its own) therefore calls MPI periodically, as the caching library
 * does by itself when it answers gets from its cache. */
#include "bh.h"

#include <inttypes.h>

#include "base/clock.h"

enum { LOOK_IN_NS = 20000 };

static void look_in(uint64_t *last) {
    int flag;
    uint64_t now = clock_ns();
    if (now - *last < LOOK_IN_NS)
        return;
    *last = now;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void prepare(struct bh_fetch *f, struct bh_force *force, const struct bh_tree *t,
                    const struct bh_bodies *b) {
    const struct bh_options *o = force->options;
    double side = t->cube.side;
    *f = (struct bh_fetch){.tree = t,
                           .blocks = force->blocks,
                           .rank = b->rank,
                           .theta2 = o->theta * o->theta,
                           .softening = o->softening};
    for (int level = 0; level <= BH_LEVELS; level++, side /= 2)
        f->side2[level] = side * side;
}

static void say_progress(const struct bh_force *force, uint64_t done, uint64_t total) {
    app_progress("step %" PRIu64 " of %" PRIu64 ", rank 0: %3" PRIu64 " %% of its bodies", force->step,
                 force->options->steps, 100 * done / total);
}

/* Limits of a partial pass over the bodies. */
struct limit {
    uint64_t bodies, ns; /* 0: no limit */
};

static void walk_all(struct bh_fetch *f, const struct bh_force *force, struct bh_bodies *b,
                     struct limit limit) {
    uint64_t began = clock_ns(), last = began;
    uint64_t count = limit.bodies && limit.bodies < b->count ? limit.bodies : b->count;
    for (uint64_t i = 0; i < count && (!limit.ns || clock_ns() - began < limit.ns); i++) {
        uint64_t gets = f->gets;
        bh_walk(f, &b->list[i]);
        if (f->gets == gets && b->ranks > 1)
            look_in(&last);
        if (b->rank == 0)
            say_progress(force, i + 1, count);
    }
}

/* Seconds that this rank computed, and then waited. */
struct pass {
    double force, wait;
};

static struct pass pass(struct bh_fetch *fetch, const struct bh_force *force, struct bh_tree *t,
                        struct bh_bodies *b, struct limit limit) {
    bool forget = !force->options->no_invalidate;
    MPI_Barrier(MPI_COMM_WORLD); /* all trees are complete */
    bh_window_begin_reading(&t->window, forget);
    if (force->blocks && forget)
        bh_blocks_forget(force->blocks);
    uint64_t began = clock_ns();
    walk_all(fetch, force, b, limit);
    uint64_t done = clock_ns();
    bh_window_end_reading(&t->window);
    return (struct pass){.force = (double)(done - began) * 1e-9, .wait = (double)(clock_ns() - done) * 1e-9};
}

void bh_force(struct bh_force *force, struct bh_tree *t, struct bh_bodies *b, struct bh_result *r) {
    struct bh_fetch fetch;
    prepare(&fetch, force, t, b);
    struct pass times = pass(&fetch, force, t, b, (struct limit){0});
    r->times.force += times.force;
    r->times.wait += times.wait;
    for (uint64_t i = 0; i < b->count; i++)
        r->visits += b->list[i].cost;
    r->forces += b->count;
    r->remote += fetch.remote;
    r->gets += fetch.gets;
    r->bytes += fetch.bytes;
}

static int use_block(struct bh_force *f, uint64_t block) {
    bh_blocks_close(f->blocks);
    f->block = block;
    f->blocks = bh_blocks_open(f->options->cache_memory, block);
    return app_agree(f->blocks ? APP_OK : APP_BAD_INPUT,
                     "no memory for the blocks: use a smaller --cache-memory");
}

int bh_force_open(struct bh_force *f, const struct bh_options *o) {
    *f = (struct bh_force){.options = o};
    return o->cache == BH_BLOCKS && o->block ? use_block(f, o->block) : APP_OK;
}

void bh_force_close(struct bh_force *f) {
    bh_blocks_close(f->blocks);
    f->blocks = NULL;
}

struct trial {
    uint64_t block; /* the best so far; 0: none yet */
    double seconds; /* of the slowest rank */
};

enum { LEAST_BLOCK = 64, MOST_BLOCK = 262144, SAMPLE = 500 /* bodies of a rank */ };

/* Measures one block size with a sample of the bodies; a size that takes longer than the best so far is
 * abandoned. The values left in the bodies do not matter: the real force phase follows. */
static int try_block(struct bh_force *f, struct bh_tree *t, struct bh_bodies *b, uint64_t block,
                     struct trial *best) {
    struct bh_fetch fetch;
    double seconds;
    if (!bh_blocks_fit(f->options->cache_memory, block))
        return APP_OK;
    int code = use_block(f, block);
    if (code)
        return code;
    prepare(&fetch, f, t, b);
    struct limit limit = {.bodies = SAMPLE, .ns = best->block ? 1 + (uint64_t)(best->seconds * 1.2e9) : 0};
    struct pass times = pass(&fetch, f, t, b, limit);
    MPI_Allreduce(&times.force, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!best->block || seconds < best->seconds)
        *best = (struct trial){.block = block, .seconds = seconds};
    return APP_OK;
}

/* Repeats the first force phase with other block sizes: every second power of two, then the neighbours of the
 * best. Large sizes come first, because a bad large size costs less. */
int bh_force_tune(struct bh_force *f, struct bh_tree *t, struct bh_bodies *b) {
    static const uint64_t sizes[] = {16384, 65536, MOST_BLOCK, 4096,
                                     1024,  256,   LEAST_BLOCK}; /* which always fits */
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    struct trial best = {0};
    int code = APP_OK;
    if (f->options->cache != BH_BLOCKS || f->options->block)
        return APP_OK;
    for (int i = 0; i < COUNT && !code; i++)
        code = try_block(f, t, b, sizes[i], &best);
    uint64_t middle = best.block;
    if (!code && middle > LEAST_BLOCK)
        code = try_block(f, t, b, middle / 2, &best);
    if (!code && middle < MOST_BLOCK)
        code = try_block(f, t, b, middle * 2, &best);
    if (!code)
        code = use_block(f, best.block);
    if (!code && b->rank == 0 && !f->options->manner.quiet)
        printf("block size       %" PRIu64 " bytes, the fastest of %d to %d: %.3f s\n", best.block,
               LEAST_BLOCK, MOST_BLOCK, best.seconds);
    return code;
}
