/* unit_pages_store_replay_random.c: simulates power failures.
 *
 * One to three ranks, all in this process, write pages and make checkpoints together, of which some fail because a
 * system call fails. Then the power fails at a random place (replay_help.h). The files must hold a checkpoint that all ranks have, not older than the newest that
 * all had prepared, with every page as it was then. From there they continue with these files until the power fails
 * again, also while they roll back.
 *
 * Options: --seconds N, --operations N (writes and syncs), --seed N. */
#include "base/log.h"
#include "base/random.h"
#include "episodes.h"
#include "fail_store.h"
#include "replay_help.h"
#include "store_help.h"

enum { RANKS = 3, PAGES = 24, PAGE = 4096, DEPTH = 4, MOST_EPOCHS = 512, FILE_MOST = 2 << 20 };

/* The contents of the pages of an epoch, by rank; and its place in the record. */
struct epoch {
    uint64_t versions[RANKS][PAGES];
    size_t begun[RANKS], done[RANKS];
};

static struct {
    uint64_t seed;
    int ranks, pages;
    struct store_options options[RANKS];
    struct store *stores[RANKS];
    uint64_t now[RANKS][PAGES]; /* versions */
    uint64_t version;           /* the last version written */
    uint64_t start;             /* the epoch at which this run began; 0: none */
    uint64_t newest;            /* the last epoch that was tried */
    struct epoch epochs[MOST_EPOCHS];
    char *before[RANKS]; /* the files at the beginning of this run */
    size_t bytes[RANKS];
} e;

static struct random dice;
static int acting; /* the rank whose store is being called */
static char *buffers;

