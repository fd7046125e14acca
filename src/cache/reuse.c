/* reuse.c: estimates the hit ratios of caches of all sizes at once, from reuse distances.
 *
 * An LRU cache holds a key if the distinct keys that were accessed since, together with the key itself, fit into it.
 * Their size in bytes is the distance of an access. The distribution of distances is the curve: a cache of S bytes
 * serves the accesses whose distance is at most S. (Waldspurger et al., "Efficient MRC construction with SHARDS",
 * FAST 2015.)
 *
 * Only keys of the sample are tracked (sample.c), in which distances are shorter by the same factor. All accesses are
 * counted, and the deviation of the sample is corrected at the end, see correct().
 *
 *      slots       | key, lines, time, epoch |   |   | key ...         linear probing; key 0 is empty
 *      order       | slot of the key last accessed at time 0, 1, 2 ... or NOBODY
 *      sums        | lines of these keys, as a Fenwick tree: how many were accessed after a time, in O(log n)
 *
 * When times run out, the keys are renumbered in order. An access in another epoch than the previous one to the key
 * is no reuse. The distance needs no such check, because everything after an access of this epoch is of this epoch.
 *
 * Invariant: slots[order[t]].time == t for every t below `now` that is not NOBODY, and sums holds the lines of
 * exactly these. */
#include "cache/sample.h"

#include <string.h>

#include "base/compiler.h"
#include "base/memory.h"

enum { SLOTS = 2 * SAMPLE_MOST, TIMES = SLOTS, NOBODY = UINT32_MAX };

struct tag {
    uint64_t key, epoch;
    uint32_t lines; /* of storage that it occupies */
    uint32_t time;
    uint64_t reuses;
};

struct cache_reuse {
    uint64_t mask; /* of the keys in the table: behind that of the sample until the next access */
    uint32_t used, now;
    uint64_t sampled, bytes; /* sampled: the number of accesses that the sample represents */
    uint64_t hits[CACHE_REUSE_STEPS];
    double pull[CACHE_REUSE_STEPS]; /* the same, each weighted by how often its key was reused before */
    struct memory self;
    uint64_t sums[TIMES + 1];
    uint32_t order[TIMES];
    struct tag slots[SLOTS], scratch[SAMPLE_MOST];
};

int cache_reuse_open(struct memory_budget *budget, struct cache_reuse **out) {
    struct memory self;
    int err = memory_open(&self, sizeof **out, budget);
    if (err)
        return err;
    *out = self.base;
    (*out)->self = self;
    return 0;
}

void cache_reuse_close(struct cache_reuse *r) {
    struct memory self = r->self;
    memory_close(&self);
}

/* ---- steps: four to each power of two ---- */

static unsigned step_of(uint64_t lines) {
    unsigned power = 63 - (unsigned)__builtin_clzll(lines | 1);
    return lines < 4 ? (unsigned)lines : 4 * power + (lines >> (power - 2) & 3);
}

/* The largest number of lines of the step. */
uint64_t cache_reuse_size(unsigned step) {
    unsigned power = step / 4;
    uint64_t lines = step < 8 ? step : ((4 + (uint64_t)step % 4 + 1) << (power - 2)) - 1;
    return lines > UINT64_MAX / CACHE_LINE ? UINT64_MAX : lines * CACHE_LINE;
}

/* ---- sums ---- */

static void add_lines(struct cache_reuse *r, uint32_t time, uint64_t lines) {
    for (uint32_t i = time + 1; i <= TIMES; i += i & -i)
        r->sums[i] += lines; /* modulo 2^64, so that it also subtracts */
}

static uint64_t lines_before(const struct cache_reuse *r, uint32_t time) {
    uint64_t sum = 0;
    for (uint32_t i = time; i; i &= i - 1)
        sum += r->sums[i];
    return sum;
}

/* ---- keys ---- */

static uint32_t reuse_find(const struct cache_reuse *r, uint64_t key) {
    uint32_t i = sample_slot(key) % SLOTS;
    while (r->slots[i].key && r->slots[i].key != key)
        i = (i + 1) % SLOTS;
    return i;
}

static void take_time(struct cache_reuse *r, uint32_t slot) {
    struct tag *t = &r->slots[slot];
    t->time = r->now++;
    r->order[t->time] = slot;
    add_lines(r, t->time, t->lines);
}

/* Renumbers the keys of the sample in order, and drops those that the mask now excludes. */
static void renumber(struct cache_reuse *r) {
    uint32_t kept = 0;
    for (uint32_t time = 0; time < r->now; time++)
        if (r->order[time] != NOBODY && !(r->slots[r->order[time]].key & r->mask))
            r->scratch[kept++] = r->slots[r->order[time]];
    memset(r->slots, 0, sizeof r->slots);
    memset(r->sums, 0, sizeof r->sums);
    r->now = 0;
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t slot = reuse_find(r, r->scratch[i].key);
        r->slots[slot] = r->scratch[i];
        take_time(r, slot);
    }
    r->used = kept;
}

