/* barrier.c: split-phase barriers with names that must agree.
 *
 * A dissemination barrier: in round r every rank sends its current knowledge to the rank 2^r further and receives from
 * the one 2^r before; after log2(ranks) rounds all ranks have heard of all. The knowledge is the name that the ranks
 * agree on, or that they do not; hearing of a rank twice changes nothing. A rank advances to the next round when it
 * polls: in wait and in try.
 *
 * A rank that has left a barrier may not poll for a long time. Its messages are delivered all the same (am_remote.c).
 *
 * A rank may receive messages of the next barrier while it is still in this one, but never of the one after that: hence
 * two tables. There are two independent barriers, the program's and an internal one. */
#include "gas/coll/barrier.h"

#include "base/compiler.h"
#include "gas/am/am.h"

enum { ROUNDS = 32 };
enum agreed { ANY, NAMED, MISMATCH };

struct notice {
    _Atomic bool here; /* set last by the handler; pairs with barrier_advance */
    int32_t agreed, id;
};

struct barrier {
    bool open; /* between notify and wait */
    uint8_t table;
    int round;
    struct notice mine;
    struct notice result; /* of the last completed barrier */
    struct notice heard[2][ROUNDS];
};

static struct barrier barriers[2];
enum { PROGRAM, OWN };

static void barrier_merge(struct notice *into, const struct notice *n) {
    if (n->agreed == MISMATCH || (n->agreed == NAMED && into->agreed == NAMED && n->id != into->id))
        into->agreed = MISMATCH;
    else if (into->agreed == ANY) {
        into->agreed = n->agreed;
        into->id = n->id;
    }
}

static void on_notice(gasnet_token_t token, int32_t where, int32_t agreed, int32_t id) {
    uint32_t round = (uint32_t)where >> 2;
    (void)token;
    if (UNLIKELY(round >= ROUNDS))
        gas_fail("barrier", "a message for round %u arrived; there are %d", round, ROUNDS);
    struct notice *n = &barriers[where & 1].heard[where >> 1 & 1][round];
    n->agreed = agreed;
    n->id = id;
    atomic_store_explicit(&n->here, true, memory_order_release);
}

void gas_barrier_open(void) {
    gas_am_register_own(AM_BARRIER, (am_handler *)on_notice, 3, GEX_FLAG_AM_SHORT);
}

static bool barrier_is_over(const struct barrier *b) {
    return ((uint64_t)1 << b->round) >= (uint64_t)gas_job.size;
}

static void barrier_tell(struct barrier *b) {
    int to = (int)(((uint64_t)gas_job.rank + ((uint64_t)1 << b->round)) % (uint64_t)gas_job.size);
    int32_t where = (int32_t)(b - barriers) | b->table << 1 | b->round << 2;
    gas_am_send(to, AM_BARRIER, 3, (int32_t[]){where, b->mine.agreed, b->mine.id});
}

/* Returns whether the barrier is complete. */
static bool barrier_advance(struct barrier *b) {
    while (!barrier_is_over(b)) {
        struct notice *n = &b->heard[b->table][b->round];
        if (!atomic_load_explicit(&n->here, memory_order_acquire))
            return false;
        atomic_store_explicit(&n->here, false, memory_order_relaxed);
        barrier_merge(&b->mine, n);
        b->round++;
        if (!barrier_is_over(b))
            barrier_tell(b);
    }
    return true;
}

static int32_t agreed_by(int flags) {
    return flags & GASNET_BARRIERFLAG_MISMATCH    ? MISMATCH
           : flags & GASNET_BARRIERFLAG_ANONYMOUS ? ANY
                                                  : NAMED;
}

static void notify(struct barrier *b, int id, int flags) {
    b->open = true;
    b->round = 0;
    b->mine.id = id;
    b->mine.agreed = agreed_by(flags);
    if (!barrier_is_over(b))
        barrier_tell(b);
}

/* The barrier is complete; returns its result. The flags of wait may differ from those of notify: the name in wait, if
 * any, must be the one that all ranks agree on. */
static int barrier_finish(struct barrier *b, int id, int flags) {
    struct notice told = {.agreed = agreed_by(flags), .id = id};
    b->open = false;
    b->table ^= 1;
    b->result = b->mine;
    barrier_merge(&told, &b->mine);
    return told.agreed == MISMATCH ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
}

static void barrier_wait_for(struct barrier *b) {
    unsigned round = 0;
    while (!barrier_advance(b))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
}

/* ---- the calls ---- */

void gasnet_barrier_notify(int id, int flags) {
    gas_need("gasnet_barrier_notify", 0);
    gas_need_free("gasnet_barrier_notify");
    if (UNLIKELY(barriers[PROGRAM].open))
        gas_fail("gasnet_barrier_notify",
                 "the last barrier was not waited for: call gasnet_barrier_wait first");
    notify(&barriers[PROGRAM], id, flags);
}
ALSO(void, barrier_notify, (int id, int flags));

static void need_notified(const char *call) {
    gas_need(call, 0);
    gas_need_free(call);
    if (UNLIKELY(!barriers[PROGRAM].open))
        gas_fail(call, "there is no barrier to wait for: call gasnet_barrier_notify first");
}

int gasnet_barrier_wait(int id, int flags) {
    need_notified("gasnet_barrier_wait");
    barrier_wait_for(&barriers[PROGRAM]);
    return barrier_finish(&barriers[PROGRAM], id, flags);
}
ALSO(int, barrier_wait, (int id, int flags));

int gasnet_barrier_try(int id, int flags) {
    need_notified("gasnet_barrier_try");
    gas_poll();
    if (!barrier_advance(&barriers[PROGRAM]))
        return GASNET_ERR_NOT_READY;
    return barrier_finish(&barriers[PROGRAM], id, flags);
}
ALSO(int, barrier_try, (int id, int flags));

int gasnet_barrier(int id, int flags) {
    gasnet_barrier_notify(id, flags);
    return gasnet_barrier_wait(id, flags);
}
ALSO(int, barrier, (int id, int flags));

int gasnet_barrier_result(int *id) {
    const char *call = "gasnet_barrier_result";
    const struct barrier *b = &barriers[PROGRAM];
    gas_need(call, 0);
    if (UNLIKELY(b->open))
        gas_fail(call, "a barrier was notified and not waited for: call gasnet_barrier_wait first");
    if (b->result.agreed == ANY)
        return 1;
    *id = b->result.id;
    return 0;
}
ALSO(int, barrier_result, (int *id));

void gas_barrier(void) {
    notify(&barriers[OWN], 0, GASNET_BARRIERFLAG_ANONYMOUS);
    barrier_wait_for(&barriers[OWN]);
    barrier_finish(&barriers[OWN], 0, GASNET_BARRIERFLAG_ANONYMOUS);
}
