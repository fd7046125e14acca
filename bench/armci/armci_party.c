/* armci_party.c: implements armci_party.h. */
#include "armci_party.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

struct party party;
static const char *way_to_rest;
static int niceness;

void party_stop(const char *why) {
    fprintf(stderr, "bench: rank %d: %s\n", party.rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

bool party_measures(void) {
    return party.rank < party.clients;
}

static void read_options(int argc, char **argv) {
    party.clients = (int)option(argc, argv, "--clients", 1);
    party.node = (int)option(argc, argv, "--node", 1);
    niceness = (int)option(argc, argv, "--nice", 19);
    way_to_rest = rig_word(argc, argv, "--rest", "wait");
    if (!rest_is_way(way_to_rest))
        party_stop("--rest is wait, sleep or compute");
    if (party.clients < 1 || party.clients > party.node || party.node >= party.size)
        party_stop(
            "more clients than ranks in the first node, or no rank in the second: see --clients, --node");
}

void party_start(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &party.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &party.size);
    read_options(argc, argv);
    if (rig_flag(argc, argv, "--bind"))
        rest_bind(party.rank >= party.node);
    MPI_Comm_split(MPI_COMM_WORLD, party_measures() ? 0 : MPI_UNDEFINED, 0, &party.measuring);
    setvbuf(stdout, NULL, _IOLBF, 0); /* line by line, so that results before a time limit count */
    if (ARMCI_Init() != 0)
        party_stop("ARMCI_Init failed");
}

void party_end(void) {
    if (party.measuring != MPI_COMM_NULL)
        MPI_Comm_free(&party.measuring);
    ARMCI_Finalize();
    MPI_Finalize();
}

void party_rest(void) {
    rest_until_all(party_measures(), way_to_rest, niceness);
}

/* ---- memory and numbers ---- */

void party_memory(void **bases, size_t bytes, size_t patterned) {
    if (ARMCI_Malloc(bases, (armci_size_t)round_up(bytes, 64)) != 0)
        party_stop("ARMCI_Malloc failed");
    char *mine = bases[party.rank];
    ARMCI_Access_begin(mine);
    for (size_t i = 0; i < patterned; i++)
        mine[i] = party_byte(i);
    memset(mine + patterned, 0, bytes - patterned);
    ARMCI_Access_end(mine);
    ARMCI_Barrier();
}

double party_share(struct samples *s, double share) {
    if (!s->count)
        return 0;
    samples_median(s);
    return s->values[(size_t)((double)(s->count - 1) * share)];
}