static void fail(const char *what, int line) {
    printf("FAIL pages_store_replay_random line %d: not so: %s (rank %d of %d; replay with --seed %llu "
           "--operations "
           "1)\n",
           line, what, acting, e.ranks, (unsigned long long)e.seed);
    fflush(stdout);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- the record ---- */

static void watch(void *arg, const struct store_event *event) {
    (void)arg;
    replay_note(acting, event);
}

/* ---- files ---- */

static const char *path_of(int rank) {
    static char path[400];
    snprintf(path, sizeof path, "%s/segment.%d", e.options[rank].folder, rank);
    return path;
}

static void learn_size(int rank) {
    struct stat st;
    require(!stat(path_of(rank), &st) && st.st_size <= FILE_MOST);
    e.bytes[rank] = (size_t)st.st_size;
}

/* ---- the ranks at work ---- */

static struct store *act(int rank) {
    acting = rank;
    return e.stores[rank];
}

static void finish(struct store *s, unsigned n) {
    struct store_done done;
    for (; n; n--) {
        require(help_wait(s, &done, 1) == 1);
        require(!done.error);
    }
}

/* A few at a time. */
static void write_pages(int rank) {
    struct store *s = act(rank);
    unsigned n = 0;
    for (; n < 1 + roll(DEPTH); n++) {
        uint64_t page = roll((uint32_t)e.pages);
        char *buffer = buffers + n * PAGE;
        help_fill(buffer, PAGE, page, e.version + 1);
        if (pages_store_submit(s, STORE_WRITE, page, buffer, 0))
            break;
        e.now[rank][page] = ++e.version;
    }
    finish(s, n);
}

static void write_some(void) {
    for (unsigned n = roll(12); n; n--)
        write_pages((int)roll((uint32_t)e.ranks));
}

/* Returns whether it succeeded: some of its system calls may be made to fail. */
static bool prepare(int rank, uint64_t number) {
    struct epoch *epoch = &e.epochs[number];
    memcpy(epoch->versions[rank], e.now[rank], sizeof e.now[rank]);
    epoch->begun[rank] = replay->count;
    if (chance(20))
        fail_store_at(1 + roll(8), 1, EIO);
    int error = pages_store_prepare(act(rank), number);
    require((fail_store_at(0, 0, 0) > 0) == (error != 0));
    if (!error)
        epoch->done[rank] = replay->count;
    return !error;
}

/* Some ranks have prepared the epoch, and one cannot: all abandon it. */
static void give_up(uint64_t number, int first, int count) {
    for (int i = 0; i < count; i++)
        e.epochs[number].done[(first + i) % e.ranks] = SIZE_MAX;
    for (int i = 0; i < e.ranks; i++) {
        if (chance(50))
            write_some();
        require(pages_store_abandon(act((first + i) % e.ranks), number) == 0);
    }
}

/* All ranks prepare the next epoch and then commit it, or some prepare and all abandon it. Once all have prepared, ranks may
 * write, also those that have not committed yet. */
static void checkpoint(void) {
    uint64_t number = ++e.newest;
    int first = (int)roll((uint32_t)e.ranks), count = chance(30) ? (int)roll((uint32_t)e.ranks) : e.ranks;
    require(number < MOST_EPOCHS);
    for (int i = 0; i < e.ranks; i++)
        e.epochs[number].begun[i] = e.epochs[number].done[i] = SIZE_MAX;
    int prepared = 0;
    while (prepared < count && prepare((first + prepared) % e.ranks, number))
        prepared++;
    if (prepared < e.ranks) {
        give_up(number, first, prepared);
        return;
    }
    for (int i = 0; i < e.ranks; i++) {
        if (chance(50))
            write_some();
        require(pages_store_commit(act((first + e.ranks - i) % e.ranks), number) == 0);
    }
}

/* ---- runs ---- */

static void check_pages(int rank, uint64_t number) {
    struct store *s = act(rank);
    for (int page = 0; page < e.pages; page++) {
        require(help_move(s, STORE_READ, (uint64_t)page, buffers) == 0);
        require(help_holds(buffers, PAGE, (uint64_t)page, e.epochs[number].versions[rank][page]));
    }
}

static void go_back(int rank) {
    require(pages_store_select(act(rank), e.start) == 0);
    memcpy(e.now[rank], e.epochs[e.start].versions[rank], sizeof e.now[rank]);
    check_pages(rank, e.start);
}

static void make_store(int rank) {
    struct store_options o = e.options[rank];
    o.kind = STORE_NEW;
    acting = rank;
    require(pages_store_open(&o, &e.stores[rank], NULL) == 0);
    learn_size(rank);
    memset(e.before[rank], 0, FILE_MOST);
}

static void live(void) {
    for (int i = 0; i < e.ranks; i++)
        (e.start ? go_back : make_store)(i);
    for (unsigned n = roll(5); n; n--) {
        write_some();
        checkpoint();
    }
    write_some();
    for (int i = 0; i < e.ranks; i++)
        require(pages_store_close(act(i)) == 0);
}

/* The newest epoch that all had prepared at this place of the record. */
static uint64_t floor_at(size_t end) {
    uint64_t number = e.start;
    for (uint64_t next = e.start + 1; next <= e.newest; next++) {
        bool all = true;
        for (int i = 0; i < e.ranks; i++)
            all &= e.epochs[next].done[i] <= end;
        number = all ? next : number;
    }
    return number;
}

/* An epoch that some rank had not even begun cannot be found on all. */
static bool all_have_begun(uint64_t number, size_t end) {
    for (int i = 0; i < e.ranks; i++)
        if (number > e.start && e.epochs[number].begun[i] > end)
            return false;
    return true;
}

static int open_again(int rank, uint64_t *prepared, uint64_t *tried) {
    struct store_options o = e.options[rank];
    struct store_found found = {0};
    acting = rank;
    o.kind = STORE_AGAIN;
    o.engine = chance(50) && help_has_uring() ? STORE_URING : STORE_THREADS;
    int err = pages_store_open(&o, &e.stores[rank], &found);
    *prepared = found.prepared;
    *tried = found.tried > *tried ? found.tried : *tried;
    require(!err || err == -ENODATA || err == -EBADMSG);
    require(err || found.committed <= found.prepared);
    return err;
}

static void close_all(const int *errors) {
    for (int i = 0; i < e.ranks; i++)
        if (!errors[i])
            pages_store_close(e.stores[i]);
}

/* Returns whether there is a checkpoint to continue from; `e.start` names it. */
static bool find(size_t end) {
    uint64_t newest_of_all = UINT64_MAX, floor = floor_at(end), tried = 0;
    int errors[RANKS];
    for (int i = 0; i < e.ranks; i++) {
        uint64_t prepared;
        errors[i] = open_again(i, &prepared, &tried);
        if (errors[i])
            prepared = 0;
        newest_of_all = prepared < newest_of_all ? prepared : newest_of_all;
    }
    require(newest_of_all >= floor);
    require(newest_of_all <= e.newest || newest_of_all == e.start);
    if (!newest_of_all) {
        close_all(errors);
        return false;
    }
    require(all_have_begun(newest_of_all, end));
    require(tried >= newest_of_all && tried <= e.newest);
    e.start = newest_of_all;
    e.newest = tried;
    for (uint64_t gone = e.start + 1; gone <= tried; gone++)
        for (int i = 0; i < e.ranks; i++)
            e.epochs[gone].begun[i] = e.epochs[gone].done[i] = SIZE_MAX;
    return true;
}

static bool fail_power(void) {
    size_t end = chance(10) ? replay->count : roll((uint32_t)replay->count + 1);
    watch_store(NULL, NULL);
    for (int i = 0; i < e.ranks; i++) {
        require(replay_into(e.before[i], e.bytes[i], i, end, &dice));
        require(replay_write(path_of(i), e.before[i], e.bytes[i]));
    }
    bool goes_on = find(end);
    replay_forget();
    watch_store(watch, NULL);
    return goes_on;
}

static void choose_episode(uint64_t seed) {
    random_seed(&dice, seed);
    e.seed = seed;
    e.ranks = 1 + (int)roll(RANKS);
    e.pages = 1 + (int)roll(PAGES);
    e.start = e.newest = e.version = 0;
    memset(e.now, 0, sizeof e.now);
    for (int i = 0; i < e.ranks; i++) {
        e.options[i] = help_options(&help_ways[5], STORE_NEW);
        e.options[i].rank = i;
        e.options[i].ranks = e.ranks;
        e.options[i].bytes = (uint64_t)e.pages * PAGE;
        e.options[i].depth = DEPTH;
        e.options[i].threads = 1;
    }
}

static uint64_t run_episode(uint64_t seed) {
    uint64_t recorded = 0;
    bool goes_on = true;
    choose_episode(seed);
    remove_files(help_folder(1));
    watch_store(watch, NULL);
    for (unsigned lives = 0; goes_on && lives < 20; lives++) {
        live();
        recorded += replay->count;
        goes_on = fail_power();
    }
    for (int i = 0; i < e.ranks && goes_on; i++)
        pages_store_close(e.stores[i]);
    watch_store(NULL, NULL);
    replay_forget();
    return recorded;
}

int main(int argc, char **argv) {
    replay_open();
    buffers = help_buffer(DEPTH * PAGE);
    for (int i = 0; i < RANKS; i++)
        e.before[i] = help_buffer(FILE_MOST);
    help_has_uring();
    log_set_level(LOG_ERROR - 1); /* unfinished files are refused, and damage is reported */
    struct episodes all = {.name = "pages_store_replay_random",
                           .operations = "writes and syncs before power failures in",
                           .things = "episodes",
                           .run = run_episode};
    return episodes_run(all, argc, argv);
}
