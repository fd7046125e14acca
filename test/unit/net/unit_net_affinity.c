/* unit_net_affinity.c: tests the core that a helper's thread runs on. */
#include "net/rpc/affinity.h"

#include <stdlib.h>

#include "test.h"

static struct affinity_masks *masks_of(const cpu_set_t *sets, int count) {
    struct affinity_masks *m = calloc(1, net_affinity_masks_bytes(count));
    m->count = count;
    for (int i = 0; i < count; i++)
        m->of[i] = sets[i];
    return m;
}

static cpu_set_t only(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    return set;
}

static cpu_set_t mine(void) {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    return set;
}

/* Runs with the thread's affinity as it was, and restores it. */
static cpu_set_t placed(enum affinity_way way, struct affinity_masks *m) {
    cpu_set_t before = mine(), after;
    struct affinity p = {.way = way};
    net_affinity_thread(&p, m);
    after = mine();
    sched_setaffinity(0, sizeof before, &before);
    free(m);
    return after;
}

TEST(on_a_core_that_nobody_uses)
{
    cpu_set_t all = mine(), first = only(sched_getcpu());
    if (CPU_COUNT(&all) < 2)
        return;
    cpu_set_t got = placed(AFFINITY_AUTO, masks_of(&first, 1));
    expect(CPU_COUNT(&got) >= 1);
    CPU_AND(&got, &got, &first);
    expect_eq(CPU_COUNT(&got), 0);
}

TEST(anywhere_if_all_are_used)
{
    cpu_set_t all = mine();
    cpu_set_t got = placed(AFFINITY_AUTO, masks_of(&all, 1));
    CPU_AND(&got, &got, &all);
    expect(CPU_COUNT(&got) >= 1);
}

TEST(floats_over_the_cores_of_the_ranks)
{
    cpu_set_t first = only(sched_getcpu());
    cpu_set_t got = placed(AFFINITY_FLOAT, masks_of(&first, 1));
    expect(CPU_EQUAL(&got, &first));
}

TEST(stays_where_it_is)
{
    cpu_set_t all = mine(), first = only(sched_getcpu());
    cpu_set_t got = placed(AFFINITY_STAY, masks_of(&first, 1));
    expect(CPU_EQUAL(&got, &all));
}

TEST(a_rank_registers_its_own)
{
    struct affinity_masks *m = calloc(1, net_affinity_masks_bytes(2));
    m->count = 2;
    net_affinity_register(m, 1);
    cpu_set_t all = mine();
    expect(CPU_EQUAL(&m->of[1], &all));
    expect_eq(CPU_COUNT(&m->of[0]), 0);
    free(m);
}

/* The helper moves if n x (8 x computed + transferred) exceeds the threshold. The counts restart after each move. */
TEST(moves_by_the_rule)
{
    cpu_set_t all = mine();
    struct affinity_masks *m = masks_of(&all, 1);
    struct affinity p = {.way = AFFINITY_RULE, .threshold = 1000};
    net_affinity_thread(&p, m);
    net_affinity_follow(&p, 1, 0, 1);
    expect_eq(p.moves, 1); /* to its first core */
    net_affinity_follow(&p, 2, 0, 1001);
    expect_eq(p.moves, 1); /* 1 x 1000: not above */
    net_affinity_follow(&p, 3, 0, 1001);
    expect_eq(p.moves, 2); /* 2 x 1000 */
    int core = p.core;
    net_affinity_follow(&p, 4, 126, 1001);
    expect_eq(p.moves, 3); /* 1 x 8 x 126 */
    expect(CPU_COUNT(&all) == 1 || p.core != core);
    net_affinity_follow(&p, 4, 126, 1001);
    expect_eq(p.moves, 3);
    sched_setaffinity(0, sizeof all, &all);
    free(m);
}
