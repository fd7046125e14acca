/* unit_pages_job_replay.c: simulates power failures of whole jobs (replay_help.h).
 *
 * Jobs of one to four ranks, on one or several nodes, write into each other's named segments, by puts and by stores,
 * and make checkpoints; at their end there is one more. In some jobs a thread of each rank reads all the time, and in
 * some a few system calls of one rank fail: a checkpoint that fails for this reason is repeated. Then the power
 * fails, at a random place of the record of all ranks' writes; with the files that remain, the next job begins. It
 * must find one of the checkpoints, the same on all ranks, not older than the last one that was reported to any rank,
 * with every page as it was then. Only if no checkpoint was reported may it be refused, with a line. The power may
 * also fail while a job creates its files, and while it rolls back. A job whose only checkpoint fails removes its files.
 *
 * Options: --seconds N, --operations N (power failures), --seed N. */
#define TEST_OWN_MAIN
#include "test.h"

#include "base/random.h"
#include "base/settings.h"
#include "episodes.h"
#include "fail_store.h"
#include "net_boot.h"
#include "nodes_help.h"
#include "pages/pages_internal.h"
#include "replay_help.h"
#include "store_help.h"

enum { RANKS = 4, PAGES = 12, MOST_PAGE = 65536, STEPS = 4, LIVES = 12, SECONDS = 60 };
#define PAGE test_page() /* the smallest that can be mapped */
enum {
    TRIES = 3, /* of a checkpoint */
    MOMENTS = LIVES * (STEPS + 1) + 1,
    EPOCHS = LIVES * (STEPS + 1) * TRIES + 1,
    FILE_MOST = 1 << 20,
    FIRST_ENTRIES = 4 /* of a file: twice a record */
};
enum outcome { WELL, WRONG, REFUSED, FAILED }; /* WRONG is also the result of boot_run */

static struct random dice;

/* The parameters of the job. */
static struct {
    uint64_t seed;
    int ranks, pages;
    int life;
    uint64_t newest;                          /* newest epoch that may be found */
    int moment;                               /* the last moment planned before this run */
    uint64_t versions[MOMENTS][RANKS][PAGES]; /* contents of the pages at a moment */
    int moments[EPOCHS];                      /* of each epoch, as far as known */
    char *before[RANKS];                      /* the files at the beginning of this run */
    size_t bytes[RANKS];
} e;

/* The results of the job. */
static struct told {
    uint64_t found[RANKS];              /* epoch */
    size_t begun[EPOCHS], made[EPOCHS]; /* places in the record: first begin, first report of success */
    int moments[EPOCHS];
} * told;

/* ---- the plan of a run ---- */

/* Plans the contents at each checkpoint of the run, as the moments after `e.moment`, and returns the number of checkpoints.
 * The last one is made at the end of the run. */
static int plan_life(uint64_t found) {
    struct random r;
    random_seed(&r, e.seed * 100 + (uint64_t)e.life);
    int steps = 1 + (int)random_below(&r, STEPS + 1), before = e.moments[found];
    for (int i = e.moment + 1; i <= e.moment + steps; before = i++) {
        memcpy(e.versions[i], e.versions[before], sizeof e.versions[0]);
        for (int rank = 0; rank < e.ranks; rank++)
            for (int page = 0; page < e.pages; page++)
                if (random_below(&r, 100) < 40)
                    e.versions[i][rank][page] = (uint64_t)((i * RANKS + rank) * PAGES + page) + 1;
    }
    return steps;
}

/* Disturbances of a run: the step at which calls of a rank fail, or -1; whether threads read. */
static struct {
    int step, rank, error;
    unsigned n, times;
    bool reads;
} trouble;

static void plan_trouble(int steps) {
    static const int errors[] = {EIO, ENOSPC, FAIL_SHORT};
    struct random r;
    random_seed(&r, e.seed * 100 + (uint64_t)e.life + 70);
    trouble.step = random_below(&r, 2) ? (int)random_below(&r, (uint32_t)steps) : -1;
    trouble.rank = (int)random_below(&r, (uint32_t)e.ranks);
    trouble.error = errors[random_below(&r, 3)];
    trouble.n = 1 + random_below(&r, 60);
    trouble.times = 1 + random_below(&r, 3);
    trouble.reads = random_below(&r, 3) == 0;
}

/* ---- a rank ---- */

static struct pages *pages;

