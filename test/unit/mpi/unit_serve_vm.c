/* unit_serve_vm.c: tests that copies and updates through the kernel give the same result as in mapped memory.
 *
 * Every operation is executed twice: through the kernel, on memory of this process, and by the functions for mapped memory,
 * on a copy at the same offsets within pages. All bytes of both must then be equal, also those between blocks. */
#include "mpi/windows/serving/state/vm.h"

#include <errno.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/random.h"
#include "data_help.h"
#include "shape_help.h"
#include "tables/shape.h"
#include "test.h"

enum { ARENA = 16 << 20, RANDOM_ROUNDS = 400 };

static char *remote, *mapped, *here_vm, *here_copy; /* arenas */
static struct random dice;

static char *arena_open(void) {
    char *a = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (a == MAP_FAILED)
        exit(1);
    return a;
}

static struct net_lock_table *locks_open(void) {
    struct net_lock_table *locks =
        mmap(NULL, net_lock_table_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if ((void *)locks == MAP_FAILED || net_lock_table_make(locks) != 0)
        exit(1);
    return locks;
}

static void arenas_fill(uint64_t bytes) {
    if (!remote) {
        random_seed(&dice, 1);
        remote = arena_open(), mapped = arena_open(), here_vm = arena_open(), here_copy = arena_open();
    }
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t there = random_next(&dice), here = random_next(&dice);
        memcpy(remote + i, &there, 8);
        memcpy(mapped + i, &there, 8);
        memcpy(here_vm + i, &here, 8);
        memcpy(here_copy + i, &here, 8);
    }
}

static bool arenas_are_equal(uint64_t bytes) {
    return !memcmp(remote, mapped, bytes) && !memcmp(here_vm, here_copy, bytes);
}

/* Chooses the offset of the shape's first byte in an arena; raises *end to the end of the shape. */
static uint64_t first_of(const struct shape *s, uint64_t *end) {
    int64_t low, high;
    shape_hull(s, &low, &high);
    uint64_t at = (uint64_t)-low + random_below(&dice, LOCK_TABLE_GRAIN);
    if (at + (uint64_t)high > *end)
        *end = round_up(at + (uint64_t)high, LOCK_TABLE_GRAIN);
    return at;
}

static void check_copies(const struct shape *there, const struct shape *here) {
    uint64_t bytes = there->bytes < here->bytes ? there->bytes : here->bytes, end = 0;
    uint64_t t = first_of(there, &end), h = first_of(here, &end);
    expect(end <= ARENA);
    arenas_fill(end);
    struct vm_side to = {(uintptr_t)here_vm + h, here}, from = {(uintptr_t)remote + t, there};
    expect_eq(serve_vm_copy(getpid(), VM_READ, &to, &from, bytes), 0);
    shape_copy(here_copy + h, here, mapped + t, there, bytes);
    expect(arenas_are_equal(end));
    arenas_fill(end);
    expect_eq(serve_vm_copy(getpid(), VM_WRITE, &to, &from, bytes), 0);
    shape_copy(mapped + t, there, here_copy + h, here, bytes);
    expect(arenas_are_equal(end));
}

static void check_update(struct net_lock_table *locks, const struct shape *there, enum data_type type,
                         enum data_op op) {
    uint64_t end = there->bytes, t = first_of(there, &end);
    expect(end <= ARENA);
    arenas_fill(round_up(end, 8));
    char *operands = malloc(there->bytes);
    memcpy(operands, mapped, there->bytes);
    struct data_update u = {.op = op,
                            .type = type,
                            .shape = there,
                            .to = remote + t,
                            .packed = operands,
                            .old = here_vm,
                            .bytes = there->bytes};
    expect_eq(serve_vm_update(getpid(), locks, &u), 0);
    u.to = mapped + t;
    u.old = here_copy;
    data_update_wait(locks, &u);
    expect(arenas_are_equal(end));
    free(operands);
}

