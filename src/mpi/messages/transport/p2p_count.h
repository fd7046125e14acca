/* p2p_count.h: message statistics for the report. */
#ifndef HEARTH_MPI_P2P_COUNT_H
#define HEARTH_MPI_P2P_COUNT_H

#include "base/clock.h"
#include "base/compiler.h"
#include "mpi/observe/call_time.h"
#include "mpi/host/host.h"
#include "observe/json.h"
#include "observe/live.h"

struct p2p_counters {
    uint64_t node, far, self; /* messages sent, by transport */
    uint64_t node_bytes, far_bytes, self_bytes;
    uint64_t rendezvous, pulled, reordered, delayed; /* delayed: had to wait for space */
    uint64_t batched;                                /* of far, left together with others */
};
/* In memory of their own, because hearth top reads them: see live.h. */
union p2p_counted {
    struct p2p_counters of;
    char alone[LIVE_ALONE];
};
extern HIDDEN union p2p_counted p2p_counted;

/* The time of searches in the queues, estimated from a sample while a report is wanted. Requires the lock. */
struct p2p_search {
    uint64_t ticks;
    uint32_t left, distance; /* searches up to and including the next sample; that the next one stands for */
};
extern HIDDEN struct p2p_search p2p_count_search;
void p2p_count_search_end_slow(uint64_t begin);
static inline uint64_t p2p_count_search_begin(void) {
    return LIKELY(!call_time_is_on) || --p2p_count_search.left ? 0 : clock_ticks();
}
static inline void p2p_count_search_end(uint64_t begin) {
    if (UNLIKELY(begin))
        p2p_count_search_end_slow(begin);
}

/* Saves the counters; call before the engine is closed. */
void p2p_count_keep(void);

/* Gathers the counters of all ranks at rank 0; ranks: 1 if each writes its own report. Collective. */
void p2p_count_collect(int rank, int ranks);
void p2p_count_json(struct json *j);

#endif
