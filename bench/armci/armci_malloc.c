/* armci_malloc.c: measures the time of ARMCI_Malloc and ARMCI_Free, as a pair.
 *
 * All ranks allocate together, either each the same size ("all") or the last rank alone ("one"; the others
 * request 0 bytes). In the filled cases the owner writes every byte in between: memory that is backed at first
 * touch costs its page faults there, memory that is backed at allocation costs them earlier. The combinations
 * take turns, one sample each. A sample is as many pairs as take about 100 us together; rank 0 measures, after
 * a barrier.
 *
 * Once per sample every rank gets the last byte of the last rank's allocation, and checks that it is what the owner
 * wrote.
 *
 *  Prints: who,filled,bytes,samples,ns per pair (median),its 95 % interval */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci_party.h"
#include "base/clock.h"

static const char help[] =
    "armci_malloc [OPTION]...   ARMCI_Malloc and ARMCI_Free as a pair; see the head of armci_malloc.c\n"
    "  --sizes LIST             bytes, such as 4k,64m\n"
    "  --milliseconds N         time for all together\n"
    "  --samples N              maximal samples of each\n";

enum { MOST_JOBS = 4 * RIG_LIST, SAMPLE_NS = 100000, MOST_PAIRS = 64 };

struct job {
    bool one, fill;
    long bytes;
    int pairs; /* per sample */
    struct samples series;
};

static struct job jobs[MOST_JOBS];
static int job_count;
static void **bases;

static long own_bytes(const struct job *j) {
    return j->one && party.rank != party.size - 1 ? 0 : j->bytes;
}

static void pair(const struct job *j, bool checked) {
    long bytes = own_bytes(j);
    if (ARMCI_Malloc(bases, (armci_size_t)bytes) != 0)
        party_stop("ARMCI_Malloc failed");
    char *mine = bases[party.rank];
    if (j->fill && bytes > 0)
        memset(mine, 1, (size_t)bytes);
    if (checked && bytes > 0) {
        ARMCI_Access_begin(mine);
        mine[0] = mine[bytes - 1] = (char)(party.rank + 1);
        ARMCI_Access_end(mine);
    }
    if (checked) {
        char last = 0;
        ARMCI_Barrier();
        ARMCI_Get((char *)bases[party.size - 1] + j->bytes - 1, &last, 1, party.size - 1);
        if (last != (char)party.size)
            party_stop("the allocation does not hold what its owner wrote");
        ARMCI_Barrier();
    }
    ARMCI_Free(mine);
}

static double sample(const struct job *j) {
    pair(j, true);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t start = clock_ns();
    for (int i = 0; i < j->pairs; i++)
        pair(j, false);
    return (double)(clock_ns() - start) / j->pairs;
}

/* Sets the number of pairs per sample: rank 0 decides for all. */
static void warm_up(struct job *j) {
    j->pairs = 4;
    sample(j);
    double pairs = SAMPLE_NS / (sample(j) + 1);
    j->pairs = pairs < 1 ? 1 : pairs > MOST_PAIRS ? MOST_PAIRS : (int)pairs;
    MPI_Bcast(&j->pairs, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void measure(long milliseconds, long samples) {
    for (int i = 0; i < job_count; i++)
        warm_up(&jobs[i]);
    uint64_t end = clock_ns() + (uint64_t)milliseconds * 1000000;
    int more = 1;
    for (long n = 0; n < samples && more; n++) {
        for (int i = 0; i < job_count; i++)
            samples_add(&jobs[i].series, sample(&jobs[i]));
        more = clock_ns() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void read_jobs(const char *list) {
    long sizes[RIG_LIST];
    unsigned count = rig_list(list, sizes);
    for (unsigned i = 0; i < count; i++)
        for (int kind = 0; kind < 4; kind++)
            jobs[job_count++] = (struct job){.one = kind & 1, .fill = kind & 2, .bytes = sizes[i]};
}

static void print(struct job *j) {
    printf("%s,%d,%ld,", j->one ? "one" : "all", j->fill, j->bytes);
    rig_print(&j->series);
    printf("\n");
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    party_start(argc, argv);
    read_jobs(rig_word(argc, argv, "--sizes", "4k,64k,1m,8m,64m"));
    bases = need(calloc((size_t)party.size, sizeof *bases));
    measure(option(argc, argv, "--milliseconds", 1000), option(argc, argv, "--samples", 1000000));
    for (int i = 0; i < job_count && party.rank == 0; i++)
        print(&jobs[i]);
    free(bases);
    party_end();
    return 0;
}
