/* images.c: tests collective operations with several images per node, each a thread. Nodes have 1, 2 or 3 of them.
 * timeout: 60 */
#include "test.h"

#include <gasnet_coll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3, BLOCK = 700, IMAGES = 200 };
static const int SYNC = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC;
TEST_SEGMENT(0)

static gasnet_image_t counts[IMAGES], total, first; /* per node; of all nodes; of this node */
static gasnet_node_t node_of[IMAGES];
static pthread_barrier_t together; /* for the threads of this node */

/* Per thread. */
struct image {
    gasnet_image_t number, local;
    char *dst, *src;
    void (*run)(struct image *i);
};

static void fill(char *to, gasnet_image_t from, gasnet_image_t whom, int version) {
    test_fill(to, BLOCK, (int)(from * 64 + whom), version);
}

static void check(const char *got, gasnet_image_t from, gasnet_image_t whom, int version) {
    char wanted[BLOCK];
    fill(wanted, from, whom, version);
    expect_bytes(got, wanted, BLOCK);
}

static void add_all(void *results, size_t count, const void *left, size_t left_count, const void *right,
                    size_t elem_size, int flags, int arg) {
    (void)left_count, (void)elem_size, (void)flags, (void)arg;
    for (size_t i = 0; i < count; i++)
        ((int *)results)[i] = ((const int *)left)[i] + ((const int *)right)[i];
}

/* (a, b) stands for the map from x to a * x + b; composing such maps does not commute. */
static void compose(void *results, size_t count, const void *left, size_t left_count, const void *right,
                    size_t elem_size, int flags, int arg) {
    const unsigned *l = left, *r = right;
    unsigned *to = results;
    (void)left_count, (void)elem_size, (void)flags, (void)arg;
    for (size_t i = 0; i < 2 * count; i += 2) {
        to[i] = l[i] * r[i];
        to[i + 1] = l[i] * r[i + 1] + l[i + 1];
    }
}

static gasnet_coll_fn_entry_t functions[] = {{add_all, 0}, {compose, GASNET_COLL_NONCOMM}};

/* ---- threads ---- */

static void count_images(void) {
    for (int i = 0; i < test_size; i++) {
        counts[i] = 1 + (gasnet_image_t)(i + 1) % MOST;
        if (i == test_rank)
            first = total;
        for (gasnet_image_t k = 0; k < counts[i]; k++)
            node_of[total++] = (gasnet_node_t)i;
    }
    pthread_barrier_init(&together, NULL, counts[test_rank]);
}

static void *run_image(void *arg) {
    struct image *i = arg;
    i->dst = malloc((size_t)total * BLOCK);
    i->src = malloc((size_t)total * BLOCK);
    if (!i->dst || !i->src)
        abort();
    gasnet_coll_init(counts, i->number, functions, 2, 0);
    i->run(i);
    free(i->dst);
    free(i->src);
    return NULL;
}

static void with_images(void (*run)(struct image *i)) {
    pthread_t threads[MOST];
    struct image images[MOST];
    if (total == 0)
        count_images();
    for (gasnet_image_t k = 0; k < counts[test_rank]; k++) {
        images[k] = (struct image){.number = first + k, .local = k, .run = run};
        expect_eq(pthread_create(&threads[k], NULL, run_image, &images[k]), 0);
    }
    for (gasnet_image_t k = 0; k < counts[test_rank]; k++)
        pthread_join(threads[k], NULL);
}

/* ---- one address each ---- */

static void move_data(struct image *me) {
    for (gasnet_image_t root = 0; root < total; root++) {
        int flags = SYNC | (root % 2 ? GASNET_COLL_SINGLE : GASNET_COLL_LOCAL);
        fill(me->src, me->number, root, 1);
        gasnet_coll_broadcast(GASNET_TEAM_ALL, me->dst, root, me->src, BLOCK, flags);
        check(me->dst, root, root, 1);
        gasnet_coll_gather(GASNET_TEAM_ALL, root, me->dst, me->src, BLOCK, flags);
        for (gasnet_image_t k = 0; k < total && me->number == root; k++)
            check(me->dst + k * BLOCK, k, root, 1);
        for (gasnet_image_t k = 0; k < total; k++)
            fill(me->src + k * BLOCK, me->number, k, 2);
        gasnet_coll_handle_t handle =
            gasnet_coll_scatter_nb(GASNET_TEAM_ALL, me->dst, root, me->src, BLOCK, flags);
        gasnet_coll_wait_sync(handle);
        check(me->dst, root, me->number, 2);
    }
    gasnet_coll_exchange(GASNET_TEAM_ALL, me->dst, me->src, BLOCK, SYNC | GASNET_COLL_LOCAL);
    for (gasnet_image_t k = 0; k < total; k++)
        check(me->dst + k * BLOCK, k, me->number, 2);
    gasnet_coll_gather_all(GASNET_TEAM_ALL, me->dst, me->src, BLOCK,
                           GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_SINGLE);
    for (gasnet_image_t k = 0; k < total; k++)
        check(me->dst + k * BLOCK, k, 0, 2);
}

CASE(data) {
    with_images(move_data);
}

/* ---- lists ---- */