TEST(random_shapes)
{
    static const enum data_type types[] = {DATA_INT8, DATA_INT64, DATA_SHORT_INT};
    static struct random_shape there, here;
    struct net_lock_table *locks = locks_open();
    arenas_fill(8);
    for (int i = 0; i < RANDOM_ROUNDS && !test_failures; i++) {
        enum data_type type = types[random_below(&dice, 3)];
        shape_choose(&there, &dice, data_element_bytes(type));
        shape_choose(&here, &dice, 1);
        check_copies(&there.shape, &here.shape);
        check_update(locks, &there.shape, type, type == DATA_SHORT_INT ? DATA_MAXLOC : DATA_SUM);
        check_update(locks, &there.shape, type, random_below(&dice, 2) ? DATA_REPLACE : DATA_NO_OP);
    }
}

/* Sizes around the limits of vm.c: shapes of more than one span, gaps near the largest that a span includes, blocks near
 * the length of a span. */
TEST(rows_of_many_sizes)
{
    static const struct {
        uint64_t rows, bytes, stride;
    } cases[] = {{8192, 8, 16},     {3000, 8, 1032},   {3000, 8, 1033},  {2000, 8, 1040},   {9, 16384, 16385},
                 {9, 16385, 16400}, {9, 16383, 16384}, {50, 3000, 4024}, {9, 20000, 20008}, {70, 100, 5000}};
    struct net_lock_table *locks = locks_open();
    arenas_fill(8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = cases[i].rows * cases[i].bytes;
        struct shape there = {.bytes = bytes,
                              .blocks = cases[i].rows,
                              .block_bytes = cases[i].bytes,
                              .stride = (int64_t)cases[i].stride};
        struct shape flat = shape_contiguous(bytes), back = there;
        back.stride = -back.stride;
        check_copies(&there, &flat);
        check_copies(&flat, &there);
        check_copies(&back, &there);
        check_update(locks, &there, DATA_INT8, DATA_SUM);
    }
}

static uint64_t locked; /* blocks */
void __real_hearth_core_net_lock_table_lock_range(struct net_lock_table *s, const void *address,
                                                  size_t bytes);
void __wrap_hearth_core_net_lock_table_lock_range(struct net_lock_table *s, const void *address,
                                                  size_t bytes);
void __wrap_hearth_core_net_lock_table_lock_range(struct net_lock_table *s, const void *address,
                                                  size_t bytes) {
    uint64_t first = (uint64_t)(uintptr_t)address;
    locked += (first + bytes - 1) / LOCK_TABLE_GRAIN - first / LOCK_TABLE_GRAIN + 1;
    __real_hearth_core_net_lock_table_lock_range(s, address, bytes);
}

/* An element is updated under the lock of the block in which it begins. */
TEST(a_run_takes_the_lock_of_each_block)
{
    struct net_lock_table *locks = locks_open();
    arenas_fill(65536 + LOCK_TABLE_GRAIN);
    for (uint64_t at = 0; at < 16; at += 4) {
        struct shape flat = shape_contiguous(65536);
        struct data_update u = {.op = DATA_SUM,
                                .type = DATA_INT64,
                                .shape = &flat,
                                .to = remote + at,
                                .packed = here_vm,
                                .bytes = flat.bytes};
        locked = 0;
        expect_eq(serve_vm_update(getpid(), locks, &u), 0);
        expect_eq(locked,
                  at > 4 ? 18
                         : 16); /* two parts; at 4 the last element of each still begins in its 8th block */
    }
}

TEST(a_range_that_is_not_mapped_is_refused)
{
    char *pages = mmap(NULL, 3 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    arenas_fill(8);
    expect_eq(munmap(pages + 65536, 65536), 0);
    struct shape rows = {.bytes = 16, .blocks = 2, .block_bytes = 8, .stride = 16};
    struct shape flat = shape_contiguous(16);
    struct vm_side to = {(uintptr_t)here_vm, &flat};
    struct vm_side from = {(uintptr_t)pages + 65536 - 8, &rows};
    expect_eq(serve_vm_copy(getpid(), VM_READ, &to, &from, 16), -EFAULT);
    from.first -= 16; /* ends where the mapping ends */
    expect_eq(serve_vm_copy(getpid(), VM_READ, &to, &from, 16), 0);
}
