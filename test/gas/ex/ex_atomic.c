/* ex_atomic.c: tests atomic operations: all types and operators against a model; many ranks and threads on the same words;
 * loads of the owner meanwhile; and an owner that makes no calls. */
#include "ex_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 8, TIMES = 300 };

/* Words that this rank alone uses, in the segment of another. */
static void *own_word(int rank) {
    return ex_base[rank] + 2048 + (size_t)test_rank * 64;
}

static const gex_OP_t integer_ops[] = {GEX_OP_ADD,  GEX_OP_MULT, GEX_OP_MIN,  GEX_OP_MAX,   GEX_OP_SUB,
                                       GEX_OP_INC,  GEX_OP_DEC,  GEX_OP_AND,  GEX_OP_OR,    GEX_OP_XOR,
                                       GEX_OP_SET,  GEX_OP_CAS,  GEX_OP_FADD, GEX_OP_FMULT, GEX_OP_FMIN,
                                       GEX_OP_FMAX, GEX_OP_FSUB, GEX_OP_FINC, GEX_OP_FDEC,  GEX_OP_FAND,
                                       GEX_OP_FOR,  GEX_OP_FXOR, GEX_OP_SWAP, GEX_OP_FCAS,  GEX_OP_GET};
static const gex_OP_t real_ops[] = {GEX_OP_ADD,   GEX_OP_MULT, GEX_OP_MIN,  GEX_OP_MAX,  GEX_OP_SUB,
                                    GEX_OP_INC,   GEX_OP_DEC,  GEX_OP_SET,  GEX_OP_CAS,  GEX_OP_FADD,
                                    GEX_OP_FMULT, GEX_OP_FMIN, GEX_OP_FMAX, GEX_OP_FSUB, GEX_OP_FINC,
                                    GEX_OP_FDEC,  GEX_OP_SWAP, GEX_OP_FCAS, GEX_OP_GET};

static bool op_fetches(gex_OP_t op) {
    return op >= GEX_OP_FAND;
}

static gex_OP_t all_of(const gex_OP_t *ops, size_t count) {
    gex_OP_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= ops[i];
    return all;
}

static gex_EC_t category_of(gex_OP_t op) {
    return op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW;
}

/* What the operator makes of `old`, computed in `wide`. */
#define MODEL_CASES(wide)                                                                                    \
    case GEX_OP_ADD:                                                                                         \
        return (T)((wide)old + (wide)a);                                                                     \
    case GEX_OP_MULT:                                                                                        \
        return (T)((wide)old * (wide)a);                                                                     \
    case GEX_OP_SUB:                                                                                         \
        return (T)((wide)old - (wide)a);                                                                     \
    case GEX_OP_INC:                                                                                         \
        return (T)((wide)old + (wide)1);                                                                     \
    case GEX_OP_DEC:                                                                                         \
        return (T)((wide)old - (wide)1);                                                                     \
    case GEX_OP_MIN:                                                                                         \
        return a < old ? a : old;                                                                            \
    case GEX_OP_MAX:                                                                                         \
        return a > old ? a : old;                                                                            \
    case GEX_OP_SET:                                                                                         \
        return a;                                                                                            \
    case GEX_OP_CAS:                                                                                         \
        return old == a ? b : old;
#define MODEL_BITS                                                                                           \
    case GEX_OP_AND:                                                                                         \
        return old & a;                                                                                      \
    case GEX_OP_OR:                                                                                          \
        return old | a;                                                                                      \
    case GEX_OP_XOR:                                                                                         \
        return old ^ a;

