/* unit_match_heated.c: tests that the heater reads an engine's memory while it is used, and stops when it is closed.
 * Under ThreadSanitizer this also shows that the two share nothing but these reads, which heater.c hides from it. */
#define TEST_HEATER "on"
#include <unistd.h>

#include "test.h"

#include "base/clock.h"
#include "heater/heater.h"
#include "match_help.h"

static struct heater_counters heat(void) {
    struct heater_counters c;
    heater_counters(&c);
    return c;
}

/* Waits until the heater has read everything once more. */
static bool is_read(void) {
    uint64_t rounds = heat().rounds, start = clock_ns();
    while (heat().rounds < rounds + 2)
        if (clock_ns() - start > 20000000000u)
            return false;
        else
            usleep(200);
    return true;
}

/* Queues grow and shrink, and allocate memory while the heater runs. Long ones are emptied from the front: from the end, lists would take the
 * square of the time. */
static void work(int32_t depth) {
    for (int32_t i = 0; i < depth; i++) {
        expect_eq(post(i, i % 9, 0, 1 + i), QUEUED);
        expect_eq(arrive(i, i % 9, 1, 1 + i), QUEUED);
    }
    expect_eq(probe(ANY, 3, 1), 4);
    expect_eq(probe(depth / 2, ANY, 1), 1 + depth / 2);
    for (int32_t i = depth - 1; i >= 0; i--) {
        int32_t k = depth > 1000 ? depth - 1 - i : i;
        expect_eq(arrive(k, k % 9, 0, 1), 1 + k);
        expect_eq(post(k, k % 9, 1, 1), 1 + k);
    }
}

TEST(all_memory_is_registered_and_given_back)
{
    expect_eq(heat().bytes, 0);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        open_engine(structures[i], true);
        uint64_t before = heat().bytes;
        expect(before > 0);
        work(10);
        work(300);
        work(5000); /* more than the initial memory of any of them holds */
        expect(heat().bytes > before);
        expect(heat().bytes <= counters().bytes);
        expect(is_read());
        close_engine();
        expect_eq(heat().bytes, 0);
    }
}

TEST(what_is_not_heated_is_not_registered)
{
    for (unsigned i = 0; i < STRUCTURES; i++) {
        open_engine(structures[i], false);
        work(1000);
        expect_eq(heat().bytes, 0);
        close_engine();
    }
}

TEST(the_heater_reads_while_the_engine_works)
{
    for (unsigned i = 0; i < STRUCTURES; i++) {
        open_engine(structures[i], true);
        uint64_t rounds = heat().rounds, start = clock_ns();
        while (heat().rounds < rounds + 5 && clock_ns() - start < 20000000000u)
            work(300);
        expect(heat().rounds >= rounds + 5);
        close_engine();
    }
}

/* Engines are opened and closed; one that stays is read throughout. */
TEST(engines_may_be_closed_while_others_are_heated)
{
    struct match *stays;
    open_engine("fast", true);
    stays = engine;
    uint64_t bytes = heat().bytes;
    for (unsigned i = 0; i < 50; i++) {
        open_engine(structures[i % STRUCTURES], true);
        work(50);
        close_engine();
        expect_eq(heat().bytes, bytes);
    }
    engine = stays;
    close_engine();
}
