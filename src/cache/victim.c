/* victim.c: chooses a victim, the entry of least score in a sample.
 *
 *      positional   min(|ags - d| / ags, 1)    ags: average size of a get, d: free bytes next to the entry
 *      temporal     last / now
 *      full         positional x temporal      the least is evicted
 *
 * each times weight / mean weight, if the owner of the data gave weights.
 *
 * A low score thus means that the entry is old, that its weight is low, or that the free memory next to it is about as
 * large as an average get. Scores are only compared with each other at one moment, so the divisions by ags, now and the
 * mean weight, equal for all, are omitted.
 *
 * Weights are stored as given, and the mean of all so far replaces missing ones. Dividing each weight by the mean at the
 * time it is given was rejected: while there are few entries the mean moves so much that the order of their weights is
 * lost. */
#include "cache/victim.h"

#include <float.h>

#include "base/random.h"
#include "base/settings.h"

struct contest {
    enum score score;
    double average; /* ags */
    double mean;    /* weight */
    double limit;   /* the score of the new entry that needs the space */
    double least;
    uint32_t victim, entrants;
};

static double score_of(const struct contest *contest, double weight, double adjacent, double last) {
    double score = weight > 0 ? weight : contest->mean;
    if (contest->score != SCORE_TEMPORAL) {
        double misfit = contest->average - adjacent;
        misfit = misfit < 0 ? -misfit : misfit;
        score *= misfit < contest->average ? misfit : contest->average;
    }
    return contest->score == SCORE_POSITIONAL ? score : score * last;
}

/* A new entry has the highest possible score for its weight: it is the youngest, and its position is rated best. */
static struct contest contest_start(const struct cache *c, double weight) {
    uint64_t gets = c->clock - c->slow_lookups + c->touches + c->inserts;
    struct contest contest = {.score = c->config.score,
                              .average = (double)c->get_bytes / (double)(gets ? gets : 1),
                              .mean = c->weights ? c->weight_sum / (double)c->weights : 1,
                              .least = DBL_MAX};
    contest.limit = score_of(&contest, weight, 0, (double)c->clock);
    return contest;
}

static void contest_enter(struct contest *contest, const struct cache *c, uint32_t id) {
    const struct cache_entry *e = &c->pool[id];
    double score = score_of(contest, (double)e->weight, (double)e->adjacent, (double)e->last);
    contest->entrants++;
    if (score < contest->least && score <= contest->limit) {
        contest->least = score;
        contest->victim = id;
    }
}

void cache_set_weight(struct cache *c, double weight) {
    double kept = weight < FLT_MIN ? FLT_MIN : weight > FLT_MAX ? FLT_MAX : weight;
    c->weight = (float)kept;
    c->weight_sum += kept;
    c->weights++;
}

void cache_forget_weights(struct cache *c) {
    for (uint32_t id = 1; id < c->used; id++)
        c->pool[id].weight = 0;
    c->weight_sum = 0;
    c->weights = 0;
}

/* The sample lies in two or three cache lines of the index, but its entries are scattered: prefetch all at once. */
static void victim_prefetch(const struct cache *c, uint32_t slot, unsigned count) {
    for (; count && slot < c->slot_count; count--, slot++)
        __builtin_prefetch(&c->pool[c->slots[slot].id]);
}

uint32_t victim_sample(struct cache *c, uint32_t spare) {
    struct contest contest = contest_start(c, (double)(spare ? c->pool[spare].weight : c->weight));
    uint32_t slot = random_below(&c->random, c->slot_count), visited = 0, nonempty = 0;
    if (!c->cached)
        return NOTHING;
    victim_prefetch(c, slot, c->config.sample);
    while (visited < c->slot_count && (visited < c->config.sample || !contest.entrants)) {
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
    struct contest contest = contest_start(c, (double)c->weight);
    for (uint32_t i = 0; i < route->length; i++) {
        uint32_t id = c->slots[route->slots[i]].id;
        if (c->pool[id].stamp == c->ready)
            contest_enter(&contest, c, id);
    }
    c->count.visited += route->length;
    c->count.nonempty += route->length;
    return contest.victim;
}
