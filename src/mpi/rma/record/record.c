/* record.c: bounded recording of all gets of this process.
 *
 *      series      gets, hits, bytes, and cache occupancy, over time                    base/series.h
 *      sizes       how many gets of 2^i to 2^(i+1) - 1 bytes
 *      callers     call sites, sampled                                                  callers.h
 *      events      adaptation of the caches, the first MOST_EVENTS events
 *      curves      hit ratio against size, per window                                   cache/reuse.c
 *
 * When off, it costs only the test of `watched`, which other features need anyway.
 *
 * Callers are sampled: at first every get, then one in two, in four, up to one in SELDOM. Each sample counts for the
 * mean number of gets per sample, so that the counts remain estimates of the same quantity. The distance is random,
 * because loops have periods. Samples get rarer sooner if they take more than a small share of the time. */
#include "mpi/rma/record/record.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/rma/record/record_internal.h"

enum {
    FIRST_WIDTH_NS = 1000000,
    SELDOM = 4096,
    EACH_INTERVAL = 256,
    DEAR_INTERVAL = 64,
    SAMPLING_SHARE = 512,
    FREE_NS = 2000000,
    FREQUENT_NS = 10000,
    UNCLOCKED = 15
};

bool rma_record_is_on;
struct recording *rma_recording;
struct record_light rma_record_light;
static uint64_t loaded_ns;

__attribute__((constructor)) static void note_time(void) {
    loaded_ns = clock_ns();
}

uint64_t rma_record_now(void) {
    return clock_ns() - loaded_ns;
}

static bool is_wanted(void) {
    return settings_get()->record && output_is_wanted() && output_is_json();
}

void rma_record_start(struct memory_budget *budget) {
    struct memory self;
    if (!is_wanted() || memory_open(&self, sizeof *rma_recording, budget))
        return; /* the report then states that nothing was recorded */
    rma_recording = self.base;
    series_start(&rma_recording->series, 0, FIRST_WIDTH_NS);
    random_seed(&rma_recording->random, settings_get()->seed ^ 0x5eed);
    rma_recording->countdown = rma_recording->interval = 1;
    rma_recording->ticks_per_ns = 1 / clock_ns_per_tick();
    rma_recording->due_ticks = rma_recording->begun_ticks = clock_ticks();
    callers_start();
    rma_record_is_on = true;
}

/* ---- over time ---- */

static void add_window(uint64_t *values, const struct window *w) {
    CLAMPI_Stats s;
    rma_window_stats(w, &s);
    values[SERIES_GETS] += s.gets;
    values[SERIES_HITS] += s.full_hits + s.partial_hits + s.pending_hits;
    values[SERIES_SERVED] += s.bytes_served;
    values[SERIES_FETCHED] += s.bytes_fetched;
    values[SERIES_ENTRIES] += s.entries;
    values[SERIES_USED] += s.used_bytes;
    values[SERIES_STORAGE] += s.storage_bytes;
    values[SERIES_REGIONS] += s.free_regions;
}

static void add_open_window(struct window *w, void *values) {
    add_window(values, w);
}

void rma_record_values(uint64_t values[SERIES_COLUMNS]) {
    memcpy(values, rma_recording->closed, sizeof rma_recording->closed);
    rma_window_each(add_open_window, values);
}

/* The CPU's tick counter is cheap to read; the clock is read only when the counter says that a bin is over. */
static void note_time_passed(struct recording *r, uint64_t ticks) {
    uint64_t now = rma_record_now(), due = series_due(&r->series);
    if (now >= due) {
        uint64_t values[SERIES_COLUMNS];
        rma_record_values(values);
        series_note(&r->series, now, values);
        due = series_due(&r->series);
    }
    r->due_ticks = ticks + (uint64_t)((double)(due - now) * r->ticks_per_ns) + 1;
}

/* ---- callers ---- */

/* Resolves the outcome of the last sampled get from the hits of its window, excluding those counted since. */
static void record_judge_sample(struct recording *r, uint64_t since) {
    r->judged->hits += r->judged_window->count.hits - since != r->judged_hits ? r->judged_weight : 0;
    r->judged = NULL;
}

void rma_record_judge(void) {
    if (rma_recording->judged)
        record_judge_sample(rma_recording, 0);
}

/* A sample walks the stack, which takes microseconds, in a Python program more: samples get rarer if they took more than
 * 1/SAMPLING_SHARE of the time, and some milliseconds. */
static bool sampling_is_dear(const struct recording *r, uint64_t ticks) {
    double allowed =
        FREE_NS * r->ticks_per_ns + (double)clock_ticks_between(r->begun_ticks, ticks) / SAMPLING_SHARE;
    return (double)r->sampling_ticks > allowed;
}

static void draw_interval(struct recording *r, uint64_t ticks) {
    bool is_rarer =
        ++r->sampled % EACH_INTERVAL == 0 || (r->sampled % DEAR_INTERVAL == 0 && sampling_is_dear(r, ticks));
    if (is_rarer && r->interval < SELDOM)
        r->interval *= 2;
    r->countdown = 1 + random_below(&r->random, 2 * r->interval - 1);
}

