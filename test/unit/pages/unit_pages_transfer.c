/* unit_pages_transfer.c: pages of every size on their way between nodes, over UCX: whole, in place or in pieces, while their
 * frames are wanted for other pages, and from a node that is killed meanwhile.
 *
 * Each rank is a node. A page holds words that tell its rank, its number and how often it was written. timeout: 300 */
#include "test.h"

#include <signal.h>

#include "net_boot.h"
#include "nodes_help.h"
#include "pages/pages_internal.h"

enum { RANKS = 3, PAGES = 24, ENDED = 7, SECONDS = 120 };

static size_t page_bytes, frames;
static char *buffer;

static uint64_t word_of(int rank, uint64_t page, uint64_t version, size_t i) {
    return (uint64_t)rank << 56 | version << 48 | page << 32 | i;
}

static void fill(int rank, uint64_t page, uint64_t version) {
    for (size_t i = 0; i < page_bytes / 8; i++)
        ((uint64_t *)(void *)buffer)[i] = word_of(rank, page, version, i);
}

static bool is_filled(int rank, uint64_t page, uint64_t version) {
    for (size_t i = 0; i < page_bytes / 8; i++)
        if (((uint64_t *)(void *)buffer)[i] != word_of(rank, page, version, i))
            return false;
    return true;
}

static void put_pages(struct pages *p, int rank, uint64_t version) {
    for (uint64_t page = 0; page < PAGES; page++) {
        fill(rank, page, version);
        pages_put(p, rank, pages_base(p, rank) + page * page_bytes, buffer, page_bytes);
    }
}

static void check_pages(struct pages *p, int rank, uint64_t version) {
    for (uint64_t page = 0; page < PAGES; page++) {
        memset(buffer, 0xee, page_bytes);
        pages_get(p, buffer, rank, pages_base(p, rank) + page * page_bytes, page_bytes);
        bool good = is_filled(rank, page, version);
        expect(good);
        if (!good)
            printf("rank %d, page %d of %zu bytes, version %d\n", rank, (int)page, page_bytes, (int)version);
    }
}

/* ---- a job ---- */

static bool kills; /* one rank is killed, and the others must end */
static bool
    places; /* pages of SERVICE_IN_PLACE bytes or more are received in place, which is slow over TCP */

static void failed(void *arg, const char *why) {
    (void)arg;
    if (!kills)
        printf("%s\n", why);
    fflush(stdout);
    _exit(kills ? ENDED : 1);
}

static void open_job(const struct net_boot *boot, struct net_world **world, struct pages **pages) {
    static const struct pages_events events = {.failed = failed};
    buffer = malloc(page_bytes);
    expect_eq(net_world_open(boot, 0, 1, world), 0);
    expect_eq(pages_open(boot, *world, NULL, PAGES * page_bytes, &events, pages), 0);
    expect_eq(net_channel_in_place((*pages)->channel), places);
}

static void close_job(const struct net_boot *boot, struct net_world *world, struct pages *pages) {
    expect_eq(pages_close(pages, boot, true), 0);
    net_world_close(world);
    free(buffer);
}

static void prepare(void) {
    set("HEARTH_PAGE_SIZE", page_bytes);
    set("HEARTH_POOL_SIZE", page_bytes * frames);
    set("HEARTH_PAGES_AHEAD", 8);
    setenv("HEARTH_COOP", "on", 1);
    setenv("HEARTH_DIRECT", places ? "on" : "off", 1);
}

/* Each rank writes its own pages, all read all of them, and in turn each writes those of its neighbour. The pools hold a
 * fraction of the pages, so that pages leave while their frames are wanted. The quick tier has two versions. */
static void pass_round(const struct net_boot *boot) {
    struct net_world *world;
    struct pages *pages;
    open_job(boot, &world, &pages);
    for (uint64_t version = 1, last = test_is_quick() ? 2 : 3; version <= last; version++) {
        put_pages(pages, (boot->rank + (int)version) % RANKS, version);
        net_boot_barrier(boot);
        for (int i = 0; i < RANKS; i++)
            check_pages(pages, (boot->rank + i) % RANKS, version);
        net_boot_barrier(boot);
    }
    close_job(boot, world, pages);
}

