/* ex_coll.c: tests collective operations on several teams, against what each member computes by itself. */
#include "ex_test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 /* elements */, TEAMS = 3 };

/* All ranks; the same in reverse; and halves, of even and odd ranks. */
static void make_teams(gex_TM_t *teams) {
    teams[0] = ex_tm;
    gex_TM_Split(&teams[1], ex_tm, 7, -test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_TM_Split(&teams[2], ex_tm, test_rank % 2, test_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

static void free_teams(gex_TM_t *teams) {
    for (int i = 1; i < TEAMS; i++)
        gex_TM_Destroy(teams[i], NULL, 0);
}

static _Atomic int arrived;
static void on_arrived(gex_Token_t token) {
    (void)token;
    atomic_fetch_add(&arrived, 1);
}
static gex_AM_Entry_t entries[] = {
    {.gex_fnptr = (gex_AM_Fn_t)on_arrived, .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST}};

/* What a rank did before its barrier, the others see after theirs. */
CASE(barriers_wait_for_all) {
    gex_TM_t teams[TEAMS];
    ex_register(entries, 1);
    make_teams(teams);
    for (int t = 0; t < TEAMS; t++)
        for (int i = 0; i < 10; i++) {
            gex_Rank_t size = gex_TM_QuerySize(teams[t]), rank = gex_TM_QueryRank(teams[t]),
                       next = (rank + 1) % size;
            uint64_t *word =
                (uint64_t *)(void *)(ex_base[gex_TM_TranslateRankToJobrank(teams[t], next)] + 64 * t);
            gex_RMA_PutBlockingVal(teams[t], next, word, (gex_RMA_Value_t)(1000 * t + i + 1), 8, 0);
            gex_Event_t event = gex_Coll_BarrierNB(teams[t], 0);
            if (i % 2)
                gex_Event_Wait(event);
            else
                while (gex_Event_Test(event) != 0)
                    gasnet_AMPoll();
            expect_eq(*(volatile uint64_t *)(void *)(ex_base[test_rank] + 64 * t), 1000 * t + i + 1);
            gex_Event_Wait(gex_Coll_BarrierNB(teams[t], 0));
        }
    free_teams(teams);
}

CASE(broadcasts) {
    static const size_t sizes[] = {0, 1, 8, 1000, 32768, 100001};
    char *data = malloc(100001), *want = malloc(100001);
    gex_TM_t teams[TEAMS];
    make_teams(teams);
    for (int t = 0; t < TEAMS; t++)
        for (gex_Rank_t root = 0; root < gex_TM_QuerySize(teams[t]); root++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                int source = (int)gex_TM_TranslateRankToJobrank(teams[t], root);
                bool in_place = i % 2, mine = source == test_rank;
                test_fill(want, sizes[i], source, (int)i);
                memset(data, 0, sizes[i]);
                if (in_place && mine)
                    memcpy(data, want, sizes[i]);
                gex_Event_Wait(gex_Coll_BroadcastNB(teams[t], root, data,
                                                    !mine      ? NULL
                                                    : in_place ? data
                                                               : want,
                                                    sizes[i], 0));
                expect_bytes(data, want, sizes[i]);
            }
    free_teams(teams);
    free(data);
    free(want);
}

/* ---- reductions of the built-in types ---- */

/* Small, so that products of all ranks are exact in every type. */
static int element(int rank, size_t i) {
    return (int)(test_number(rank, i, 3) % 5) + 1;
}

#define FOLD(type, op, a, b)                                                                                 \
    ((op) == GEX_OP_ADD    ? (type)((a) + (b))                                                               \
     : (op) == GEX_OP_MULT ? (type)((a) * (b))                                                               \
     : (op) == GEX_OP_MIN  ? ((a) < (b) ? (a) : (b))                                                         \
                           : ((a) > (b) ? (a) : (b)))

#define REDUCTIONS(DT, type)                                                                                 \
    static void reduce_##DT(gex_TM_t tm, gex_OP_t op, size_t count, gex_Rank_t root, bool all) {             \
        type *src = malloc(count * sizeof *src), *dst = malloc(count * sizeof *dst);                         \
        gex_Rank_t size = gex_TM_QuerySize(tm);                                                              \
        for (size_t i = 0; i < count; i++)                                                                   \
            src[i] = (type)element(test_rank, i);                                                            \
        memset(dst, 0, count * sizeof *dst);                                                                 \
        if (all)                                                                                             \
            gex_Event_Wait(                                                                                  \
                gex_Coll_ReduceToAllNB(tm, dst, src, GEX_DT_##DT, sizeof *src, count, op, NULL, NULL, 0));   \
        else                                                                                                 \
            gex_Event_Wait(gex_Coll_ReduceToOneNB(tm, root, dst, src, GEX_DT_##DT, sizeof *src, count, op,   \
                                                  NULL, NULL, 0));                                           \
        for (size_t i = 0; i < count && (all || gex_TM_QueryRank(tm) == root); i++) {                        \
            type want = (type)element((int)gex_TM_TranslateRankToJobrank(tm, 0), i);                         \
            for (gex_Rank_t r = 1; r < size; r++) {                                                          \
                type next = (type)element((int)gex_TM_TranslateRankToJobrank(tm, r), i);                     \
                want = FOLD(type, op, want, next);                                                           \
            }                                                                                                \
            if (dst[i] != want) {                                                                            \
                expect(dst[i] == want);                                                                      \
                break;                                                                                       \
            }                                                                                                \
        }                                                                                                    \
        free(src);                                                                                           \
        free(dst);                                                                                           \
    }
REDUCTIONS(I32, int32_t)
REDUCTIONS(U32, uint32_t)
REDUCTIONS(I64, int64_t)
REDUCTIONS(U64, uint64_t)
REDUCTIONS(FLT, float)
REDUCTIONS(DBL, double)

CASE(reductions_of_all_types) {
    static void (*const reduce[])(gex_TM_t, gex_OP_t, size_t, gex_Rank_t, bool) = {
        reduce_I32, reduce_U32, reduce_I64, reduce_U64, reduce_FLT, reduce_DBL};
    static const gex_OP_t ops[] = {GEX_OP_ADD, GEX_OP_MULT, GEX_OP_MIN, GEX_OP_MAX};
    gex_TM_t teams[TEAMS];
    make_teams(teams);
    for (int t = 0; t < TEAMS; t++)
        for (int type = 0; type < 6; type++)
            for (int op = 0; op < 4; op++) {
                size_t count = (type + op) % 3 == 0 ? 1 : 77;
                reduce[type](teams[t], ops[op], count, gex_TM_QuerySize(teams[t]) - 1, false);
                reduce[type](teams[t], ops[op], count, 0, true);
            }
    reduce_U64(teams[1], GEX_OP_ADD, MOST, 0, true); /* several messages */
    reduce_DBL(teams[2], GEX_OP_MAX, MOST, 0, false);
    free_teams(teams);
}

CASE(bits) {
    uint64_t mine = (uint64_t)1 << test_rank, all = 0, every = ((uint64_t)1 << test_size) - 1;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, &all, &mine, GEX_DT_U64, 8, 1, GEX_OP_OR, NULL, NULL, 0));
    expect(all == every);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, &all, &mine, GEX_DT_U64, 8, 1, GEX_OP_XOR, NULL, NULL, 0));
    expect(all == every);
    mine = ~mine;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(ex_tm, &mine, &mine, GEX_DT_I64, 8, 1, GEX_OP_AND, NULL, NULL,
                                          0)); /* in place */
    expect(mine == ~every);
}

