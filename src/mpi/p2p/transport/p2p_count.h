/* p2p_count.h: message statistics for the report. */
#ifndef HEARTH_MPI_P2P_COUNT_H
#define HEARTH_MPI_P2P_COUNT_H

#include "mpi/core/host.h"

struct p2p_counters {
    uint64_t node, far, self; /* messages sent, by transport */
    uint64_t node_bytes, far_bytes, self_bytes;
    uint64_t rendezvous, pulled, reordered, delayed; /* delayed: had to wait for space */
};
/* In memory of their own, because hearth top reads them: see live.h. */
union p2p_counted {
    struct p2p_counters of;
    char alone[LIVE_ALONE];
};
extern HIDDEN union p2p_counted p2p_counted;

/* Saves the counters; call before the engine is closed. */
void p2p_count_keep(void);

/* Gathers the counters of all ranks at rank 0; ranks: 1 if each writes its own report. Collective. */
void p2p_count_collect(int rank, int ranks);
void p2p_count_text(FILE *file);
void p2p_count_json(struct json *j);

#endif
