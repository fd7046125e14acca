/* unit_sim_pages.c: tests the simulation of pages: small cases whose times and counts can be computed by hand. The
 * simulation itself checks the versions of pages. */
#include "test.h"

#include "pages_sim.h"

/* 1 us and 1 byte per ns everywhere; a page is 4096 bytes; the NVM takes 10 us more, the service 1 us for a message. */
static struct plan plan_of(uint32_t nodes, uint32_t frames, uint32_t pages, enum pattern pattern, bool coop) {
    return (struct plan){.machine = {.latency_us = 1,
                                     .bandwidth = 1e9,
                                     .copy_bandwidth = 1e9,
                                     .nvm_bandwidth = 1e9,
                                     .nvm_us = 10,
                                     .service_us = 1,
                                     .put_us = 0.5,
                                     .page_bytes = 4096,
                                     .frames = frames},
                         .nodes = nodes,
                         .pages = pages,
                         .pattern = pattern,
                         .coop = coop,
                         .puts = 20,
                         .meet = true,
                         .seed = 1};
}

static struct pages_result run(struct plan p) {
    struct pages_result r;
    pages_run(&p, "", &r);
    return r;
}

/* ns: GETS to itself 264, service 1000; NVM 4096 + 10000; DATA 264, service 1000; copy 4096 */
TEST(a_page_of_its_own_nvm)
{
    struct pages_result r = run(plan_of(1, 16, 1, SEQUENTIAL, true));
    expect_eq((long long)(r.seconds * 1e9 + 0.5), 264 + 1000 + 14096 + 264 + 1000 + 4096);
    expect_eq(r.nvm_reads, 1);
    expect_eq(r.from_nvm, 1);
}

TEST(each_page_is_read_from_the_nvm_once_and_shared)
{
    struct pages_result r = run(plan_of(5, 64, 20, SEQUENTIAL, true));
    expect_eq(r.nvm_reads, 20);
    expect_eq(r.from_nvm + r.from_home + r.from_peers, 5 * 20);
    expect(r.from_peers > 0);
}

TEST(without_cooperation_all_pages_come_from_the_home)
{
    struct pages_result r = run(plan_of(5, 64, 20, SEQUENTIAL, false));
    expect_eq(r.from_peers, 0);
    expect_eq(r.from_nvm + r.from_home, 5 * 20);
    expect_eq(r.nvm_reads, 20); /* the home keeps the pages that it has read */
}

TEST(data_larger_than_all_pools_is_read_again)
{
    struct plan p = plan_of(3, 16, 100, RANDOM, false);
    struct pages_result alone = run(p);
    p.coop = true;
    struct pages_result together = run(p);
    expect(alone.nvm_reads > 250);
    expect(together.nvm_reads > 100 && together.nvm_reads < alone.nvm_reads);
    expect(together.evicted > 0);
}

/* Each put moves the page: 3 nodes, 20 rounds. */
TEST(false_sharing_moves_the_page_with_each_put)
{
    struct plan p = plan_of(3, 16, 1, FALSE_SHARING, true);
    struct pages_result moved = run(p);
    expect_eq(moved.nvm_reads, 1);
    expect_eq(moved.nvm_writes, 0);
    expect(moved.from_nvm + moved.from_home + moved.from_peers >= 20 * 2);
    p.coop = false;
    struct pages_result written = run(p);
    expect(written.nvm_writes >= 20 * 2);
    expect(written.seconds > 2 * moved.seconds);
}

TEST(small_operations_cure_false_sharing)
{
    struct plan p = plan_of(4, 16, 1, FALSE_SHARING, true);
    p.puts = 500;
    struct pages_result moved = run(p);
    p.small = true;
    struct pages_result small = run(p);
    expect(small.smalls + small.hits > 1940); /* hits: of the node that holds the page at the time */
    expect(small.from_peers + small.from_home + small.from_nvm < 60);
    expect(small.seconds < moved.seconds / 1.2);
}

TEST(pages_ahead_hide_the_copy)
{
    struct plan p = plan_of(1, 64, 50, SEQUENTIAL, true);
    p.machine.nvm_us = 0;
    struct pages_result plain = run(p);
    p.ahead = 8;
    struct pages_result ahead = run(p);
    expect(ahead.seconds < 0.7 * plain.seconds);
}

TEST(memory_without_pages_takes_a_round_trip)
{
    struct plan p = plan_of(2, 16, 1, FALSE_SHARING, true);
    p.raw = true;
    p.puts = 1;
    struct pages_result r = run(p);
    expect_eq((long long)(r.longest_us * 1000 + 0.5), 1000 + 65 + 1000 + 64);
}

TEST(the_same_run_gives_the_same_numbers)
{
    struct pages_result a = run(plan_of(6, 16, 60, MIXED, true)), b = run(plan_of(6, 16, 60, MIXED, true));
    expect(a.seconds == b.seconds && a.messages == b.messages && a.evicted == b.evicted);
}
