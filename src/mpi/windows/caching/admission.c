/* admission.c: decides by the rules of admission.h whether a get is cached. Rules 1 and 2 measure:
 *
 *      saved = hits x cost of a get without Hearth        spent = misses x overhead per miss + hits x cost of a hit
 *
 * For a window, both costs are means of samples: one get in 64 is timed, and the flush after it. A window whose gets are
 * never completed by a flush has no flush samples, because an unlock or a fence waits for more than the gets. It is
 * suspended only if there were no hits at all: then the cache saves nothing, whatever a get costs. For a target likewise
 * only flushes count as completions.
 *
 * A cache that has just been filled had no chance to produce hits, so the interval should not be much shorter than
 * the number of entries that the index holds. A program that reads its data once and then repeatedly loses the hits of
 * at most one suspension. The first takes SHORTEST intervals, later ones about as many gets as were made before. In transparent mode a
 * cache is emptied at each flush. If it was filled many times without a hit, the first decision need not wait for a whole interval. */
#include "mpi/windows/caching/admission.h"

#include "base/log.h"
#include "mpi/windows/caching/get.h"
#include "mpi/windows/caching/inflight/rma_check.h"
#include "mpi/windows/caching/window_cache.h"
#include "mpi/windows/serving/serving.h"
#include "observe/output.h"

enum { SHORTEST = 16, LONGEST = 1024 }; /* suspensions, in intervals */
enum { EVENT_NS = 20000 };              /* see own_share */
enum { EARLY = 16, EPOCHS = 64 };       /* see is_settled */
enum { SAMPLES = 8 };                   /* gets that are measured per target */

/* Cost of a hit of this size, including the flush. Measured by bench/clampi. */
static double hit_ns(uint64_t bytes) {
    return 60 + 0.025 * (double)bytes;
}

/* ---- 1. the window ---- */

static uint64_t interval(void) {
    return settings_get()->suspend;
}

static uint64_t gets_bypassed(const struct window *w) {
    return w->count.bypassed_fast + w->count.bypassed;
}

/* Sets the number of gets on the fast bypass path at which the suspension is over. */
static void plan_resumption(struct window *w) {
    bool suspended = rma_admission_is_suspended(w);
    w->count.resume_at =
        suspended ? w->count.bypassed_fast + (w->admission.resume_at - gets_bypassed(w)) : UINT64_MAX;
    w->wants_whatif = rma_record_is_on || (suspended && w->analysis.whatif);
}

static bool may_suspend(const struct window *w) {
    return interval() && settings_get()->bypass == BYPASS_AUTO && !rma_check_is_on && !w->bypassing;
}

/* Gets until the interval may be judged: in transparent mode a part of it. */
static uint64_t first_look(const struct window *w) {
    return w->mode == MODE_TRANSPARENT ? (interval() + EARLY - 1) / EARLY : interval();
}

static void start_interval(struct window *w) {
    struct window_admission *v = &w->admission;
    v->judge_at = interval() ? w->count.gets + first_look(w) : UINT64_MAX;
    v->generation_before = w->cache ? cache_generation(w->cache) : 0;
    v->hits_before = w->count.hits;
    v->gets_before = w->count.gets;
    v->bypassed_before = w->count.bypassed;
    v->served_before = w->count.bytes_served;
}

/* A report shows what other modes would serve, which is learned from the gets that use the cache. */
static bool begins_single(const struct window *w) {
    return w->mode == MODE_TRANSPARENT && interval() && settings_get()->bypass == BYPASS_AUTO &&
           !rma_check_is_on && !rma_record_is_on && !output_is_wanted();
}

void rma_admission_begin(struct window *w) {
    w->admission.resume_at = UINT64_MAX;
    w->single = begins_single(w);
    rma_admission_resume(w);
    w->admission.pause = SHORTEST;
    w->admission.begun_ns = clock_ns();
}

/* A sample stands for many gets. Hearth copies the data of a get in less time than MPI transfers it. If Hearth's share of a sample
 * is longer than that of MPI by more than EVENT_NS, it contains an event that the other gets do not have: the thread lost its
 * core, or the cache was resized. */
static uint64_t own_share(uint64_t own, uint64_t host) {
    uint64_t most = host + (uint64_t)(EVENT_NS / clock_ns_per_tick());
    return own < most ? own : most;
}

void rma_admission_miss(struct window *w, uint64_t own, uint64_t issue) {
    w->admission.miss_ticks += own_share(own, issue);
    w->admission.issue_ticks += issue;
    w->admission.misses++;
    w->admission.timing = true;
}

void rma_admission_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets) {
    w->admission.timing = false;
    if (!gets)
        return;
    w->admission.finish_ticks += own_share(own, host);
    w->admission.flush_ticks += host;
    w->admission.flushed += gets;
}

