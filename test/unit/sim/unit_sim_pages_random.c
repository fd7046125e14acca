/* unit_sim_pages_random.c: runs random machines and programs through the simulation of pages, which ends the program
 * if a read does not return what was written last, a page or a frame is lost, or a request never completes. */
#include "base/random.h"
#include "episodes.h"
#include "pages_sim.h"

static uint64_t current; /* the current episode, or 0 */

/* The simulation ends the program if an invariant is violated. */
static void name_episode(void) {
    if (current)
        printf("FAIL sim_pages_random: to see it again: --seed %llu\n", (unsigned long long)current);
}

static uint64_t episode(uint64_t seed) {
    struct random r;
    struct pages_result result;
    random_seed(&r, seed);
    struct plan p = {.machine = {.latency_us = 0.1 + random_below(&r, 50) / 10.0,
                                 .bandwidth = 1e8 * (1 + random_below(&r, 100)),
                                 .copy_bandwidth = 1e9,
                                 .nvm_bandwidth = 1e8 * (1 + random_below(&r, 20)),
                                 .nvm_us = random_below(&r, 100),
                                 .service_us = random_below(&r, 50) / 10.0,
                                 .put_us = random_below(&r, 20) / 10.0,
                                 .page_bytes = 4096u << random_below(&r, 6),
                                 .frames = 16 + random_below(&r, 60)},
                     .nodes = 1 + random_below(&r, 12),
                     .pages = 1 + random_below(&r, 200),
                     .pattern = random_below(&r, 4) ? MIXED : (enum pattern)random_below(&r, 3),
                     .coop = random_below(&r, 2),
                     .small = random_below(&r, 2),
                     .ahead = random_below(&r, 2) ? random_below(&r, 16) : 0,
                     .puts = 1 + random_below(&r, 500),
                     .meet = random_below(&r, 2),
                     .seed = seed};
    current = seed;
    pages_run(&p, "", &result);
    current = 0;
    return result.messages;
}

int main(int argc, char **argv) {
    atexit(name_episode);
    struct episodes e = {
        .name = "sim_pages_random", .operations = "messages in", .things = "machines", .run = episode};
    return episodes_run(e, argc, argv);
}