#define MODEL(DT, type, wide, bits, ops)                                                                     \
    static type model_##DT(gex_OP_t op, type old, type a, type b) {                                          \
        typedef type T;                                                                                      \
        switch (op_fetches(op) && op != GEX_OP_GET ? GEX_OP_TO_NONFETCHING(op) : op) {                       \
            MODEL_CASES(wide) bits default : return old;                                                     \
        }                                                                                                    \
    }                                                                                                        \
    CASE(operators_of_##DT) {                                                                                \
        gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);                                       \
        size_t count = sizeof ops / sizeof ops[0];                                                           \
        type *at = own_word((int)target), now = 0, zero = 0;                                                 \
        gex_AD_t ad = GEX_AD_INVALID;                                                                        \
        gex_AD_Create(&ad, ex_tm, GEX_DT_##DT, all_of(ops, count), GEX_FLAG_AD_FAVOR_REMOTE);                \
        gex_RMA_PutBlocking(ex_tm, target, at, &zero, sizeof zero, 0);                                       \
        for (size_t i = 0; i < ROUNDS * count; i++) {                                                        \
            gex_OP_t op = ops[ex_draw((uint32_t)count)];                                                     \
            type a = (type)((int)ex_draw(20) - 9), b = (type)((int)ex_draw(9) - 4), got = 77, want = now;    \
            if (op == GEX_OP_CAS || op == GEX_OP_FCAS)                                                       \
                a = ex_draw(2) ? now : a;                                                                    \
            if (i % 2)                                                                                       \
                gex_Event_Wait(                                                                              \
                    gex_AD_OpNB_##DT(ad, &got, target, at, op, a, b, i % 4 == 1 ? GEX_FLAG_AD_ACQ : 0));     \
            else {                                                                                           \
                expect_eq(gex_AD_OpNBI_##DT(ad, op_fetches(op) ? &got : NULL, target, at, op, a, b,          \
                                            GEX_FLAG_AD_REL),                                                \
                          0);                                                                                \
                gex_NBI_Wait(category_of(op), 0);                                                            \
            }                                                                                                \
            now = model_##DT(op, now, a, b);                                                                 \
            expect(got == (op_fetches(op) ? want : (type)77));                                               \
            if (now > (type)1000000 || (double)now < -1000000.0) {                                           \
                now = 3;                                                                                     \
                gex_Event_Wait(gex_AD_OpNB_##DT(ad, NULL, target, at, GEX_OP_SET, now, 0, 0));               \
            }                                                                                                \
        }                                                                                                    \
        type last = 0;                                                                                       \
        gex_RMA_GetBlocking(ex_tm, &last, target, at, sizeof last, 0);                                       \
        expect(last == now);                                                                                 \
        ex_barrier();                                                                                        \
        gex_AD_Destroy(ad);                                                                                  \
    }

MODEL(I32, int32_t, uint32_t, MODEL_BITS, integer_ops)
MODEL(U32, uint32_t, uint32_t, MODEL_BITS, integer_ops)
MODEL(I64, int64_t, uint64_t, MODEL_BITS, integer_ops)
MODEL(U64, uint64_t, uint64_t, MODEL_BITS, integer_ops)
MODEL(FLT, float, float, , real_ops)
MODEL(DBL, double, double, , real_ops)

CASE(queries_of_a_domain) {
    static int mark;
    gex_AD_t ad = GEX_AD_INVALID;
    gex_AD_Create(&ad, ex_tm, GEX_DT_I64, GEX_OP_FADD | GEX_OP_GET, GEX_FLAG_AD_FAVOR_MY_NBRHD);
    expect(gex_AD_QueryTM(ad) == ex_tm);
    expect_eq(gex_AD_QueryDT(ad), GEX_DT_I64);
    expect_eq(gex_AD_QueryOps(ad), GEX_OP_FADD | GEX_OP_GET);
    expect_eq(gex_AD_QueryFlags(ad), GEX_FLAG_AD_FAVOR_MY_NBRHD);
    expect(!gex_AD_QueryCData(ad));
    gex_AD_SetCData(ad, &mark);
    expect(gex_AD_QueryCData(ad) == &mark);
    gex_AD_Destroy(ad);
}

/* ---- the same word, from everywhere ---- */

static gex_AD_t shared_domain;
static gex_TM_t reversed;
static uint64_t *counter;
static _Atomic uint64_t fetched; /* sum of what the threads of this rank have fetched */

static void *count_up(void *arg) {
    (void)arg;
    for (int i = 0; i < TIMES; i++) {
        uint64_t old = 0;
        gex_Rank_t rank =
            (gex_Rank_t)(i % 2 ? 0 : test_size - 1); /* rank 0 of the job, in the reversed team */
        gex_Event_Wait(gex_AD_OpNB_U64(shared_domain, &old, rank, counter, GEX_OP_FADD, 1, 0,
                                       i % 2 ? GEX_FLAG_RANK_IS_JOBRANK : 0));
        atomic_fetch_add(&fetched, old);
    }
    return NULL;
}

/* Every value is fetched once. The owner loads the counter meanwhile, and never sees it go back. */
CASE(threads_of_all_ranks_count) {
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    uint64_t total = (uint64_t)TIMES * THREADS * (uint64_t)test_size, sum = 0, mine, seen = 0;
    counter = (uint64_t *)(void *)ex_base[0];
    gex_TM_Split(&reversed, ex_tm, 0, -test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_AD_Create(&shared_domain, reversed, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
    gex_RMA_PutBlockingVal(ex_tm, 0, counter, 0, 8, 0);
    atomic_store(&fetched, 0);
    ex_barrier();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count_up, NULL);
    while (test_rank == 0 && seen < total && test_elapsed() < 60) { /* a lost update ends it, too */
        uint64_t now = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
        if (!expect(now >= seen && now <= total))
            break;
        seen = now;
        gasnet_AMPoll();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mine = atomic_load(&fetched);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    expect(sum == total * (total - 1) / 2);
    uint64_t last = 0;
    gex_Event_Wait(
        gex_AD_OpNB_U64(shared_domain, &last, (gex_Rank_t)(test_size - 1), counter, GEX_OP_GET, 0, 0, 0));
    expect_eq(last, total);
    ex_barrier();
    gex_AD_Destroy(shared_domain);
    gex_TM_Destroy(reversed, NULL, 0);
}

/* The owner makes no call until its word has the last value: nothing but the library executes the operations. */
CASE(owner_that_does_not_poll) {
    uint64_t *word = (uint64_t *)(void *)ex_base[0] + 7, total = (uint64_t)TIMES * (uint64_t)(test_size - 1);
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_INC | GEX_OP_FINC, 0);
    gex_RMA_PutBlockingVal(ex_tm, 0, word, 0, 8, 0);
    ex_barrier();
    if (test_rank == 0)
        while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < total && test_elapsed() < 100)
            sched_yield();
    if (test_rank == 0)
        expect_eq(__atomic_load_n(word, __ATOMIC_ACQUIRE), total);
    for (int i = 0; test_rank != 0 && i < TIMES; i++) {
        uint64_t old = total;
        gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, word, i % 2 ? GEX_OP_INC : GEX_OP_FINC, 0, 0, 0));
        expect(i % 2 ? old == total : old < total);
    }
    ex_barrier();
    expect_eq(gex_RMA_GetBlockingVal(ex_tm, 0, word, 8, 0), total);
    ex_barrier();
    gex_AD_Destroy(ad);
}