/* ---- functions of the program ---- */

/* A linear map x -> a x + b modulo 2^32. Composition is associative, and does not commute. */
struct map {
    uint32_t a, b, odd[3];
};
static int passed;

static struct map then(struct map x, struct map y) {
    return (struct map){.a = x.a * y.a, .b = x.b * y.a + y.b};
}

static void compose(const void *left, void *right, size_t count, const void *cdata) {
    const struct map *x = left;
    struct map *y = right;
    expect(cdata == &passed);
    for (size_t i = 0; i < count; i++)
        y[i] = then(x[i], y[i]);
}

static struct map map_of(int rank, size_t i) {
    return (struct map){.a = (uint32_t)test_number(rank, i, 1), .b = (uint32_t)test_number(rank, i, 2)};
}

static void add_all(const void *left, void *right, size_t count, const void *cdata) {
    (void)cdata;
    for (size_t i = 0; i < count; i++)
        ((double *)right)[i] += ((const double *)left)[i];
}

CASE(functions_of_the_program) {
    enum { COUNT = 50 };
    gex_TM_t teams[TEAMS];
    make_teams(teams);
    for (int t = 0; t < TEAMS; t++) {
        struct map src[COUNT], dst[COUNT], want[COUNT];
        gex_Rank_t size = gex_TM_QuerySize(teams[t]);
        for (size_t i = 0; i < COUNT; i++) {
            src[i] = map_of(test_rank, i);
            want[i] = map_of((int)gex_TM_TranslateRankToJobrank(teams[t], 0), i);
            for (gex_Rank_t r = 1; r < size; r++)
                want[i] = then(want[i], map_of((int)gex_TM_TranslateRankToJobrank(teams[t], r), i));
        }
        for (gex_Rank_t root = 0; root <= size; root++) { /* at last to all */
            memset(dst, 0, sizeof dst);
            gex_Event_t event =
                root < size ? gex_Coll_ReduceToOneNB(teams[t], root, dst, src, GEX_DT_USER, sizeof *src,
                                                     COUNT, GEX_OP_USER_NC, compose, &passed, 0)
                            : gex_Coll_ReduceToAllNB(teams[t], dst, src, GEX_DT_USER, sizeof *src, COUNT,
                                                     GEX_OP_USER_NC, compose, &passed, 0);
            gex_Event_Wait(event);
            for (size_t i = 0; i < COUNT && (root == size || gex_TM_QueryRank(teams[t]) == root); i++)
                expect(dst[i].a == want[i].a && dst[i].b == want[i].b);
        }
    }
    double one = 1, sum = 0;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(ex_tm, &sum, &one, GEX_DT_DBL, sizeof one, 1, GEX_OP_USER, add_all, NULL, 0));
    expect_real(sum, test_size);
    free_teams(teams);
}

