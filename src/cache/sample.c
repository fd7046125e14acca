/* sample.c: which accesses the analyses of modes and of cache sizes follow.
 *
 * The error of an estimate falls with the number of keys; the time that it takes grows with the accesses to them. Both are bounded:
 *
 *      keys        all, up to SAMPLE_MOST; then half of them, chosen by a hash, and so on. Each represents the others.
 *      accesses    all; if that takes too much time, as the caller tells, those to half of the keys, down to SAMPLE_LEAST, or fewer while
 *                  many are new: there will be more. If it still does, bursts:
 *
 *      |  pause   |burst|      pause      |burst|   pause  |burst| ...
 *
 * The accesses of a burst represent those of the pause before it, too: `stretch` each. To the analyses the bursts are one sequence. The error that
 * this causes is at their seams, where the first access to each key seems to follow those of the burst before. A burst is therefore 16 times as long as there
 * are keys: one access in 16 is at a seam, and only few of those are judged wrongly.
 *
 * The state is a function of the accesses and of what the caller tells; there is no clock. */
#include "cache/sample.h"

enum { BURST = 16, FEW_KEYS = 64, MANY_NEW = CACHE_SAMPLE_LOOK / 4, MOST_STRETCH = 1024, LONGER = 4 };

static bool sample_is_paused(const struct cache_sample *s) {
    return s->mask == UINT64_MAX;
}

static uint64_t sample_burst(const struct cache_sample *s) {
    return (uint64_t)BURST * (s->keys > FEW_KEYS ? s->keys : FEW_KEYS) * (s->keys_mask + 1);
}

static void sample_begin(struct cache_sample *s, uint64_t mask, uint64_t span) {
    s->mask = mask;
    s->span = s->left = span;
    s->keys_before = s->keys;
}

void cache_sample_open(struct cache_sample *s) {
    *s = (struct cache_sample){.stretch = 1};
    sample_begin(s, 0, sample_burst(s));
}

void cache_sample_close(struct cache_sample *s) {
    *s = (struct cache_sample){.mask = UINT64_MAX, .left = UINT64_MAX, .span = UINT64_MAX, .stretch = 1};
}

void sample_halve(struct cache_sample *s) {
    s->keys_mask = 2 * s->keys_mask + 1;
    s->keys /= 2; /* the analyses count those that remain */
    s->keys_before /= 2;
    s->keys_looked /= 2;
    if (!sample_is_paused(s))
        s->mask = s->keys_mask;
}

/* A key that is new in a burst may have been used in a pause: while there are many, no pause begins. All keys of the first burst are new, which
 * tells nothing unless they are many, or were halved. */
static bool sample_is_growing(const struct cache_sample *s) {
    return (s->keys >= 2 * FEW_KEYS || s->keys_mask) && s->keys > s->keys_before + s->keys_before / 16;
}

void cache_sample_look(struct cache_sample *s, bool is_dear) {
    bool are_new = s->keys >= 2 * FEW_KEYS && s->keys >= s->keys_looked + MANY_NEW;
    s->keys_looked = s->keys;
    if (is_dear && (s->keys >= 2 * SAMPLE_LEAST || are_new))
        sample_halve(s);
}

/* Longer by more than shorter: what the first bursts have spent in excess is paid back. */
static uint32_t sample_stretch(uint32_t stretch, bool is_dear) {
    if (is_dear)
        return stretch < MOST_STRETCH ? LONGER * stretch : MOST_STRETCH;
    return stretch > 1 ? stretch / 2 : 1;
}

/* At the end of a burst. */
static void sample_adapt(struct cache_sample *s, bool is_dear) {
    if (is_dear && s->keys >= 2 * SAMPLE_LEAST)
        sample_halve(s);
    else if (!is_dear || !sample_is_growing(s))
        s->stretch = sample_stretch(s->stretch, is_dear);
}

void cache_sample_turn(struct cache_sample *s, bool is_dear) {
    bool was_paused = sample_is_paused(s);
    s->before += s->span;
    s->covered += was_paused ? 0 : s->stretch * s->span;
    if (!was_paused)
        sample_adapt(s, is_dear);
    if (was_paused || s->stretch == 1)
        sample_begin(s, s->keys_mask, sample_burst(s));
    else
        sample_begin(s, UINT64_MAX, (s->stretch - 1) * sample_burst(s));
}

uint64_t cache_sample_gets(const struct cache_sample *s) {
    return s->before + (s->span - s->left);
}

double sample_scale(const struct cache_sample *s) {
    uint64_t current = sample_is_paused(s) ? 0 : s->stretch * (s->span - s->left);
    double covered = (double)(s->covered + current);
    return covered > 0 ? (double)cache_sample_gets(s) / covered : 1;
}
