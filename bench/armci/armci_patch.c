/* armci_patch.c: measures the bandwidth of non-contiguous gets and accumulates to the other node (Sec. 3.1 of
 * the paper).
 *
 * Rank 0, or several ranks of its node (--clients), access every process of the other node in turn with a patch
 * of a matrix, while all other ranks rest in the given way (--rest compute, as in the paper). A patch is as
 * square as possible: S bytes in rows of about sqrt(S), which are apart at the target and contiguous here.
 * --row N chooses other rows, and --row whole a contiguous transfer. Accumulates and puts are fenced after some
 * rounds, a batch, and the fence counts.
 *
 * Every client has its own locations at each target, which are checked at the end.
 *
 *  Prints: kind,bytes,row,clients,targets,batches,MB/s of all clients together,us per operation of rank 0; both by
 *  the median of the batches */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci_party.h"
#include "base/clock.h"
#include "base/compiler.h"

static const char help[] =
    "armci_patch [OPTION]...   bandwidth of patches; see the head of armci_patch.c, and armci_party.h\n"
    "  --kinds get,acc         of get, acc and put\n"
    "  --sizes 8,64,...        bytes of a patch\n"
    "  --row 0                 bytes of its rows; 0: about square; whole: one\n"
    "  --milliseconds N        time for each kind and size\n";

enum { BATCH_BYTES = 1 << 20, MOST_ROUNDS = 16 };

enum kind { GET, ACC, PUT, KINDS };
static const char *const names[KINDS] = {"get", "acc", "put"};

struct patch {
    enum kind kind;
    int bytes, row;
};

static void **bases;
static size_t share; /* bytes at each target for one client and one kind: the largest patch with its gaps */
static char *local;  /* destination of gets */
static double *ones; /* source of accumulates and puts */
static uint64_t operations;
static struct samples batches; /* us per operation */

static int targets(void) {
    return party.size - party.node;
}

static size_t place(enum kind kind) {
    return ((size_t)kind * (size_t)party.clients + (size_t)party.rank) * share;
}

static char *remote(enum kind kind, int number) {
    return (char *)bases[party.node + number] + place(kind);
}

/* ---- operations ---- */

static void transfer(const struct patch *p, int number) {
    double one = 1;
    int near[] = {p->row}, far[] = {2 * p->row}, count[] = {p->row, p->bytes / p->row};
    int proc = party.node + number;
    char *there = remote(p->kind, number);
    if (p->kind == GET)
        ARMCI_GetS(there, far, local, near, count, 1, proc);
    else if (p->kind == PUT)
        ARMCI_PutS(ones, near, there, far, count, 1, proc);
    else
        ARMCI_AccS(ARMCI_ACC_DBL, &one, ones, near, there, far, count, 1, proc);
}

static void transfer_whole(const struct patch *p, int number) {
    double one = 1;
    int proc = party.node + number;
    char *there = remote(p->kind, number);
    if (p->kind == GET)
        ARMCI_Get(there, local, p->bytes, proc);
    else if (p->kind == PUT)
        ARMCI_Put(ones, there, p->bytes, proc);
    else
        ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, there, p->bytes, proc);
}

static void one_round(const struct patch *p) {
    for (int i = 0; i < targets(); i++) {
        (p->row == p->bytes ? transfer_whole : transfer)(p, i);
        operations++;
    }
}

static void batch(const struct patch *p) {
    long rounds = BATCH_BYTES / ((long)p->bytes * targets());
    rounds = rounds < 4 ? 4 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    uint64_t start = clock_ns();
    for (long i = 0; i < rounds; i++)
        one_round(p);
    if (p->kind != GET)
        ARMCI_AllFence();
    samples_add(&batches, (double)(clock_ns() - start) / 1000 / (double)(rounds * targets()));
}

/* ---- checks ---- */

static bool is_got(const struct patch *p) {
    for (int i = 0; i < p->bytes; i++)
        if (local[i] != party_byte(place(GET) + (size_t)(i / p->row * 2 * p->row + i % p->row)))
            return false;
    return true;
}

