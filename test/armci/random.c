/* random.c: runs random transfers of every kind against a simple copy of all ranks' memory.
 *
 * Each rank uses its own region in the memory of each rank, so that all run at once without conflict. The actions of
 * a rank in a round depend only on the seed, the round and its number. Every rank replays the actions of all ranks,
 * byte by byte on a plain copy, and compares its own memory with it. The rank that makes a get compares its result at
 * once. timeout: 120; quick: openmpi */
#include "test.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGION = 24576, OPS = 24, LEVELS = 7, PIECES = 12 };

static void **memory;    /* addresses of all ranks' memory */
static uint8_t **copies; /* the local copy of each */
static uint8_t *local, *wanted;

/* ---- numbers ---- */

static uint64_t state;

static uint64_t below(uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state ^ state >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 32) % n;
}

/* Whole numbers in floating point, so that sums are exact in any order. */
static void put_number(int type, uint8_t *to, int64_t n) {
    switch (type) {
    case ARMCI_ACC_INT:
        memcpy(to, &(int){(int)n}, sizeof(int));
        break;
    case ARMCI_ACC_LNG:
        memcpy(to, &(long){(long)n}, sizeof(long));
        break;
    case ARMCI_ACC_FLT:
        memcpy(to, &(float){(float)n}, sizeof(float));
        break;
    case ARMCI_ACC_DBL:
        memcpy(to, &(double){(double)n}, sizeof(double));
        break;
    case ARMCI_ACC_CPL:
        memcpy(to, &(float complex){__builtin_complex((float)n, (float)-n)}, sizeof(float complex));
        break;
    default:
        memcpy(to, &(double complex){__builtin_complex((double)n, (double)-n)}, sizeof(double complex));
        break;
    }
}

static size_t grain_of(int type) {
    static const size_t sizes[] = {sizeof(int),    sizeof(long),          sizeof(float),
                                   sizeof(double), sizeof(float complex), sizeof(double complex)};
    return sizes[type];
}

#define ADD(T)                                                                                               \
    do {                                                                                                     \
        T a, b, s;                                                                                           \
        memcpy(&a, to, sizeof a);                                                                            \
        memcpy(&b, from, sizeof b);                                                                          \
        memcpy(&s, scale, sizeof s);                                                                         \
        a += s * b;                                                                                          \
        memcpy(to, &a, sizeof a);                                                                            \
    } while (0)

static void add_element(int type, const void *scale, uint8_t *to, const uint8_t *from) {
    switch (type) {
    case ARMCI_ACC_INT:
        ADD(int);
        break;
    case ARMCI_ACC_LNG:
        ADD(long);
        break;
    case ARMCI_ACC_FLT:
        ADD(float);
        break;
    case ARMCI_ACC_DBL:
        ADD(double);
        break;
    case ARMCI_ACC_CPL:
        ADD(float complex);
        break;
    default:
        ADD(double complex);
        break;
    }
}

/* ---- shapes ---- */

struct shape {
    int levels, count[LEVELS + 1], remote[LEVELS], mine[LEVELS];
    size_t bytes; /* packed */
};

/* Makes strides that hold the counts, with gaps; returns the span of the whole. */
static size_t make_strides(const struct shape *s, int *strides, int unit) {
    size_t span = (size_t)s->count[0];
    for (int i = 0; i < s->levels; i++) {
        strides[i] = (int)((span + (size_t)unit - 1) / (size_t)unit * (size_t)unit) + (int)below(3) * unit;
        span = (size_t)strides[i] * (size_t)(s->count[i + 1] - 1) + span;
    }
    return span;
}

static struct shape random_shape(int grain) {
    struct shape s;
    size_t span;
    do {
        s.levels = (int)below(LEVELS + 1);
        s.count[0] = grain * (int)(1 + below(s.levels == 0 ? 1024 : 12));
        s.bytes = (size_t)s.count[0];
        for (int i = 1; i <= s.levels; i++) {
            s.count[i] = 1 + (int)below(i < 3 ? 6 : 3);
            s.bytes *= (size_t)s.count[i];
        }
        span = make_strides(&s, s.remote, grain);
        size_t mine = make_strides(&s, s.mine, grain);
        span = span > mine ? span : mine;
    } while (span > REGION / 2);
    return s;
}