static _Noreturn void leave(enum outcome how) {
    fflush(stdout);
    _exit(how);
}

static void on_failure(void *arg, const char *why) {
    (void)arg;
    printf("seed %llu, life %d: %s\n", (unsigned long long)e.seed, e.life, why);
    leave(FAILED);
}

/* The names of the files end with the rank. */
static void watch(void *arg, const struct store_event *event) {
    char link[64], path[400];
    (void)arg;
    snprintf(link, sizeof link, "/proc/self/fd/%d", event->file);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        abort();
    path[n] = '\0';
    replay_note(atoi(strrchr(path, '.') + 1), event);
}

static uint64_t place_of(int rank, int page) {
    return (uint64_t)(page * RANKS + rank);
}

static char *address(int rank, int page) {
    return pages_base(pages, rank) + page * PAGE;
}

static NOT_FOR_TSAN void store_page(int page, const uint64_t *from, int me) {
    volatile uint64_t *to = (uint64_t *)(void *)address(me, page);
    for (int i = 0; i < (int)(PAGE / 8); i++)
        to[i] = from[i];
}

static void put_page(int rank, int page, const char *from, size_t piece) {
    for (size_t at = 0; at < PAGE; at += piece)
        pages_put(pages, rank, address(rank, page) + at, from + at, piece);
}

/* The writer and the method are random, but each page has one writer. */
static void write_moment(const struct net_boot *boot, int before, int moment) {
    static _Alignas(4096) char buffer[MOST_PAGE];
    for (int rank = 0; rank < e.ranks; rank++)
        for (int page = 0; page < e.pages; page++) {
            uint64_t version = e.versions[moment][rank][page], roll = random_mix(version);
            if (version == e.versions[before][rank][page] || (int)(roll % (unsigned)e.ranks) != boot->rank)
                continue;
            help_fill(buffer, PAGE, place_of(rank, page), version);
            if (rank == boot->rank && roll >> 8 & 1)
                store_page(page, (const uint64_t *)(void *)buffer, rank);
            else
                put_page(rank, page, buffer, roll >> 9 & 1 ? 512 : PAGE);
        }
    net_boot_barrier(boot);
}

static void check_epoch(const struct net_boot *boot, uint64_t epoch) {
    static _Alignas(4096) char buffer[MOST_PAGE];
    if (epoch > e.newest) {
        printf("rank %d: epoch %llu is newer than %llu, the last that was begun\n", boot->rank,
               (unsigned long long)epoch, (unsigned long long)e.newest);
        leave(WRONG);
    }
    for (int rank = 0; rank < e.ranks; rank++)
        for (int page = 0; page < e.pages; page++) {
            uint64_t version = e.versions[e.moments[epoch]][rank][page];
            pages_get(pages, buffer, rank, address(rank, page), PAGE);
            if (!help_holds(buffer, PAGE, place_of(rank, page), version)) {
                printf("rank %d: page %d of rank %d is not version %llu, that of epoch %llu\n", boot->rank,
                       page, rank, (unsigned long long)version, (unsigned long long)epoch);
                leave(WRONG);
            }
        }
    net_boot_barrier(boot);
}

