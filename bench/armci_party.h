/* armci_party.h: what the benches of ARMCI share: some ranks measure, the others wait, sleep or compute meanwhile.
 *
 * The programs use ARMCI's public interface and MPI's alone. Each is built twice, on libarmci and, where it is
 * installed, on ARMCI-MPI (armci_*_stock), and the scripts tell both the same.
 *
 * Ranks 0 ... node - 1 are one node, the others the other: `--node K` says so to the program, HEARTH_NODE_RANKS to the
 * library under test. That operations do what they are for is checked in every run. */
#ifndef HEARTH_BENCH_ARMCI_PARTY_H
#define HEARTH_BENCH_ARMCI_PARTY_H

#include <armci.h>

#include "armci_rest.h"

struct party {
    int rank, size;
    int node;           /* ranks 0 ... node - 1 are those that measure and their neighbours */
    int clients;        /* ranks 0 ... clients - 1 measure */
    MPI_Comm measuring; /* these; MPI_COMM_NULL elsewhere */
};
extern struct party party;

/* MPI_Init, ARMCI_Init. Takes the options
 *    --clients N    ranks that measure (1)
 *    --node N       ranks of the first node (1)
 *    --bind         the two nodes to cores of their own, before ARMCI_Init
 *    --rest WORD    what the others do meanwhile: wait (in MPI), sleep, compute (wait)
 *    --nice N       of those that compute (19) */
void party_start(int argc, char **argv);
void party_end(void);
bool party_measures(void);

/* Where those who do not measure spend their time until those who do call this too. Collective. */
void party_rest(void);

/* Ends the job: a fast wrong answer is not a result. */
void party_stop(const char *why);

/* So many bytes at each rank, of which the first `patterned` hold party_byte(offset), the rest zeros. Collective. */
void party_memory(void **bases, size_t bytes, size_t patterned);

static inline char party_byte(size_t offset) {
    return (char)(offset * 31 + (offset >> 8) * 7 + 1);
}

/* A series' value below which this share of it lies; sorts it. */
double party_share(struct samples *s, double share);

#endif