/* One address per image of the team, or of the node; addresses of other images are not used. */
static void by_lists(struct image *me) {
    void *dsts[IMAGES] = {0}, *srcs[IMAGES] = {0};
    for (int single = 0; single < 2; single++) {
        int flags = SYNC | (single ? GASNET_COLL_SINGLE : GASNET_COLL_LOCAL);
        gasnet_image_t at = single ? me->number : me->local;
        dsts[at] = me->dst;
        srcs[at] = me->src;
        fill(me->src, me->number, 7, single);
        gasnet_coll_gather_allM(GASNET_TEAM_ALL, dsts, srcs, BLOCK, flags);
        for (gasnet_image_t k = 0; k < total; k++)
            check(me->dst + k * BLOCK, k, 7, single);
        gasnet_coll_broadcastM(GASNET_TEAM_ALL, dsts, total - 1, me->src, BLOCK, flags);
        check(me->dst, total - 1, 7, single);
        dsts[at] = srcs[at] = NULL;
    }
}

CASE(lists) {
    with_images(by_lists);
}

/* ---- reductions ---- */

static void reduce(struct image *me) {
    for (gasnet_image_t root = 0; root < total; root++) {
        int mine[3] = {(int)me->number, 1, -(int)root}, sum[3] = {0}, n = (int)total;
        gasnet_coll_reduce(GASNET_TEAM_ALL, root, sum, mine, 0, 0, sizeof mine[0], 3, 0, 0,
                           SYNC | GASNET_COLL_LOCAL);
        if (me->number == root) {
            expect_eq(sum[0], n * (n - 1) / 2);
            expect_eq(sum[1], n);
            expect_eq(sum[2], -n * (int)root);
        }
        unsigned map[2] = {me->number + 2, me->number + 5}, all[2] = {0}, wanted[2] = {1, 0};
        gasnet_coll_reduce(GASNET_TEAM_ALL, root, all, map, 0, 0, sizeof map, 1, 1, 0,
                           SYNC | GASNET_COLL_LOCAL);
        for (gasnet_image_t k = 0; k < total; k++) {
            unsigned next[2] = {k + 2, k + 5}, sofar[2] = {wanted[0], wanted[1]};
            compose(wanted, 1, sofar, 1, next, sizeof next, 0, 0);
        }
        if (me->number == root)
            expect_bytes((char *)all, (char *)wanted, sizeof all);
    }
}

CASE(reductions) {
    with_images(reduce);
}

/* ---- teams and barriers ---- */

static _Atomic unsigned arrived; /* images of this node */

static void split(struct image *me) {
    gasnet_node_t color = me->number % 2, backwards = total - me->number;
    gasnet_team_handle_t team = gasnet_coll_team_split(GASNET_TEAM_ALL, color, backwards, NULL);
    gasnet_image_t members = 0;
    for (gasnet_image_t k = total; k-- > 0;)
        if (k % 2 == color)
            members++;
    fill(me->src, me->number, 3, 3);
    gasnet_coll_gather_all(team, me->dst, me->src, BLOCK, SYNC | GASNET_COLL_LOCAL);
    gasnet_image_t at = 0;
    for (gasnet_image_t k = total; k-- > 0;)
        if (k % 2 == color)
            check(me->dst + at++ * BLOCK, k, 3, 3);
    expect_eq(at, members);
    bool seen[IMAGES] = {0};
    gasnet_node_t nodes = 0;
    for (gasnet_image_t k = total; k-- > 0;)
        if (k % 2 == color && !seen[node_of[k]]) {
            seen[node_of[k]] = true;
            expect_eq(gasnet_coll_team_rank2node(team, (int)nodes), node_of[k]);
            expect_eq(gasnet_coll_team_node2rank(team, node_of[k]), nodes);
            nodes++;
        }
    expect_eq(gasnet_coll_team_size(team), nodes);
    expect_eq(gasnet_coll_barrier(team, 5, 0), GASNET_OK);
    gasnet_coll_team_free(team);
}

CASE(teams) {
    with_images(split);
    expect_eq(gasnet_coll_team_size(GASNET_TEAM_ALL), test_size);
}

static void wait_for_all(struct image *me) {
    static const int flags = GASNET_BARRIERFLAG_IMAGES;
    for (unsigned round = 1; round <= 8; round++) {
        arrived++;
        expect_eq(gasnet_coll_barrier(GASNET_TEAM_ALL, (int)round, flags), GASNET_OK);
        expect(arrived >= round * counts[test_rank]);
        gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 0, flags | GASNET_BARRIERFLAG_ANONYMOUS);
        while (gasnet_coll_barrier_try(GASNET_TEAM_ALL, 0, flags) == GASNET_ERR_NOT_READY)
            sched_yield();
    }
    expect_eq(gasnet_coll_barrier(GASNET_TEAM_ALL, me->number == 0 ? 1 : 2, flags),
              total > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
}

CASE(barriers_of_images) {
    arrived = 0;
    test_barrier();
    with_images(wait_for_all);
}

/* One thread per node calls for the whole node, while the others wait. */
static void as_nodes(struct image *me) {
    if (me->local == counts[test_rank] - 1) {
        int mine = test_rank, all[IMAGES];
        gasnet_coll_gather_all(GASNET_TEAM_ALL, all, &mine, sizeof mine,
                               SYNC | GASNET_COLL_LOCAL | GASNET_COLL_NO_IMAGES);
        for (int k = 0; k < test_size; k++)
            expect_eq(all[k], k);
        expect_eq(gasnet_coll_barrier(GASNET_TEAM_ALL, 4, 0), GASNET_OK);
    }
    pthread_barrier_wait(&together);
}

CASE(nodes_of_several_images) {
    with_images(as_nodes);
}

/* ---- errors: each ends the job, see test_fail.sh ---- */

ON_CALL(image_of_another_node) {
    count_images();
    gasnet_coll_init(counts, total, NULL, 0, 0);
}

ON_CALL(thread_without_an_image) {
    with_images(as_nodes);
    gasnet_coll_broadcast(GASNET_TEAM_ALL, &total, 0, &total, sizeof total, SYNC);
}
