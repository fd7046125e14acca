/* served_locks.c: tests the locks of windows that Hearth serves: exclusion, sharing, fairness, and that the target need
 * not make MPI calls; and active target epochs with all assertions. Under an exclusive lock a rank increments a number in
 * a window by a get and a put, or by a load and a store: if the lock does not exclude others, increments are lost.
 *
 * configs: serve serve1 serve2 servempi servedirect servematch */
#include <sched.h>
#include <stdlib.h>

#include "serving.h"

enum { WINDOW = 4096, ROUNDS = 40 };

static void add_by_get_and_put(MPI_Win win, int target) {
    put_number(win, target, 0, get_number(win, target, 0) + 1);
}

/* Checks the sum of the increments of all ranks at one target. */
static void expect_total(const struct allocated *w, int target, int64_t want) {
    barrier();
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    expect_eq(get_number(w->win, target, 0), want);
    MPI_Win_unlock(target, w->win);
    barrier();
}

CASE(exclusive_locks_exclude) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int target = i % test_size;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win);
        add_by_get_and_put(w.win, target);
        MPI_Win_unlock(target, w.win);
    }
    for (int target = 0; target < test_size; target++)
        expect_total(&w, target, (int64_t)((ROUNDS - target - 1) / test_size + 1) * test_size);
    MPI_Win_free(&w.win);
}

/* A lock of the rank's own window protects its loads and stores as well. */
CASE(exclusive_locks_protect_own_stores) {
    SKIP_IF(!test_served(), "not served: targets would have to call MPI");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        if (test_rank == 0)
            store_number(&w, 0, load_number(&w, 0) + 1);
        else
            add_by_get_and_put(w.win, 0);
        MPI_Win_unlock(0, w.win);
    }
    expect_total(&w, 0, (int64_t)ROUNDS * test_size);
    MPI_Win_free(&w.win);
}

/* Rank 1 requests an exclusive lock while rank 0 is in an epoch of MPI_Win_lock_all. It has to wait, even if rank 0 has
 * issued no operation or uses only loads and stores. */
static void expect_excluded(const struct allocated *w, bool by_operations) {
    for (int i = 1; i <= 5; i++) {
        if (test_rank == 0) {
            MPI_Win_lock_all(0, w->win);
            if (by_operations)
                get_number(w->win, 0, 0);
            MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            for (double end = MPI_Wtime() + 0.02; MPI_Wtime() < end && load_number(w, 0) < i;)
                sched_yield();
            expect_eq(by_operations ? get_number(w->win, 0, 0) : load_number(w, 0), i - 1);
            MPI_Win_unlock_all(w->win);
        } else if (test_rank == 1) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
            put_number(w->win, 0, 0, i);
            MPI_Win_unlock(0, w->win);
        }
        barrier();
    }
    expect_total(w, 0, 5);
}

CASE(lock_all_excludes_exclusive_locks) {
    SKIP_IF(!test_served(), "not served: targets would have to call MPI");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    expect_excluded(&w, true);
    MPI_Win_free(&w.win);
}

CASE(lock_all_protects_own_stores) {
    SKIP_IF(!test_served(), "not served: targets would have to call MPI");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    expect_excluded(&w, false);
    MPI_Win_free(&w.win);
}

/* The fence could begin an epoch, but does not, since a lock follows. */
CASE(lock_all_after_a_fence_excludes) {
    SKIP_IF(!test_served(), "not served: targets would have to call MPI");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Win_fence(0, w.win);
    expect_excluded(&w, true);
    MPI_Win_free(&w.win);
}

CASE(shared_locks_share) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int i = 0; i < 20; i++) {
        if (i % 2 || test_rank)
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        else
            MPI_Win_lock_all(0, w.win);
        add_number(w.win, 0, 0, 1);
        barrier();
        expect_eq(get_number(w.win, 0, 0), (int64_t)(i + 1) * test_size);
        barrier();
        if (i % 2 || test_rank)
            MPI_Win_unlock(0, w.win);
        else
            MPI_Win_unlock_all(w.win);
    }
    MPI_Win_free(&w.win);
}

/* MPI_Win_lock_all must acquire the lock at once, not at the first operation. Rank 0 waits inside its epoch for a put of
 * rank 1. Rank 1 is in an epoch too, but has issued no operation when rank 2 requests an exclusive lock. If rank 1 had to
 * queue behind rank 2, all three would wait forever. */
