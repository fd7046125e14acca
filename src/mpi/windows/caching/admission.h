/* admission.h: decides whether a get is cached. All rules by which a get bypasses the cache are here; bypass.c then passes
 * the get to MPI.
 *
 * The rules are applied in this order. The first that refuses decides.
 *
 *   1. the window    never cached if it is shared memory, its mode is off, or there was no memory to record its aliasing
 *                    windows or any other window; in transparent mode not before a target has two gets between flushes;
 *                    suspended for a while if its cache cost more time than it saved.
 *   2. the target    not cached if HEARTH_BYPASS excludes it (by default this process itself, and memory of a served window that is
 *                    mapped here: a get copies it as a hit would), or if its first gets were measured and cost less than a hit.
 *   3. the call      cached only if it has elements and an access epoch is open to the target; otherwise MPI reports the
 *                    error. get.c also leaves types to MPI that cannot be described, or that MPI rejects.
 *   4. the cache     cached only if there is memory for the cache, and it admits the key (cache/admission.h).
 *
 *   After a miss, when the data is to be kept:
 *
 *   5. the request   cached only if its completion shows that the data has arrived.
 *   6. the cache     cached only if it has, or makes, space for the entry (cache/admission.h).
 *
 * Evaluated each time, rules 1 and 2 would be most of the overhead of a bypassed get. Where they refuse, and nothing is in
 * flight that the cache must see, the target is therefore marked `fast`: hook_Get and hook_Win_flush test only this mark,
 * before all rules (rma_admission_find_fast). */
#ifndef HEARTH_MPI_ADMISSION_H
#define HEARTH_MPI_ADMISSION_H

#include "base/clock.h"
#include "base/compiler.h"
#include "base/settings.h"
#include "mpi/windows/caching/window/window.h"
#include "observe/bypass_reason.h"
#include "tables/rank_table.h"

struct get;

/* ---- 1. the window ---- */

/* Whether gets of this window use the cache at all. */
static inline bool rma_admission_caches(const struct window *w) {
    return w->cacheable && w->mode != MODE_OFF;
}

/* Called for each new window, when its mode is known. */
void rma_admission_begin(struct window *w);
/* Applies rule 1 again and ends a suspension: the mode was set, or the suspension is over. */
void rma_admission_resume(struct window *w);
/* The window is never cached from now on. Requires the lock, as all functions of this section. */
void rma_admission_refuse(struct window *w);

/* Suspension of a cache that costs more time than it saves. If this held over the last HEARTH_SUSPEND gets, the window's
 * gets bypass the cache for a while, and then the cache is tried again. Each suspension is longer than the one before, as
 * long as the cache does not pay off. */

/* Start time of this get in ticks, or 0 for the gets that are not timed. */
static inline uint64_t rma_admission_start(const struct window *w) {
    enum { EVERY = 64 };
    return UNLIKELY(!(w->count.gets % EVERY)) ? clock_ticks() : 0;
}

/* Transparent mode drops all data at each flush. So as long as each get is the only one to its target before a flush, a cache costs
 * time and memory, and serves nothing: the window is `single`, and has no cache yet. */
void rma_admission_end_single(struct window *w);
/* Call before the get is counted: whether it is the second one. */
static inline bool rma_admission_is_second(const struct window *w, const struct rma_target *t) {
    return t->used_stamp == w->epoch.flush_stamp;
}

/* A get that missed took `own` ticks in Hearth and `issue` ticks in MPI. */
void rma_admission_miss(struct window *w, uint64_t own, uint64_t issue);

/* The next flush of the window is timed, because a get before it was. */
static inline bool rma_admission_wants_flush(const struct window *w) {
    return UNLIKELY(w->admission.timing);
}

/* The timed flush: ticks in Hearth and in MPI, for this number of gets. */
void rma_admission_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets);

/* Decides if enough gets were made since the last decision. Called for misses only: hits are not evaluated. */
void rma_admission_judge_slow(struct window *w);
static inline void rma_admission_judge(struct window *w) {
    if (UNLIKELY(w->count.gets >= w->admission.judge_at))
        rma_admission_judge_slow(w);
}

/* Whether a suspension keeps the window's gets from the cache. */
static inline bool rma_admission_is_suspended(const struct window *w) {
    return w->admission.resume_at != UINT64_MAX;
}

