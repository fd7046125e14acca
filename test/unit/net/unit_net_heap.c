/* unit_net_heap.c: tests memory that processes allocate collectively: one collective per allocation, the same
 * addresses, within the memory limit. */
#include "test.h"

#include <signal.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "base/random.h"
#include "net/shm/address_picker.h"
#include "net/shm/bus.h"
#include "net/shm/extents.h"
#include "net/shm/heap.h"
#include "net/shm/mapped.h"
#include "net/shm/memory_limit.h"
#include "net/shm/segment.h"
#include "fail_memfile.h"
#include "net_boot.h"

/* ---- the memory limit: the linker replaces net_room_for ---- */

struct memory_limit __real_net_room_for(uint64_t promise_id);
struct memory_limit __wrap_net_room_for(uint64_t promise_id);

static _Atomic uint64_t limited; /* 0: the system's limit */

static void limit_memory(uint64_t bytes) {
    atomic_store(&limited, bytes);
}

struct memory_limit __wrap_net_room_for(uint64_t promise_id) {
    uint64_t bytes = atomic_load(&limited);
    if (!bytes)
        return __real_net_room_for(promise_id);
    return (struct memory_limit){.bytes = bytes, .who = "a test", .advice = "do nothing"};
}

/* ---- free extents ---- */

TEST(the_lowest_place_that_fits_is_taken)
{
    struct extents e;
    expect_eq(net_extents_open(&e, 100), 0);
    expect_eq(net_extents_take(&e, 10, 1), 0);
    expect_eq(net_extents_take(&e, 10, 1), 10);
    expect_eq(net_extents_take(&e, 30, 16), 32);
    expect_eq(net_extents_take(&e, 12, 1), 20); /* the rest left by the alignment */
    expect(net_extents_take(&e, 39, 1) == EXTENTS_NONE);
    expect_eq(net_extents_take(&e, 38, 1), 62);
    expect(net_extents_take(&e, 1, 1) == EXTENTS_NONE);
    net_extents_give(&e, 10, 10);
    net_extents_give(&e, 20, 12);
    expect_eq(e.count, 1);
    expect_eq(net_extents_take(&e, 22, 1), 10);
    net_extents_close(&e);
}

/* Compares with an array that marks each byte as used. Extents are freed in any order, and memory is reserved only before
 * each take. */
TEST(random_extents_do_not_overlap)
{
    enum { BYTES = 2000, MOST = 200, ROUNDS = 20000 };
    static unsigned char used[BYTES];
    struct {
        uint64_t offset, bytes;
    } held[MOST];
    unsigned count = 0;
    struct extents e;
    struct random r;
    random_seed(&r, 7);
    expect_eq(net_extents_open(&e, BYTES), 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool takes = count < MOST && random_below(&r, 100) < (round / 500 % 2 ? 80 : 20);
        if (takes) {
            uint64_t bytes = 1 + random_below(&r, 30), unit = (uint64_t)1 << random_below(&r, 4);
            expect_eq(net_extents_reserve(&e), 0);
            uint64_t at = net_extents_take(&e, bytes, unit);
            if (at == EXTENTS_NONE)
                continue;
            expect(at % unit == 0 && at + bytes <= BYTES && !memchr(used + at, 1, bytes));
            memset(used + at, 1, bytes);
            held[count].offset = at;
            held[count++].bytes = bytes;
        } else if (count > 0) {
            unsigned i = random_below(&r, count);
            memset(used + held[i].offset, 0, held[i].bytes);
            net_extents_give(&e, held[i].offset, held[i].bytes);
            held[i] = held[--count];
        }
        expect(e.count <= e.taken + 1 && e.taken == count && e.count <= e.room);
    }
    while (count-- > 0)
        net_extents_give(&e, held[count].offset, held[count].bytes);
    expect(e.count == 1 && e.free[0].offset == 0 && e.free[0].bytes == BYTES);
    net_extents_close(&e);
}

/* ---- heaps ---- */

static struct net_reserve *reserves; /* [2], of two nodes */

