/* agreement.h: settings that make the ranks communicate must be the same on all of them: a rank that gathers a report alone would
 * wait for ever, or receive what the program's own collectives send. They may differ: a launcher may not pass variables on to
 * other hosts, and `mpirun -n 1 -x HEARTH_REPORT=run.json ./a : -n 3 ./b` sets one for some ranks.
 *
 * So the ranks compare them in MPI_Init, before they use them, in one reduction. A setting that differs is off on all ranks, or
 * has the least value. */
#ifndef HEARTH_MPI_AGREEMENT_H
#define HEARTH_MPI_AGREEMENT_H

#include <stdbool.h>

#include "base/settings.h"

/* Collective over MPI_COMM_WORLD, in every program. Also logs the complaints about settings. */
void agreement_reach(void);

/* Whether all ranks match messages (HEARTH_MATCH). For reports, ask output_is_wanted. */
bool agreement_matches(void);

/* HEARTH_MATCH_NODE on all ranks, and the least HEARTH_MATCH_REMOTE_EAGER. */
bool agreement_matches_node(void);
uint64_t agreement_match_eager(void);

/* HEARTH_NET; over MPI if it differs. */
enum link_over agreement_net(void);

/* HEARTH_WINDOWS and HEARTH_NODE_RANKS. In a program without MPI_Init, which begins sessions, they are those of this process. */
enum windows agreement_windows(void);
unsigned agreement_node_ranks(void);

#endif
