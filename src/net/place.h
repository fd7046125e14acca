/* place.h: on which core a helper's thread runs.
 *
 *      auto    on a core that none of the node's processes may use, if there is one, else as float
 *      float   wherever the scheduler likes, among the cores of all the node's processes
 *      stay    where its own process may run
 *      rule    as in the paper: on one of the processes' cores, and on the next one whenever
 *                  n * (8 * computed + transferred) > HEARTH_HELPER_THRESHOLD
 *              where n is the number of blocks served since it was last moved, and computed and transferred are their
 *              bytes: of accumulates, and of all others. All three start from 0 after each move. */
#ifndef HEARTH_NET_PLACE_H
#define HEARTH_NET_PLACE_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum place_way { PLACE_AUTO, PLACE_FLOAT, PLACE_STAY, PLACE_RULE };

/* In memory that the node shares: each process puts its own in. */
struct place_masks {
    int count;
    cpu_set_t of[];
};
size_t place_masks_bytes(int processes);
void place_register(struct place_masks *m, int process);

struct place {
    enum place_way way;
    double threshold;
    cpu_set_t cores;
    int core;                               /* where the rule has put it; -1: nowhere yet */
    uint64_t blocks, computed, transferred; /* at the last move */
    uint64_t moves;
};

/* In the thread that is to be placed, when all processes are registered. */
void place_thread(struct place *p, const struct place_masks *m);

/* So many blocks and bytes in all so far: moves if it is time to. */
void place_follow(struct place *p, uint64_t blocks, uint64_t computed, uint64_t transferred);

#endif
