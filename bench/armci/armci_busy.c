/* armci_busy.c: measures operations on a target that computes for 100 ms without any call, with a compute
 * thread on every core.
 *
 * Each round begins with a barrier. Then the targets compute, with one thread bound to each core (with --bind
 * of their node, else of the machine), and rank 0 repeats one kind of operation for four fifths of that time,
 * and records how long each took to complete at the target. It either continues at once, or sleeps before each
 * operation, so that the helper falls asleep too. An ARMCI that makes progress only inside the target's calls
 * completes one operation per round.
 *
 *  Prints: operation,bytes,pause in us,samples,us (median),99th percentile,most */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "armci_party.h"
#include "base/clock.h"

static const char help[] =
    "armci_busy [OPTION]...   operations on ranks that compute; see the head of "
    "armci_busy.c, and armci_party.h\n"
    "  --ops LIST             operations, of get8,put8,acc8,rmw8,lock8,get64k,put64k,acc64k\n"
    "  --rounds N             rounds for each operation and pause\n"
    "  --pauses 0,200         us of sleep before each operation\n"
    "  --compute 100          ms for which the other ranks compute\n"
    "  --threads N            compute threads of each (one for each core)\n"
    "  --priority N           niceness of compute threads (0)\n";

enum op { GET, PUT, ACC, RMW, LOCK };
static const struct kind {
    const char *name, *op_name;
    enum op op;
    int bytes;
} kinds[] = {{"get8", "get", GET, 8},       {"put8", "put", PUT, 8},      {"acc8", "acc", ACC, 8},
             {"rmw8", "rmw", RMW, 8},       {"lock8", "lock", LOCK, 8},   {"get64k", "get", GET, 65536},
             {"put64k", "put", PUT, 65536}, {"acc64k", "acc", ACC, 65536}};
enum { KINDS = sizeof kinds / sizeof *kinds, SHARE = 65536 };

static void **bases;
static int target, priority;
static double *ones;
static char *local;
static long done[KINDS]; /* calls */

/* ---- the target ---- */

static uint64_t compute_end; /* written before, read after `start` */
static bool over;            /* likewise */
static pthread_barrier_t start;
static pthread_t *threads;
static int thread_count;

/* Linux priorities are per thread: a helper thread keeps its own. */
static void settle(int number) {
    rig_take_core(number);
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), priority);
}

static void *compute(void *number) {
    settle((int)(intptr_t)number);
    for (;;) {
        pthread_barrier_wait(&start);
        if (over)
            return NULL;
        rest_compute_until(compute_end);
    }
}

static int own_cores(void) {
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

/* This thread is one of them. It binds itself last, because the others inherit its affinity. */
static void open_threads(int count) {
    thread_count = count;
    threads = need(calloc((size_t)count, sizeof *threads));
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 1; i < count; i++)
        if (pthread_create(&threads[i], NULL, compute, (void *)(intptr_t)i) != 0)
            party_stop("no threads to compute with");
    settle(0);
}

static void close_threads(void) {
    over = true;
    pthread_barrier_wait(&start);
    for (int i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    free(threads);
}

static void compute_for(long milliseconds) {
    compute_end = clock_ns() + (uint64_t)milliseconds * 1000000;
    pthread_barrier_wait(&start);
    rest_compute_until(compute_end);
}

/* ---- the origin ---- */

static char *place(const struct kind *k) { /* gets come first, where the pattern is */
    size_t number = k->op * 2u + (k->bytes > 8);
    return (char *)bases[target] + number * SHARE;
}

static void operate(const struct kind *k) {
    double one = 1;
    switch (k->op) {
    case GET:
        ARMCI_Get(place(k), local, k->bytes, target);
        return;
    case PUT:
        ARMCI_Put(ones, place(k), k->bytes, target);
        break;
    case ACC:
        ARMCI_Acc(ARMCI_ACC_DBL, &one, ones, place(k), k->bytes, target);
        break;
    case RMW:
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, local, place(k), 1, target);
        return;
    case LOCK:
        ARMCI_Lock(0, target);
        return;
    }
    ARMCI_Fence(target);
}

