/* complaints.h: complaints about settings come once per job: from the lowest rank that has them, with the number of ranks.
 *
 * The ranks compare their complaints in MPI_Init, with their settings (agreement.h). In a program that begins MPI otherwise, rank 0
 * logs its own at the end. */
#ifndef HEARTH_MPI_COMPLAINTS_H
#define HEARTH_MPI_COMPLAINTS_H

/* Collective over MPI_COMM_WORLD. */
void complaints_agree(void);

/* In MPI_Finalize. */
void complaints_last(void);

#endif
