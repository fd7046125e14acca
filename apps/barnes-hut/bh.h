/* bh.h: the parts of the program barnes-hut.
 *
 *      options -> model -> simulate:  per step   balance (Morton order) -> tree (in the window) -> top ->
 *                                                force (walk, fetch, blocks) -> move
 *              -> verify -> picture -> report
 *
 * Functions return 0 or one of the exit codes of common.h. Functions marked collective return the same code on
 * all ranks. */
#ifndef HEARTH_BH_H
#define HEARTH_BH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/clampi.h"
#include "common/common.h"

enum bh_model { BH_PLUMMER, BH_UNIFORM, BH_COLLISION, BH_COINCIDENT };
enum bh_cache { BH_NONE, BH_HEARTH, BH_BLOCKS, BH_CACHE_AUTO };
enum bh_layout { BH_IN_ORDER, BH_SCATTERED };
enum { BH_LEVELS = 21 }; /* of the octree below its root; three bits of a key each */
enum { BH_BLOCK_LEAST = 64, BH_BLOCK_MOST = 1 << 20 };

struct bh_options {
    struct app_manner manner;
    uint64_t bodies, steps, seed, verify;
    double theta, softening, dt, tolerance;
    int model, cache, layout;     /* the enums above */
    uint64_t cache_memory, block; /* bytes; block 0: tuned by the program */
    bool no_invalidate;
    const char *picture; /* NULL: none */
};

struct bh_body {
    double x[3], v[3], a[3], mass;
    double potential; /* of all other bodies, per unit of mass */
    uint64_t key;     /* Morton key of x in the cube around all bodies */
    uint64_t id;
    uint64_t cost; /* nodes visited for it when forces were last computed */
};

/* The bodies of this rank, in the order of (key, id) once balanced. */
struct bh_bodies {
    struct bh_body *list;
    uint64_t count, room;
    uint64_t total; /* of all ranks */
    int rank, ranks;
};

/* The cube around all bodies. */
struct bh_cube {
    double corner[3], side;
};

/* A cell or a body of the octree, as it is stored in a window. A child of 0 is none; a node without children is
 * a body, or several bodies in the same smallest cell. */
struct bh_node {
    double centre[3], mass;
    uint32_t child[8];
};
_Static_assert(sizeof(struct bh_node) == 64, "a node is a cache line: block sizes and windows count on it");

/* A node of the top of the tree, which is replicated on all ranks. Its children are in the window of `owner`,
 * or in the top itself if owner is -1. */
struct bh_top_node {
    struct bh_node node;
    int owner;
};

/* A node of the top as it is sent to the other ranks: the root of a subtree that is on one rank alone. */
struct bh_branch {
    struct bh_node node;
    uint64_t cell; /* a 1, and three bits per level */
};

/* The window: nodes[1..used] of this rank; nodes[0] is unused. On one rank only memory, without a window. */
struct bh_window {
    MPI_Win window; /* MPI_WIN_NULL: one rank */
    struct bh_node *nodes;
    uint64_t room, used; /* room is the same on all ranks */
    int cache;
    bool cached; /* stats come from a cache */
    CLAMPI_Stats stats;
};

struct bh_tree {
    struct bh_window window;
    struct bh_cube cube;
    struct bh_top_node *top; /* [0]: the root; 0 nodes: no bodies */
    uint64_t top_count;
    struct bh_branch *branches; /* of this rank */
    uint64_t branch_count, branch_room;
};

struct bh_blocks; /* a direct-mapped cache of blocks */

/* How nodes are read in the force phase. */
struct bh_fetch {
    const struct bh_tree *tree;
    struct bh_blocks *blocks; /* NULL unless the cache is blocks */
    int rank;
    double theta2, softening;
    double side2[BH_LEVELS + 1]; /* of a cell at each level, squared */
    struct bh_node arrived;
    uint64_t gets, bytes; /* through MPI_Get */
    uint64_t remote;      /* nodes of other ranks that were requested */
};

/* Seconds of this rank, by phase, since the start. */
struct bh_times {
    double balance, tree, top, force, wait, total;
};

