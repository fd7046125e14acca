/* affinity.c: sets the CPU affinity of a helper's thread. See affinity.h for the policies. */
#include "net/rpc/affinity.h"

#include <unistd.h>

#include "base/log.h"
#include "net/rpc/tally.h"

size_t net_affinity_masks_bytes(int processes) {
    return sizeof(struct affinity_masks) + (size_t)processes * sizeof(cpu_set_t);
}

void net_affinity_register(struct affinity_masks *m, int process) {
    if (sched_getaffinity(0, sizeof m->of[process], &m->of[process]) != 0)
        CPU_ZERO(&m->of[process]);
}

/* The cores on which the system would let this thread run at all. */
static cpu_set_t allowed(void) {
    cpu_set_t before, all;
    CPU_ZERO(&before);
    CPU_ZERO(&all);
    sched_getaffinity(0, sizeof before, &before);
    for (long core = 0; core < sysconf(_SC_NPROCESSORS_CONF) && core < CPU_SETSIZE; core++)
        CPU_SET((size_t)core, &all);
    if (sched_setaffinity(0, sizeof all, &all) != 0)
        return before;
    sched_getaffinity(0, sizeof all, &all);
    return all;
}

static cpu_set_t used(const struct affinity_masks *m) {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int i = 0; i < m->count; i++)
        CPU_OR(&all, &all, &m->of[i]);
    return all;
}

void net_affinity_thread(struct affinity *p, const struct affinity_masks *m) {
    if (p->way == AFFINITY_STAY)
        return;
    cpu_set_t mine, free, theirs = used(m);
    sched_getaffinity(0, sizeof mine, &mine);
    p->cores = theirs;
    p->core = -1;
    if (p->way == AFFINITY_AUTO) {
        free = allowed();
        CPU_XOR(&theirs, &theirs, &free);
        CPU_AND(&free, &free, &theirs);
        if (CPU_COUNT(&free) > 0)
            p->cores = free;
    }
    log_debug(LOG_NET, "the helper may use %d cores%s", CPU_COUNT(&p->cores),
              p->way != AFFINITY_AUTO       ? ""
              : CPU_EQUAL(&p->cores, &free) ? ", which no rank uses"
                                            : ", those of the ranks, as none is left");
    if (CPU_COUNT(&p->cores) == 0 || sched_setaffinity(0, sizeof p->cores, &p->cores) != 0)
        sched_setaffinity(0, sizeof mine, &mine);
}

static void move_on(struct affinity *p) {
    cpu_set_t next;
    if (CPU_COUNT(&p->cores) == 0)
        return;
    do
        p->core = (p->core + 1) % CPU_SETSIZE;
    while (!CPU_ISSET((size_t)p->core, &p->cores));
    CPU_ZERO(&next);
    CPU_SET((size_t)p->core, &next);
    if (sched_setaffinity(0, sizeof next, &next) == 0)
        tally_add(&p->moves, 1);
    log_trace(LOG_NET, "the helper moves to core %d", p->core);
}

void net_affinity_follow(struct affinity *p, uint64_t blocks, uint64_t computed, uint64_t transferred) {
    if (p->way != AFFINITY_RULE)
        return;
    double n = (double)(blocks - p->blocks), compute = (double)(computed - p->computed);
    double transfer = (double)(transferred - p->transferred);
    if (p->core >= 0 && n * (8 * compute + transfer) <= p->threshold)
        return;
    p->blocks = blocks;
    p->computed = computed;
    p->transferred = transferred;
    move_on(p);
}
