/* model.c: the initial bodies, in units in which the gravitational constant and the total mass are 1. Every
 * body is drawn from its own random stream, seeded by the seed and its number, so that it does not depend on
 * the number of ranks.
 *
 *      plummer     a star cluster in equilibrium (Aarseth, Henon and Wielen 1974), total energy -1/4
 *      collision   two of them, half the bodies each, that fall towards each other and narrowly miss
 *      uniform     a cube of side 2, at rest: it collapses
 *      coincident  a few positions with many bodies each, which no tree can divide */
#include "bh.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"

static double draw(struct random *r) { /* in (0, 1) */
    return ((double)(random_next(r) >> 12) + 0.5) * 0x1p-52;
}

static void draw_direction(struct random *r, double length, double *vector) {
    double z = 2 * draw(r) - 1, angle = 2 * M_PI * draw(r), flat = sqrt(1 - z * z);
    vector[0] = length * flat * cos(angle);
    vector[1] = length * flat * sin(angle);
    vector[2] = length * z;
}

/* The speed, in units of the escape speed: von Neumann's rejection under q^2 (1 - q^2)^(7/2). */
static double draw_speed(struct random *r) {
    double q, height;
    do {
        q = draw(r);
        height = 0.1 * draw(r);
    } while (height > q * q * pow(1 - q * q, 3.5));
    return q;
}

static void make_plummer(struct random *r, struct bh_body *b, double mass, double scale) {
    double share = 0.999 * draw(r); /* of the mass inside its radius: the outermost thousandth is omitted */
    double radius = 1 / sqrt(pow(share, -2.0 / 3) - 1);
    double escape = sqrt(2.0) * pow(1 + radius * radius, -0.25);
    draw_direction(r, radius * scale, b->x);
    draw_direction(r, draw_speed(r) * escape * sqrt(mass / scale), b->v);
}

static void make_collision(struct random *r, struct bh_body *b) {
    double side = b->id % 2 ? 1 : -1;
    make_plummer(r, b, 0.5, 3 * M_PI / 16);
    b->x[0] += side * 1.5;
    b->x[1] += side * 0.3;
    b->v[0] -= side * 0.4;
}

static void make_uniform(struct random *r, struct bh_body *b) {
    for (int k = 0; k < 3; k++)
        b->x[k] = 2 * draw(r) - 1;
}

static void make_coincident(struct bh_body *b) {
    b->x[0] = (double)(b->id % 4);
    b->x[1] = (double)(b->id % 3);
}

static void make_body(struct bh_body *b, const struct bh_options *o, uint64_t id) {
    struct random random;
    random_seed(&random, random_mix(o->seed) + id);
    memset(b, 0, sizeof *b);
    b->id = id;
    b->mass = 1 / (double)o->bodies;
    switch (o->model) {
    case BH_PLUMMER:
        make_plummer(&random, b, 1, 3 * M_PI / 16);
        break;
    case BH_COLLISION:
        make_collision(&random, b);
        break;
    case BH_UNIFORM:
        make_uniform(&random, b);
        break;
    default:
        make_coincident(b);
    }
}

/* The approximate memory on rank 0's node: bodies twice while they are exchanged, and two nodes for each. */
static int check_size(const struct bh_bodies *b) {
    MPI_Comm node;
    int neighbours, code = APP_OK;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &neighbours);
    MPI_Comm_free(&node);
    double need =
        (double)b->total * (2 * sizeof(struct bh_body) + 3 * sizeof(struct bh_node)) / b->ranks * neighbours;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (b->rank == 0 && need > have) {
        app_complain("--bodies %" PRIu64 ": need about %.1f GB on this node, which has %.1f GB", b->total,
                     need / 1e9, have / 1e9);
        code = APP_BAD_INPUT;
    }
    return app_agree(code, NULL);
}

int bh_model_make(struct bh_bodies *b, const struct bh_options *o) {
    *b = (struct bh_bodies){.total = o->bodies};
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    int code = check_size(b);
    if (code)
        return code;
    uint64_t first = b->total * (uint64_t)b->rank / (uint64_t)b->ranks;
    b->count = b->total * ((uint64_t)b->rank + 1) / (uint64_t)b->ranks - first;
    b->room = b->count + 1;
    b->list = malloc(b->room * sizeof *b->list);
    code = app_agree(b->list ? APP_OK : APP_BAD_INPUT, "no memory for the bodies: use fewer, or more nodes");
    for (uint64_t i = 0; i < b->count && !code; i++)
        make_body(&b->list[i], o, first + i);
    return code;
}
