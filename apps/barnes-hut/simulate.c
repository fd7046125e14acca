/* simulate.c: integrates the motion with the kick-drift-kick leapfrog. It is of second order, and its energy
 * error does not grow with time as long as all forces come from the same tree. The energy is that of the forces
 * used, so its drift shows the errors of the time steps and of the tree together. */
#include "bh.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"

struct run {
    const struct bh_options *options;
    struct bh_bodies *bodies;
    struct bh_tree tree;
    struct bh_force force;
    struct bh_result *result;
};

static double since(uint64_t began) {
    return (double)(clock_ns() - began) * 1e-9;
}

/* Builds a new tree for the current positions. */
static int rebuild(struct run *s) {
    struct bh_times *times = &s->result->times;
    uint64_t began = clock_ns();
    bh_cube_around(s->bodies, &s->tree.cube);
    int code = bh_balance(s->bodies, &s->tree.cube);
    times->balance += since(began);
    if (code)
        return code;
    began = clock_ns();
    code = bh_tree_build(&s->tree, s->bodies, s->options->layout);
    times->tree += since(began);
    if (code)
        return code;
    began = clock_ns();
    code = bh_top_exchange(&s->tree, s->bodies);
    times->top += since(began);
    return code;
}

static void kick(struct bh_bodies *b, double dt) {
    for (uint64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->list[i].v[k] += b->list[i].a[k] * dt;
}

static void drift(struct bh_bodies *b, double dt) {
    for (uint64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            b->list[i].x[k] += b->list[i].v[k] * dt;
}

/* The energy of all bodies; a pair's potential is counted at both of its bodies. */
static double energy(const struct bh_bodies *b) {
    double mine = 0, all;
    for (uint64_t i = 0; i < b->count; i++) {
        const struct bh_body *p = &b->list[i];
        double speed2 = p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2];
        mine += 0.5 * p->mass * (speed2 + p->potential);
    }
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Whether all positions are finite: too long a time step ejects bodies beyond all bounds. */
static int check_finite(const struct bh_bodies *b) {
    bool finite = true;
    for (uint64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++)
            finite &= isfinite(b->list[i].x[k]) != 0;
    return app_agree(finite ? APP_OK : APP_FAILED, "a position is not finite: use a smaller --dt");
}

static int step(struct run *s, uint64_t number) {
    struct bh_result *r = s->result;
    double dt = s->options->dt;
    s->force.step = number;
    kick(s->bodies, dt / 2);
    drift(s->bodies, dt);
    int code = check_finite(s->bodies);
    if (!code)
        code = rebuild(s);
    if (code)
        return code;
    bh_force(&s->force, &s->tree, s->bodies, r);
    kick(s->bodies, dt / 2);
    r->energy_end = energy(s->bodies);
    if (r->energy_start != 0)
        r->drift_most = fmax(r->drift_most, fabs(r->energy_end / r->energy_start - 1));
    return APP_OK;
}

static int run_all(struct run *s) {
    struct bh_result *r = s->result;
    int code = rebuild(s);
    if (!code)
        code = bh_force_tune(&s->force, &s->tree, s->bodies);
    if (code)
        return code;
    uint64_t began = clock_ns();
    bh_force(&s->force, &s->tree, s->bodies, r);
    r->energy_start = r->energy_end = energy(s->bodies);
    for (uint64_t i = 1; i <= s->options->steps && !code; i++)
        code = step(s, i);
    r->times.total = since(began);
    return code;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A sum, so that it does not depend on which rank has which body. */
static uint64_t checksum(const struct bh_bodies *b) {
    uint64_t mine = 0, all;
    for (uint64_t i = 0; i < b->count; i++) {
        uint64_t mixed = random_mix(b->list[i].id);
        for (int k = 0; k < 3; k++) {
            mixed = random_mix(mixed ^ bits_of(b->list[i].x[k])) + bits_of(b->list[i].v[k]);
            mixed = random_mix(mixed ^ bits_of(b->list[i].a[k]));
        }
        mine += mixed;
    }
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int bh_simulate(const struct bh_options *o, struct bh_bodies *b, struct bh_result *r) {
    struct run s = {.options = o, .bodies = b, .result = r};
    bh_window_open(&s.tree.window, o->cache);
    int code = bh_force_open(&s.force, o);
    if (b->rank == 0)
        app_progress_begin(&o->manner);
    if (!code && b->total)
        code = run_all(&s);
    if (b->rank == 0)
        app_progress_end();
    r->block = s.force.block;
    r->hits = s.force.blocks ? bh_blocks_hits(s.force.blocks) : 0;
    bh_force_close(&s.force);
    bh_tree_close(&s.tree);
    r->cached = s.tree.window.cached;
    r->stats = s.tree.window.stats;
    if (!code)
        r->checksum = checksum(b);
    return code;
}
