/* adapt.c: adapts the sizes of index and storage to the program.
 *
 * Every adapt_interval gets, the counts of that interval decide:
 *
 *      index     grows    if gets that found no slot in it / gets > conflict_threshold
 *                shrinks  if evictions saw fewer than sparse_threshold of their slots occupied
 *      storage   grows    if gets that found no space in it / gets > capacity_threshold
 *                shrinks  if hits / gets > stable_threshold and more than free_threshold of it is free
 *
 * A size that is a little too small costs less than these thresholds in each interval, but for good. It grows, too, if since its last
 * change both the gets that found no room in it and the repeated misses exceed a share of the entries.
 *
 * Growth does not wait for the end of the interval once enough such gets were counted. Without any reuse in the interval
 * nothing grows beyond MODEST_SLOTS and MODEST_BYTES: a stream that is never read again would otherwise take all memory. Reuse is a hit, or a miss of a key
 * that was missed before, because a cache too small to keep anything sees no hits. Two small tables hold the tags of
 * missed keys; a newer tag overwrites an older one in its place. One table takes every key and covers about the last
 * MISSED misses. The other takes one key in DISTANT_SHARE and covers that many times more.
 *
 * What grows grows at once to the size that the gets since the last decision would have needed, by the larger of two estimates. If h of
 * g gets hit while the cache held n entries, about n g / h different keys are in use. If a key was missed again after d other inserts,
 * d entries would have kept it. A growth is at least by the configured factor, and at most LARGEST_STEP times.
 *
 * Unlike in the paper, entries survive a resize: index slots are assigned anew and storage grows in place. Only entries
 * beyond the new end of a shrinking storage are lost.
 *
 * Hysteresis: a size shrinks at once to a few times what the present entries need, but not below LEAST_SHRUNK, and only after
 * several consecutive intervals that ask for it. Each growth that follows a reduction doubles that number. If memory or budget do not
 * permit growth, the next attempts follow after 1, 2, 4, ... intervals. */
#include "cache/adapt.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "cache/admission.h"
#include "cache/storage.h"

enum { FIRST_PATIENCE = 2, MOST_PATIENCE = 1 << 16, DISTANT_SHARE = 16, LARGEST_STEP = 64 };

/* Sizes up to which growth needs no reuse. A working set of this size fills the cache once before any of it is used again: if
 * admission were sampled until then, what it refuses would be missed again. */
enum { MODEST_SLOTS = 8192, MODEST_BYTES = 2 << 20, MODEST_STEP = 8 };

/* Sizes that are not worth saving: nothing shrinks below them. */
enum { LEAST_SHRUNK_SLOTS = 2048, LEAST_SHRUNK_BYTES = 512 << 10 };

enum wish { STAY, GROW, SHRINK };

void adapt_start(struct cache *c) {
    c->index_size = c->storage_size = (struct tendency){.patience = FIRST_PATIENCE, .penalty = 1};
}

/* Turns the wish of this interval into the action to try. */
static enum wish temper(struct tendency *t, enum wish wish) {
    t->streak = wish == SHRINK ? t->streak + 1 : 0;
    if (t->rest)
        t->rest--;
    if (wish == GROW && t->rest)
        return STAY;
    if (wish == SHRINK && t->streak < t->patience)
        return STAY;
    return wish;
}

/* Call with the counts as they are now. */
static void note_change(struct cache *c, struct tendency *t, enum wish wish) {
    if (wish == GROW)
        admission_note_room(c);
    t->short_at = t == &c->index_size ? c->crowded : c->starved;
    t->repeats_at = c->repeats;
    if (wish == GROW && t->shrunk && t->patience < MOST_PATIENCE)
        t->patience *= 2;
    t->shrunk = wish == SHRINK;
    t->streak = 0;
    t->penalty = 1;
}

