/* unit_pages_nodes_random.c: threads of several processes of one or several nodes put, get, load, store, update and prefetch
 * at random, with the real pools, services, faults and files, and with UCX between the nodes; every word that is read
 * must have an allowed value.
 *
 * One thread only writes word i of a segment, thread i modulo the number of threads of all processes; the word holds
 * its writer and the number of the write. So neighbours write into the same page all the time. A reader never sees an
 * older value than before, the writer itself always sees its last one, and at the end all see the last of each.
 *
 * All threads add to some more words at the end of each segment, by updates, and the rank that has them also by atomic
 * instructions. No thread sees one decrease, and at the end each is the sum of what all have added.
 *
 * Episodes differ in the numbers of processes and threads, in sizes, and in settings; each runs in its own processes,
 * as settings are read once. */
#define TEST_OWN_MAIN
#include "test.h"

#include <pthread.h>

#include "base/random.h"
#include "episodes.h"
#include "net_boot.h"
#include "nodes_help.h"
#include "pages/pages_internal.h"

enum { MOST_PROCESSES = NODES ? 3 : NODE_MOST };
enum { MOST_THREADS = 3, MOST_WORDS = 1 << 14, COUNTERS = 40, STEPS = 400 };

struct plan {
    int processes, threads;
    unsigned node_ranks; /* processes to a node */
    size_t words;        /* of each segment */
    uint64_t seed;
};
static struct plan plan;

/* ---- settings of an episode ---- */

static void choose(uint64_t seed) {
    static const uint64_t smalls[] = {0, 64, 1024, 4096};
    struct random r;
    random_seed(&r, seed);
    plan = (struct plan){.processes = 1 + (int)(random_next(&r) % MOST_PROCESSES),
                         .threads = 1 + (int)(random_next(&r) % MOST_THREADS),
                         .node_ranks = NODES ? 1 + (unsigned)random_below(&r, NODE_MOST) : 0,
                         .words = 600 + random_next(&r) % (MOST_WORDS - 600),
                         .seed = seed};
    uint64_t page = (uint64_t)test_page() << random_next(&r) % 3, most = 40;
    if (NODES && random_below(&r, 6) == 0) { /* pages of several network messages */
        page = 262144;
        plan.words = page / 8 + random_next(&r) % (page / 8);
        most = 4;
    }
    set("HEARTH_PAGE_SIZE", page);
    set("HEARTH_POOL_SIZE", page * (pages_pool_least_frames(plan.processes) + random_next(&r) % most));
    set("HEARTH_REMOTE_OP_MAX", smalls[random_next(&r) % 4]);
    set("HEARTH_PAGES_AHEAD", random_next(&r) % 9);
    setenv("HEARTH_COOP", random_next(&r) % 2 ? "on" : "off", 1);
    setenv("HEARTH_WRITE_BACK", random_next(&r) % 2 ? "nvm" : "dram", 1);
    static const char *const policies[] = {"lru", "lru+fifo", "lru+keep"};
    setenv("HEARTH_REPLACEMENT", policies[random_below(&r, 3)], 1);
    setenv("HEARTH_NVM_ENGINE", random_next(&r) % 2 ? "auto" : "threads", 1);
    setenv("HEARTH_LOCAL", random_next(&r) % 3 ? "signal" : "userfault", 1);
}

/* ---- a thread ---- */

struct worker {
    struct pages *pages;
    int rank;
    int writer; /* number among all threads of all processes */
    struct random random;
    uint64_t *written; /* [processes * words]: how often, by this thread */
    uint64_t *seen;    /* the newest that this thread has read */
    uint64_t added[MOST_PROCESSES][COUNTERS],
        counted[MOST_PROCESSES][COUNTERS]; /* by this thread; the least there must be */
    bool good;
};

static int writers(void) {
    return plan.processes * plan.threads;
}

static char *address(const struct worker *w, int rank, size_t word) {
    return pages_base(w->pages, rank) + word * 8;
}

static size_t own_word(struct worker *w) {
    size_t word = random_next(&w->random) % (plan.words / (size_t)writers());
    return word * (size_t)writers() + (size_t)w->writer;
}

static void wrong(struct worker *w, int rank, size_t word, uint64_t value) {
    size_t i = (size_t)rank * plan.words + word;
    if (w->good)
        printf("seed %llu, writer %d: word %zu of rank %d is version %llu of %llu; last seen %llu, written "
               "%llu\n",
               (unsigned long long)plan.seed, w->writer, word, rank, (unsigned long long)(value >> 8),
               (unsigned long long)(value & 255), (unsigned long long)w->seen[i],
               (unsigned long long)w->written[i]);
    w->good = false;
}

static void check_word(struct worker *w, int rank, size_t word, uint64_t value) {
    size_t i = (size_t)rank * plan.words + word;
    uint64_t version = value >> 8;
    int writer = (int)(word % (size_t)writers());
    if ((version > 0 && (int)(value & 255) != writer) || version < w->seen[i] ||
        (writer == w->writer && version != w->written[i]))
        wrong(w, rank, word, value);
    w->seen[i] = version;
}

