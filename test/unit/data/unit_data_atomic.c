/* unit_data_atomic.c: compares updates of shapes under locks with a loop over all elements, by one thread and by several
 * at once. The linker wraps net_lock_table_lock and _try, so that the tests count how often a lock is taken. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/random.h"
#include "data_help.h"
#include "lock_help.h"
#include "net_help.h"
#include "shape_help.h"
#include "tables/shape.h"

enum { ARENA = 64 * LOCK_TABLE_GRAIN };
static _Alignas(LOCK_TABLE_GRAIN) char arena[ARENA], model[ARENA];
static char packed[SHAPE_BYTES], old[SHAPE_BYTES + 8], model_old[SHAPE_BYTES];
static struct random dice;

/* ---- random shapes ---- */

static void copy_places(const struct random_shape *r, char *first, uint64_t from, size_t unit, char *element,
                        bool into) {
    for (size_t i = 0; i < unit; i++) {
        char *place = first + r->place[from + i];
        *(into ? place : &element[i]) = into ? element[i] : *place;
    }
}

/* Computes the expected memory and the expected old values, in model and model_old. */
static void update_model(const struct random_shape *r, const struct data_update *u) {
    char element[DATA_ELEMENT_MOST], *first = model + (u->to - arena);
    size_t unit = kinds[u->type].bytes;
    for (uint64_t i = 0; i < u->bytes; i += unit) {
        copy_places(r, first, u->from + i, unit, element, false);
        memcpy(model_old + i, element, unit);
        naive_combine((int)u->op, (int)u->type, element, (const char *)u->packed + i);
        copy_places(r, first, u->from + i, unit, element, true);
    }
}

static struct data_update choose_update(const struct random_shape *r, int op, int type) {
    uint32_t unit = (uint32_t)kinds[type].bytes, count = (uint32_t)r->shape.bytes / unit;
    uint32_t from = random_below(&dice, 2) ? random_below(&dice, count) : 0;
    uint32_t some = random_below(&dice, 2) ? 1 + random_below(&dice, count - from) : count - from;
    char *first = arena - r->low + random_below(&dice, (uint32_t)(ARENA - (r->high - r->low) + 1));
    for (uint32_t i = 0; i < count; i++) {
        char element[DATA_ELEMENT_MOST];
        random_element(type, &dice, element);
        copy_places(r, first, i * unit, unit, element, true);
    }
    random_elements(type, &dice, packed, some);
    return (struct data_update){.op = (enum data_op)op,
                                .type = (enum data_type)type,
                                .to = first,
                                .shape = &r->shape,
                                .from = from * unit,
                                .packed = op == DATA_NO_OP ? NULL : packed,
                                .old = random_below(&dice, 2) ? old : NULL,
                                .bytes = some * unit};
}

/* Returns how many bytes a try can update: those before the first element whose lock is held. */
static uint64_t find_stop(struct net_lock_table *locks, const struct random_shape *r,
                          const struct data_update *u) {
    uint64_t done = 0;
    while (done < u->bytes && !lock_is_held(locks, u->to + r->place[u->from + done]))
        done += kinds[u->type].bytes;
    return u->op == DATA_NO_OP && !u->old ? u->bytes : done;
}

/* Updates by repeated tries, some of which meet a lock that is held. */
static void update_by_trying(struct net_lock_table *locks, const struct random_shape *r,
                             struct data_update u) {
    while (u.bytes) {
        const char *obstacle =
            random_below(&dice, 2) ? u.to + r->place[random_below(&dice, (uint32_t)r->shape.bytes)] : NULL;
        if (obstacle)
            __real_hearth_core_net_lock_table_lock(locks, obstacle);
        uint64_t expected = find_stop(locks, r, &u), done = data_update_try(locks, &u);
        if (obstacle)
            __real_hearth_core_net_lock_table_unlock(locks, obstacle);
        expect_eq(done, expected);
        u.from += done;
        u.bytes -= done;
        u.packed = u.packed ? (const char *)u.packed + done : NULL;
        u.old = u.old ? (char *)u.old + done : NULL;
    }
}