/* The rows hold the number of accumulates (or one, for puts); the gaps and the memory behind are unchanged. */
static bool is_added(const struct patch *p, int number) {
    double *there = need(malloc(share)), wanted = p->kind == PUT ? 1 : (double)operations / targets();
    bool right = true;
    ARMCI_Get(remote(p->kind, number), there, (int)share, party.node + number);
    for (size_t i = 0; i < share / sizeof *there; i++) {
        size_t at = i * sizeof *there, row = at / (2 * (size_t)p->row);
        bool inside = at % (2 * (size_t)p->row) < (size_t)p->row && row < (size_t)(p->bytes / p->row);
        right &= there[i] == (inside ? wanted : 0);
    }
    memset(there, 0, share);
    ARMCI_Put(there, remote(p->kind, number), (int)share, party.node + number);
    ARMCI_Fence(party.node + number);
    free(there);
    return right;
}

static void verify(const struct patch *p) {
    bool right = p->kind != GET || is_got(p);
    for (int i = 0; p->kind != GET && i < targets(); i++)
        right &= is_added(p, i);
    if (right)
        return;
    fprintf(stderr, "bench: %s of %d bytes in rows of %d\n", names[p->kind], p->bytes, p->row);
    party_stop("the memory does not hold the results of the calls");
}

/* ---- measuring ---- */

static void report(const struct patch *p) {
    double us = samples_median(&batches).value, rate = p->bytes / us, all = 0;
    MPI_Reduce(&rate, &all, 1, MPI_DOUBLE, MPI_SUM, 0, party.measuring);
    if (party.rank == 0)
        printf("%s,%d,%d,%d,%d,%zu,%.6g,%.6g\n", names[p->kind], p->bytes, p->row, party.clients, targets(),
               batches.count, all, us);
    samples_free(&batches);
}

static void measure(const struct patch *p, long milliseconds) {
    operations = 0;
    one_round(p);
    ARMCI_AllFence();
    MPI_Barrier(party.measuring); /* all clients start at once */
    for (uint64_t end = clock_ns() + (uint64_t)milliseconds * 1000000; clock_ns() < end || !batches.count;)
        batch(p);
    MPI_Barrier(party.measuring);
    verify(p);
    report(p);
}

static int square_row(int bytes) {
    int row = 8;
    while (row * row < bytes)
        row *= 2;
    return row < bytes ? row : bytes;
}

static int row_of(const char *word, int bytes) {
    long row[RIG_LIST];
    if (!strcmp(word, "whole"))
        return bytes;
    if (rig_list(word, row) != 1 || row[0] % 8 != 0)
        party_stop("--row is whole, or a multiple of 8");
    return !row[0] ? square_row(bytes) : row[0] < bytes ? (int)row[0] : bytes;
}

static void measure_all(int argc, char **argv, const long *sizes, unsigned count) {
    const char *kinds = rig_word(argc, argv, "--kinds", "get,acc"), *row = rig_word(argc, argv, "--row", "0");
    for (enum kind kind = GET; kind < KINDS; kind++)
        for (unsigned i = 0; i < count; i++) {
            struct patch p = {.kind = kind, .bytes = (int)sizes[i], .row = row_of(row, (int)sizes[i])};
            if (p.bytes % p.row != 0)
                party_stop("--row: a patch must consist of whole rows");
            if (rig_named(kinds, names[kind]))
                measure(&p, option(argc, argv, "--milliseconds", 30));
        }
}

static void prepare(const long *sizes, unsigned count) {
    size_t largest = 8;
    for (unsigned i = 0; i < count; i++) {
        if (sizes[i] < 8 || sizes[i] % 8 != 0 || sizes[i] > 1 << 24)
            party_stop("--sizes are multiples of 8, up to 16m");
        largest = (size_t)sizes[i] > largest ? (size_t)sizes[i] : largest;
    }
    share = round_up(2 * largest, 4096);
    local = need(aligned_alloc(4096, share));
    ones = need(aligned_alloc(4096, share));
    for (size_t i = 0; i < share / sizeof *ones; i++)
        ones[i] = 1;
    bases = need(calloc((size_t)party.size, sizeof *bases));
    party_memory(bases, KINDS * (size_t)party.clients * share, (size_t)party.clients * share);
}

int main(int argc, char **argv) {
    long sizes[RIG_LIST];
    rig_help(argc, argv, help);
    party_start(argc, argv);
    unsigned count = rig_list(rig_word(argc, argv, "--sizes", "8,64,512,4k,32k,128k"), sizes);
    prepare(sizes, count);
    if (party_measures())
        measure_all(argc, argv, sizes, count);
    party_rest();
    ARMCI_Free(bases[party.rank]);
    free(bases);
    free(local);
    free(ones);
    party_end();
    return 0;
}