static uint64_t next_value(struct worker *w, int rank, size_t word) {
    return ++w->written[(size_t)rank * plan.words + word] << 8 | (unsigned)w->writer;
}

static void put(struct worker *w, int rank) {
    size_t word = own_word(w);
    uint64_t value = next_value(w, rank, word);
    if (random_next(&w->random) % 2) {
        pages_put(w->pages, rank, address(w, rank, word), &value, 8);
        return;
    }
    struct pages_op op;
    pages_begin_put(w->pages, &op, rank, address(w, rank, word), &value, 8);
    for (int tries = 0; tries < 3 && !pages_try(w->pages, &op); tries++)
        ;
    pages_finish(w->pages, &op);
}

static void get(struct worker *w, int rank) {
    static _Thread_local uint64_t values[2048];
    size_t most = plan.words < 2048 ? plan.words : 2048;
    size_t count = random_next(&w->random) % 4 ? 1 : 1 + random_next(&w->random) % most;
    size_t word = random_next(&w->random) % (plan.words - count + 1);
    if (random_next(&w->random) % 2) {
        pages_get(w->pages, values, rank, address(w, rank, word), count * 8);
    } else {
        struct pages_op op;
        pages_begin_get(w->pages, &op, values, rank, address(w, rank, word), count * 8);
        pages_finish(w->pages, &op);
    }
    for (size_t i = 0; i < count; i++)
        check_word(w, rank, word + i, values[i]);
}

static NOT_FOR_TSAN uint64_t load_word(const struct worker *w, size_t word) {
    return *(volatile uint64_t *)(void *)address(w, w->rank, word);
}

static NOT_FOR_TSAN void store_word(const struct worker *w, size_t word, uint64_t value) {
    *(volatile uint64_t *)(void *)address(w, w->rank, word) = value;
}

static void store(struct worker *w) {
    size_t word = own_word(w);
    store_word(w, word, next_value(w, w->rank, word));
}

/* Loads some words, as a loop of a program would: adjacent, or scattered. */
static void load(struct worker *w) {
    size_t count = 1 + random_next(&w->random) % 40, stride = random_next(&w->random) % 2 ? 1 : 512;
    size_t word = random_next(&w->random) % plan.words;
    for (; count && word < plan.words; count--, word += stride)
        check_word(w, w->rank, word, load_word(w, word));
}

/* The update of this test: adds the first operand. */
static uint64_t add_to_word(void *word, const struct pages_update *u) {
    return __atomic_fetch_add((uint64_t *)word, u->operands[0], __ATOMIC_SEQ_CST);
}

static NOT_FOR_TSAN uint64_t add_here(void *word, uint64_t more) {
    return __atomic_fetch_add((uint64_t *)word, more, __ATOMIC_SEQ_CST);
}

static uint64_t add_there(struct worker *w, int rank, void *word, uint64_t more) {
    struct pages_update u = {.bytes = 8, .operands = {more}};
    struct pages_op op;
    uint64_t old = 0;
    pages_begin_update(w->pages, &op, &old, rank, word, &u);
    for (int tries = 0; tries < 3 && !pages_try(w->pages, &op); tries++)
        ;
    pages_finish(w->pages, &op);
    return old;
}

static void update(struct worker *w, int rank) {
    size_t counter = random_next(&w->random) % COUNTERS;
    uint64_t more = 1 + random_next(&w->random) % 1000, *least = &w->counted[rank][counter];
    void *word = address(w, rank, plan.words + counter);
    uint64_t old = rank == w->rank && random_next(&w->random) % 2 ? add_here(word, more)
                                                                  : add_there(w, rank, word, more);
    if (old < *least)
        wrong(w, rank, plan.words - 1, old);
    *least = old + more;
    w->added[rank][counter] += more;
}

static void hint(struct worker *w, int rank) {
    size_t word = random_next(&w->random) % plan.words;
    pages_hint(w->pages, rank, address(w, rank, word), (plan.words - word) * 8,
               (enum pages_hint)(random_next(&w->random) % 3));
}

static void *work(void *arg) {
    struct worker *w = arg;
    for (int i = 0; i < STEPS && w->good; i++) {
        int rank = (int)(random_next(&w->random) % (unsigned)plan.processes);
        uint64_t what = random_next(&w->random) % 128;
        if (what < 30)
            put(w, rank);
        else if (what < 60)
            get(w, rank);
        else if (what < 76)
            store(w);
        else if (what < 92)
            load(w);
        else if (what < 120)
            update(w, rank);
        else if (what < 126)
            pages_prefetch(w->pages, rank, address(w, rank, 0), plan.words * 8);
        else
            hint(w, rank);
    }
    return NULL;
}

/* ---- a process ---- */