static void compare_update(struct net_lock_table *locks, int op, int type) {
    static struct random_shape r;
    do
        shape_choose(&r, &dice, kinds[type].bytes);
    while (r.high - r.low > ARENA);
    struct data_update u = choose_update(&r, op, type);
    memcpy(model, arena, ARENA);
    update_model(&r, &u);
    old[u.bytes] = 77;
    if (random_below(&dice, 2))
        expect_eq(data_update_wait(locks, &u), u.bytes);
    else
        update_by_trying(locks, &r, u);
    bool same = !memcmp(arena, model, ARENA) && (!u.old || !memcmp(old, model_old, u.bytes));
    if ((!same || old[u.bytes] != 77) && test_failed(__FILE__, __LINE__))
        printf("operation %d on type %d, bytes [%zu, +%zu) of %zu in %zu blocks\n", op, type, (size_t)u.from,
               (size_t)u.bytes, (size_t)r.shape.bytes, (size_t)r.shape.blocks);
}

TEST(random_ranges_of_random_shapes)
{
    struct net_lock_table *locks = open_locks();
    random_seed(&dice, 3);
    for (int round = 0; round < 4; round++)
        for (int op = 0; op < DATA_OPS; op++)
            for (int type = 0; type < DATA_TYPES; type++)
                if (naive_allows(op, type))
                    compare_update(locks, op, type);
    for (int i = 0; i < ARENA; i += LOCK_TABLE_GRAIN)
        expect(!lock_is_held(locks, arena + i));
    close_locks(locks);
}

/* ---- how locks are held ---- */

static unsigned count_locks(struct net_lock_table *locks, char *to, const struct shape *shape) {
    struct data_update u = {.op = DATA_SUM,
                            .type = DATA_DOUBLE,
                            .to = to,
                            .shape = shape,
                            .packed = model,
                            .bytes = shape->bytes};
    forget_lock_counts();
    data_update_wait(locks, &u);
    return lock_count + try_count;
}

TEST(each_block_is_locked_once)
{
    struct net_lock_table *locks = open_locks();
    struct shape flat = shape_contiguous(3 * LOCK_TABLE_GRAIN), one = shape_contiguous(8),
                 none = shape_contiguous(0),
                 column = {.bytes = 8192, .blocks = 1024, .block_bytes = 8, .stride = 16}, down = column;
    struct shape_block blocks[] = {{0, 8}, {16, 24}, {-8, 8}, {64, 8}};
    struct shape list = {.bytes = 48, .blocks = 4, .list = blocks};
    down.stride = -16;
    memset(arena, 0, ARENA);
    memset(model, 0, ARENA);
    expect_eq(count_locks(locks, arena, &flat), 3);
    expect_eq(count_locks(locks, arena + 8, &flat), 4);
    expect_eq(count_locks(locks, arena + LOCK_TABLE_GRAIN - 4, &one), 1);
    expect_eq(count_locks(locks, arena, &none), 0);
    expect_eq(count_locks(locks, arena, &column), 4);
    expect_eq(count_locks(locks, arena + 1023 * 16, &down), 4);
    expect_eq(count_locks(locks, arena + 64, &list), 1);
    close_locks(locks);
}

/* The same element repeatedly: the lock is released after each LOCK_TABLE_GRAIN of data. */
TEST(no_lock_is_kept_for_long)
{
    struct net_lock_table *locks = open_locks();
    struct shape same = {.bytes = 8 * 4096, .blocks = 4096, .block_bytes = 8, .stride = 0};
    double sum, one = 1;
    memset(arena, 0, ARENA);
    for (size_t i = 0; i < 4096; i++)
        memcpy(model + 8 * i, &one, 8);
    expect_eq(count_locks(locks, arena + 8, &same), 8 * 4096 / LOCK_TABLE_GRAIN);
    memcpy(&sum, arena + 8, sizeof sum);
    expect(sum == 4096);
    close_locks(locks);
}

