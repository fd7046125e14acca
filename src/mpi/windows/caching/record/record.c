/* record.c: bounded recording of all gets of this process.
 *
 *      series      gets, hits, bytes, and cache occupancy, over time                    observe/series.h
 *      sizes       how many gets of 2^i to 2^(i+1) - 1 bytes
 *      callers     call sites, sampled                                                  callers.h
 *      events      adaptation of the caches, the first MOST_EVENTS events
 *      curves      hit ratio against size, per window                                   cache/reuse.c
 *
 * When off, it costs only the test of `watched`, which other features need anyway. Most gets only count down to the next one that is
 * noted. A note reads the clock, so notes are 50 to 400 us apart where gets are frequent. Of the gets between two notes, half count
 * with the size of the first, half with that of the second. Call sites are sampled among the noted gets, and the analyses follow a
 * sample of the keys, both as often as they may: see overhead.h. A sample counts for the gets since the one before, so that the counts
 * add up to all gets. Distances are random, because loops have periods. */
#include "mpi/windows/caching/record/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/settings.h"
#include "mpi/windows/caching/record/record_internal.h"
#include "observe/output.h"
#include "observe/series.h"

enum {
    FIRST_WIDTH_NS = 1000000,
    SELDOM = 65536,
    FIRST_SITES = 4,
    MOST_WALK_NS = 50000,
    LEAST_NOTE_NS = 50000, /* between notes: this, and a 1000th of the run so far, up to the next */
    MOST_NOTE_NS = 400000,
    NOTE_SHARE = 1000,
    MOST_PERIOD = 1024,
    ANALYSIS_NS = 140 /* of an access to a key of the sample, for each analysis */
};

bool rma_record_is_on;
struct recording *rma_recording;
uint32_t rma_record_left = UINT32_MAX;
static uint64_t loaded_ns;

__attribute__((constructor)) static void note_time(void) {
    loaded_ns = clock_ns();
}

uint64_t rma_record_now(void) {
    return clock_ns() - loaded_ns;
}

static bool is_wanted(void) {
    return settings_get()->record && output_is_wanted();
}