/* Called for each row, with its address on both sides. */
typedef void row_fn(uint8_t *remote, uint8_t *mine, size_t bytes, void *arg);
static void each_row(const struct shape *s, int level, uint8_t *remote, uint8_t *mine, row_fn *fn,
                     void *arg) {
    if (level == 0) {
        fn(remote, mine, (size_t)s->count[0], arg);
        return;
    }
    for (int i = 0; i < s->count[level]; i++)
        each_row(s, level - 1, remote + (ptrdiff_t)i * s->remote[level - 1],
                 mine + (ptrdiff_t)i * s->mine[level - 1], fn, arg);
}

static void naive_put(uint8_t *remote, uint8_t *mine, size_t bytes, void *arg) {
    memcpy(remote, mine, bytes);
}
static void naive_get(uint8_t *remote, uint8_t *mine, size_t bytes, void *arg) {
    memcpy(mine, remote, bytes);
}

struct sum {
    int type;
    uint8_t scale[16];
};
static void naive_acc(uint8_t *remote, uint8_t *mine, size_t bytes, void *arg) {
    const struct sum *sum = arg;
    for (size_t i = 0; i < bytes; i += grain_of(sum->type))
        add_element(sum->type, sum->scale, remote + i, mine + i);
}

/* ---- one operation: executed if it is this rank's, and always replayed on the copy ---- */

static struct sum random_sum(void) {
    struct sum s = {.type = (int)below(6)};
    put_number(s.type, s.scale, (int64_t)below(7) - 3);
    return s;
}

static void fill(uint8_t *to, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)below(256);
}

static void fill_numbers(int type, uint8_t *to, size_t bytes) {
    for (size_t i = 0; i + grain_of(type) <= bytes; i += grain_of(type))
        put_number(type, to + i, (int64_t)below(101) - 50);
}

struct act {
    bool ours;
    int target;
    uint8_t *real, *copy; /* its first byte, at the target and in the local copy */
    bool now;             /* blocking; otherwise completed at the end of the round */
};

static void strided(const struct act *a) {
    enum { PUT, GET, ACC, KINDS };
    int kind = (int)below(KINDS);
    struct sum sum = random_sum();
    int grain = kind == ACC ? (int)grain_of(sum.type) : 1;
    struct shape s = random_shape(grain);
    size_t at = below(REGION / 4) / (size_t)grain * (size_t)grain;
    bool flat = below(2) && s.levels == 0; /* by the call for contiguous data */
    if (kind == ACC) {                     /* first fill the target with whole numbers */
        uint8_t numbers[16];
        at = at / 16 * 16;
        for (size_t i = 0; i + 16 <= REGION; i += 16) {
            for (size_t j = 0; j < 16; j += grain_of(sum.type))
                put_number(sum.type, numbers + j, (int64_t)(i % 1000));
            memcpy(a->copy + i, numbers, 16);
        }
        if (a->ours) {
            ARMCI_Put(a->copy, a->real, REGION / 16 * 16, a->target);
        }
        fill_numbers(sum.type, local, REGION);
    } else
        fill(local, REGION);
    if (kind == GET) {
        memcpy(wanted, local, REGION);
        each_row(&s, s.levels, a->copy + at, wanted, naive_get, NULL);
    } else
        each_row(&s, s.levels, a->copy + at, local, kind == PUT ? naive_put : naive_acc, &sum);
    if (!a->ours)
        return;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    void *real = a->real + at;
    if (kind == PUT && flat)
        a->now ? ARMCI_Put(local, real, s.count[0], a->target)
               : ARMCI_NbPut(local, real, s.count[0], a->target, &handle);
    else if (kind == PUT)
        a->now ? ARMCI_PutS(local, s.mine, real, s.remote, s.count, s.levels, a->target)
               : ARMCI_NbPutS(local, s.mine, real, s.remote, s.count, s.levels, a->target, &handle);
    else if (kind == GET && flat)
        a->now ? ARMCI_Get(real, local, s.count[0], a->target)
               : ARMCI_NbGet(real, local, s.count[0], a->target, &handle);
    else if (kind == GET)
        a->now ? ARMCI_GetS(real, s.remote, local, s.mine, s.count, s.levels, a->target)
               : ARMCI_NbGetS(real, s.remote, local, s.mine, s.count, s.levels, a->target, &handle);
    else if (flat)
        a->now ? ARMCI_Acc(sum.type, sum.scale, local, real, s.count[0], a->target)
               : ARMCI_NbAcc(sum.type, sum.scale, local, real, s.count[0], a->target, &handle);
    else
        a->now ? ARMCI_AccS(sum.type, sum.scale, local, s.mine, real, s.remote, s.count, s.levels, a->target)
               : ARMCI_NbAccS(sum.type, sum.scale, local, s.mine, real, s.remote, s.count, s.levels,
                              a->target, &handle);
    ARMCI_Wait(&handle);
    if (kind == GET)
        expect_bytes(local, wanted, REGION);
}

