/* records.h: gathers records of all ranks at rank 0. */
#ifndef HEARTH_MPI_RECORDS_H
#define HEARTH_MPI_RECORDS_H

#include <stddef.h>

/* One of fixed size from each. Collective over MPI_COMM_WORLD. Returns the records of all ranks in rank 0, to be freed by the caller; NULL in other ranks, or
 * if rank 0 has no memory for them. */
void *records_gather(const void *own, size_t bytes, int rank, int ranks);

/* Data of any length, in steps that gather_plan.h plans. */
struct records_steps {
    const void *own;
    int length, rank, ranks;
    int *lengths, *places, *counts; /* one of each per rank; NULL except in rank 0. counts: scratch */
};

/* Collective: gathers the data of the ranks from begin to below end, at `places` from `into`. */
void records_gather_range(const struct records_steps *s, int begin, int end, void *into);

#endif