struct bh_result {
    struct bh_times times;
    double energy_start, energy_end, drift_most; /* drift: relative to the start */
    uint64_t visits, remote, gets, bytes;        /* of this rank; in the force phase */
    uint64_t forces;      /* bodies whose force was computed, all steps; of this rank */
    uint64_t block, hits; /* of blocks */
    bool cached;
    CLAMPI_Stats stats;
    /* of positions, velocities and forces; the same for any number of ranks and any cache */
    uint64_t checksum;
    double error_rms, error_most;
};

/* options.c. Only rank 0 prints. */
int bh_parse(int argc, char **argv, int rank, struct bh_options *o);
const char *bh_cache_name(int cache);
const char *bh_model_name(int model);
const char *bh_layout_name(int layout);

/* model.c: makes this rank's share of the initial bodies. Collective. */
int bh_model_make(struct bh_bodies *b, const struct bh_options *o);

/* morton.c */
void bh_cube_around(const struct bh_bodies *b, struct bh_cube *cube); /* collective */
uint64_t bh_key(const struct bh_cube *cube, const double *x);
void bh_sort(struct bh_bodies *b); /* by (key, id) */

/* balance.c: distributes the bodies in Morton order, about the same work to each rank. Collective. */
int bh_balance(struct bh_bodies *b, const struct bh_cube *cube);

/* window.c. Growing is collective; after it all ranks have room for `nodes` + 1 nodes. */
void bh_window_open(struct bh_window *w, int cache);
int bh_window_grow(struct bh_window *w, const struct bh_bodies *b, uint64_t nodes);
void bh_window_close(struct bh_window *w);
void bh_window_begin_writing(struct bh_window *w, int rank);
void bh_window_end_writing(struct bh_window *w, int rank);
void bh_window_begin_reading(struct bh_window *w, bool invalidate);
void bh_window_end_reading(struct bh_window *w); /* collective */
bool bh_hearth_is_loaded(void);

/* tree.c: builds the subtrees of this rank in its window; collective */
int bh_tree_build(struct bh_tree *t, const struct bh_bodies *b, int layout);
void bh_combine(struct bh_node *parent, const struct bh_node *child);
void bh_combine_end(struct bh_node *parent);

/* top.c: collective */
int bh_top_exchange(struct bh_tree *t, const struct bh_bodies *b);
void bh_tree_close(struct bh_tree *t);

/* fetch.c: a node of another rank, valid until the next call */
const struct bh_node *bh_fetch(struct bh_fetch *f, int owner, uint32_t index);

/* blocks.c. Blocks fit if the memory holds at least one; opening returns NULL if out of memory. */
bool bh_blocks_fit(uint64_t memory, uint64_t block);
struct bh_blocks *bh_blocks_open(uint64_t memory, uint64_t block);
void bh_blocks_close(struct bh_blocks *b);
void bh_blocks_forget(struct bh_blocks *b);
const struct bh_node *bh_blocks_find(struct bh_blocks *b, struct bh_fetch *f, int owner, uint32_t index);
uint64_t bh_blocks_hits(const struct bh_blocks *b);

/* walk.c: acceleration, potential and cost of one body */
void bh_walk(struct bh_fetch *f, struct bh_body *body);

/* force.c: the force phase of one step; collective. Tuning searches the best block size if none was given. */
struct bh_force {
    const struct bh_options *options;
    struct bh_blocks *blocks;
    uint64_t block;
    uint64_t step; /* time step, for the progress line */
};
int bh_force_open(struct bh_force *f, const struct bh_options *o);
int bh_force_tune(struct bh_force *f, struct bh_tree *t, struct bh_bodies *b);
void bh_force(struct bh_force *f, struct bh_tree *t, struct bh_bodies *b, struct bh_result *r);
void bh_force_close(struct bh_force *f);

/* simulate.c: collective */
int bh_simulate(const struct bh_options *o, struct bh_bodies *b, struct bh_result *r);

/* verify.c: collective */
int bh_verify(const struct bh_options *o, const struct bh_bodies *b, struct bh_result *r);

/* picture.c: collective; file is NULL on all ranks but 0 */
int bh_picture(const struct bh_options *o, const struct bh_bodies *b, FILE *file);

/* report.c: collective; json may be NULL, and is NULL on all ranks but 0 */
void bh_report(const struct bh_options *o, const struct bh_bodies *b, const struct bh_result *r, FILE *json);

#endif