CASE(lock_all_locks_at_once) {
    SKIP_IF(!test_served() || test_size < 3, "needs 3 ranks and served windows");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    if (test_rank < 2)
        MPI_Win_lock_all(0, w.win);
    if (test_rank == 0)
        get_number(w.win, 0, 0);
    barrier();
    if (test_rank == 0) {
        while (!load_number(&w, 1))
            sched_yield();
        MPI_Win_unlock_all(w.win);
    } else if (test_rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < 10000; i++) /* rank 2 should be queued by then; otherwise the test shows less */
            sched_yield();
        put_number(w.win, 0, 1, 1);
        MPI_Win_unlock_all(w.win);
    } else if (test_rank == 2) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        expect_eq(get_number(w.win, 0, 1), 1);
        MPI_Win_unlock(0, w.win);
    }
    MPI_Win_free(&w.win);
}

CASE(several_locks_at_once) {
    SKIP_IF(over_pt2pt(), "several locks then unlock hang in osc pt2pt");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int i = 0; i < 20; i++) {
        for (int target = 0; target < test_size; target++)
            MPI_Win_lock(target == i % test_size ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, w.win);
        for (int target = 0; target < test_size; target++)
            add_number(w.win, target, 0, 1);
        MPI_Win_flush_all(w.win);
        for (int target = test_size; target-- > 0;)
            MPI_Win_unlock((target + i) % test_size, w.win);
    }
    for (int target = 0; target < test_size; target++)
        expect_total(&w, target, 20 * test_size);
    MPI_Win_free(&w.win);
}

/* Two numbers, by one kind of call: they are issued, not waited for. */
static void put_pair(MPI_Win win, const int targets[2], const int64_t *value) {
    MPI_Put(value, 8, MPI_BYTE, targets[0], 0, 8, MPI_BYTE, win);
    MPI_Put(value, 8, MPI_BYTE, targets[1], 8, 8, MPI_BYTE, win);
}
static void get_pair(MPI_Win win, const int targets[2], int64_t values[2]) {
    MPI_Get(&values[0], 8, MPI_BYTE, targets[0], 0, 8, MPI_BYTE, win);
    MPI_Get(&values[1], 8, MPI_BYTE, targets[1], 8, 8, MPI_BYTE, win);
}
static void lock_pair(MPI_Win win, int kind, const int targets[2]) {
    MPI_Win_lock(kind, targets[0], 0, win);
    if (targets[1] != targets[0])
        MPI_Win_lock(kind, targets[1], 0, win);
}
static void unlock_pair(MPI_Win win, const int targets[2]) {
    MPI_Win_unlock(targets[0], win);
    if (targets[1] != targets[0])
        MPI_Win_unlock(targets[1], win);
}

/* All ranks write pairs of equal numbers under exclusive locks, and read them under shared ones. Nobody may see half of a pair,
 * although the operations wait for nothing but the unlock. */
static void expect_whole_pairs(const int targets[2]) {
    enum { PAIRS = 200 };
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    int torn = 0;
    for (int i = 0; i < PAIRS; i++) {
        int64_t mine = (int64_t)i * test_size + test_rank + 1, seen[2];
        lock_pair(w.win, MPI_LOCK_EXCLUSIVE, targets);
        put_pair(w.win, targets, &mine);
        unlock_pair(w.win, targets);
        lock_pair(w.win, MPI_LOCK_SHARED, targets);
        get_pair(w.win, targets, seen);
        unlock_pair(w.win, targets);
        torn += seen[0] != seen[1] || seen[0] == 0;
    }
    expect_eq(torn, 0);
    MPI_Win_free(&w.win);
}

CASE(short_epochs_are_atomic) {
    expect_whole_pairs((const int[]){0, 0});
}

CASE(two_locks_are_held_together) {
    SKIP_IF(over_pt2pt(), "several locks then unlock hang in osc pt2pt");
    expect_whole_pairs((const int[]){0, test_size - 1});
}

