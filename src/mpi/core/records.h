/* records.h: gathers one record of fixed size from each rank. */
#ifndef HEARTH_MPI_RECORDS_H
#define HEARTH_MPI_RECORDS_H

#include <stddef.h>

/* Collective over MPI_COMM_WORLD. Returns the records of all ranks in rank 0, to be freed by the caller; NULL in other ranks, or
 * if rank 0 has no memory for them. */
void *records_gather(const void *own, size_t bytes, int rank, int ranks);

#endif