static void failed(void *arg, const char *why) {
    (void)arg;
    printf("seed %llu: %s\n", (unsigned long long)plan.seed, why);
    fflush(stdout);
    _exit(1);
}

static void run_threads(struct worker *workers, const struct net_boot *boot, struct pages *pages) {
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < plan.threads; i++) {
        struct worker *w = &workers[i];
        size_t all = (size_t)plan.processes * plan.words;
        *w = (struct worker){
            .pages = pages, .rank = boot->rank, .writer = boot->rank * plan.threads + i, .good = true};
        random_seed(&w->random, plan.seed * 64 + (uint64_t)w->writer);
        w->written = calloc(all, 8);
        w->seen = calloc(all, 8);
        pthread_create(&threads[i], NULL, work, w);
    }
    for (int i = 0; i < plan.threads; i++) {
        pthread_join(threads[i], NULL);
        expect(workers[i].good);
    }
}

/* Checks the last values, which only their writer knows. */
static void check_own(struct worker *w) {
    for (int rank = 0; rank < plan.processes; rank++)
        for (size_t word = (size_t)w->writer; word < plan.words; word += (size_t)writers()) {
            uint64_t value;
            pages_get(w->pages, &value, rank, address(w, rank, word), 8);
            check_word(w, rank, word, value);
        }
    expect(w->good);
}

/* The counters of all segments are the sums of what all threads of all processes have added. */
static void check_counters(const struct worker *workers, const struct net_boot *boot) {
    uint64_t mine[MOST_PROCESSES][COUNTERS] = {{0}}, all[MOST_PROCESSES][MOST_PROCESSES][COUNTERS] = {{{0}}};
    for (int i = 0; i < plan.threads; i++)
        for (int k = 0; k < MOST_PROCESSES * COUNTERS; k++)
            mine[k / COUNTERS][k % COUNTERS] += workers[i].added[k / COUNTERS][k % COUNTERS];
    net_boot_gather(boot, mine, all, sizeof mine);
    for (int k = 0; k < plan.processes * COUNTERS; k++) {
        int rank = k / COUNTERS;
        uint64_t sum = 0, value = 0;
        for (int i = 0; i < plan.processes; i++)
            sum += all[i][rank][k % COUNTERS];
        pages_get(workers[0].pages, &value, rank,
                  address(&workers[0], rank, plan.words + (size_t)k % COUNTERS), 8);
        expect_eq(value, sum);
    }
}

/* A program may end with operations that it has never waited for. */
static void begin_and_forget(struct worker *w) {
    static struct pages_op ops[8];
    static uint64_t values[8];
    for (int i = 0; i < 8; i++) {
        size_t word = random_next(&w->random) % plan.words;
        pages_begin_get(w->pages, &ops[i], &values[i], i % plan.processes,
                        address(w, i % plan.processes, word), 8);
    }
}

static void be_idle(struct pages *pages, const struct net_boot *boot) {
    if (pages->serves)
        expect_eq(pages_service_order(pages->box, ORDER_IDLE, 0), 0);
    net_boot_barrier(boot);
}

/* Waits twice until nothing is pending, as a late request may make its home read ahead. The third wait is for TSan, which
 * does not see the order of events across processes. */
static void check_pool(struct pages *pages, const struct net_boot *boot) {
    be_idle(pages, boot);
    be_idle(pages, boot);
    if (pages->serves)
        pages_pool_check(&pages->pool);
    be_idle(pages, boot);
}

static void take_part(const struct net_boot *boot) {
    struct pages_events events = {.failed = failed, .update = add_to_word};
    struct worker workers[MOST_THREADS];
    struct net_world *world;
    struct pages *pages;
    expect_eq(net_world_open(boot, 0, plan.node_ranks, &world), 0);
    expect_eq(pages_open(boot, world, NULL, (plan.words + COUNTERS) * 8, &events, &pages), 0);
    run_threads(workers, boot, pages);
    net_boot_barrier(boot);
    for (int i = 0; i < plan.threads; i++)
        check_own(&workers[i]);
    check_counters(workers, boot);
    net_boot_barrier(boot);
    check_pool(pages, boot);
    for (int i = 0; i < plan.threads; i++) {
        free(workers[i].written);
        free(workers[i].seen);
    }
    begin_and_forget(&workers[0]);
    expect_eq(pages_close(pages, boot, true), 0);
    net_world_close(world);
}

static uint64_t episode(uint64_t seed) {
    fflush(stdout);
    pid_t child = team_fork();
    if (!child) {
        choose(seed);
        boot_run(plan.processes, take_part);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    choose(seed);
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) {
        printf("FAILED: --seed %llu: %s %d\n", (unsigned long long)seed,
               WIFSIGNALED(status) ? "signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        exit(1);
    }
    return (uint64_t)(plan.processes * plan.threads * STEPS);
}

int main(int argc, char **argv) {
    return episodes_run(
        (struct episodes){
            .name = "pages_nodes_random", .operations = "operations in", .things = "jobs", .run = episode},
        argc, argv);
}