/* Aligned integers, so that none crosses a block boundary. */
static void update_guarded(struct net_lock_table *locks) {
    struct data_update u = {.op = DATA_SUM, .type = DATA_INT32, .to = arena, .packed = model, .old = NULL};
    guarded = true;
    mprotect(arena, ARENA, PROT_READ);
    for (int stride = -44; stride <= 44; stride += 4) {
        if (stride > -12 && stride < 12)
            continue;
        struct shape s = {.bytes = 12 * 300, .blocks = 300, .block_bytes = 12, .stride = stride};
        u.to = arena + ARENA / 2 + 8;
        u.shape = &s;
        u.bytes = s.bytes;
        data_update_wait(locks, &u);
        u.from = 8;
        u.bytes -= 8;
        data_update_try(locks, &u);
        u.from = 0;
    }
    struct shape flat = shape_contiguous(3 * LOCK_TABLE_GRAIN);
    u = (struct data_update){.op = DATA_REPLACE,
                             .type = DATA_INT32,
                             .to = arena + 100,
                             .shape = &flat,
                             .packed = model,
                             .bytes = flat.bytes};
    data_update_wait(locks, &u);
    _exit(0);
}

TEST(nothing_is_written_without_its_lock)
{
    struct net_lock_table *locks = open_locks();
    if (sysconf(_SC_PAGESIZE) > LOCK_TABLE_GRAIN) {
        printf("skipped: pages are larger than blocks\n");
        return;
    }
    pid_t child = team_fork();
    if (!child)
        update_guarded(locks);
    expect(team_join(child));
    close_locks(locks);
}

/* ---- another thread ---- */

struct holder {
    struct net_lock_table *locks;
    const void *place;
    _Atomic int state; /* 1: it holds the lock; 2: it must release the lock */
};

static void *hold_lock(void *arg) {
    struct holder *h = arg;
    __real_hearth_core_net_lock_table_lock(h->locks, h->place);
    atomic_store(&h->state, 1);
    while (atomic_load(&h->state) != 2)
        sched_yield();
    __real_hearth_core_net_lock_table_unlock(h->locks, h->place);
    return NULL;
}

/* The lock of the third block is held: a try stops at the first element of that block, and a later try continues there. */
TEST(a_try_ends_at_a_lock_that_another_thread_holds)
{
    enum { INTS = 3 * LOCK_TABLE_GRAIN / 4 };
    struct holder h = {.locks = open_locks(), .place = arena + 2 * LOCK_TABLE_GRAIN + 100};
    struct shape flat = shape_contiguous(4 * INTS);
    static int32_t ones[INTS], before[INTS];
    pthread_t thread;
    int32_t expected = 0, desired = 5, held = -1;
    memset(arena, 0, ARENA);
    for (int i = 0; i < INTS; i++)
        ones[i] = 1;
    pthread_create(&thread, NULL, hold_lock, &h);
    while (atomic_load(&h.state) != 1)
        sched_yield();
    struct data_update u = {.op = DATA_SUM,
                            .type = DATA_INT32,
                            .to = arena + 400,
                            .shape = &flat,
                            .packed = ones,
                            .old = before,
                            .bytes = flat.bytes};
    uint64_t done = data_update_try(h.locks, &u);
    expect_eq(done, 2 * LOCK_TABLE_GRAIN - 400);
    u.to = arena + 2 * LOCK_TABLE_GRAIN;
    u.bytes = 4;
    expect_eq(data_update_try(h.locks, &u), 0);
    expect(!data_swap_if(h.locks, DATA_INT32, u.to, &expected, &desired, &held, false));
    expect_eq(held, -1);
    atomic_store(&h.state, 2);
    pthread_join(thread, NULL);
    expect(data_swap_if(h.locks, DATA_INT32, u.to, &expected, &desired, &held, false));
    expect_eq(held, 0);
    u = (struct data_update){.op = DATA_SUM,
                             .type = DATA_INT32,
                             .to = arena + 400,
                             .shape = &flat,
                             .from = done,
                             .packed = (char *)ones + done,
                             .old = (char *)before + done,
                             .bytes = flat.bytes - done};
    expect_eq(data_update_try(h.locks, &u), u.bytes);
    for (int i = 0; i < INTS; i++) {
        int32_t sum;
        memcpy(&sum, arena + 400 + 4 * i, 4);
        expect_eq(sum, before[i] + 1);
        expect_eq(before[i], arena + 400 + 4 * i == (char *)h.place - 100 ? 5 : 0);
    }
    close_locks(h.locks);
}