static void note_refusal(struct tendency *t, enum wish wish, int err) {
    t->streak = 0;
    if (wish == SHRINK)
        return;
    if (t->penalty == 1)
        log_info(LOG_CACHE, "cannot grow, its size is unchanged: %s",
                 err == -EDQUOT ? "all of HEARTH_CACHE_MAX is in use" : "the system has no memory");
    t->rest = t->penalty + 1;
    if (t->penalty < MOST_PATIENCE)
        t->penalty *= 2;
}

static void adapt_remember(struct cache *c, struct missed *place, uint32_t tag) {
    uint32_t now = (uint32_t)c->inserts;
    if (place->tag == tag) {
        c->repeats++;
        c->distances += now - place->at;
    }
    *place = (struct missed){tag, now};
}

void adapt_note_miss(struct cache *c, struct hash h) {
    uint32_t tag = h.tag + (uint32_t)c->generation; /* a miss after an invalidation is not a repeat */
    adapt_remember(c, &c->missed[0][h.b % MISSED], tag);
    if (h.a % DISTANT_SHARE == 0)
        adapt_remember(c, &c->missed[1][h.b % MISSED], tag);
}

static void adapt_tell(const struct cache *c, enum cache_part part, uint64_t from, uint64_t to) {
    ASSERT(cache_check(c) == 0);
    if (c->config.resized)
        c->config.resized(c->config.resized_arg, part, from, to);
}

/* ---- how far to grow ---- */

static uint64_t hits_between(const struct cache_stats *then, const struct cache_stats *now) {
    return now->full_hits - then->full_hits + now->partial_hits - then->partial_hits + now->pending_hits -
           then->pending_hits;
}

/* The entries that the gets since the last decision would have needed. */
static double entries_needed(const struct cache *c) {
    struct cache_stats now;
    cache_stats(c, &now);
    double gets = (double)(now.lookups - c->before.lookups), hits = (double)hits_between(&c->before, &now);
    double held = ((double)now.entries + (double)c->before.entries) / 2;
    double repeats = (double)(c->repeats - c->repeats_before),
           distances = (double)(c->distances - c->distances_before);
    double by_hits = hits > 0 ? held * gets / hits : 0, by_distance = repeats > 0 ? distances / repeats : 0;
    return by_hits > by_distance ? by_hits : by_distance;
}

/* modest: the size up to which it grows in long steps while nothing says how much is needed. */
static double grown(double size, double factor, double needed, double modest) {
    double least = size * factor, most = size * LARGEST_STEP;
    if (!(needed > 0) && size < modest)
        return size * MODEST_STEP < modest ? size * MODEST_STEP : modest;
    most = most < least ? least : most;
    return needed < least ? least : needed < most ? needed : most;
}

/* Down to `room`, at least by the configured divisor. */
static double shrunk(double size, double divisor, double room, double least) {
    double want = size / divisor < room ? size / divisor : room;
    return want < least ? least : want;
}

/* Slots for the entries that are needed: insertion paths become long in an index that is more than two thirds full. */
static double slots_grown(const struct cache *c) {
    return grown((double)c->slot_count, c->config.index_increase, 1.5 * entries_needed(c), MODEST_SLOTS) + 1;
}

/* Storage for the entries that are needed, with a quarter for fragments, if they are as large as the present ones. */
static double storage_grown(const struct cache *c) {
    double entries = (double)c->cached + (double)c->pending + (double)c->stale;
    double each = entries > 0 ? (double)c->used_bytes / entries : 0;
    return grown((double)c->storage_bytes, c->config.memory_increase, 1.25 * each * entries_needed(c),
                 MODEST_BYTES);
}

/* ---- resizing ---- */

/* If there is no memory for a long step, the configured one may be possible. */
static int grow_index(struct cache *c, uint32_t slots) {
    int err = index_resize(c, slots);
    double least = (double)c->slot_count * c->config.index_increase + 1;
    return err && least < (double)slots ? index_resize(c, (uint32_t)least) : err;
}

