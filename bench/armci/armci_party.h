/* armci_party.h: shared parts of the ARMCI benches: some ranks measure while the others wait, sleep or compute.
 *
 * The programs use only the public interfaces of ARMCI and MPI. Each is built twice, on libarmci and, if it is
 * installed, on ARMCI-MPI (armci_*_stock), and the scripts give both the same options.
 *
 * Ranks 0 ... node - 1 are one node, the others the other: `--node K` tells the program, HEARTH_NODE_RANKS the
 * library under test. Every run checks the results of the operations. */
#ifndef HEARTH_BENCH_ARMCI_PARTY_H
#define HEARTH_BENCH_ARMCI_PARTY_H

#include <armci.h>

#include "armci_rest.h"

struct party {
    int rank, size;
    int node;           /* ranks 0 ... node - 1 are the measuring ranks and their neighbours */
    int clients;        /* ranks 0 ... clients - 1 measure */
    MPI_Comm measuring; /* of the measuring ranks; MPI_COMM_NULL elsewhere */
};
extern struct party party;

/* Calls MPI_Init and ARMCI_Init. Takes the options
 *    --clients N    ranks that measure (1)
 *    --node N       ranks of the first node (1)
 *    --bind         bind the two nodes to cores of their own, before ARMCI_Init
 *    --rest WORD    what the other ranks do meanwhile: wait (in MPI), sleep, compute (wait)
 *    --nice N       niceness of the ranks that compute (19) */
void party_start(int argc, char **argv);
void party_end(void);
bool party_measures(void);

/* The ranks that do not measure spend their time here until the measuring ranks call this too. Collective. */
void party_rest(void);

/* Ends the job: a fast wrong answer is not a result. */
void party_stop(const char *why);

/* Allocates this many bytes at each rank; the first `patterned` hold party_byte(offset), the rest zeros. Collective. */
void party_memory(void **bases, size_t bytes, size_t patterned);

static inline char party_byte(size_t offset) {
    return (char)(offset * 31 + (offset >> 8) * 7 + 1);
}

/* The value of a series below which this share of it lies; sorts the series. */
double party_share(struct samples *s, double share);

#endif