static void share_reserves(void) {
    size_t bytes = round_up(net_reserve_bytes(), 128);
    reserves = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Nodes of two processes each; at most two nodes. */
struct place {
    struct boot_seat seat;
    struct net_heap *heap;
    int node_of[BOOT_MOST];
};

static int took_members; /* of the heap that was entered last */

static void enter(struct place *p, const struct net_boot *boot) {
    int node = boot->rank / 2, left = boot->size - 2 * node;
    for (int i = 0; i < boot->size; i++)
        p->node_of[i] = 17 - i / 2; /* node numbers in any order */
    struct net_heap_group g = {
        .all = *boot,
        .node = boot_at(&p->seat, 1 + node, boot->rank % 2, left < 2 ? left : 2),
        .node_of = p->node_of,
        .reserve =
            (struct net_reserve *)((char *)reserves + (size_t)node * round_up(net_reserve_bytes(), 128))};
    p->heap = net_heap_open(&g);
    took_members = boot->size;
    expect(p->heap != NULL);
}

/* Also stores the parts, which are 0 where nothing was allocated. */
static int take(struct net_heap *h, uint64_t bytes, int status, void *owner, struct net_heap_part parts[],
                struct net_heap_block *b) {
    int err = net_heap_take(h, bytes, status, owner, b);
    for (int i = 0; i < took_members; i++)
        parts[i] = !err && b->bytes ? net_heap_part(h, b, i) : (struct net_heap_part){0};
    return err;
}

/* Every third time the same in all members. */
static size_t wants(int rank, int round) {
    size_t sizes[] = {100000, 0, 100, 5000, 4096, 64, 1};
    return sizes[(size_t)(round % 3 ? rank + round : round / 3) % 7];
}

/* Each node writes and reads its own parts, at the addresses that all members received. */
static void use(const struct net_boot *boot, const struct net_heap_part parts[], int round) {
    const struct net_heap_part *mine = &parts[boot->rank];
    if (mine->bytes > 0)
        memset((void *)(uintptr_t)mine->base, boot->rank + round, mine->bytes);
    net_boot_barrier(boot);
    for (int i = boot->rank / 2 * 2; i < boot->size && i / 2 == boot->rank / 2; i++)
        for (size_t k = 0; k < parts[i].bytes; k += k + 97 < parts[i].bytes ? 97 : 1)
            expect_eq(((char *)(uintptr_t)parts[i].base)[k], (char)(i + round));
    net_boot_barrier(boot);
}

static void expect_same(const struct net_boot *boot, const struct net_heap_part parts[]) {
    struct net_heap_part mine[BOOT_MOST], all[BOOT_MOST * BOOT_MOST];
    memcpy(mine, parts, (size_t)boot->size * sizeof *parts);
    net_boot_gather(boot, mine, all, (size_t)boot->size * sizeof *parts);
    for (int i = 0; i < boot->size * boot->size; i++) {
        expect_eq(all[i].base, parts[i % boot->size].base);
        expect_eq(all[i].bytes, parts[i % boot->size].bytes);
    }
}

enum { KEPT = 12 };

static void take_and_give(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block blocks[KEPT];
    struct net_heap_part parts[KEPT][BOOT_MOST];
    enter(&p, boot);
    for (int round = 0; round < 60; round++) {
        int slot = round * 5 % KEPT, before = boot_gathers;
        if (round >= KEPT) {
            use(boot, parts[slot], round - KEPT);
            before = boot_gathers;
            net_heap_give(p.heap, &blocks[slot]);
            expect_eq(boot_gathers - before, 0);
        }
        expect_eq(take(p.heap, wants(boot->rank, round), 0, &blocks[slot], parts[slot], &blocks[slot]), 0);
        if (round > 0)
            expect_eq(boot_gathers - before, 1);
        if (round % 3 == 0)
            expect(!blocks[slot].parts);
        expect_eq(parts[slot][boot->rank].bytes, wants(boot->rank, round));
        expect_same(boot, parts[slot]);
        const struct net_heap_part *mine = &parts[slot][boot->rank];
        if (mine->bytes > 0)
            expect(net_heap_owner((void *)(uintptr_t)mine->base, mine->bytes) == &blocks[slot]);
    }
    expect_eq(count_maps(), 1);
    for (int i = 0; i < KEPT; i++)
        net_heap_give(p.heap, &blocks[i]);
    expect(!net_heap_owner(blocks[0].base, 1) && net_heap_covers(p.heap, blocks[0].base));
    net_heap_close(p.heap);
    expect_eq(count_maps(), 0);
}

TEST(one_meeting_to_take_and_none_to_give)
{
    share_reserves();
    boot_run(2, take_and_give);
    boot_run(3, take_and_give);
    boot_run(4, take_and_give);
}

static void want_nothing(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block b;
    struct net_heap_part parts[BOOT_MOST];
    enter(&p, boot);
    expect_eq(take(p.heap, 0, 0, NULL, parts, &b), 0);
    expect(b.bytes == 0 && parts[0].base == 0 && count_maps() == 0);
    net_heap_give(p.heap, &b);
    expect_eq(take(p.heap, boot->rank == 1 ? 10 : 0, 0, NULL, parts, &b), 0);
    expect(parts[0].base == 0 && parts[1].base != 0);
    net_heap_give(p.heap, &b);
    net_heap_close(p.heap);
}

TEST(nobody_or_one_may_want_nothing)
{
    share_reserves();
    boot_run(3, want_nothing);
}

/* Blocks that no chunk holds: another chunk is mapped, and one that is longer than usual. */
static void fill_chunks(const struct net_boot *boot) {
    enum { BLOCKS = 5 };
    struct place p;
    struct net_heap_block b[BLOCKS];
    struct net_heap_part parts[BLOCKS][BOOT_MOST];
    enter(&p, boot);
    for (int i = 0; i < BLOCKS; i++) {
        expect_eq(take(p.heap, (size_t)100 << 20, 0, &b[i], parts[i], &b[i]), 0);
        expect_same(boot, parts[i]);
        expect_eq((uintptr_t)b[i].base % (2 << 20), 0);
        char *mine = (char *)(uintptr_t)parts[i][boot->rank].base;
        mine[0] = mine[((size_t)100 << 20) - 1] = (char)i;
    }
    expect(count_maps() > 1 && count_maps() <= BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
        expect_eq(*(char *)(uintptr_t)parts[i][boot->rank].base, i);
        net_heap_give(p.heap, &b[i]);
    }
    net_heap_close(p.heap);
    expect_eq(count_maps(), 0);
}

TEST(more_than_a_chunk)
{
    share_reserves();
    limit_memory((uint64_t)1 << 40);
    boot_run(3, fill_chunks);
    limit_memory(0);
}

/* The second block fits into a chunk for nodes of two members; of these nodes, one has only one member. */
static void fill_rest(const struct net_boot *boot) {
    static const size_t sizes[] = {(size_t)100 << 20, (size_t)25 << 20};
    struct place p;
    struct net_heap_block b[2];
    struct net_heap_part parts[2][BOOT_MOST];
    enter(&p, boot);
    for (int i = 0; i < 2; i++) {
        int before = boot_gathers;
        expect_eq(take(p.heap, sizes[i], 0, &b[i], parts[i], &b[i]), 0);
        if (i > 0 && !net_address_is_scarce())
            expect_eq(boot_gathers - before, 1);
        expect_same(boot, parts[i]);
    }
    expect(count_maps() == 1 || net_address_is_scarce()); /* chunks are short then */
    for (int i = 0; i < 2; i++)
        net_heap_give(p.heap, &b[i]);
    net_heap_close(p.heap);
}

TEST(chunks_are_as_long_on_all_nodes)
{
    share_reserves();
    limit_memory((uint64_t)1 << 40);
    boot_run(3, fill_rest);
    limit_memory(0);
}

/* ---- the limit ---- */

enum { MB = 1 << 20 };

static void reach_limit(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block first, second;
    struct net_heap_part parts[BOOT_MOST];
    size_t mine = boot->rank == 1 ? 60 * MB : 10 * MB;
    enter(&p, boot);
    expect_eq(take(p.heap, mine, 0, NULL, parts, &first), 0);
    /* On the node of ranks 0 and 1, 70 of 100 MB are reserved, on the other 10 or 20. */
    for (int i = 0; i < 3; i++)
        expect_eq(take(p.heap, mine, 0, NULL, parts, &second), -ENOMEM);
    expect_eq(take(p.heap, 10 * MB, 0, NULL, parts, &second), 0);
    net_heap_give(p.heap, &first);
    expect_eq(take(p.heap, mine, 0, NULL, parts, &first), 0);
    net_heap_give(p.heap, &first);
    net_heap_give(p.heap, &second);
    net_heap_close(p.heap);
}

TEST(what_was_promised_and_not_touched_counts)
{
    share_reserves();
    limit_memory(100 * MB);
    int lines = boot_count_lines(3, reach_limit);
    expect(lines >= 3 && lines <= 6);
    limit_memory(0);
}

/* Touched memory is no longer in the reserve: it is not counted twice. */
static void touch_before_limit(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block first, second;
    struct net_heap_part parts[BOOT_MOST];
    enter(&p, boot);
    expect_eq(take(p.heap, 160 * MB, 0, NULL, parts, &first), 0);
    for (size_t i = 0; i < 160 * MB; i += 4096)
        ((char *)(uintptr_t)parts[0].base)[i] = 1;
    limit_memory(240 * MB); /* of 400 MB, 160 MB are touched */
    expect_eq(take(p.heap, 250 * MB, 0, NULL, parts, &second), -ENOMEM);
    expect_eq(take(p.heap, 150 * MB, 0, NULL, parts, &second), 0);
    net_heap_give(p.heap, &second);
    net_heap_give(p.heap, &first);
    net_heap_close(p.heap);
    limit_memory(0);
}

TEST(what_was_touched_does_not_count_twice)
{
    share_reserves();
    limit_memory(400 * MB);
    expect_eq(boot_count_lines(1, touch_before_limit), 1);
    limit_memory(0);
}

static void fail_in_one(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block b;
    struct net_heap_part parts[BOOT_MOST];
    enter(&p, boot);
    expect_eq(take(p.heap, 100, boot->rank == 2 ? -EMFILE : 0, NULL, parts, &b), -EMFILE);
    expect_eq(take(p.heap, boot->rank == 1 ? SIZE_MAX : 100, 0, NULL, parts, &b), -ENOMEM);
    fail_memfile_at(boot->rank == 2 ? 3 : 0); /* its node cannot map a chunk */
    expect(take(p.heap, 100, 0, NULL, parts, &b) < 0);
    fail_memfile_at(0);
    expect_eq(count_maps(), 0);
    expect_eq(take(p.heap, 100, 0, NULL, parts, &b), 0);
    expect_same(boot, parts);
    net_heap_give(p.heap, &b);
    net_heap_close(p.heap);
}

TEST(what_fails_in_one_fails_in_all)
{
    share_reserves();
    boot_run(4, fail_in_one);
}

/* ---- memory is returned to the system ---- */

static uint64_t resident(const char *base, size_t bytes) {
    static unsigned char pages[1 << 20];
    uint64_t count = 0;
    expect_eq(mincore((void *)base, bytes, pages), 0);
    for (size_t i = 0; i < bytes / test_page(); i++)
        count += pages[i] & 1;
    return count * test_page();
}

static void give_much(const struct net_boot *boot) {
    struct place p;
    struct net_heap_block small, large;
    struct net_heap_part parts[BOOT_MOST];
    size_t bytes = (size_t)200 << 20;
    enter(&p, boot);
    expect_eq(take(p.heap, 4096, 0, NULL, parts, &small), 0);
    expect_eq(take(p.heap, bytes, 0, NULL, parts, &large), 0);
    char *mine = (char *)(uintptr_t)parts[boot->rank].base;
    for (size_t i = 0; i < bytes; i += 64 * test_page())
        mine[i] = 1;
    expect(resident(mine, bytes) >= bytes / 64);
    char *base = large.base;
    net_boot_barrier(boot);
    net_heap_give(p.heap, &large);
    net_boot_barrier(boot);
    uint64_t left = resident(base, large.bytes), whole = (uint64_t)sysconf(_SC_PHYS_PAGES) * test_page();
    expect(left <= whole / 64); /* the heap keeps at most this much cached */
    expect_eq(resident(base + large.bytes - 16 * MB, 16 * MB), 0);
    net_heap_give(p.heap, &small);
    net_heap_close(p.heap);
}

TEST(memory_is_given_back)
{
    share_reserves();
    limit_memory((uint64_t)1 << 40);
    boot_run(2, give_much);
    limit_memory(0);
}

/* ---- SIGBUS ---- */

static void touch_nothing(const struct net_boot *boot) {
    char name[] = "/tmp/unit_net_heap.XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    expect_eq(ftruncate(file, 8192), 0);
    char *base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    net_bus_watch();
    expect_eq(net_mapped_add(MAPPED_SHARED, (uint64_t)(uintptr_t)base, 8192, NULL), 0);
    expect_eq(ftruncate(file, 0), 0);
    base[5000] = 1; /* as where no page is left to back it */
    expect(false);
}

static void nothing(void) {
}

/* A sanitizer that installed its handler before adds its own lines and exit status. */
static void end_by_bus(const struct net_boot *boot) {
    expect(boot_run_job(1, 20, nothing, touch_nothing) != 0);
}

TEST(a_bus_error_in_shared_memory_is_explained)
{ expect(boot_count_lines(1, end_by_bus) >= 1); }