/* Results are stored in the own segment, whose pages may not be there. */
CASE(results_in_the_own_segment) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    int32_t *at = own_word((int)target);
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_I32, GEX_OP_FADD, 0);
    gex_RMA_PutBlockingVal(ex_tm, target, at, 0, 4, 0);
    for (int i = 0; i < 40; i++) {
        int32_t *mine = (int32_t *)(void *)(ex_base[test_rank] + (1 << 20) + i * 40000);
        if (i % 2)
            gex_Event_Wait(gex_AD_OpNB_I32(ad, mine, target, at, GEX_OP_FADD, -3, 0, 0));
        else {
            gex_AD_OpNBI_I32(ad, mine, target, at, GEX_OP_FADD, -3, 0, 0);
            gex_NBI_Wait(GEX_EC_RMW, 0);
        }
        expect_eq(*mine, -3 * i);
    }
    ex_barrier();
    gex_AD_Destroy(ad);
}

/* All ranks update the words of many pages of all ranks, in random order. The sum of what they have added is what is there. */
CASE(words_of_many_pages) {
    enum { WORDS = 40, APART = 65536 + 4096 - 8, OPERATIONS = 400 };
    uint64_t *added = calloc((size_t)test_size * WORDS, sizeof *added),
             *sums = calloc((size_t)test_size * WORDS, 8), old[16];
    size_t bytes = (size_t)test_size * WORDS;
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SUB, 0);
    for (int i = 0; i < WORDS; i++)
        gex_RMA_PutBlockingVal(ex_tm, (gex_Rank_t)test_rank, ex_base[test_rank] + (size_t)i * APART, 0, 8, 0);
    ex_barrier();
    for (int i = 0; i < OPERATIONS; i++) {
        uint64_t n = test_number(test_rank, (size_t)i, 5);
        gex_Rank_t rank = (gex_Rank_t)(n % (uint64_t)test_size);
        size_t word = n / 64 % WORDS;
        void *at = ex_base[rank] + word * APART;
        bool subtracts = i % 3 == 2;
        added[rank * WORDS + word] += subtracts ? -(n >> 8) : n >> 8;
        gex_OP_t op = subtracts ? GEX_OP_SUB : i % 3 ? GEX_OP_ADD : GEX_OP_FADD;
        if (i % 5)
            gex_AD_OpNBI_U64(ad, &old[i % 16], rank, at, op, n >> 8, 0, 0);
        else
            gex_Event_Wait(gex_AD_OpNB_U64(ad, &old[i % 16], rank, at, op, n >> 8, 0, 0));
        if (i % 16 == 15)
            gex_NBI_Wait(GEX_EC_RMW, 0);
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(ex_tm, sums, added, GEX_DT_U64, 8, bytes, GEX_OP_ADD, NULL, NULL, 0));
    for (int rank = 0; rank < test_size; rank++)
        for (int i = 0; i < WORDS; i++)
            expect(gex_RMA_GetBlockingVal(ex_tm, (gex_Rank_t)rank, ex_base[rank] + (size_t)i * APART, 8, 0) ==
                   sums[rank * WORDS + i]);
    ex_barrier();
    gex_AD_Destroy(ad);
    free(added);
    free(sums);
}