static void resize_index(struct cache *c, enum wish wish) {
    double entries = (double)c->cached + (double)c->pending, size = c->slot_count;
    double want = wish == GROW ? slots_grown(c)
                               : shrunk(size, c->config.index_decrease, 4 * entries, LEAST_SHRUNK_SLOTS);
    want =
        wish == SHRINK && want < 2 * entries ? 2 * entries : want; /* never shrinks to more than half full */
    want = want < FEWEST_SLOTS ? FEWEST_SLOTS : want > MOST_SLOTS ? MOST_SLOTS : want;
    uint32_t slots = (uint32_t)want;
    if (wish == GROW ? slots <= c->slot_count : slots >= c->slot_count)
        return;
    uint32_t before = c->slot_count;
    int err = wish == GROW ? grow_index(c, slots) : index_resize(c, slots);
    if (err) {
        note_refusal(&c->index_size, wish, err);
        return;
    }
    note_change(c, &c->index_size, wish);
    c->count.adjustments++;
    *(wish == GROW ? &c->count.index_grown : &c->count.index_shrunk) += 1;
    adapt_tell(c, CACHE_INDEX, before, c->slot_count);
}

/* If the budget does not cover the whole step, a part of it may suffice. */
static int grow_storage(struct cache *c, uint64_t bytes) {
    uint64_t step = bytes - c->storage_bytes;
    int err = storage_resize(c, bytes);
    while (err && step / 2 > c->storage_bytes / 8) {
        step = round_up(step / 2, CACHE_LINE);
        err = storage_resize(c, c->storage_bytes + step);
    }
    return err;
}

/* Frees the end of the storage first. A PENDING entry there is in use; then a later interval tries again. */
static int shrink_storage(struct cache *c, uint64_t bytes) {
    for (uint32_t id = c->pool[0].prev; id && c->pool[id].start + c->pool[id].room > bytes;
         id = c->pool[id].prev)
        if (c->pool[id].kind == KIND_PENDING)
            return -EBUSY;
    for (uint32_t id; (id = storage_beyond(c, bytes));)
        cache_release(c, id);
    return storage_resize(c, bytes);
}

static void resize_storage(struct cache *c, enum wish wish) {
    double used = (double)c->used_bytes, size = (double)c->storage_bytes;
    double want = wish == GROW ? storage_grown(c)
                               : shrunk(size, c->config.memory_decrease, 4 * used, LEAST_SHRUNK_BYTES);
    want = wish == SHRINK && want < 1.25 * used ? 1.25 * used : want;
    want = want < LEAST_STORAGE ? LEAST_STORAGE : want > 1e18 ? 1e18 : want;
    uint64_t bytes = round_up((uint64_t)want, CACHE_LINE);
    if (wish == GROW ? bytes <= c->storage_bytes : bytes >= c->storage_bytes)
        return;
    uint64_t before = c->storage_bytes;
    int err = wish == GROW ? grow_storage(c, bytes) : shrink_storage(c, bytes);
    if (err) {
        note_refusal(&c->storage_size, wish, err);
        return;
    }
    note_change(c, &c->storage_size, wish);
    c->count.adjustments++;
    *(wish == GROW ? &c->count.storage_grown : &c->count.storage_shrunk) += 1;
    adapt_tell(c, CACHE_STORAGE, before, c->storage_bytes);
}

/* ---- decisions ---- */

static bool is_reused(const struct cache *c) {
    return reuses(c) != c->reuses_before;
}

/* Whether a size has been a little too small for long. threshold: 1 keeps it from growing. */
static bool is_short(const struct cache *c, const struct tendency *t, uint64_t count, double threshold) {
    enum { LEAST = 16, SHARE = 32 };
    uint64_t most = ((uint64_t)c->cached + c->pending) / SHARE;
    most = most < LEAST ? LEAST : most;
    return threshold < 1 && count - t->short_at > most && c->repeats - t->repeats_at > most;
}