static void observe(const struct kind *k, long pause, long milliseconds, struct samples *s) {
    uint64_t end = clock_ns() + (uint64_t)milliseconds * 800000;
    while (clock_ns() < end) {
        if (pause > 0)
            nanosleep(&(struct timespec){.tv_nsec = pause * 1000}, NULL);
        uint64_t begun = clock_ns();
        operate(k);
        samples_add(s, (double)(clock_ns() - begun) / 1000);
        done[k - kinds]++;
        if (k->op == LOCK)
            ARMCI_Unlock(0, target);
    }
}

static void print(const struct kind *k, long pause, struct samples *s) {
    printf("%s,%d,%ld,%zu,%.6g,%.6g,%.6g\n", k->op_name, k->bytes, pause, s->count, party_share(s, 0.5),
           party_share(s, 0.99), party_share(s, 1));
    samples_free(s);
}

static void measure(const struct kind *k, long pause, long rounds, long milliseconds) {
    struct samples s = {0};
    if (party.rank == 0)
        operate(k); /* opens the connections */
    if (party.rank == 0 && k->op == LOCK)
        ARMCI_Unlock(0, target);
    done[k - kinds] += party.rank == 0;
    for (long i = 0; i < rounds; i++) {
        ARMCI_Barrier();
        if (party.rank == 0)
            observe(k, pause, milliseconds, &s);
        else if (party.rank >= party.node)
            compute_for(milliseconds);
    }
    ARMCI_Barrier();
    if (party.rank == 0)
        print(k, pause, &s);
}

/* ---- checks ---- */

static bool is_right(const struct kind *k) {
    const double *sums = (double *)local;
    long count;
    if (k->op == LOCK)
        return true;
    ARMCI_Get(place(k), local, k->bytes, target);
    memcpy(&count, local, sizeof count);
    if (k->op == RMW)
        return count == done[k - kinds];
    for (int i = 0; k->op == GET && i < k->bytes; i++)
        if (local[i] != party_byte((size_t)(place(k) - (char *)bases[target]) + (size_t)i))
            return false;
    double wanted = k->op == ACC ? (double)done[k - kinds] : 1;
    for (int i = 0; k->op != GET && done[k - kinds] && i < k->bytes / 8; i++)
        if (sums[i] != wanted)
            return false;
    return true;
}

static void verify(void) {
    for (int i = 0; i < KINDS; i++)
        if (!is_right(&kinds[i])) {
            fprintf(stderr, "bench: %s\n", kinds[i].name);
            party_stop("the memory does not hold the results of the calls");
        }
}

/* ---- the run ---- */

static void prepare(int argc, char **argv) {
    target = party.node;
    priority = (int)option(argc, argv, "--priority", 0);
    bases = need(calloc((size_t)party.size, sizeof *bases));
    local = need(aligned_alloc(4096, SHARE));
    ones = need(aligned_alloc(4096, SHARE));
    for (int i = 0; i < SHARE / 8; i++)
        ones[i] = 1;
    party_memory(bases, (LOCK * 2 + 2) * SHARE, (GET * 2 + 2) * SHARE);
    ARMCI_Create_mutexes(1);
    if (party.rank >= party.node)
        open_threads((int)option(argc, argv, "--threads", own_cores()));
}

int main(int argc, char **argv) {
    long pauses[RIG_LIST];
    rig_help(argc, argv, help);
    party_start(argc, argv);
    prepare(argc, argv);
    const char *chosen = rig_word(argc, argv, "--ops", "all");
    unsigned count = rig_list(rig_word(argc, argv, "--pauses", "0,200"), pauses);
    for (int i = 0; i < KINDS; i++)
        for (unsigned p = 0; p < count; p++)
            if (rig_named(chosen, kinds[i].name))
                measure(&kinds[i], pauses[p], option(argc, argv, "--rounds", 5),
                        option(argc, argv, "--compute", 100));
    if (party.rank == 0)
        verify();
    ARMCI_Barrier();
    if (party.rank >= party.node)
        close_threads();
    ARMCI_Destroy_mutexes();
    ARMCI_Free(bases[party.rank]);
    free(bases);
    free(local);
    free(ones);
    party_end();
    return 0;
}