/* Many implicit operations, also with the flag that allows refusal: those that were not refused count. */
CASE(many_implicit_operations) {
    gex_Rank_t target = (gex_Rank_t)((test_rank + 1) % test_size);
    uint32_t *at = own_word((int)target), started = 0;
    gex_AD_t ad;
    gex_AD_Create(&ad, ex_tm, GEX_DT_U32, GEX_OP_INC, 0);
    gex_RMA_PutBlockingVal(ex_tm, target, at, 0, 4, 0);
    for (int i = 0; i < TIMES; i++)
        if (gex_AD_OpNBI_U32(ad, NULL, target, at, GEX_OP_INC, 0, 0, i % 2 ? GEX_FLAG_IMMEDIATE : 0) == 0)
            started++;
    gex_Event_t event = gex_AD_OpNB_U32(ad, NULL, target, at, GEX_OP_INC, 0, 0, GEX_FLAG_IMMEDIATE);
    if (event != GEX_EVENT_NO_OP) {
        gex_Event_Wait(event);
        started++;
    }
    while (gex_NBI_Test(GEX_EC_RMW, 0) != 0)
        gasnet_AMPoll();
    expect_eq(gex_RMA_GetBlockingVal(ex_tm, target, at, 4, 0), started);
    expect(started >= TIMES / 2);
    ex_barrier();
    gex_AD_Destroy(ad);
}

/* A process that posts to all others, and then only polls until they have posted to it: nobody synchronises before. */
CASE(polls_complete_operations) {
    enum { POSTS = 20 };
    gex_AD_t ad;
    int64_t *mine = (int64_t *)(void *)(ex_base[test_rank] + 1024);
    gex_AD_Create(&ad, ex_tm, GEX_DT_I64, GEX_OP_INC | GEX_OP_GET, 0);
    *mine = 0;
    ex_barrier();
    for (int i = 1; i <= POSTS; i++) {
        for (int r = 0; r < test_size; r++)
            gex_AD_OpNBI_I64(ad, NULL, (gex_Rank_t)r, ex_base[r] + 1024, GEX_OP_INC, 0, 0, 0);
        while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) < (int64_t)i * test_size)
            gasnet_AMPoll();
    }
    gex_NBI_Wait(GEX_EC_RMW, 0);
    ex_barrier();
    expect(*mine == (int64_t)POSTS * test_size);
    gex_AD_Destroy(ad);
}
