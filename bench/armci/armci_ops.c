/* armci_ops.c: measures the time of one operation, between rank 0 and the first rank of the other node.
 *
 * All operations take turns, one sample each, so that a slow moment affects all alike. A sample is a number of
 * calls that takes some microseconds together. A name that ends in + is the call followed by a fence: without
 * it, a put or an accumulate to another node is only in flight when the call returns. "memcpy" copies the bytes
 * of a get of this size from this rank's own share of the same memory.
 *
 * Every operation has its own location at the target. At the end rank 0 gets all locations and checks that they
 * hold the results of the calls.
 *
 *  Prints: operation,bytes,row,samples,ns per call (median),its 95 % interval,99th percentile */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "armci_party.h"
#include "base/clock.h"
#include "base/compiler.h"

static const char help[] =
    "armci_ops [OPTION]...   times of single operations; see the head of armci_ops.c, and armci_party.h\n"
    "  --ops LIST             OPERATION:BYTES or OPERATION:BYTES/ROW (strided), as get:8,put+:64k/8,rmw:8;\n"
    "                         operations: get put put+ acc acc+ rmw lock memcpy\n"
    "  --milliseconds N       time for all together\n"
    "  --samples N            maximal samples of each\n";

enum { MOST_JOBS = 64, SAMPLE_NS = 10000, MOST_CALLS = 1000 };

enum op { GET, PUT, PUT_FENCE, ACC, ACC_FENCE, RMW, LOCK, MEMCPY, OPS };
static const char *const names[OPS] = {"get", "put", "put+", "acc", "acc+", "rmw", "lock", "memcpy"};

struct job {
    enum op op;
    int bytes, row; /* row = 0: contiguous */
    char *remote, *local;
    size_t offset; /* of remote in the target's memory */
    int calls;     /* per sample */
    long done;     /* calls in all */
    struct samples series;
};

static struct job jobs[MOST_JOBS];
static int job_count, target;
static void **bases;            /* of all ranks */
static size_t patterned, total; /* bytes at each rank: those that are only read, and all */

/* ---- the operations ---- */

static bool gets(const struct job *j) {
    return j->op == GET || j->op == MEMCPY;
}

static bool writes(const struct job *j) {
    return j->op == PUT || j->op == PUT_FENCE;
}

static bool adds(const struct job *j) {
    return j->op == ACC || j->op == ACC_FENCE;
}

/* At the target the distance of rows is twice their length. */
static size_t extent(const struct job *j) {
    return (size_t)j->bytes * (j->row ? 2 : 1);
}

static void transfer(const struct job *j) {
    double one = 1;
    int near[] = {j->row}, far[] = {2 * j->row}, count[] = {j->row, j->row ? j->bytes / j->row : 0};
    if (adds(j) && j->row)
        ARMCI_AccS(ARMCI_ACC_DBL, &one, j->local, near, j->remote, far, count, 1, target);
    else if (adds(j))
        ARMCI_Acc(ARMCI_ACC_DBL, &one, j->local, j->remote, j->bytes, target);
    else if (writes(j) && j->row)
        ARMCI_PutS(j->local, near, j->remote, far, count, 1, target);
    else if (writes(j))
        ARMCI_Put(j->local, j->remote, j->bytes, target);
    else if (j->row)
        ARMCI_GetS(j->remote, far, j->local, near, count, 1, target);
    else
        ARMCI_Get(j->remote, j->local, j->bytes, target);
}

static void call(const struct job *j) {
    switch (j->op) {
    case RMW:
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, j->local, j->remote, 1, target);
        break;
    case LOCK:
        ARMCI_Lock(0, target);
        ARMCI_Unlock(0, target);
        break;
    case MEMCPY:
        memcpy(j->local, (char *)bases[party.rank] + j->offset, (size_t)j->bytes);
        __asm__ volatile("" ::"r"(j->local) : "memory");
        break;
    default:
        transfer(j);
    }
    if (j->op == PUT_FENCE || j->op == ACC_FENCE)
        ARMCI_Fence(target);
}

static double sample(struct job *j) {
    uint64_t start = clock_ns();
    for (int i = 0; i < j->calls; i++)
        call(j);
    j->done += j->calls;
    double ns = (double)(clock_ns() - start) / j->calls;
    if (j->op == PUT || j->op == ACC)
        ARMCI_Fence(target); /* so that the next sample does not pay for it */
    return ns;
}

/* The first calls open connections. */
static void warm_up(struct job *j) {
    j->calls = 4;
    sample(j);
    double ns = sample(j);
    double calls = SAMPLE_NS / (ns + 1);
    j->calls = calls < 1 ? 1 : calls > MOST_CALLS ? MOST_CALLS : (int)calls;
}