/* Whether a size that is too small may grow. */
static bool may_grow(const struct cache *c, uint64_t size, uint64_t modest) {
    return size < modest || is_reused(c);
}

static enum wish index_wish(const struct cache *c, const struct cache_stats *now, double gets) {
    const struct cache_stats *then = &c->before;
    double visited = (double)(now->visited - then->visited),
           nonempty = (double)(now->nonempty - then->nonempty);
    if ((double)(c->crowded - c->crowded_before) > c->config.conflict_threshold * gets)
        return may_grow(c, c->slot_count, MODEST_SLOTS) ? GROW : STAY;
    if (is_short(c, &c->index_size, c->crowded, c->config.conflict_threshold))
        return GROW;
    return nonempty < c->config.sparse_threshold * visited ? SHRINK : STAY;
}

static enum wish storage_wish(const struct cache *c, const struct cache_stats *now, double gets) {
    const struct cache_stats *then = &c->before;
    uint64_t hits = hits_between(then, now);
    uint64_t unused = c->storage_bytes - c->used_bytes;
    if ((double)(c->starved - c->starved_before) > c->config.capacity_threshold * gets)
        return may_grow(c, c->storage_bytes, MODEST_BYTES) ? GROW : STAY;
    if (is_short(c, &c->storage_size, c->starved, c->config.capacity_threshold))
        return GROW;
    bool stable = (double)hits > c->config.stable_threshold * gets;
    return stable && (double)unused > c->config.free_threshold * (double)c->storage_bytes ? SHRINK : STAY;
}

/* Once the interval's count exceeds the threshold, its end cannot change the decision, so growth need not wait for
 * it. */
static bool is_pressed(const struct cache *c, const struct tendency *t, uint64_t count, double threshold) {
    bool may = t == &c->index_size ? may_grow(c, c->slot_count, MODEST_SLOTS)
                                   : may_grow(c, c->storage_bytes, MODEST_BYTES);
    return (double)count > threshold * (double)c->config.adapt_interval && !t->rest && may;
}

static void grow_at_once(struct cache *c, bool index, bool storage) {
    if (index)
        resize_index(c, GROW);
    if (storage)
        resize_storage(c, GROW);
}

static void adapt_decide(struct cache *c, const struct cache_stats *now) {
    double gets = (double)(now->lookups - c->before.lookups);
    enum wish index = temper(&c->index_size, index_wish(c, now, gets));
    enum wish storage = temper(&c->storage_size, storage_wish(c, now, gets));
    if (index != STAY)
        resize_index(c, index);
    if (storage != STAY)
        resize_storage(c, storage);
}

static __attribute__((noinline)) void adapt_consider(struct cache *c) {
    bool index = is_pressed(c, &c->index_size, c->crowded - c->crowded_before, c->config.conflict_threshold);
    bool storage =
        is_pressed(c, &c->storage_size, c->starved - c->starved_before, c->config.capacity_threshold);
    bool over = c->clock - c->before.lookups >= c->config.adapt_interval;
    if (LIKELY(!over && !index && !storage))
        return;
    struct cache_stats now;
    cache_stats(c, &now);
    if (over)
        adapt_decide(c, &now);
    else
        grow_at_once(c, index, storage);
    c->before = now;
    c->crowded_before = c->crowded;
    c->starved_before = c->starved;
    c->reuses_before = reuses(c);
    c->repeats_before = c->repeats;
    c->distances_before = c->distances;
}

/* Without an insert that lacked room there is nothing to decide before the interval is over. */
void cache_adapt(struct cache *c) {
    bool lacked = c->crowded != c->crowded_before || c->starved != c->starved_before;
    bool over = c->clock - c->before.lookups >= c->config.adapt_interval;
    if (UNLIKELY(lacked | over) && c->config.adaptive)
        adapt_consider(c);
}
