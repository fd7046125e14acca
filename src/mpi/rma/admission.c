/* admission.c: see admission.h.
 *
 *      saved = hits x cost of a get without Hearth        spent = misses x overhead per miss + hits x cost of a hit
 *
 * Both costs are means of samples: one get in 64 is timed, and the flush after it. A window whose gets are never
 * completed by a flush has no flush samples, because an unlock or a fence waits for more than the gets. It is suspended
 * only if there were no hits at all, which save nothing whatever a get costs.
 *
 * A cache that has just been filled had no chance to produce hits, so the interval should not be much shorter than
 * the number of entries that the index holds. A program that reads its data once and then repeatedly loses at most
 * one suspension, which is no longer than all the gets before it. */
#include "mpi/rma/admission.h"

#include "mpi/rma/rma_check.h"
#include "mpi/rma/target_admission.h"
#include "mpi/rma/record.h"

enum { SHORTEST = 16, LONGEST = 1024 }; /* suspensions, in intervals */

static uint64_t interval(void) {
    return settings_get()->suspend;
}

static uint64_t gets_bypassed(const struct window *w) {
    return w->bypassed_fast + w->bypassed;
}

/* Sets the count at which hook_Get next leaves the fast bypass path. */
static void plan_look(struct window *w) {
    bool suspended = w->admission.resume_at != UINT64_MAX;
    w->look_at = suspended ? w->bypassed_fast + (w->admission.resume_at - gets_bypassed(w)) : UINT64_MAX;
    w->wants_whatif = rma_record_is_on || (suspended && w->whatif);
}

static bool may_suspend(const struct window *w) {
    return interval() && settings_get()->bypass == BYPASS_AUTO && !rma_check_is_on && !w->bypassing;
}

static void start_interval(struct window *w) {
    struct admission *v = &w->admission;
    v->judge_at = interval() ? w->gets + interval() : UINT64_MAX;
    v->hits_before = w->hits;
    v->gets_before = w->gets;
    v->bypassed_before = w->bypassed;
    v->served_before = w->bytes_served;
}

void rma_admission_begin(struct window *w) {
    w->admission.resume_at = UINT64_MAX;
    rma_admission_resume(w);
    w->admission.pause = SHORTEST;
    w->admission.begun_ns = clock_ns();
}

void rma_admission_miss(struct window *w, uint64_t own, uint64_t issue) {
    w->admission.miss_ticks += own;
    w->admission.issue_ticks += issue;
    w->admission.misses++;
    w->admission.timing = true;
}

void rma_admission_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets) {
    w->admission.timing = false;
    if (!gets)
        return;
    w->admission.finish_ticks += own;
    w->admission.flush_ticks += host;
    w->admission.flushed += gets;
}

static double mean_ns(uint64_t ticks, uint64_t count) {
    return count ? (double)ticks * clock_ns_per_tick() / (double)count : 0;
}

static void suspend(struct window *w, double spent, double saved) {
    struct admission *v = &w->admission;
    if (!v->times++)
        v->first_ns = clock_ns();
    v->spent_ns = (uint64_t)spent;
    v->saved_ns = (uint64_t)saved;
    v->resume_at = gets_bypassed(w) + v->pause * interval();
    v->since = gets_bypassed(w);
    v->pause = 2 * v->pause < LONGEST ? 2 * v->pause : LONGEST;
    w->bypassing = true;
    rma_record_event(w, RECORD_SUSPENDED, 0, 0);
    plan_look(w);
    if (w->cache)
        cache_invalidate(w->cache);
}

/* Halves the weight of old samples: the next ones count as much as all before them. */
static void age(struct admission *v) {
    v->misses /= 2, v->miss_ticks /= 2, v->issue_ticks /= 2;
    v->flushed /= 2, v->finish_ticks /= 2, v->flush_ticks /= 2;
}

void rma_admission_judge_slow(struct window *w) {
    struct admission *v = &w->admission;
    uint64_t hits = w->hits - v->hits_before, bypassed_fast = w->bypassed - v->bypassed_before,
             gets = w->gets - v->gets_before, misses = gets - hits - bypassed_fast;
    uint64_t bytes = hits ? (w->bytes_served - v->served_before) / hits : 0;
    double get_ns = mean_ns(v->issue_ticks, v->misses) + mean_ns(v->flush_ticks, v->flushed);
    double own_ns = mean_ns(v->miss_ticks, v->misses) + mean_ns(v->finish_ticks, v->flushed);
    double spent = own_ns * (double)misses + rma_admission_hit_ns(bytes) * (double)hits,
           saved = get_ns * (double)hits;
    start_interval(w);
    if (!may_suspend(w) || (hits && !(v->flushed && v->misses)))
        return;
    if (spent > saved || !hits)
        suspend(w, spent, saved);
    else
        v->pause = SHORTEST;
    age(v);
}

uint64_t rma_admission_gets_bypassed(const struct window *w) {
    bool suspended = w->admission.resume_at != UINT64_MAX;
    return w->admission.passed + (suspended ? gets_bypassed(w) - w->admission.since : 0);
}

void rma_admission_resume(struct window *w) {
    struct admission *v = &w->admission;
    v->passed = rma_admission_gets_bypassed(w);
    if (v->resume_at != UINT64_MAX)
        rma_record_event(w, RECORD_RESUMED, 0, 0);
    v->resume_at = UINT64_MAX;
    w->bypassing = !rma_window_caches(w);
    rma_window_clear_fast(w);
    plan_look(w);
    start_interval(w);
}
