/* affinity.h: CPU affinity of a helper's thread.
 *
 *      auto    a core that none of the node's processes may use, if there is one; otherwise as float
 *      float   any of the cores of all the node's processes, as the scheduler chooses
 *      stay    the cores of its own process
 *      rule    as in the paper: on one of the processes' cores, and on the next one whenever
 *                  n * (8 * computed + transferred) > HEARTH_HELPER_THRESHOLD
 *              where n is the number of blocks served since the last move, and computed and transferred are their
 *              bytes: of accumulates, and of all others. All three start from 0 after each move.
 */
#ifndef HEARTH_NET_AFFINITY_H
#define HEARTH_NET_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

enum affinity_way { AFFINITY_AUTO, AFFINITY_FLOAT, AFFINITY_STAY, AFFINITY_RULE };

/* In memory that the node shares: each process stores its own mask. */
struct affinity_masks {
    int count;
    cpu_set_t of[];
};
size_t net_affinity_masks_bytes(int processes);
void net_affinity_register(struct affinity_masks *m, int process);

struct affinity {
    enum affinity_way way;
    double threshold;
    cpu_set_t cores;
    int core;                               /* chosen by the rule; -1: none yet */
    uint64_t blocks, computed, transferred; /* totals at the last move */
    uint64_t moves;
};

/* Called in the helper's thread, after all processes have registered. */
void net_affinity_thread(struct affinity *p, const struct affinity_masks *m);

/* Totals of blocks and bytes so far. Moves the thread if the rule says so. */
void net_affinity_follow(struct affinity *p, uint64_t blocks, uint64_t computed, uint64_t transferred);

#endif
