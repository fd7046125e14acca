/* p2p_count.h: message statistics for the report. */
#ifndef HEARTH_MPI_P2P_COUNT_H
#define HEARTH_MPI_P2P_COUNT_H

#include "base/base.h"

/* Saves the counters; call before the engine is closed. */
void p2p_count_keep(void);

/* Gathers the counters of all ranks at rank 0; ranks: 1 if each writes its own report. Collective. */
void p2p_count_collect(int rank, int ranks);
void p2p_count_text(FILE *file);
void p2p_count_json(struct json *j);

#endif
