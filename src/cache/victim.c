/* victim.c: scores, and the sample in which they are compared.
 *
 *      positional   min(|ags - d| / ags, 1)    ags: average size of a get, d: free bytes next to the entry
 *      temporal     last / now
 *      full         positional x temporal      the least goes
 *
 * An entry goes if it is old, or if its place and the free memory beside it would just hold an average get.
 * Scores are only compared with each other at one moment, so the divisions by ags and now, equal for all, are
 * left out. */
#include "cache/victim.h"

#include <float.h>

struct contest {
    enum score score;
    double average; /* ags */
    double least;
    uint32_t victim;
};

static struct contest contest_start(const struct cache *c) {
    uint64_t gets = c->clock - c->slow_lookups + c->touches + c->inserts;
    return (struct contest){.score = c->config.score,
                            .average = (double)c->get_bytes / (double)(gets ? gets : 1),
                            .least = DBL_MAX};
}

static void contest_enter(struct contest *contest, const struct cache *c, uint32_t id) {
    const struct entry *e = &c->pool[id];
    double score = 1;
    if (contest->score != SCORE_TEMPORAL) {
        double misfit = contest->average - (double)e->adjacent;
        misfit = misfit < 0 ? -misfit : misfit;
        score = misfit < contest->average ? misfit : contest->average;
    }
    if (contest->score != SCORE_POSITIONAL)
        score *= (double)e->last;
    if (score < contest->least) {
        contest->least = score;
        contest->victim = id;
    }
}

/* The sample lies in two or three cache lines of the index, but its entries lie anywhere: ask for all at
 * once. */
static void prefetch(const struct cache *c, uint32_t slot, unsigned count) {
    for (; count && slot < c->slot_count; count--, slot++)
        __builtin_prefetch(&c->pool[c->slots[slot].id]);
}

uint32_t victim_sample(struct cache *c, uint32_t spare) {
    struct contest contest = contest_start(c);
    uint32_t slot = random_below(&c->random, c->slot_count), visited = 0, nonempty = 0;
    if (!c->cached)
        return NOTHING;
    prefetch(c, slot, c->config.sample);
    while (visited < c->slot_count && (visited < c->config.sample || !contest.victim)) {
        uint32_t id = index_occupant(c, slot);
        visited++;
        slot = slot + 1 == c->slot_count ? 0 : slot + 1;
        if (!id)
            continue;
        nonempty++;
        if (c->pool[id].stamp == c->ready && id != spare)
            contest_enter(&contest, c, id);
    }
    c->count.visited += visited;
    c->count.nonempty += nonempty;
    return contest.victim;
}

uint32_t victim_on_route(struct cache *c, const struct route *route) {
    struct contest contest = contest_start(c);
    for (uint32_t i = 0; i < route->length; i++) {
        uint32_t id = c->slots[route->slots[i]].id;
        if (c->pool[id].stamp == c->ready)
            contest_enter(&contest, c, id);
    }
    c->count.visited += route->length;
    c->count.nonempty += route->length;
    return contest.victim;
}