/* Pieces that do not overlap: one in each part of the region. */
static void vector(const struct act *a) {
    enum { PUT, GET, ACC, KINDS };
    int kind = (int)below(KINDS), lists = 1 + (int)below(2), used = 0;
    struct sum sum = random_sum();
    size_t grain = kind == ACC ? grain_of(sum.type) : 1, part = REGION / PIECES / 16 * 16;
    void *mine[PIECES], *real[PIECES];
    armci_giov_t iov[2];
    if (kind == ACC) {
        for (size_t i = 0; i + 16 <= REGION; i += grain)
            put_number(sum.type, a->copy + i, (int64_t)(i % 777));
        if (a->ours)
            ARMCI_Put(a->copy, a->real, REGION, a->target);
        fill_numbers(sum.type, local, REGION);
    } else
        fill(local, REGION);
    memcpy(wanted, local, REGION);
    for (int l = 0; l < lists; l++) {
        int count = (int)below(PIECES / 2 + 1);
        size_t bytes = grain * below(part / grain + 1);
        iov[l] = (armci_giov_t){.bytes = (int)bytes, .ptr_array_len = count};
        for (int i = 0; i < count; i++, used++) {
            size_t there = (size_t)used * part, here = (size_t)(PIECES - 1 - used) * part;
            mine[used] = local + here;
            real[used] = a->real + there;
            if (kind == GET)
                memcpy(wanted + here, a->copy + there, bytes);
            else if (kind == PUT)
                memcpy(a->copy + there, local + here, bytes);
            else
                naive_acc(a->copy + there, local + here, bytes, &sum);
        }
        iov[l].src_ptr_array = (kind == GET ? real : mine) + used - count;
        iov[l].dst_ptr_array = (kind == GET ? mine : real) + used - count;
    }
    if (!a->ours)
        return;
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    if (kind == PUT)
        a->now ? ARMCI_PutV(iov, lists, a->target) : ARMCI_NbPutV(iov, lists, a->target, &handle);
    else if (kind == GET)
        a->now ? ARMCI_GetV(iov, lists, a->target) : ARMCI_NbGetV(iov, lists, a->target, &handle);
    else
        a->now ? ARMCI_AccV(sum.type, sum.scale, iov, lists, a->target)
               : ARMCI_NbAccV(sum.type, sum.scale, iov, lists, a->target, &handle);
    ARMCI_Wait(&handle);
    if (kind == GET)
        expect_bytes(local, wanted, REGION);
}

static void value(const struct act *a) {
    size_t at = below(REGION / 8 - 1) * 8;
    uint64_t n = below(UINT64_MAX);
    int kind = (int)below(4);
    double d = (double)(int64_t)n;
    if (a->ours) { /* checks the old value before the new one is put */
        long had;
        memcpy(&had, a->copy + at, sizeof had);
        expect_eq(ARMCI_GetValueLong(a->real + at, a->target), had);
        int half;
        memcpy(&half, a->copy + at, sizeof half);
        expect_eq(ARMCI_GetValueInt(a->real + at, a->target), half);
    }
    switch (kind) {
    case 0:
        memcpy(a->copy + at, &(int){(int)n}, sizeof(int));
        if (a->ours)
            ARMCI_PutValueInt((int)n, a->real + at, a->target);
        break;
    case 1:
        memcpy(a->copy + at, &(long){(long)n}, sizeof(long));
        if (a->ours)
            ARMCI_PutValueLong((long)n, a->real + at, a->target);
        break;
    case 2:
        memcpy(a->copy + at, &(float){(float)d}, sizeof(float));
        if (a->ours) {
            ARMCI_PutValueFloat((float)d, a->real + at, a->target);
            expect_real(ARMCI_GetValueFloat(a->real + at, a->target), (float)d);
        }
        break;
    default:
        memcpy(a->copy + at, &d, sizeof d);
        if (a->ours) {
            ARMCI_PutValueDouble(d, a->real + at, a->target);
            expect_real(ARMCI_GetValueDouble(a->real + at, a->target), d);
        }
    }
}

