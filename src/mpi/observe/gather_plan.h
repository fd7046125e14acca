/* gather_plan.h: gathers from many ranks in steps. A Gatherv counts bytes in an int, and the data of a step must fit into memory: of all
 * ranks together it may not. */
#ifndef HEARTH_MPI_GATHER_PLAN_H
#define HEARTH_MPI_GATHER_PLAN_H

/* Returns the end of the range of ranks, from `begin` on, that one step gathers: with `most` bytes, or one rank. Sets the positions of
 * their data. */
static inline int gather_plan(const int *lengths, int *places, int begin, int ranks, int most) {
    int total = 0, end = begin;
    while (end < ranks && (end == begin || (total <= most && lengths[end] <= most - total))) {
        places[end] = total;
        total += lengths[end++];
    }
    return end;
}

#endif