static void mark(size_t *first) {
    size_t now = replay_now(), none = SIZE_MAX;
    __atomic_compare_exchange_n(first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Loads by another thread, of pages that may be moving. */
static _Atomic bool stop;

static NOT_FOR_TSAN void *read_all_the_while(void *arg) {
    const struct net_boot *boot = arg;
    uint64_t sum = 0;
    for (uint64_t i = 0; !atomic_load(&stop); i++) {
        volatile uint64_t *from = (uint64_t *)(void *)address(boot->rank, (int)(i % (unsigned)e.pages));
        uint64_t word;
        sum += *from;
        int rank = (int)(random_mix(i) % (unsigned)e.ranks);
        pages_get(pages, &word, rank, address(rank, (int)(random_mix(i + 7) % (unsigned)e.pages)),
                  sizeof word);
        sum += word;
    }
    return (void *)(uintptr_t)(sum | 1);
}

/* Makes a checkpoint, or ends the run, which makes one if anything has changed. */
static int make(const struct net_boot *boot, bool ends, int moment, uint64_t *made) {
    bool changes = memcmp(e.versions[moment], e.versions[e.moments[pages->epoch]], sizeof e.versions[0]) != 0;
    uint64_t epoch = pages->tried + 1;
    if (epoch >= EPOCHS)
        leave(WRONG);
    told->moments[epoch] = moment;
    mark(&told->begun[epoch]);
    int status = ends ? pages_close(pages, boot, true) : pages_checkpoint(pages, boot, made);
    if (status == 0 && !ends)
        e.moments[*made] = moment;
    if (status == 0 && (!ends || changes || epoch == 1))
        mark(&told->made[ends ? epoch : *made]);
    return status;
}

/* A step may fail only while calls are made to fail. A ring that was refused once is not used again. */
static void make_step(const struct net_boot *boot, bool ends, int moment, bool fails) {
    uint64_t made = 0;
    int status = make(boot, ends, moment, &made);
    if (status != 0 && fails)
        fail_store_at(0, 0, 0);
    for (int i = 1; i < TRIES && status != 0 && fails && !ends; i++)
        status = make(boot, false, moment, &made);
    if (status == 0)
        return;
    printf("rank %d: moment %d: %s\n", boot->rank, moment, strerror(-status));
    leave(ends || settings_get()->nvm_engine != STORE_THREADS ? FAILED : WRONG);
}

static void live(const struct net_boot *boot) {
    pthread_t reader;
    int before = e.moments[pages_epoch(pages)], steps = plan_life(pages_epoch(pages));
    plan_trouble(steps);
    if (trouble.reads)
        pthread_create(&reader, NULL, read_all_the_while, (void *)(uintptr_t)boot);
    for (int i = 0; i < steps; i++) {
        int moment = e.moment + 1 + i;
        bool fails = i == trouble.step, ends = i + 1 == steps;
        if (fails && boot->rank == trouble.rank)
            fail_store_at(trouble.n, trouble.times, trouble.error);
        write_moment(boot, before, moment);
        if (ends && trouble.reads) {
            atomic_store(&stop, true);
            pthread_join(reader, NULL);
            net_boot_barrier(boot);
        }
        make_step(boot, ends, moment, fails);
        fail_store_at(0, 0, 0);
        before = moment;
    }
}

static void take_part(const struct net_boot *boot) {
    struct pages_events events = {.failed = on_failure};
    struct net_world *world;
    unsigned node_ranks = NODES ? 1 + (unsigned)(random_mix(e.seed + (uint64_t)e.life) % NODE_MOST) : 0;
    if (net_world_open(boot, 0, node_ranks, &world) != 0)
        leave(FAILED);
    watch_store(watch, NULL);
    if (pages_open(boot, world, NULL, (uint64_t)e.pages * PAGE, &events, &pages) != 0) {
        net_boot_barrier(boot);
        leave(REFUSED);
    }
    told->found[boot->rank] = pages_epoch(pages);
    check_epoch(boot, pages_epoch(pages));
    live(boot);
    net_world_close(world);
}

/* ---- a job ---- */

static void choose_settings(void) {
    static const uint64_t smalls[] = {0, 64, 1024};
    struct random r;
    random_seed(&r, e.seed * 100 + (uint64_t)e.life + 50);
    setenv("HEARTH_NVM_DIR", help_folder(1), 1);
    setenv("HEARTH_NVM_NAME", "job", 1);
    set("HEARTH_PAGE_SIZE", PAGE);
    set("HEARTH_POOL_SIZE", PAGE * (pages_pool_least_frames(e.ranks) + random_below(&r, 20)));
    set("HEARTH_REMOTE_OP_MAX", smalls[random_below(&r, 3)]);
    setenv("HEARTH_COOP", random_below(&r, 2) ? "on" : "off", 1);
    setenv("HEARTH_WRITE_BACK", random_below(&r, 2) ? "nvm" : "dram", 1);
    setenv("HEARTH_NVM_ENGINE", random_below(&r, 2) ? "auto" : "threads", 1);
    setenv("HEARTH_LOCAL", random_below(&r, 3) ? "signal" : "userfault", 1);
}

/* Of the last job: an outcome, or a negative signal. SIGALRM: it took longer than SECONDS. */
static int job_status;

static _Noreturn void fail(const char *what, const char *text) {
    printf("FAIL pages_job_replay: not so: %s (status %d of life %d of --seed %llu)\n%s", what, job_status,
           e.life, (unsigned long long)e.seed, text);
    fflush(stdout);
    exit(1);
}

#define require_job(condition, text) ((condition) ? (void)0 : fail(#condition, text))

/* The job must find an epoch from `floor` to `e.newest`. It may refuse only files that a power failure has left. */
static enum outcome run_job(uint64_t floor) {
    char text[4096];
    replay_forget();
    memset(told, 0xff, sizeof *told);
    lines_begin();
    int status = job_status = boot_run_job(e.ranks, SECONDS, choose_settings, take_part);
    unsigned lines = lines_end(text, sizeof text);
    require_job(status == WELL || status == REFUSED || status == FAILED, text);
    require_job(status != REFUSED || (e.life > 0 && floor == 0 && lines > 0), text);
    if (status == FAILED) { /* because of calls that fail, which it reports */
        plan_trouble(plan_life(told->found[0]));
        require_job(trouble.step >= 0 && lines > 0, text);
    }
    for (int i = 0; i < e.ranks && status != REFUSED; i++) {
        require_job(told->found[i] == told->found[0], text);
        require_job(told->found[i] >= floor && told->found[i] <= e.newest, text);
    }
    return (enum outcome)status;
}

/* ---- power failures ---- */

static const char *path_of(int rank) {
    static char path[400];
    snprintf(path, sizeof path, "%s/job.%d", help_folder(1), rank);
    return path;
}

/* A name survives once the folder is synced, which comes after the first records of a file; its size may not survive
 * before the first sync. */
static void leave_file(int rank, size_t end, bool is_new) {
    size_t entries = replay_count(rank, end);
    require_job(replay_into(e.before[rank], e.bytes[rank], rank, end, &dice), "");
    require_job(replay_write(path_of(rank), e.before[rank], e.bytes[rank]), strerror(errno));
    if (is_new && entries <= FIRST_ENTRIES && random_below(&dice, 2))
        (void)unlink(path_of(rank));
    else if (is_new && entries == 0 && random_below(&dice, 2))
        require_job(truncate(path_of(rank), 0) == 0, strerror(errno));
}

/* False: the job has removed its files. */
static bool learn_sizes(enum outcome how) {
    for (int i = 0; i < e.ranks; i++) {
        struct stat st;
        if (stat(path_of(i), &st) != 0 && how == FAILED)
            return false;
        require_job(!stat(path_of(i), &st) && st.st_size <= FILE_MOST, "");
        e.bytes[i] = (size_t)st.st_size;
        memset(e.before[i], 0, FILE_MOST);
    }
    return true;
}

/* Returns the oldest epoch that may be found then; `e.newest` is the newest. */
static uint64_t fail_power(uint64_t found, bool is_new) {
    size_t end = random_below(&dice, 10) ? random_below(&dice, (uint32_t)replay->count + 1) : replay->count;
    uint64_t floor = found;
    e.newest = found;
    for (uint64_t epoch = found + 1; epoch < EPOCHS; epoch++) {
        if (told->begun[epoch] == SIZE_MAX)
            continue;
        e.moments[epoch] = told->moments[epoch];
        floor = told->made[epoch] <= end ? epoch : floor;
        e.newest = told->begun[epoch] <= end ? epoch : e.newest;
    }
    for (int i = 0; i < e.ranks; i++)
        leave_file(i, end, is_new);
    return floor;
}

static void choose_episode(uint64_t seed) {
    random_seed(&dice, seed);
    e.seed = seed;
    e.ranks = 1 + (int)random_below(&dice, NODES ? RANKS : NODE_MOST);
    e.pages = 1 + (int)random_below(&dice, PAGES);
    e.newest = 0;
    e.moment = 0;
    memset(e.moments, 0, sizeof e.moments);
    memset(e.versions[0], 0, sizeof e.versions[0]);
    remove_files(help_folder(1));
}

static uint64_t run_episode(uint64_t seed) {
    uint64_t floor = 0;
    choose_episode(seed);
    for (e.life = 0; e.life < LIVES; e.life++) {
        enum outcome how = run_job(floor);
        uint64_t found = told->found[0];
        bool is_new = found == 0;
        if (how == REFUSED || (is_new && !learn_sizes(how)))
            break;
        floor = fail_power(found, is_new);
        e.moment += plan_life(found);
    }
    return (uint64_t)e.life;
}

int main(int argc, char **argv) {
    replay_open();
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < RANKS; i++)
        e.before[i] = help_buffer(FILE_MOST);
    struct episodes all = {.name = "pages_job_replay",
                           .operations = "power failures in",
                           .things = "rows of jobs",
                           .run = run_episode};
    return episodes_run(all, argc, argv);
}
