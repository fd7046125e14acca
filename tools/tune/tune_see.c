/* tune_see.c: what matters of the report of a run. */
#include <string.h>

#include "report/report.h"
#include "tune/tune_plan.h"

enum { WINDOWS = 8 }; /* examined: those with most gets */

static const double notable_hits = 0.05; /* of the gets */
static const double as_good_as = 0.01;

static double seconds_in(const struct run *run, const char *const *prefixes) {
    double sum = 0;
    for (; *prefixes; prefixes++)
        sum += run_seconds_in(run, *prefixes);
    return sum;
}

/* The most ranks on one node. */
static size_t ranks_together(const struct run *run) {
    size_t most = 0;
    for (size_t i = 0; i < run->rank_count; i++) {
        size_t together = 0;
        for (size_t k = 0; k < run->rank_count; k++)
            together += !strcmp(run->rank[i].host, run->rank[k].host);
        most = together > most ? together : most;
    }
    return most;
}

struct tune_seen tune_plan_see(const struct run *run, unsigned cores) {
    static const char *const one_sided[] = {
        "MPI_Get",         "MPI_Rget",      "MPI_Put",          "MPI_Rput",      "MPI_Accumulate",
        "MPI_Raccumulate", "MPI_Fetch_",    "MPI_Compare_",     "MPI_Win_flush", "MPI_Win_unlock",
        "MPI_Win_lock",    "MPI_Win_fence", "MPI_Win_complete", "MPI_Win_start", NULL};
    static const char *const messages[] = {"MPI_Send",  "MPI_Ssend",  "MPI_Bsend",  "MPI_Rsend", "MPI_Recv",
                                           "MPI_Isend", "MPI_Issend", "MPI_Irecv",  "MPI_Wait",  "MPI_Test",
                                           "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Start", NULL};
    struct tune_seen seen = {.gets = run->all.gets, .hits = counts_hit_ratio(&run->all)};
    double all = 0, acquire = 0;
    for (size_t i = 0; i < run->window_count; i++) {
        all += (double)run->windows[i].whatif.gets;
        acquire += run->windows[i].whatif.acquire;
    }
    seen.acquire = all > 0 && run->all.gets ? acquire / (double)run->all.gets : 0;
    if (run->seconds > 0) {
        seen.one_sided = seconds_in(run, one_sided) / run->seconds;
        seen.messages = seconds_in(run, messages) / run->seconds;
    }
    seen.has_idle_core = run->rank_count && ranks_together(run) < cores;
    return seen;
}

static uint64_t power_of_two(uint64_t bytes) {
    uint64_t power = 1 << 20;
    while (power < bytes && power < 1ull << 62)
        power *= 2;
    return power;
}

struct tune_cache_seen tune_plan_see_cache(const struct run *run, uint64_t memory) {
    struct tune_cache_seen seen = {.hits = counts_hit_ratio(&run->all)};
    uint64_t together = 0;
    for (size_t i = 0; i < run->window_count && i < WINDOWS; i++) {
        const struct window_sum *w = &run->windows[i];
        if (!w->curve.is_there || curve_most(&w->curve) < notable_hits)
            continue;
        uint64_t size = curve_enough(&w->curve, as_good_as);
        together += size;
        if (curve_at(&w->curve, size) >= share(counts_hits(&w->sum), w->curve.gets) + notable_hits / 2 &&
            size > seen.size)
            seen.size = size;
    }
    if (seen.size && 2 * together > run->cache_bytes_most)
        seen.most = power_of_two(2 * together);
    if (seen.most > memory) {
        seen.most = power_of_two(memory) > memory ? power_of_two(memory) / 2 : memory;
        seen.size = seen.size > seen.most / 2 ? seen.most / 2 : seen.size;
    }
    return seen;
}
