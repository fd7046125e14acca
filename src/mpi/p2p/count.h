/* count.h: what became of the messages, for the report. */
#ifndef HEARTH_MPI_P2P_COUNT_H
#define HEARTH_MPI_P2P_COUNT_H

#include "base/base.h"

/* While the engine is still there. */
void count_keep(void);

/* Brings the numbers of all ranks to rank 0; ranks: 1 if each writes its own report. Collective. */
void count_collect(int rank, int ranks);
void count_text(FILE *file);
void count_json(struct json *j);

#endif