static void sample_caller(struct recording *r, struct window *w, uint64_t bytes, enum seen seen) {
    uint32_t weight = r->interval;
    uint64_t begun = clock_ticks();
    uintptr_t from = callers_here();
    struct caller *row = callers_row(&r->callers, from ? from : 1, w->serial);
    uint64_t ticks = clock_ticks();
    r->sampling_ticks += clock_ticks_between(begun, ticks);
    draw_interval(r, ticks);
    if (!row) {
        r->callers.others += weight;
        return;
    }
    row->gets += weight;
    row->bytes += weight * bytes;
    row->hits += seen == SEEN_HIT ? weight : 0;
    if (seen != SEEN_OPEN)
        return;
    r->judged = row;
    r->judged_window = w;
    r->judged_hits = w->count.hits;
    r->judged_weight = weight;
}

/* ---- a get ---- */

/* Where gets follow each other within 10 us, the clock is read at every sixteenth. */
static void note_clock(struct recording *r) {
    uint64_t ticks = clock_ticks(), passed = clock_ticks_between(r->clocked_ticks, ticks);
    bool is_frequent = (double)passed < FREQUENT_NS * (r->skipped + 1) * r->ticks_per_ns;
    r->unclocked = r->skipped = is_frequent ? UNCLOCKED : 0;
    r->clocked_ticks = ticks;
    if (UNLIKELY(ticks >= r->due_ticks))
        note_time_passed(r, ticks);
}

/* The gets before this one were only counted: neither counter reached its end. The outcome of a sample is known at the next get. */
void rma_record_note(struct window *w, uint64_t bytes, enum seen seen) {
    struct recording *r = rma_recording;
    r->countdown -= r->until_note;
    r->unclocked -= r->until_note;
    if (r->judged)
        record_judge_sample(r, seen == SEEN_HIT &&
                                   w == r->judged_window); /* the current hit is counted already */
    if (r->unclocked > 0)
        r->unclocked--;
    else
        note_clock(r);
    if (!--r->countdown)
        sample_caller(r, w, bytes, seen);
    uint32_t left = r->countdown - 1 < r->unclocked ? r->countdown - 1 : r->unclocked;
    rma_record_light.until_note = r->until_note = r->judged ? 0 : left;
}

/* Entries from an earlier epoch are in no cache, however large it is. */
static uint64_t record_epoch_of(const struct window *w, uint64_t acquired) {
    uint64_t generation = w->cache ? cache_generation(w->cache) : 0;
    return w->mode == MODE_ACQUIRE ? generation + acquired : generation;
}

void rma_record_analyse(struct window *w, uint64_t key, uint64_t bytes, bool by_whatif, bool by_reuse) {
    uint64_t acquired = atomic_load_explicit(&acquire_generation, memory_order_acquire);
    if (by_whatif)
        cache_whatif_get(w->analysis.whatif, key, bytes, acquired);
    if (by_reuse)
        cache_reuse_get(w->analysis.reuse, key, bytes, record_epoch_of(w, acquired));
}

/* ---- windows ---- */

/* Call before the set of windows changes: records the state until now. */
static void note_before_change(void) {
    if (rma_record_is_on)
        note_time_passed(rma_recording, clock_ticks());
}

static void note_made(struct recording *r, const struct window *w) {
    uintptr_t from = w->rank == 0 && r->made_count < MOST_MADE ? callers_here() : 0;
    if (from)
        r->made[r->made_count++] = (struct made){.window = w->serial, .address = from};
}

void rma_record_window(struct window *w) {
    note_before_change();
    w->watched = rma_record_is_on;
    if (rma_record_is_on)
        note_made(rma_recording, w);
}

void rma_record_cache(struct window *w, struct memory_budget *budget) {
    if (rma_record_is_on && cache_reuse_open(budget, &w->analysis.reuse))
        w->analysis.reuse = NULL; /* continue without a curve */
    w->watched = rma_record_is_on || w->analysis.whatif;
}

static void keep_curve(const struct window *w) {
    struct cache_reuse_curve curve;
    cache_reuse_read(w->analysis.reuse, &curve);
    if (!curve.gets)
        return;
    struct curve *c = malloc(sizeof *c);
    if (!c || rma_recording->curve_count == MOST_CURVES) {
        free(c);
        rma_recording->curves_lost++;
        return;
    }
    *c = (struct curve){.window = w->serial, .curve = curve};
    rma_recording->curves[rma_recording->curve_count++] = c;
}

/* Adds the counts of a window that leaves the list. The other columns describe current state and are not kept. */
static void add_closed(const struct window *w, uint64_t sign) {
    uint64_t values[SERIES_COLUMNS] = {0};
    add_window(values, w);
    for (int i = 0; i <= SERIES_FETCHED; i++)
        rma_recording->closed[i] += sign * values[i];
}

void rma_record_window_leaves(const struct window *w) {
    note_before_change();
    if (!rma_record_is_on)
        return;
    rma_record_judge();
    add_closed(w, 1);
}

void rma_record_window_returns(const struct window *w) {
    if (rma_record_is_on)
        add_closed(w, UINT64_MAX); /* subtracts */
}

void rma_record_window_end(const struct window *w) {
    if (rma_record_is_on && w->analysis.reuse)
        keep_curve(w);
}

void rma_record_event(const struct window *w, enum record_event what, uint64_t from, uint64_t to) {
    if (!rma_record_is_on)
        return;
    if (rma_recording->event_count < MOST_EVENTS)
        rma_recording->events[rma_recording->event_count] =
            (struct event){.ns = rma_record_now(), .window = w->serial, .what = what, .from = from, .to = to};
    rma_recording->event_count++;
}