TEST(one_element)
{
    struct net_lock_table *locks = open_locks();
    char *word = arena + LOCK_TABLE_GRAIN - 3;
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        enum data_type type = bytes == 1   ? DATA_INT8
                              : bytes == 2 ? DATA_INT16
                              : bytes == 4 ? DATA_INT32
                                           : DATA_INT64;
        data_kernel *sum = data_element_kernel(DATA_SUM, type);
        int64_t before = 0, two = 2, value = 5; /* of little-endian bytes */
        memset(arena, 7, 2 * LOCK_TABLE_GRAIN);
        memcpy(word, &value, (size_t)bytes);
        memcpy(model, arena, ARENA);
        data_update_element(locks, sum, word, &two, &before, (size_t)bytes);
        expect_eq(before, 5);
        data_update_element(locks, sum, word, &two, NULL, (size_t)bytes);
        expect_eq(before, 5);
        data_update_element(locks, NULL, word, NULL, &before, (size_t)bytes); /* NO_OP */
        expect_eq(before, 9);
        memcpy(model + (word - arena), &before, (size_t)bytes);
        expect(!memcmp(arena, model, ARENA));
    }
    close_locks(locks);
}

TEST(compare_and_swap)
{
    struct net_lock_table *locks = open_locks();
    for (int type = 0; type < DATA_TYPES; type++) {
        size_t bytes = kinds[type].bytes;
        enum kind_class class = kinds[type].class;
        expect_eq(data_swap_allows((unsigned)type), class != C_REAL && class != C_COMPLEX && class != C_PAIR);
        if (!data_swap_allows((unsigned)type))
            continue;
        char *word = arena + LOCK_TABLE_GRAIN - 3, held[8], other[8];
        memset(arena, 7, 2 * LOCK_TABLE_GRAIN);
        memcpy(model, arena, ARENA);
        memset(other, 7, 8);
        other[bytes - 1] = 9;
        expect(data_swap_if(locks, (enum data_type)type, word, other, other, held, true));
        expect(!memcmp(held, word, bytes) && !memcmp(arena, model, ARENA));
        expect(data_swap_if(locks, (enum data_type)type, word, model, other, held, true));
        memcpy(model + (word - arena), other, bytes);
        expect(!memcmp(held, arena, bytes) && !memcmp(arena, model, ARENA));
    }
    expect(!data_swap_allows(DATA_TYPES));
    close_locks(locks);
}

/* ---- several threads at once ---- */

enum {
    THREADS = 4,
    ROUNDS = 60,
    WORDS = 2 * LOCK_TABLE_GRAIN / 8,
    PAIRS = 300,
    COUNTER = 4 * LOCK_TABLE_GRAIN
};

static struct net_lock_table *shared_locks;
static _Atomic uint8_t tickets[THREADS * ROUNDS];

/* The layout of an array of C structs of a short and an int. */
static struct shape short_int_shape(struct shape_block *list) {
    uint32_t blocks = 0;
    list[blocks++] = (struct shape_block){0, 2};
    for (int i = 1; i < PAIRS; i++)
        list[blocks++] = (struct shape_block){8 * i - 4, 6};
    list[blocks++] = (struct shape_block){8 * PAIRS - 4, 4};
    return (struct shape){.bytes = 6 * PAIRS, .blocks = blocks, .list = list};
}

static void update_until_done(struct data_update u) {
    while (u.bytes) {
        uint64_t done = data_update_try(shared_locks, &u);
        u.from += done;
        u.packed = (const char *)u.packed + done;
        u.bytes -= done;
        if (!done)
            sched_yield();
    }
}

