/* unit_pages_store_crash.c: kills two ranks that write and make checkpoints, at random moments. The next run finds
 * the same complete checkpoint in both files, not older than the last one that both had prepared.
 *
 * A page holds the rank, step and run that wrote it. Abandoned steps are made again by a later run with other
 * contents, as an epoch of another number, so that remains of the first attempt would be detected.
 *
 * Options: --kills N (20), --seed N. */
#include <signal.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "store_help.h"

enum {
    RANKS = 2,
    PAGES = 48,
    PAGE = 4096,
    DEPTH = 8,
    MOST_LIVES = 100000,
    TIME_LIMIT = 60,
    MOST_EPOCHS = 1 << 20
};

#define NEVER UINT64_MAX

/* In memory that outlives the ranks. */
struct table {
    _Atomic int arrived, round, failed, ready;
    unsigned life;
    uint64_t found[RANKS];            /* newest prepared epoch that the new run has found; 0: none */
    uint64_t used[RANKS];             /* the largest epoch number */
    _Atomic uint64_t prepared[RANKS]; /* last step whose prepare has returned */
    _Atomic uint64_t tried;
    uint64_t steps[MOST_EPOCHS]; /* the step of each epoch */
    uint64_t start[MOST_LIVES];  /* the step at which each run began; NEVER: killed before */
};

static struct table *table;
static struct random dice;
static uint64_t seed;
static int me;
static struct store *store;
static char *buffers;

#define require(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail(#condition, __LINE__);                                                                      \
    } while (0)

static void fail(const char *what, int line) {
    printf("FAIL pages_store_crash line %d: not so: %s (rank %d, life %u; --seed %llu)\n", line, what, me,
           table->life, (unsigned long long)seed);
    fflush(stdout);
    atomic_store(&table->failed, 1);
    _exit(1);
}

/* ---- contents ---- */

static bool is_written(uint64_t page, uint64_t step) {
    return random_mix(seed ^ (page * RANKS + (uint64_t)me) << 32 ^ step) % 3 == 0;
}

/* The run that has made this step: the last one that began before it. */
static uint64_t maker_of(uint64_t step) {
    unsigned life = table->life;
    while (table->start[life] >= step)
        life--;
    return life;
}

static uint64_t version_at(uint64_t page, uint64_t step) {
    while (step && !is_written(page, step))
        step--;
    return step ? step * MOST_LIVES + maker_of(step) + 1 : 0;
}

/* ---- a rank ---- */

static void meet(void) {
    int round = atomic_load(&table->round);
    if (atomic_fetch_add(&table->arrived, 1) + 1 == RANKS) {
        atomic_store(&table->arrived, 0);
        atomic_store(&table->round, round + 1);
    }
    while (atomic_load(&table->round) == round)
        usleep(100);
}

static void complete(unsigned *on_way, unsigned most) {
    struct store_done done[DEPTH];
    while (*on_way > most) {
        unsigned n = help_wait(store, done, DEPTH);
        require(n);
        for (unsigned i = 0; i < n; i++)
            require(!done[i].error);
        *on_way -= n;
    }
}

/* Buffers are used in turn: all are free again whenever the last one is reached. */
static void write_step(uint64_t step) {
    unsigned on_way = 0, turn = 0;
    for (uint64_t page = 0; page < PAGES; page++) {
        if (!is_written(page, step))
            continue;
        char *buffer = buffers + turn * PAGE;
        help_fill(buffer, PAGE, page * RANKS + (uint64_t)me, version_at(page, step));
        require(!pages_store_submit(store, STORE_WRITE, page, buffer, 0));
        on_way++;
        turn = (turn + 1) % DEPTH;
        if (!turn)
            complete(&on_way, 0);
    }
    complete(&on_way, 0);
}

static void check_step(uint64_t step) {
    for (uint64_t page = 0; page < PAGES; page++) {
        require(!help_move(store, STORE_READ, page, buffers));
        require(help_holds(buffers, PAGE, page * RANKS + (uint64_t)me, version_at(page, step)));
    }
}

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Finding nothing is correct only if nothing was prepared by both. */
static bool find_store(struct store_options *o) {
    struct store_found found = {0};
    o->kind = STORE_AGAIN;
    int err = pages_store_open(o, &store, &found);
    require(!err || err == -ENODATA || err == -EBADMSG || err == -ENOENT);
    table->found[me] = err ? 0 : found.prepared;
    table->used[me] = err ? 0 : found.tried;
    meet();
    uint64_t epoch = smaller(table->found[0], table->found[1]), step = table->steps[epoch];
    require(step >= smaller(atomic_load(&table->prepared[0]), atomic_load(&table->prepared[1])));
    require(step <= atomic_load(&table->tried));
    if (!epoch && !err)
        require(!pages_store_close(store));
    if (!me)
        table->start[table->life] = step;
    meet();
    if (!epoch)
        return false;
    require(!pages_store_select(store, epoch));
    check_step(step);
    return true;
}