static void rmw(const struct act *a) {
    size_t at = below(REGION / 8 - 1) * 8;
    bool wide = below(2), swap = below(2);
    long n = (long)below(1000) - 500, had = 0, result;
    size_t bytes = wide ? sizeof(long) : sizeof(int);
    memcpy(&had, a->copy + at, bytes);
    result = swap ? n : (long)((unsigned long)had + (unsigned long)n);
    memcpy(a->copy + at, &result, bytes);
    if (!a->ours)
        return;
    long got = swap ? n : 0;
    int op = swap   ? (wide ? ARMCI_SWAP_LONG : ARMCI_SWAP)
             : wide ? ARMCI_FETCH_AND_ADD_LONG
                    : ARMCI_FETCH_AND_ADD;
    ARMCI_Rmw(op, &got, a->real + at, (int)n, a->target);
    expect_bytes(&got, &had, bytes);
}

static void flag(const struct act *a) {
    size_t bytes = 1 + below(REGION / 2);
    int n = (int)below(1000000);
    fill(local, bytes);
    memcpy(a->copy, local, bytes);
    memcpy(a->copy + REGION - 8, &n, sizeof n);
    if (a->ours)
        ARMCI_Put_flag(local, a->real, (int)bytes, (int *)(a->real + REGION - 8), n, a->target);
}

static void act_once(int actor, int target) {
    struct act a = {.ours = actor == test_rank,
                    .target = target,
                    .real = (uint8_t *)memory[target] + (size_t)actor * REGION,
                    .copy = copies[target] + (size_t)actor * REGION,
                    .now = below(2)};
    uint64_t kind = below(10);
    if (kind < 5)
        strided(&a);
    else if (kind < 7)
        vector(&a);
    else if (kind < 8)
        value(&a);
    else if (kind < 9)
        rmw(&a);
    else
        flag(&a);
}

static void open_memory(void) {
    size_t bytes = (size_t)test_size * REGION;
    memory = malloc((size_t)test_size * sizeof *memory);
    copies = malloc((size_t)test_size * sizeof *copies);
    local = malloc(REGION);
    wanted = malloc(REGION);
    expect_eq(ARMCI_Malloc(memory, (armci_size_t)bytes), 0);
    for (int r = 0; r < test_size; r++)
        copies[r] = calloc(1, bytes);
    memset(memory[test_rank], 0, bytes);
    ARMCI_Barrier();
}

static void close_memory(void) {
    ARMCI_Barrier();
    ARMCI_Free(memory[test_rank]);
    for (int r = 0; r < test_size; r++)
        free(copies[r]);
    free(copies);
    free(memory);
    free(local);
    free(wanted);
}

static void round_of_all(uint64_t round) {
    for (int actor = 0; actor < test_size; actor++) {
        state = test_seed ^ (round * 1000003 + (uint64_t)actor) * 0x9e3779b97f4a7c15u;
        for (int i = 0; i < OPS; i++)
            act_once(actor, (int)below((uint64_t)test_size));
    }
    ARMCI_Barrier();
    expect_bytes(memory[test_rank], copies[test_rank], (size_t)test_size * REGION);
    ARMCI_Barrier();
}

CASE(everything_as_a_naive_copy_says) {
    open_memory();
    double end = armci_timer() + test_seconds;
    int go = 1;
    uint64_t round = 0;
    while (go) {
        round_of_all(round++);
        go = armci_timer() < end;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD); /* all stop in the same round */
    }
    if (test_rank == 0)
        printf("%llu rounds of %d operations by each rank\n", (unsigned long long)round, OPS);
    close_memory();
}
