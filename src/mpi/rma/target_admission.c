/* target_admission.c: see target_admission.h. Only flushes count as completions, because an unlock or a fence waits for more than the
 * get. */
#include "mpi/rma/target_admission.h"

enum { SAMPLES = 8 };

/* Measured by bench/clampi. */
double rma_admission_hit_ns(uint64_t bytes) {
    return 60 + 0.025 * (double)bytes;
}

static bool is_open(const struct rma_target *t) {
    return t->verdict == VERDICT_OPEN && settings_get()->bypass == BYPASS_AUTO;
}

uint64_t rma_admission_target_start(const struct rma_target *t) {
    return UNLIKELY(t->verdict == VERDICT_OPEN) && rma_window_is_idle(t) && is_open(t) ? clock_ticks() : 0;
}

void rma_admission_target_get(struct rma_target *t, uint64_t started, uint64_t bytes) {
    if (!started)
        return;
    t->probe_ticks = clock_ticks() - started + 1;
    t->probe_bytes = bytes;
}

uint64_t rma_admission_target_flush_start(const struct rma_target *t) {
    return t->probe_ticks && t->alone == 1 && t->last_write < t->writes_before ? clock_ticks() : 0;
}

void rma_admission_target_flush(struct rma_target *t, uint64_t started) {
    uint64_t ticks = t->probe_ticks + clock_ticks() - started;
    t->probe_ticks = 0;
    if (!started)
        return;
    t->cheap += (double)ticks * clock_ns_per_tick() < rma_admission_hit_ns(t->probe_bytes);
    if (++t->samples == SAMPLES)
        t->verdict = 2 * t->cheap > SAMPLES ? VERDICT_BYPASS : VERDICT_CACHE;
}