void rma_record_start(struct memory_budget *budget) {
    struct memory self;
    if (!is_wanted() || memory_open(&self, sizeof *rma_recording, budget))
        return; /* the report then states that nothing was recorded */
    rma_recording = self.base;
    series_start(&rma_recording->series, 0, FIRST_WIDTH_NS);
    random_seed(&rma_recording->random, settings_get()->seed ^ 0x5eed);
    rma_recording->period = rma_recording->interval = 1;
    rma_recording->sample_at = 1;
    rma_recording->walks = OVERHEAD_CALLERS;
    rma_recording->analysis = OVERHEAD_ANALYSIS;
    rma_recording->ticks_per_ns = 1 / clock_ns_per_tick();
    rma_recording->due_ticks = rma_recording->begun_ticks = clock_ticks();
    callers_start();
    rma_record_left = 0;
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

static uint64_t record_passed(const struct recording *r, uint64_t ticks) {
    return (uint64_t)((double)clock_ticks_between(r->begun_ticks, ticks) / r->ticks_per_ns);
}

/* A sample walks the stack, which takes microseconds, in a Python program more. */
static void draw_interval(struct recording *r, uint64_t ticks) {
    if (!overhead_is_exceeded(&r->walks, record_passed(r, ticks)))
        r->interval = r->interval > 1 ? r->interval / 2 : 1;
    else if (r->interval < SELDOM)
        r->interval *= 2;
    r->sample_at = r->noted + 1 + random_below(&r->random, 2 * r->interval - 1);
}

/* A walk during which the thread lost its core took no longer than others. */
static void charge_walk(struct recording *r, uint64_t begun, uint64_t ticks) {
    double ns = (double)clock_ticks_between(begun, ticks) / r->ticks_per_ns;
    overhead_add(&r->walks, ns < MOST_WALK_NS ? (uint64_t)ns : MOST_WALK_NS);
}

void rma_record_extend(struct caller *row, uint64_t gets) {
    double factor = 1 + (double)gets / (double)row->gets;
    row->hits = (uint64_t)((double)row->hits * factor);
    row->bytes = (uint64_t)((double)row->bytes * factor);
    row->gets += gets;
}

/* The first noted gets of a window are samples out of turn, so that call sites with few gets are found. Such a sample counts once, the gets before it as the
 * last sample; others count for all gets since the last one. */
static bool is_out_of_turn(const struct recording *r, const struct window *w) {
    return r->noted < r->sample_at && w->analysis.sited < FIRST_SITES;
}

static void sample_caller(struct recording *r, struct window *w, uint64_t bytes, enum seen seen) {
    uint64_t weight = r->noted - r->sampled, begun = clock_ticks();
    if (is_out_of_turn(r, w)) {
        if (r->last)
            rma_record_extend(r->last, weight - 1);
        else
            r->callers.others += weight - 1;
        weight = 1;
    }
    uintptr_t from = callers_here();
    struct caller *row = callers_row(&r->callers, from ? from : 1, w->serial);
    uint64_t ticks = clock_ticks();
    w->analysis.sited++;
    charge_walk(r, begun, ticks);
    r->sampled = r->noted;
    r->last = row;
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

uint64_t rma_record_unnoted(void) {
    return rma_recording->distance - rma_record_left;
}

uint64_t rma_record_unsampled(void) {
    return rma_recording->noted + rma_record_unnoted() - rma_recording->sampled;
}

/* ---- a get ---- */

static unsigned record_size_class(uint64_t bytes) {
    return 63 - (unsigned)__builtin_clzll(bytes | 1);
}

static double note_interval(const struct recording *r, uint64_t ticks) {
    double ns = LEAST_NOTE_NS + (double)record_passed(r, ticks) / NOTE_SHARE;
    return ns < MOST_NOTE_NS ? ns : MOST_NOTE_NS;
}

/* Follows the rate of the gets since the last note, by at most a factor of 2: the thread may have lost its core. */
static uint32_t next_period(const struct recording *r, uint64_t ticks) {
    double passed = (double)clock_ticks_between(r->noted_ticks, ticks) / r->ticks_per_ns;
    double wanted = note_interval(r, ticks) * ((double)r->distance + 1) / (passed + 1);
    double least = (r->period + 1) / 2, most = 2 * r->period < MOST_PERIOD ? 2 * r->period : MOST_PERIOD;
    return (uint32_t)(wanted < least ? least : wanted > most ? most : wanted);
}

/* Where gets are frequent, notes are at random distances. The outcome of a sample is known at the next get. */
static void draw_note(struct recording *r, uint64_t ticks) {
    r->period = next_period(r, ticks);
    r->noted_ticks = ticks;
    r->distance = r->judged ? 0 : random_below(&r->random, 2 * r->period - 1);
    if (r->distance >= r->sample_at - r->noted)
        r->distance = (uint32_t)(r->sample_at - r->noted) - 1;
    rma_record_left = r->distance;
}

static void record_note(struct window *w, uint64_t bytes, enum seen seen) {
    struct recording *r = rma_recording;
    uint64_t ticks = clock_ticks();
    r->noted += (uint64_t)r->distance + 1;
    r->sizes[r->noted_class] += r->distance / 2;
    r->noted_class = record_size_class(bytes);
    r->sizes[r->noted_class] += (uint64_t)(r->distance + 1) / 2 + 1;
    if (r->judged)
        record_judge_sample(r, seen == SEEN_HIT &&
                                   w == r->judged_window); /* the current hit is counted already */
    if (UNLIKELY(ticks >= r->due_ticks))
        note_time_passed(r, ticks);
    if (r->noted >= r->sample_at || w->analysis.sited < FIRST_SITES)
        sample_caller(r, w, bytes, seen);
    draw_note(r, ticks);
}

/* Entries from an earlier epoch are in no cache, however large it is. */
static uint64_t record_epoch_of(const struct window *w, uint64_t acquired) {
    uint64_t generation = w->cache ? cache_generation(w->cache) : 0;
    return w->mode == MODE_ACQUIRE ? generation + acquired : generation;
}

/* Without a recording there is no limit: there is no share of the run to keep to. */
static bool analysis_is_dear(void) {
    return rma_record_is_on &&
           overhead_is_exceeded(&rma_recording->analysis, record_passed(rma_recording, clock_ticks()));
}

static void record_analyse(struct window *w, uint64_t key, uint64_t bytes) {
    struct window_analysis *a = &w->analysis;
    uint64_t acquired = atomic_load_explicit(&acquire_generation, memory_order_acquire);
    if (a->whatif)
        cache_whatif_get(a->whatif, &a->sample, key, bytes, acquired);
    if (a->reuse && !(key & a->sample.keys_mask)) /* still: the keys may have been halved */
        cache_reuse_get(a->reuse, &a->sample, key, bytes, record_epoch_of(w, acquired));
    if (!rma_record_is_on)
        return;
    overhead_add(&rma_recording->analysis,
                 (uint64_t)ANALYSIS_NS * ((a->whatif != NULL) + (a->reuse != NULL)));
    if (++rma_recording->followed % CACHE_SAMPLE_LOOK == 0)
        cache_sample_look(&a->sample, analysis_is_dear());
}

/* The countdown has passed 0 if the get is to be noted. */
void rma_record_followed(struct window *w, int target, uint64_t address, uint64_t bytes, enum seen seen) {
    struct cache_sample *s = &w->analysis.sample;
    if (rma_record_left == UINT32_MAX && rma_record_is_on)
        record_note(w, bytes, seen);
    if (seen == SEEN_BYPASSED)
        return;
    if (!s->left)
        cache_sample_turn(s, analysis_is_dear());
    uint64_t key = cache_sample_key((uint32_t)target, address);
    if (!(key & s->mask))
        record_analyse(w, key, bytes);
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
    w->analysis.sited = 0;
    cache_sample_close(&w->analysis.sample);
    if (rma_record_is_on)
        note_made(rma_recording, w);
}

void rma_record_cache(struct window *w, struct memory_budget *budget) {
    if (rma_record_is_on && cache_reuse_open(budget, &w->analysis.reuse))
        w->analysis.reuse = NULL; /* continue without a curve */
    if (w->analysis.whatif || w->analysis.reuse)
        cache_sample_open(&w->analysis.sample);
    w->watched = rma_record_is_on || w->analysis.whatif;
}

static void keep_curve(const struct window *w) {
    struct cache_reuse_curve curve;
    cache_reuse_read(w->analysis.reuse, &w->analysis.sample, &curve);
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