static double mean_ns(uint64_t ticks, uint64_t count) {
    return count ? (double)ticks * clock_ns_per_tick() / (double)count : 0;
}

static void suspend(struct window *w, double spent, double saved) {
    struct window_admission *v = &w->admission;
    rma_admission_settle(w);
    if (!v->times++)
        v->first_ns = clock_ns();
    v->spent_ns = (uint64_t)spent;
    v->saved_ns = (uint64_t)saved;
    ASSERT(!w->bypassing && v->pause >= SHORTEST && v->pause <= LONGEST);
    ASSERT(spent >= 0 && saved >= 0);
    v->resume_at = gets_bypassed(w) + v->pause * interval();
    v->since = gets_bypassed(w);
    v->pause = 2 * v->pause < LONGEST ? 2 * v->pause : LONGEST;
    w->bypassing = true;
    log_debug(LOG_CACHE,
              "window %llu is suspended: over %llu gets its cache cost %.0f us and saved %.0f us; it is "
              "tried again after %llu gets",
              (unsigned long long)w->serial, (unsigned long long)interval(), spent / 1000, saved / 1000,
              (unsigned long long)(v->resume_at - v->since));
    rma_record_event(w, RECORD_SUSPENDED, 0, 0);
    plan_resumption(w);
    if (w->cache)
        cache_invalidate(w->cache);
}

/* Halves the weight of old samples: the next ones count as much as all before them. */
static void age(struct window_admission *v) {
    v->misses /= 2, v->miss_ticks /= 2, v->issue_ticks /= 2;
    v->flushed /= 2, v->finish_ticks /= 2, v->flush_ticks /= 2;
}

/* Whether the interval may be judged before its end: no hit, though the cache was filled and emptied many times. */
static bool is_settled(const struct window *w) {
    const struct window_admission *v = &w->admission;
    return w->count.hits == v->hits_before && w->cache &&
           cache_generation(w->cache) - v->generation_before >= EPOCHS;
}

void rma_admission_judge_slow(struct window *w) {
    struct window_admission *v = &w->admission;
    if (w->count.gets - v->gets_before < interval() && !is_settled(w)) {
        v->judge_at = w->count.gets + first_look(w);
        return;
    }
    uint64_t hits = w->count.hits - v->hits_before, bypassed = w->count.bypassed - v->bypassed_before,
             gets = w->count.gets - v->gets_before, misses = gets - hits - bypassed;
    uint64_t bytes = hits ? (w->count.bytes_served - v->served_before) / hits : 0;
    double get_ns = mean_ns(v->issue_ticks, v->misses) + mean_ns(v->flush_ticks, v->flushed);
    double own_ns = mean_ns(v->miss_ticks, v->misses) + mean_ns(v->finish_ticks, v->flushed);
    double spent = own_ns * (double)misses + hit_ns(bytes) * (double)hits, saved = get_ns * (double)hits;
    start_interval(w);
    log_trace(LOG_CACHE,
              "window %llu: of %llu gets %llu hit; a get takes %.0f ns, Hearth's part of a miss %.0f ns: "
              "spent %.0f us, saved %.0f us",
              (unsigned long long)w->serial, (unsigned long long)gets, (unsigned long long)hits, get_ns,
              own_ns, spent / 1000, saved / 1000);
    if (!may_suspend(w) || (hits && !(v->flushed && v->misses)))
        return;
    if (spent > saved || !hits)
        suspend(w, spent, saved);
    else
        v->pause = SHORTEST;
    age(v);
}

uint64_t rma_admission_gets_bypassed(const struct window *w) {
    bool suspended = rma_admission_is_suspended(w);
    return w->admission.passed + (suspended ? gets_bypassed(w) - w->admission.since : 0);
}

void rma_admission_resume(struct window *w) {
    struct window_admission *v = &w->admission;
    rma_admission_settle(w);
    v->passed = rma_admission_gets_bypassed(w);
    if (rma_admission_is_suspended(w)) {
        rma_record_event(w, RECORD_RESUMED, 0, 0);
        log_debug(LOG_CACHE, "window %llu is resumed after %llu gets without its cache",
                  (unsigned long long)w->serial, (unsigned long long)(gets_bypassed(w) - v->since));
    }
    v->resume_at = UINT64_MAX;
    w->single &= w->mode == MODE_TRANSPARENT;
    w->bypassing = !rma_admission_caches(w) || w->single;
    rma_admission_clear_fast(w);
    plan_resumption(w);
    start_interval(w);
}

void rma_admission_end_single(struct window *w) {
    rma_admission_settle(w);
    w->single = false;
    rma_admission_resume(w);
}

void rma_admission_refuse(struct window *w) {
    log_debug(LOG_CACHE, "window %llu is not cached any more: not all writes to its memory can be tracked",
              (unsigned long long)w->serial);
    rma_admission_settle(w);
    w->cacheable = false;
    w->bypassing = true;
    if (w->cache)
        cache_invalidate(w->cache);
}

