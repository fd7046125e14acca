/* count.h: message statistics for the report. */
#ifndef HEARTH_MPI_P2P_COUNT_H
#define HEARTH_MPI_P2P_COUNT_H

#include "base/base.h"

/* Saves the counters; call before the engine is closed. */
void count_keep(void);

/* Gathers the counters of all ranks at rank 0; ranks: 1 if each writes its own report. Collective. */
void count_collect(int rank, int ranks);
void count_text(FILE *file);
void count_json(struct json *j);

#endif