/* Many at a time, on several teams, synchronised in another order; also beside collectives of GASNet-1. */
CASE(many_at_a_time) {
    enum { MANY = 30 };
    gex_TM_t teams[TEAMS];
    gex_Event_t events[MANY];
    int64_t in[MANY], out[MANY];
    make_teams(teams);
    for (int i = 0; i < MANY; i++) {
        gex_TM_t tm = teams[i % TEAMS];
        in[i] = test_rank + i;
        out[i] = -1;
        events[i] = i % 4 == 3 ? gex_Coll_BroadcastNB(tm, 0, &out[i], &in[i], sizeof in[i], 0)
                               : gex_Coll_ReduceToAllNB(tm, &out[i], &in[i], GEX_DT_I64, sizeof in[i], 1,
                                                        GEX_OP_MAX, NULL, NULL, 0);
    }
    for (int i = MANY - 1; i >= 0; i--)
        gex_Event_Wait(events[i]);
    for (int i = 0; i < MANY; i++) {
        gex_TM_t tm = teams[i % TEAMS];
        int64_t most = 0;
        for (gex_Rank_t r = 0; r < gex_TM_QuerySize(tm); r++)
            most = gex_TM_TranslateRankToJobrank(tm, r) > most ? gex_TM_TranslateRankToJobrank(tm, r) : most;
        expect_eq(out[i], (i % 4 == 3 ? (int64_t)gex_TM_TranslateRankToJobrank(tm, 0) : most) + i);
    }
    expect_eq(gasnet_barrier(3, 0), GASNET_OK);
    free_teams(teams);
}
