/* complaints.h: complaints about settings come once per job: from the lowest rank that has them, with the number of ranks.
 *
 * The ranks compare their complaints in MPI_Init, with their settings (agreement.h), and those that come later when a window of
 * all ranks is created. Rank 0 logs the rest at the end. */
#ifndef HEARTH_MPI_COMPLAINTS_H
#define HEARTH_MPI_COMPLAINTS_H

#include <stdint.h>

/* Collective over MPI_COMM_WORLD. */
void complaints_agree(void);

/* The ranks of a window, one after the other, each with the code of its complaints. */
struct complaints_census {
    uint32_t own;
    int rank, lowest, same; /* lowest: rank with our code; same: how many have it */
};
void complaints_begin(struct complaints_census *c, int rank);
void complaints_add(struct complaints_census *c, int rank, uint32_t code);
void complaints_end(const struct complaints_census *c, int ranks);

/* In MPI_Finalize. */
void complaints_last(void);

#endif