static void make_store(struct store_options *o) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s.%d", o->folder, o->name, me);
    require(!unlink(path) || errno == ENOENT);
    o->kind = STORE_NEW;
    require(!pages_store_open(o, &store, NULL));
}

static void live(const struct help_way *way) {
    struct store_options o = help_options(way, STORE_AGAIN);
    o.rank = me;
    o.ranks = RANKS;
    o.bytes = PAGES * PAGE;
    o.depth = DEPTH;
    if (!find_store(&o))
        make_store(&o);
    uint64_t step = table->start[table->life];
    uint64_t epoch = table->used[0] > table->used[1] ? table->used[0] : table->used[1];
    atomic_store(&table->prepared[me], step);
    meet();
    if (!me)
        atomic_store(&table->ready, 1);
    for (;;) {
        require(++epoch < MOST_EPOCHS);
        table->steps[epoch] = ++step;
        if (!me)
            atomic_store(&table->tried, step);
        meet();
        write_step(step);
        require(!pages_store_prepare(store, epoch));
        atomic_store(&table->prepared[me], step);
        meet();
        require(!pages_store_commit(store, epoch));
    }
}

/* ---- the parent, which kills ---- */

static pid_t start_rank(const struct help_way *way, int rank) {
    pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(TIME_LIMIT);
    me = rank;
    live(way);
    _exit(0);
}

/* Returns whether the run has made its first checkpoint; all data found was checked before. */
static bool is_under_way(void) {
    return atomic_load(&table->ready) && atomic_load(&table->tried) > table->start[table->life] + 1;
}

/* Some runs are killed before that. */
static void wait_for_moment(void) {
    bool early = table->life && !random_below(&dice, 10);
    for (int i = 0; i < TIME_LIMIT * 1000 && !early && !is_under_way() && !atomic_load(&table->failed); i++)
        usleep(1000);
    usleep(random_below(&dice, 60000));
}

static bool one_life(const struct help_way *way) {
    pid_t children[RANKS];
    bool good = true;
    atomic_store(&table->arrived, 0);
    atomic_store(&table->ready, 0);
    table->start[table->life] = NEVER;
    for (int i = 0; i < RANKS; i++)
        children[i] = start_rank(way, i);
    wait_for_moment();
    for (int i = 0; i < RANKS; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < RANKS; i++) {
        int status = 0;
        waitpid(children[i], &status, 0);
        good &= WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    table->life++;
    return good && !atomic_load(&table->failed);
}

/* Repeated kills on the same files. */
static bool use_way(const struct help_way *way, unsigned kills) {
    if (!help_can(way))
        return true;
    remove_files(help_folder(way->folder));
    memset(table, 0, sizeof *table);
    for (unsigned i = 0; i < kills; i++)
        if (!one_life(way))
            return false;
    printf("%s: %u kills, %llu checkpoints\n", way->name, kills,
           (unsigned long long)atomic_load(&table->prepared[0]));
    remove_files(help_folder(way->folder));
    return atomic_load(&table->prepared[0]) > 0;
}

int main(int argc, char **argv) {
    unsigned kills = 20;
    bool good = true;
    seed = clock_ns();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--kills"))
            kills = (unsigned)atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--seed"))
            seed = strtoull(argv[i + 1], NULL, 10);
    }
    printf("seed %llu\n", (unsigned long long)seed);
    random_seed(&dice, seed);
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    buffers = help_buffer(DEPTH * PAGE);
    help_has_uring();
    log_set_level(LOG_ERROR - 1); /* refusals of files that were killed early are correct */
    for (int i = 0; i < HELP_WAYS && good; i++) {
        fflush(stdout);
        good = use_way(&help_ways[i], kills / HELP_WAYS + (kills % HELP_WAYS > (unsigned)i));
    }
    printf("%d passed, %d failed\n", good, !good);
    return !good;
}