static void measure(long milliseconds, long samples) {
    for (int i = 0; i < job_count; i++)
        warm_up(&jobs[i]);
    uint64_t end = clock_ns() + (uint64_t)milliseconds * 1000000;
    for (long n = 0; n < samples && clock_ns() < end; n++)
        for (int i = 0; i < job_count; i++)
            samples_add(&jobs[i].series, sample(&jobs[i]));
}

/* ---- checks ---- */

static bool is_pattern(const struct job *j, const char *data, size_t step) {
    size_t row = (size_t)(j->row ? j->row : j->bytes);
    for (size_t i = 0; i < (size_t)j->bytes; i++) {
        size_t from = gets(j) ? j->offset + i / row * 2 * row + i % row : i;
        if (data[i / row * step + i % row] != party_byte(from))
            return false;
    }
    return true;
}

static bool is_sum(const struct job *j, const char *data, size_t step) {
    size_t row = (size_t)(j->row ? j->row : j->bytes);
    for (size_t i = 0; i < (size_t)j->bytes; i += sizeof(double)) {
        double value;
        memcpy(&value, data + i / row * step + i % row, sizeof value);
        if (value != (double)j->done)
            return false;
    }
    return true;
}

static bool is_right(const struct job *j, char *room) {
    size_t row = (size_t)(j->row ? j->row : j->bytes);
    long counted;
    if (j->op == LOCK)
        return true;
    if (gets(j))
        return is_pattern(j, j->local, row);
    ARMCI_Get(j->remote, room, (int)extent(j), target);
    memcpy(&counted, room, sizeof counted);
    if (j->op == RMW)
        return counted == j->done;
    return adds(j) ? is_sum(j, room, 2 * row) : is_pattern(j, room, 2 * row);
}

static void verify(void) {
    char *room = need(malloc(total));
    ARMCI_AllFence();
    for (int i = 0; i < job_count; i++)
        if (!is_right(&jobs[i], room)) {
            fprintf(stderr, "bench: %s of %d bytes, rows of %d\n", names[jobs[i].op], jobs[i].bytes,
                    jobs[i].row);
            party_stop("the memory does not hold the results of the calls");
        }
    free(room);
}

/* ---- the list of jobs ---- */

static int number(char **text) {
    long n = strtol(*text, text, 10);
    if (**text == 'k' || **text == 'm')
        n *= *(*text)++ == 'k' ? 1024 : 1048576;
    return (int)n;
}

static bool read_job(char *text, struct job *j) {
    char *colon = strchr(text, ':');
    if (!colon)
        return false;
    *colon++ = 0;
    for (j->op = GET; j->op < OPS && strcmp(names[j->op], text); j->op++)
        ;
    j->bytes = number(&colon);
    if (*colon == '/') {
        colon++;
        j->row = number(&colon);
    }
    return j->op < OPS && !*colon && j->bytes > 0 && j->bytes % 8 == 0 && (!j->row || j->bytes % j->row == 0);
}

/* Gets come first, in the part with the pattern. */
static void lay_out(bool those_that_get) {
    for (int i = 0; i < job_count; i++) {
        struct job *j = &jobs[i];
        if (gets(j) != those_that_get)
            continue;
        j->offset = total;
        total += round_up(extent(j), 4096);
        j->local = need(aligned_alloc(4096, round_up((size_t)j->bytes, 4096)));
        for (int k = 0; k < j->bytes; k++)
            j->local[k] = party_byte((size_t)k);
        for (int k = 0; adds(j) && k < j->bytes; k += (int)sizeof(double))
            *(double *)(j->local + k) = 1;
    }
}

static void read_jobs(const char *list) {
    char *copy = need(strdup(list)), *rest;
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (job_count == MOST_JOBS || !read_job(word, &jobs[job_count++]))
            party_stop("--ops: no such operation, or its size or row is not a multiple of 8; see --help");
    free(copy);
    lay_out(true);
    patterned = total;
    lay_out(false);
}

static void print(struct job *j) {
    double p99 = party_share(&j->series, 0.99);
    printf("%s,%d,%d,", names[j->op], j->bytes, j->row);
    rig_print(&j->series);
    printf(",%.6g\n", p99);
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    party_start(argc, argv);
    target = party.node;
    read_jobs(rig_word(argc, argv, "--ops", "get:8,put+:8,acc+:8,rmw:8"));
    bases = need(calloc((size_t)party.size, sizeof *bases));
    party_memory(bases, total, patterned);
    ARMCI_Create_mutexes(1);
    for (int i = 0; i < job_count; i++)
        jobs[i].remote = (char *)bases[target] + jobs[i].offset;
    if (party.rank == 0) {
        measure(option(argc, argv, "--milliseconds", 500), option(argc, argv, "--samples", 1000000));
        verify();
        for (int i = 0; i < job_count; i++)
            print(&jobs[i]);
    }
    party_rest();
    ARMCI_Destroy_mutexes();
    ARMCI_Free(bases[party.rank]);
    free(bases);
    party_end();
    return 0;
}