/* ---- 2. the target ---- */

enum verdict rma_admission_first_verdict(const struct window *w, int rank) {
    enum bypass rule = (enum bypass)settings_get()->bypass;
    bool excluded = rule == BYPASS_ALWAYS ||
                    (rule != BYPASS_NEVER && (rank == w->rank || serve_target_is_mapped(w->handle, rank)));
    return excluded ? VERDICT_BYPASS : rule == BYPASS_NEVER ? VERDICT_CACHE : VERDICT_OPEN;
}

uint64_t rma_admission_target_start_slow(const struct rma_target *t) {
    return rma_window_is_idle(t) ? clock_ticks() : 0;
}

void rma_admission_target_get_slow(struct rma_target *t, uint64_t started, uint64_t bytes) {
    ASSERT(t->verdict == VERDICT_OPEN);
    t->probe_ticks = clock_ticks_since(started) + 1;
    t->probe_bytes = bytes;
}

uint64_t rma_admission_target_flush_start(const struct rma_target *t) {
    return t->probe_ticks && t->alone == 1 && t->last_write < t->writes_before ? clock_ticks() : 0;
}

void rma_admission_target_flush(struct rma_target *t, uint64_t started) {
    uint64_t ticks = t->probe_ticks + clock_ticks_since(started);
    t->probe_ticks = 0;
    if (!started)
        return;
    t->cheap += (double)ticks * clock_ns_per_tick() < hit_ns(t->probe_bytes);
    if (++t->samples < SAMPLES)
        return;
    t->verdict = 2 * t->cheap > SAMPLES ? VERDICT_BYPASS : VERDICT_CACHE;
    log_debug(LOG_CACHE, "gets of rank %d %s: %u of %u were as fast as a hit", t->head.rank,
              t->verdict == VERDICT_BYPASS ? "bypass the cache" : "are cached", (unsigned)t->cheap,
              (unsigned)SAMPLES);
}

/* ---- 4. the cache ---- */

bool rma_admission_wants(struct window *w, int target, uint64_t address, uint64_t bytes) {
    if (!rma_window_cache(w))
        return false;
    rma_lock();
    bool wanted = cache_admits(w->cache, (uint32_t)target, address);
    rma_record_seen(w, target, address, bytes, wanted ? SEEN_OPEN : SEEN_MISS);
    rma_unlock();
    return wanted;
}

/* ---- the reason ---- */

enum bypass_reason rma_admission_reason(const struct window *w, const struct rma_target *t, bool by_cache) {
    if (!w->cacheable)
        return BYPASSED_shared;
    if (w->mode == MODE_OFF)
        return BYPASSED_off;
    if (w->single)
        return BYPASSED_single;
    if (rma_admission_is_suspended(w))
        return BYPASSED_suspended;
    if (t->verdict == VERDICT_BYPASS && t->head.rank == w->rank)
        return BYPASSED_own;
    if (t->verdict == VERDICT_BYPASS)
        return settings_get()->bypass == BYPASS_ALWAYS ? BYPASSED_excluded : BYPASSED_cheap;
    return !by_cache ? BYPASSED_call : w->cache ? BYPASSED_sampled : BYPASSED_no_memory;
}

/* While a target is fast, the rules that refuse its gets do not change. */
void rma_admission_settle(struct window *w) {
    for (uint32_t i = 0; i < w->targets.count; i++) {
        struct rma_target *t = rma_window_target_at(w, i);
        if (!t->fast_gets)
            continue;
        w->why[rma_admission_reason(w, t, false)] += t->fast_gets;
        t->asked.gets += t->fast_gets;
        t->fast_gets = 0;
    }
}

/* ---- 5. the request ---- */

/* MPICH 4.0 completes requests of gets with non-contiguous types too early. Only a flush makes their data available. */
bool rma_admission_is_reliable(const struct get *g) {
    if (host_is_open_mpi())
        return true;
    const struct layout_type *here = layout_find(g->otype), *there = layout_find(g->ttype);
    return here && there && here->element.predefined && there->element.predefined;
}

bool rma_admission_keeps(const struct window *w, const struct get *g) {
    return !g->request || (w->mode != MODE_TRANSPARENT && rma_admission_is_reliable(g));
}

/* ---- the fast bypass path ---- */

void rma_admission_note_fast(struct window *w, struct rma_target *t) {
    bool idle =
        t->first_op == NO_OP && t->last_write < t->writes_before && !t->fetching && !w->epoch.deferred;
    bool fast = rma_admission_bypasses(w, t) && idle && t->busy && !rma_threaded && !host_has_tool;
    rma_admission_set_fast(t, fast);
}

void rma_admission_clear_fast(struct window *w) {
    for (uint32_t i = 0; i < w->targets.count; i++)
        rma_admission_set_fast(rma_window_target_at(w, i), false);
}