/* Draws a ticket by fetch-and-add, and increments a counter by compare-and-swap. */
static void take_ticket(void) {
    struct shape word = shape_contiguous(8);
    uint64_t one = 1, ticket, expected = 0, desired, held;
    struct data_update u = {.op = DATA_SUM,
                            .type = DATA_UINT64,
                            .to = arena + COUNTER,
                            .shape = &word,
                            .packed = &one,
                            .old = &ticket,
                            .bytes = 8};
    data_update_wait(shared_locks, &u);
    tickets[ticket % (THREADS * ROUNDS)]++;
    for (;; expected = held) {
        desired = expected + 1;
        data_swap_if(shared_locks, DATA_UINT64, arena + COUNTER + 8, &expected, &desired, &held, true);
        if (held == expected)
            return;
    }
}

/* The words begin 4 bytes before a block boundary, so that two of them cross boundaries. Pair i has its maximum in one of
 * the rounds of some thread; the index follows from the value. */
static void *update_rounds(void *arg) {
    int me = (int)(intptr_t)arg;
    static const uint64_t ones[WORDS] = {[0 ... WORDS - 1] = 1};
    struct shape flat = shape_contiguous(sizeof ones),
                 even = {.bytes = sizeof ones / 2, .blocks = WORDS / 2, .block_bytes = 8, .stride = 16};
    struct shape_block list[PAIRS + 1];
    struct shape pairs = short_int_shape(list);
    char values[6 * PAIRS];
    struct data_update words = {.op = DATA_SUM, .type = DATA_UINT64, .to = arena + 4092, .packed = ones};
    for (int round = 0; round < ROUNDS; round++) {
        words.shape = &flat;
        words.bytes = flat.bytes;
        data_update_wait(shared_locks, &words);
        words.shape = &even;
        words.bytes = even.bytes;
        update_until_done(words);
        for (int i = 0; i < PAIRS; i++) {
            short value = (short)((i + me * 7 + round * 3) % 1000);
            int index = value * 3;
            memcpy(values + 6 * i, &value, 2);
            memcpy(values + 6 * i + 2, &index, 4);
        }
        struct data_update u = {.op = DATA_MAXLOC,
                                .type = DATA_SHORT_INT,
                                .to = arena + 8 * LOCK_TABLE_GRAIN - 1002,
                                .shape = &pairs,
                                .packed = values,
                                .bytes = pairs.bytes};
        update_until_done(u);
        take_ticket();
    }
    return NULL;
}

static void check_pairs(void) {
    for (int i = 0; i < PAIRS; i++) {
        const char *at = arena + 8 * LOCK_TABLE_GRAIN - 1002 + 8 * i;
        short value, most = 0;
        int index;
        for (int me = 0; me < THREADS; me++)
            for (int round = 0; round < ROUNDS; round++)
                if ((i + me * 7 + round * 3) % 1000 > most)
                    most = (short)((i + me * 7 + round * 3) % 1000);
        memcpy(&value, at, 2);
        memcpy(&index, at + 4, 4);
        expect_eq(value, most);
        expect_eq(index, most * 3);
        expect(at[2] == 0x55 && at[3] == 0x55);
    }
}

TEST(threads_at_once_lose_nothing)
{
    pthread_t threads[THREADS];
    uint64_t count;
    shared_locks = open_locks();
    memset(arena, 0, ARENA);
    for (int i = 0; i < 8 * PAIRS; i++)
        arena[8 * LOCK_TABLE_GRAIN - 1002 + i] = i % 8 == 2 || i % 8 == 3 ? 0x55 : 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, update_rounds, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORDS; i++) {
        memcpy(&count, arena + 4092 + 8 * i, 8);
        expect_eq(count, THREADS * ROUNDS * (i % 2 ? 1 : 2));
    }
    check_pairs();
    for (int i = 0; i < THREADS * ROUNDS; i++)
        expect_eq(tickets[i], 1);
    memcpy(&count, arena + COUNTER + 8, 8);
    expect_eq(count, THREADS * ROUNDS);
    close_locks(shared_locks);
}
