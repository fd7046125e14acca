/* armci_counter.c: all ranks draw numbers from one counter, as programs do to distribute tasks.
 *
 * The counter is on rank 0. Every rank adds one to it repeatedly for some time, followed by a barrier. No
 * number may be lost.
 *
 *  Prints: ranks,numbers,seconds,numbers per second,us per number of rank 0 and of the last rank */
#include <stdio.h>
#include <stdlib.h>

#include "armci_party.h"
#include "base/clock.h"

static const char help[] = "armci_counter [OPTION]...   a shared counter; see the head of armci_counter.c\n"
                           "  --milliseconds N   time for which all ranks draw numbers\n";

struct tally {
    double taken, us; /* numbers; us per number */
};

static struct tally take(void *counter, long milliseconds) {
    uint64_t begun = clock_ns(), end = begun + (uint64_t)milliseconds * 1000000, now = begun;
    struct tally mine = {0};
    long number = 0, last = -1;
    for (; now < end; now = clock_ns(), mine.taken++, last = number) {
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &number, counter, 1, 0);
        if (number <= last)
            party_stop("a number was drawn twice, or out of order");
    }
    mine.us = (double)(now - begun) / 1000 / mine.taken;
    return mine;
}

static void report(const struct tally *mine, void *counter, double seconds) {
    struct tally *all = need(calloc((size_t)party.size, sizeof *all));
    long final = 0;
    double taken = 0;
    MPI_Gather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < party.size; i++)
        taken += all[i].taken;
    if (party.rank == 0) {
        ARMCI_Get(counter, &final, sizeof final, 0);
        if ((double) final != taken)
            party_stop("numbers were lost");
        printf("%d,%.0f,%.6g,%.6g,%.6g,%.6g\n", party.size, taken, seconds, taken / seconds, all[0].us,
               all[party.size - 1].us);
    }
    free(all);
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    party_start(argc, argv);
    void **bases = need(calloc((size_t)party.size, sizeof *bases));
    party_memory(bases, 64, 0);
    uint64_t begun = clock_ns();
    struct tally mine = take(bases[0], option(argc, argv, "--milliseconds", 200));
    ARMCI_Barrier();
    report(&mine, bases[0], (double)(clock_ns() - begun) / 1e9);
    ARMCI_Barrier();
    ARMCI_Free(bases[party.rank]);
    free(bases);
    party_end();
    return 0;
}