/* Operations that do not fit into one message with the lock, and epochs without any. */
CASE(long_operations_wait_for_the_lock) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    enum { LONG = 256 };
    for (int i = 0; i < ROUNDS; i++) {
        int64_t many[LONG] = {0};
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        MPI_Get(many, sizeof many, MPI_BYTE, 0, 0, sizeof many, MPI_BYTE, w.win); /* too long for a batch */
        MPI_Win_flush(0, w.win);
        for (int k = 0; k < LONG; k++)
            many[k]++;
        MPI_Put(many, sizeof many, MPI_BYTE, 0, 0, sizeof many, MPI_BYTE, w.win);
        MPI_Win_unlock(0, w.win);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win); /* an epoch without operations */
        MPI_Win_unlock(0, w.win);
    }
    expect_total(&w, 0, (int64_t)ROUNDS * test_size);
    MPI_Win_free(&w.win);
}

CASE(unchecked_locks) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int turn = 0; turn < test_size; turn++) {
        if (turn == test_rank) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, w.win);
            add_by_get_and_put(w.win, 0);
            MPI_Win_unlock(0, w.win);
        }
        barrier();
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win);
    add_number(w.win, 0, 0, 1);
    barrier();
    MPI_Win_unlock_all(w.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win); /* nothing is held any more */
    add_by_get_and_put(w.win, 0);
    MPI_Win_unlock(0, w.win);
    expect_total(&w, 0, 3 * test_size);
    MPI_Win_free(&w.win);
}

/* ---- fairness ---- */

enum { LOCKS = 300 };

/* Returns the number of waits during which other ranks got the lock more often than a fair lock allows. */
static int count_unfair_waits(MPI_Win win) {
    int64_t last = -1;
    int unfair = 0;
    for (int i = 0; i < LOCKS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        int64_t now = get_number(win, 0, 0);
        put_number(win, 0, 0, now + 1);
        MPI_Win_unlock(0, win);
        unfair += last >= 0 && now - last > 2 * test_size;
        last = now;
    }
    return unfair;
}

/* A rank that loses its core just before it draws its ticket is overtaken many times, which is no fault. On a busy machine this
 * happens often, but not always: a lock that is not fair is so in every attempt. */
CASE(exclusive_locks_are_fair) {
    enum { ATTEMPTS = 20 };
    SKIP_IF(!test_served(), "locks of the MPI below need not be fair");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    int most = LOCKS, attempts = 0;
    for (; most >= LOCKS / 10 && attempts < ATTEMPTS; attempts++) {
        int unfair = count_unfair_waits(w.win);
        MPI_Allreduce(&unfair, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    expect(most < LOCKS / 10);
    expect_total(&w, 0, (int64_t)attempts * LOCKS * test_size);
    MPI_Win_free(&w.win);
}

/* The other ranks take the shared lock again and again until rank 0 has got the exclusive one ROUNDS times. */
CASE(shared_locks_do_not_starve_an_exclusive_one) {
    SKIP_IF(!test_served(), "locks of the MPI below need not be fair");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    int64_t done = 0;
    for (int i = 0; test_rank == 0 && i < ROUNDS; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        store_number(&w, 0, i + 1);
        MPI_Win_unlock(0, w.win);
    }
    while (test_rank > 0 && done < ROUNDS) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
        done = get_number(w.win, 0, 0);
        MPI_Win_unlock(0, w.win);
    }
    MPI_Win_free(&w.win);
}

/* ---- progress ---- */

/* Every kind of lock and operation. The target makes no MPI call until all of it is complete. */
static void operate_on(const struct allocated *w, int target) {
    int64_t one = 1, five = 5, old = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win);
    put_number(w->win, target, 1, 41);
    expect_eq(get_number(w->win, target, 1), 41);
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, 8, 1, MPI_INT64_T, MPI_SUM, w->win);
    MPI_Win_unlock(target, w->win);
    MPI_Win_lock_all(0, w->win);
    expect_eq(add_number(w->win, target, 1, 3), 42);
    MPI_Compare_and_swap(&five, &(int64_t){45}, &old, MPI_INT64_T, target, 8, w->win);
    MPI_Win_flush_all(w->win);
    expect_eq(old, 45);
    expect_eq(get_number(w->win, target, 1), 5);
    MPI_Win_unlock_all(w->win);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    put_number(w->win, target, 0, 1);
    MPI_Win_unlock(target, w->win);
}

CASE(the_target_need_not_call_MPI) {
    SKIP_IF(!test_served(), "not served: targets would have to call MPI");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    if (test_rank == 1)
        operate_on(&w, 0);
    while (test_rank == 0 && !load_number(&w, 0))
        sched_yield();
    barrier();
    MPI_Win_free(&w.win);
}

