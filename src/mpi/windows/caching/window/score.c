/* score.c: scores that the program assigns to entries, through a function of its own or the info key clampi_score.
 * The score is requested once, before the entry is created.
 *
 *      window: (function, argument)  ->  value  ->  weight of the entry, in the cache
 *
 * The function runs while the data is in flight, under the lock: one call at a time. An invalid value leaves the
 * entry without a weight, which makes it an average one. */
#include "mpi/windows/caching/window/score.h"

#include <math.h>

#include "base/log.h"
#include "base/settings.h"

static double score_by_size(void *arg, int target, MPI_Aint disp, uint64_t bytes) {
    (void)arg, (void)target, (void)disp;
    return (double)bytes;
}

static void score_complain(struct window *w, double value, int target, MPI_Aint disp, uint64_t bytes) {
    if (w->score.complained)
        return;
    w->score.complained = true;
    log_warn("window %llu: the score function of CLAMPI_Set_score gave %g for %llu bytes at %lld of rank %d, "
             "which is not above 0 and finite; such entries count as average; this is reported once",
             (unsigned long long)w->serial, value, (unsigned long long)bytes, (long long)disp, target);
}

void rma_score_entry_slow(struct window *w, int target, uint64_t address, uint64_t bytes) {
    MPI_Aint disp = (MPI_Aint)(address - rma_window_peek(w, target)->base);
    double value = w->score.function(w->score.arg, target, disp, bytes);
    if (isfinite(value) && value > 0)
        cache_set_weight(w->cache, value);
    else
        score_complain(w, value, target, disp, bytes);
}

void rma_score_set(struct window *w, CLAMPI_Score *score, void *arg) {
    rma_lock();
    if ((w->score.function != score || w->score.arg != arg) && w->cache)
        cache_forget_weights(w->cache);
    w->score.function = score;
    w->score.arg = arg;
    w->score.complained = false;
    rma_unlock();
}

void rma_score_from_info(struct window *w, MPI_Info info) {
    static const char words[] = "none|size";
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = 0;
    if (info == MPI_INFO_NULL ||
        host_Info_get(info, "clampi_score", MPI_MAX_INFO_VAL, value, &flag) != MPI_SUCCESS || !flag)
        return;
    int found = settings_word(words, value);
    if (found < 0)
        log_warn("info key clampi_score=%.80s is not one of %s; it is ignored", value, words);
    else
        rma_score_set(w, found ? score_by_size : NULL, NULL);
}
