/* place.h: CPU affinity of a helper's thread.
 *
 *      auto    a core that none of the node's processes may use, if there is one; otherwise as float
 *      float   any of the cores of all the node's processes, as the scheduler chooses
 *      stay    the cores of its own process
 *      rule    as in the paper: on one of the processes' cores, and on the next one whenever
 *                  n * (8 * computed + transferred) > HEARTH_HELPER_THRESHOLD
 *              where n is the number of blocks served since the last move, and computed and transferred are their
 *              bytes: of accumulates, and of all others. All three start from 0 after each move.
 */
#ifndef HEARTH_NET_PLACE_H
#define HEARTH_NET_PLACE_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum place_way { PLACE_AUTO, PLACE_FLOAT, PLACE_STAY, PLACE_RULE };

/* In memory that the node shares: each process stores its own mask. */
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
    int core;                               /* chosen by the rule; -1: none yet */
    uint64_t blocks, computed, transferred; /* totals at the last move */
    uint64_t moves;
};

/* Called in the helper's thread, after all processes have registered. */
void place_thread(struct place *p, const struct place_masks *m);

/* Totals of blocks and bytes so far. Moves the thread if the rule says so. */
void place_follow(struct place *p, uint64_t blocks, uint64_t computed, uint64_t transferred);

#endif