/* Bytes of a message that the sender must make progress on. */
enum { LARGE = 1 << 20 };

CASE(messages_move_while_a_rank_waits_for_a_lock) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    char *message = malloc(LARGE);
    MPI_Request request;
    if (test_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        barrier();
        MPI_Recv(message, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_pattern(message, LARGE, 1, 0, 0);
        MPI_Win_unlock(0, w.win);
    } else {
        fill_pattern(message, LARGE, 1, 0, 0);
        barrier();
        if (test_rank == 1)
            MPI_Isend(message, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        get_number(w.win, 0, 0);
        MPI_Win_unlock(0, w.win);
        if (test_rank == 1)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    barrier();
    free(message);
    MPI_Win_free(&w.win);
}

typedef int64_t polling(MPI_Win win);

static int64_t poll_get_and_flush(MPI_Win win) {
    return get_number(win, 1, 0);
}

static int64_t poll_fetch_and_op(MPI_Win win) {
    return add_number(win, 1, 0, 0);
}

static int64_t poll_request(MPI_Win win) {
    int64_t value = 0;
    MPI_Request request;
    MPI_Rget(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return value;
}

/* A rank that only polls its window still makes progress on the message that it has started to send. */
static void poll_while_sending(polling *poll) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    char *message = malloc(LARGE);
    MPI_Request request;
    MPI_Win_lock_all(0, w.win);
    if (test_rank == 0) {
        MPI_Recv(message, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_pattern(message, LARGE, 1, 0, 0);
        add_number(w.win, 1, 0, 1);
    } else if (test_rank == 1) {
        fill_pattern(message, LARGE, 1, 0, 0);
        MPI_Isend(message, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        while (!poll(w.win))
            continue;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    barrier();
    MPI_Win_unlock_all(w.win);
    free(message);
    MPI_Win_free(&w.win);
}

CASE(messages_move_while_a_rank_polls) {
    poll_while_sending(poll_get_and_flush);
    poll_while_sending(poll_fetch_and_op);
    poll_while_sending(poll_request);
}

static int64_t poll_under_locks(MPI_Win win) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    int64_t value = 0;
    MPI_Get(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(1, win);
    return value;
}

CASE(messages_move_while_a_rank_polls_under_locks) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    char *message = malloc(LARGE);
    MPI_Request request;
    if (test_rank == 0) {
        MPI_Recv(message, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
        put_number(w.win, 1, 0, 1);
        MPI_Win_unlock(1, w.win);
    } else if (test_rank == 1) {
        MPI_Isend(message, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
        while (!poll_under_locks(w.win))
            continue;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    barrier();
    free(message);
    MPI_Win_free(&w.win);
}

/* ---- active targets ---- */

/* One round: at the next rank, every rank adds to number 0, puts number 1 and gets number 2. */
static void operate_in_round(MPI_Win win, int64_t *values, int round) {
    values[0] = 1;
    values[1] = 100 * round + test_rank;
    MPI_Accumulate(&values[0], 1, MPI_INT64_T, peer(), 0, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Put(&values[1], 1, MPI_INT64_T, peer(), 8, 1, MPI_INT64_T, win);
    MPI_Get(&values[2], 1, MPI_INT64_T, peer(), 16, 1, MPI_INT64_T, win);
}

static void expect_round(const struct allocated *w, const int64_t *values, int round) {
    int before = (test_rank + test_size - 1) % test_size;
    expect_eq(load_number(w, 0), round);
    expect_eq(load_number(w, 1), 100 * round + before);
    expect_eq(values[2], 7 * round + peer());
}

CASE(fences_with_all_assertions) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    const int begin[] = {0, MPI_MODE_NOPRECEDE, MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE};
    const int end[] = {0, MPI_MODE_NOSUCCEED, MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE};
    int64_t values[3];
    for (int round = 1; round <= 9; round++) {
        store_number(&w, 2, 7 * round + test_rank);
        barrier(); /* NOSTORE asserts that there were no stores since the last synchronisation */
        MPI_Win_fence(begin[round % 3], w.win);
        operate_in_round(w.win, values, round);
        MPI_Win_fence(end[round / 3 % 3], w.win);
        expect_round(&w, values, round);
        if (round / 3 % 3 == 0)
            MPI_Win_fence(MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT, w.win);
        barrier();
    }
    MPI_Win_free(&w.win);
}

static void wait_or_test(MPI_Win win, bool tests) {
    int flag = 0;
    if (!tests)
        MPI_Win_wait(win);
    while (tests && !flag)
        MPI_Win_test(win, &flag);
}

/* The target uses its memory for a moment, in which an operation that does not wait is executed. */
static void use_own_memory(const struct allocated *w) {
    for (double end = MPI_Wtime() + 0.02; MPI_Wtime() < end && load_number(w, 0) == 1;)
        sched_yield();
    expect_eq(load_number(w, 0), 1);
    store_number(w, 1, 7);
}

/* The target still uses its memory when the origin starts its epoch. */
CASE(operations_follow_the_post) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    MPI_Group all, other;
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, (int[]){!test_rank}, &other);
    for (int round = 0; round < 3; round++) {
        int64_t two = 2, got = -1;
        store_number(&w, 0, 1);
        store_number(&w, 1, 0);
        barrier();
        if (test_rank == 0) {
            MPI_Win_start(other, 0, w.win);
            MPI_Put(&two, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w.win);
            MPI_Get(&got, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, w.win);
            MPI_Win_complete(w.win);
            expect_eq(got, 7);
        } else if (test_rank == 1) {
            use_own_memory(&w);
            MPI_Win_post(other, 0, w.win);
            MPI_Win_wait(w.win);
            expect_eq(load_number(&w, 0), 2);
        }
        barrier();
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&w.win);
}

/* The same for a fence that ends no epoch. */
CASE(operations_follow_the_fence) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int round = 0; round < 3; round++) {
        int64_t two = 2, got = 7;
        store_number(&w, 0, 1);
        store_number(&w, 1, 0);
        barrier();
        if (test_rank == 1)
            use_own_memory(&w);
        MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
        if (test_rank == 0) {
            MPI_Put(&two, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w.win);
            MPI_Get(&got, 1, MPI_INT64_T, 1, 8, 1, MPI_INT64_T, w.win);
        }
        MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
        expect_eq(got, 7);
        expect_eq(load_number(&w, 0), test_rank == 1 ? 2 : 1);
        barrier();
    }
    MPI_Win_free(&w.win);
}

CASE(posts_and_starts_with_all_assertions) {
    SKIP_IF(over_pt2pt() && !test_served(), "osc pt2pt loses posts");
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    const int post[] = {0, MPI_MODE_NOSTORE, MPI_MODE_NOCHECK};
    int64_t values[3];
    MPI_Group all, to, from;
    int before = (test_rank + test_size - 1) % test_size, after = peer();
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, &after, &to);
    MPI_Group_incl(all, 1, &before, &from);
    for (int round = 1; round <= 9; round++) {
        store_number(&w, 2, 7 * round + test_rank);
        MPI_Win_post(from, post[round % 3], w.win);
        if (round % 3 == 2)
            barrier(); /* NOCHECK requires that all ranks have posted */
        MPI_Win_start(to, round % 3 == 2 ? MPI_MODE_NOCHECK : 0, w.win);
        operate_in_round(w.win, values, round);
        MPI_Win_complete(w.win);
        wait_or_test(w.win, round % 2);
        expect_round(&w, values, round);
    }
    MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win);
    MPI_Win_complete(w.win);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&all);
    MPI_Win_free(&w.win);
}

CASE(epochs_of_all_kinds_in_turn) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    for (int round = 0; round < 10; round++) {
        int64_t one = 1;
        MPI_Win_fence(0, w.win);
        MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_SUM, w.win);
        MPI_Win_fence(round % 2 ? MPI_MODE_NOSUCCEED : 0, w.win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
        add_by_get_and_put(w.win, 0);
        MPI_Win_unlock(0, w.win);
        barrier();
        MPI_Win_lock_all(0, w.win);
        add_number(w.win, 0, 0, 1);
        MPI_Win_unlock_all(w.win);
        barrier();
        expect_total(&w, 0, (int64_t)3 * test_size * (round + 1));
    }
    MPI_Win_free(&w.win);
}

/* For test/fault/test_served.sh: rank 1 holds the lock, and the others wait for it, until rank 1 is killed. */
ON_CALL(held_until_the_end) {
    struct allocated w = allocate_window(MPI_COMM_WORLD, WINDOW, 1, NULL);
    if (test_rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
    barrier();
    if (test_rank == 1)
        for (;;)
            sched_yield();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
}