static void leave_time(struct cache_reuse *r, const struct tag *t) {
    add_lines(r, t->time, -(uint64_t)t->lines);
    r->order[t->time] = NOBODY;
}

static void reuse_note_reuse(struct cache_reuse *r, struct tag *t, uint64_t lines, uint64_t weight) {
    uint64_t between = lines_before(r, r->now) - lines_before(r, t->time + 1);
    uint64_t own = lines > t->lines ? lines : t->lines;
    unsigned step = step_of(between * (r->mask + 1) + own);
    r->hits[step] += weight;
    r->pull[step] += (double)++t->reuses * (double)weight;
}

static void reuse_drop_others(struct cache_reuse *r, uint64_t mask) {
    r->mask = mask;
    renumber(r);
}

void cache_reuse_get(struct cache_reuse *r, struct cache_sample *s, uint64_t key, uint64_t bytes,
                     uint64_t epoch) {
    uint64_t lines = (bytes + CACHE_LINE - 1) / CACHE_LINE, weight = sample_weight(s);
    lines = lines < INT32_MAX ? lines : INT32_MAX;
    if (UNLIKELY(r->mask != s->keys_mask))
        reuse_drop_others(r, s->keys_mask);
    r->sampled += weight;
    uint32_t slot = reuse_find(r, key);
    struct tag *t = &r->slots[slot];
    bool is_known = t->key;
    if (is_known && t->epoch == epoch)
        reuse_note_reuse(r, t, lines, weight);
    if (is_known)
        leave_time(r, t);
    else
        *t = (struct tag){.key = key};
    r->used += !is_known;
    if (t->lines < lines) {
        r->bytes += (lines - t->lines) * CACHE_LINE * (r->mask + 1);
        t->lines = (uint32_t)lines;
    }
    t->epoch = epoch;
    take_time(r, slot);
    while (UNLIKELY(r->used == SAMPLE_MOST)) {
        sample_halve(s);
        reuse_drop_others(r, s->keys_mask);
    }
    if (r->now == TIMES)
        renumber(r);
    s->keys = r->used;
}

void cache_reuse_write(struct cache_reuse *r, uint32_t target, uint64_t disp) {
    uint64_t key = cache_sample_key(target, disp);
    struct tag *t = &r->slots[reuse_find(r, key)];
    if (!(key & r->mask) && t->key)
        t->epoch = UINT64_MAX; /* matches no access */
}

/* Corrects the deviation of the sample, which is random and mostly due to the most frequent keys. An excess comes
 * from such keys in the sample: it is subtracted in proportion to `pull`, to which a key contributes about the square
 * of its reuses. A deficit comes from such keys outside the sample: they are accessed frequently, so they are added at
 * the smallest size that has hits. */
static void correct(const struct cache_reuse *r, uint64_t gets, double scale, uint64_t *hits) {
    double excess = (double)r->sampled * scale - (double)gets, all = 0;
    unsigned first = CACHE_REUSE_STEPS;
    for (unsigned i = CACHE_REUSE_STEPS; i--;) {
        all += r->pull[i];
        first = hits[i] ? i : first;
    }
    if (excess < 0 && all > 0)
        hits[first] += (uint64_t)-excess;
    for (unsigned i = 0; i < CACHE_REUSE_STEPS && all > 0 && excess > 0; i++) {
        double right = (double)hits[i] - excess * r->pull[i] / all;
        hits[i] = right > 0 ? (uint64_t)right : 0;
    }
}

/* Limits the sum of hits to `left`. */
static void reuse_limit(uint64_t *hits, uint64_t left) {
    for (unsigned i = 0; i < CACHE_REUSE_STEPS; i++) {
        hits[i] = hits[i] < left ? hits[i] : left;
        left -= hits[i];
    }
}

void cache_reuse_read(const struct cache_reuse *r, const struct cache_sample *s,
                      struct cache_reuse_curve *out) {
    uint64_t gets = cache_sample_gets(s);
    double scale = sample_scale(s);
    *out = (struct cache_reuse_curve){.gets = gets, .share = s->keys_mask + 1, .bytes = r->bytes};
    for (unsigned i = 0; i < CACHE_REUSE_STEPS; i++)
        out->hits[i] = (uint64_t)((double)r->hits[i] * scale + 0.5);
    correct(r, gets, scale, out->hits);
    reuse_limit(out->hits, gets);
}