/* A get bypassed the cache: the suspension may be over. */
static inline void rma_admission_bypassed(struct window *w) {
    if (UNLIKELY(w->admission.resume_at <= w->count.bypassed_fast + w->count.bypassed))
        rma_admission_resume(w);
}

/* Gets that bypassed the cache while it was suspended. */
uint64_t rma_admission_gets_bypassed(const struct window *w);

/* ---- 2. the target ---- */

/* The first gets to each target that a flush completes alone are timed. If most of them cost less than a hit would (ranks
 * that share memory), the target's gets bypass the cache. */

/* The verdict on a target before its first get, by HEARTH_BYPASS. */
enum verdict rma_admission_first_verdict(const struct window *w, int rank);

/* Called around the get. rma_admission_target_start returns 0 if there is nothing to measure. */
uint64_t rma_admission_target_start_slow(const struct rma_target *t);
static inline uint64_t rma_admission_target_start(const struct rma_target *t) {
    return LIKELY(t->verdict != VERDICT_OPEN) ? 0 : rma_admission_target_start_slow(t);
}
void rma_admission_target_get_slow(struct rma_target *t, uint64_t started, uint64_t bytes);
static inline void rma_admission_target_get(struct rma_target *t, uint64_t started, uint64_t bytes) {
    if (UNLIKELY(started))
        rma_admission_target_get_slow(t, started, bytes);
}
/* Called around the flush that completes the get. */
uint64_t rma_admission_target_flush_start(const struct rma_target *t);
void rma_admission_target_flush(struct rma_target *t, uint64_t started);

/* ---- 1 to 3, for a get with elements ---- */

static inline bool rma_admission_is_open(const struct window *w, const struct rma_target *t) {
    return !w->bypassing && t->verdict != VERDICT_BYPASS && rma_window_is_open_to(w, t);
}

/* Rules 1 and 2 alone: whether all gets to this target bypass the cache. */
static inline bool rma_admission_bypasses(const struct window *w, const struct rma_target *t) {
    return w->bypassing || t->verdict == VERDICT_BYPASS;
}

/* ---- 4. the cache ---- */

/* Creates the window's cache if there is none. The get has this address and size at the target; it is recorded. */
bool rma_admission_wants(struct window *w, int target, uint64_t address, uint64_t bytes);

/* ---- 5. the request ---- */

/* Whether the data of this get may be cached when its request is complete. True without a request. */
bool rma_admission_keeps(const struct window *w, const struct get *g);
/* Whether completion of the request implies that the data has arrived. */
bool rma_admission_is_reliable(const struct get *g);

/* ---- the reason, for the report ---- */

/* Why a get to this target bypasses the cache: the first rule that refuses it. `by_cache`: rules 1 to 3 do not. */
enum bypass_reason rma_admission_reason(const struct window *w, const struct rma_target *t, bool by_cache);
/* Adds the gets of the fast bypass path to their reasons. Call before rules 1 or 2 change, and before the reasons are read.
 * Requires the lock. */
void rma_admission_settle(struct window *w);

/* ---- the fast bypass path ---- */

/* A target is fast if its gets bypass the cache, no get or write is in flight whose completion the cache must see, and
 * calls may be passed on unchanged. It stays fast until one of these conditions changes; the end of each completing call
 * evaluates them again. Never with MPI_THREAD_MULTIPLE. */
void rma_admission_note_fast(struct window *w, struct rma_target *t);
void rma_admission_clear_fast(struct window *w);

/* Written only if it changes: threads, which read it without the lock, find it false all the time. Gets on the fast path are not
 * counted as alone. */
static inline void rma_admission_set_fast(struct rma_target *t, bool fast) {
    if (t->fast == fast)
        return;
    t->fast = fast;
    t->alone = 0;
}

/* The target if this is its window and it is fast, else NULL. w: rma_window_recent. This is the entire cost for a program without
 * reuse before its call reaches MPI. In jobs with more than RANK_TABLE_DENSE ranks the path is not used: its lookup would be a call. */
static inline struct rma_target *rma_admission_find_fast(const struct window *w, MPI_Win handle, int rank) {
    if (UNLIKELY(w->handle != handle))
        return NULL;
    struct rma_target *t = (struct rma_target *)(void *)rank_table_find_dense(&w->targets, rank);
    return LIKELY(t && t->fast) ? t : NULL;
}

#endif