/* All pages are in the memory of rank 2. Rank 1 overwrites them: no byte of them moves. */
static void overwrite(const struct net_boot *boot) {
    struct net_world *world;
    struct pages *pages;
    struct pages_counts before, after;
    open_job(boot, &world, &pages);
    if (boot->rank == 2)
        put_pages(pages, 0, 1);
    net_boot_barrier(boot);
    pages_count(pages, &before);
    net_boot_barrier(boot);
    if (boot->rank == 1)
        put_pages(pages, 0, 2);
    net_boot_barrier(boot);
    pages_count(pages, &after);
    expect_eq(after.message_bytes, before.message_bytes);
    expect_eq(after.nvm_reads, before.nvm_reads);
    expect_eq(after.from_home + after.from_peers + after.from_nvm,
              before.from_home + before.from_peers + before.from_nvm);
    net_boot_barrier(boot);
    check_pages(pages, 0, 2);
    net_boot_barrier(boot);
    close_job(boot, world, pages);
}

/* Of the node between two points in time. */
static uint64_t messages_since(const struct pages *pages, uint64_t before) {
    struct pages_counts counts;
    pages_count(pages, &counts);
    return counts.messages - before;
}

/* Rank 1 gets 8 bytes of a page of rank 0 that rank 2 holds: SMALL, FWD_SMALL and ANSWER, one after the other. APPLIED, from
 * rank 2 to the home, is not waited for. */
static void get_small(const struct net_boot *boot) {
    static const uint64_t expected[RANKS] = {1, 1, 2};
    struct net_world *world;
    struct pages *pages;
    uint64_t word;
    open_job(boot, &world, &pages);
    if (boot->rank == 2)
        put_pages(pages, 0, 1);
    net_boot_barrier(boot);
    if (pages->serves)
        expect_eq(pages_service_order(pages->box, ORDER_IDLE, 0), 0);
    net_boot_barrier(boot);
    uint64_t before = messages_since(pages, 0);
    net_boot_barrier(boot);
    if (boot->rank == 1) {
        pages_get(pages, &word, 0, pages_base(pages, 0) + 800, 8);
        expect_eq(word, word_of(0, 0, 1, 100));
    }
    net_boot_barrier(boot);
    if (pages->serves)
        expect_eq(pages_service_order(pages->box, ORDER_IDLE, 0), 0);
    net_boot_barrier(boot);
    expect_eq(messages_since(pages, before), expected[boot->rank]);
    close_job(boot, world, pages);
}

/* Rank 1 is killed while the others fetch its pages. */
static void lose_one(const struct net_boot *boot) {
    struct net_world *world;
    struct pages *pages;
    open_job(boot, &world, &pages);
    if (boot->rank == 1)
        put_pages(pages, 1, 1);
    net_boot_barrier(boot);
    if (boot->rank == 1) {
        usleep(20000 + (unsigned)getpid() % 50 * 1000);
        raise(SIGKILL);
    }
    for (;;) /* the pool is too small for all pages: each round fetches most of them again */
        for (uint64_t page = 0; page < PAGES; page++)
            pages_get(pages, buffer, 1, pages_base(pages, 1) + page * page_bytes, page_bytes);
}

static void run_with(size_t bytes, size_t with_frames, boot_member *work, int status) {
    page_bytes = bytes;
    frames = with_frames;
    fflush(stdout);
    if (NODES)
        expect_eq(boot_run_job(RANKS, SECONDS, prepare, work), status);
}

/* For pages of every size; large ones in pieces, and received in place. The quick tier has one size of each way. */
static void run_all(size_t with_frames, boot_member *work) {
    static const size_t sizes[] = {4096, 65536, 131072, 262144, SERVICE_IN_PLACE, 1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int in_place = 0; in_place <= (sizes[i] >= SERVICE_IN_PLACE); in_place++) {
            places = in_place;
            if (sizes[i] >= test_page() &&
                !(test_is_quick() && (sizes[i] == 131072 || sizes[i] > SERVICE_IN_PLACE)))
                run_with(sizes[i], with_frames, work, 0);
        }
}

TEST(pages_pass_round_while_frames_are_short)
{ run_all(pages_pool_least_frames(1), pass_round); }

TEST(page_that_is_overwritten_does_not_move)
{ run_all(PAGES + pages_pool_least_frames(1), overwrite); }

TEST(small_operation_takes_three_messages)
{ run_with(65536, PAGES + pages_pool_least_frames(1), get_small, 0); }

TEST(node_that_is_killed_while_it_sends_ends_the_job)
{
    kills = true;
    run_with(65536, pages_pool_least_frames(1), lose_one, ENDED);
    for (int in_place = 0; in_place < 2; in_place++) {
        places = in_place;
        run_with(1 << 20, pages_pool_least_frames(1), lose_one, ENDED);
    }
}
