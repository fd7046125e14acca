/* barrier.c: tests split-phase barriers and their names. timeout: 60 */
#include "test.h"

#include <mpi.h>
#include <time.h>
#include <unistd.h>
#include <vgasnet.h>

enum { ANONYMOUS = GASNET_BARRIERFLAG_ANONYMOUS, MISMATCH = GASNET_BARRIERFLAG_MISMATCH, ASK = 140, BUMP };

static int bumps;

static void on_bump(gasnet_token_t token) {
    (void)token;
    bumps++;
}

static void on_ask(gasnet_token_t token) {
    expect_eq(gasnet_AMReplyShort0(token, BUMP), GASNET_OK);
}
static gasnet_handlerentry_t table[] = {HANDLER(ASK, on_ask), HANDLER(BUMP, on_bump)};
TEST_SETUP(table, 0)

static int barrier(int id, int flags) {
    gasnet_barrier_notify(id, flags);
    return gasnet_barrier_wait(id, flags);
}

CASE(names_that_agree) {
    expect_eq(barrier(0, 0), GASNET_OK);
    expect_eq(barrier(-5, 0), GASNET_OK);
    expect_eq(barrier(INT32_MAX, 0), GASNET_OK);
    expect_eq(barrier(test_rank, ANONYMOUS), GASNET_OK);
    expect_eq(barrier(test_rank, GASNET_BARRIERFLAG_UNNAMED), GASNET_OK);
}

CASE(some_have_a_name_and_some_have_none) {
    for (int named = 0; named < test_size; named++)
        expect_eq(barrier(7, test_rank == named ? 0 : ANONYMOUS), GASNET_OK);
}

CASE(one_has_another_name) {
    SKIP_IF(test_size < 2, "needs 2 nodes");
    for (int other = 0; other < test_size; other++)
        expect_eq(barrier(test_rank == other ? 8 : 7, 0), GASNET_ERR_BARRIER_MISMATCH);
    expect_eq(barrier(7, 0), GASNET_OK); /* the next barrier is independent */
}

/* Two different names, far apart among nodes without a name. */
CASE(two_names_among_others_without) {
    SKIP_IF(test_size < 3, "needs 3 nodes");
    int id = test_rank == test_size - 1 ? 2 : 1;
    bool named = test_rank == 0 || test_rank == test_size - 1;
    expect_eq(barrier(id, named ? 0 : ANONYMOUS), GASNET_ERR_BARRIER_MISMATCH);
}

CASE(one_says_mismatch) {
    for (int who = 0; who < test_size; who++)
        expect_eq(barrier(7, test_rank == who ? MISMATCH : 0), GASNET_ERR_BARRIER_MISMATCH);
    expect_eq(barrier(0, ANONYMOUS), GASNET_OK);
}

/* The name passed to wait must be the one agreed on; only the node that passes another gets the error. */
CASE(wait_with_another_name_than_notify) {
    gasnet_barrier_notify(7, 0);
    expect_eq(gasnet_barrier_wait(test_rank == 0 ? 8 : 7, 0),
              test_rank == 0 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
}

/* The flags of wait may differ from those of notify. */
CASE(wait_with_other_flags_than_notify) {
    gasnet_barrier_notify(7, 0);
    expect_eq(gasnet_barrier_wait(test_rank == 0 ? 5 : 7, test_rank == 0 ? ANONYMOUS : 0), GASNET_OK);
    gasnet_barrier_notify(7, ANONYMOUS);
    expect_eq(gasnet_barrier_wait(test_rank, 0), GASNET_OK); /* no name was agreed on */
    gasnet_barrier_notify(7, test_rank == 0 ? 0 : ANONYMOUS);
    expect_eq(gasnet_barrier_wait(test_rank == test_size - 1 ? 8 : 7, 0),
              test_rank == test_size - 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
}

CASE(in_one_call) {
    int id = 1;
    expect_eq(gasnet_barrier(7, 0), GASNET_OK);
    expect_eq(gasnet_barrier_result(&id), 0);
    expect_eq(id, 7);
    expect_eq(gasnet_barrier(test_rank == 0 ? -3 : test_rank, test_rank == 0 ? 0 : ANONYMOUS), GASNET_OK);
    expect_eq(gasnet_barrier_result(&id), 0);
    expect_eq(id, -3);
    expect_eq(gasnet_barrier(test_rank, ANONYMOUS), GASNET_OK);
    expect(gasnet_barrier_result(&id) != 0);
    expect_eq(gasnet_barrier(test_rank, 0), test_size > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK);
    expect_eq(vgasnet_barrier(1, test_rank == 0 ? MISMATCH : 0), GASNET_ERR_BARRIER_MISMATCH);
    expect_eq(vgasnet_barrier(9, 0), GASNET_OK);
    expect_eq(vgasnet_barrier_result(&id), 0);
    expect_eq(id, 9);
}

CASE(by_trying) {
    enum { ROUNDS = 50 };
    for (int i = 0; i < ROUNDS; i++) {
        int got, want = i % 3 == 0 && test_size > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
        int id = i % 3 == 0 ? test_rank : i;
        gasnet_barrier_notify(id, 0);
        while ((got = gasnet_barrier_try(id, 0)) == GASNET_ERR_NOT_READY)
            ;
        expect_eq(got, want);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* No node passes before all have entered. The nodes share one clock, so their times can be compared: whatever the
 * scheduler does, no node leaves before the last one enters. */
CASE(holds_until_the_last_has_come) {
    SKIP_IF(test_size < 2, "needs 2 nodes");
    for (int last = 0; last < test_size; last++) {
        test_barrier();
        if (test_rank == last)
            usleep(20000);
        double entered = now();
        gasnet_barrier_notify(last, 0);
        int got = gasnet_barrier_try(last, 0);
        if (got == GASNET_ERR_NOT_READY)
            got = gasnet_barrier_wait(last, 0);
        double left = now();
        expect_eq(got, GASNET_OK);
        MPI_Bcast(&entered, 1, MPI_DOUBLE, last, MPI_COMM_WORLD);
        expect(left >= entered);
    }
}

/* Waiting nodes handle messages: node 0 sends to the others, which only wait, and enters the barrier when it has
 * replies from all. */
CASE(handlers_run_in_a_barrier) {
    bumps = 0;
    test_barrier();
    if (test_rank == 0) {
        for (gasnet_node_t to = 1; to < (gasnet_node_t)test_size; to++)
            expect_eq(gasnet_AMRequestShort0(to, ASK), GASNET_OK);
        GASNET_BLOCKUNTIL(bumps == test_size - 1);
    }
    test_barrier();
}

CASE(many) {
    enum { ROUNDS = 500 };
    for (int i = 0; i < ROUNDS; i++)
        expect_eq(barrier(i, 0), GASNET_OK);
}

/* Messages that a node sent before or in the barrier have left when the barrier ends: the node need not poll
 * afterwards. */
CASE(no_poll_after_a_barrier) {
    for (int i = 0; i < 20; i++) {
        test_barrier();
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

ON_CALL(double_notify) {
    gasnet_barrier_notify(0, 0);
    gasnet_barrier_notify(0, 0);
}

ON_CALL(wait_without_notify) {
    gasnet_barrier_wait(0, 0);
}
