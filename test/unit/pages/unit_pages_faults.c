/* unit_pages_faults.c: runs whole jobs with named segments, of two ranks on a node, in which each system call fails
 * in turn: once, or from there on. A job either succeeds, or ends with a line. It leaves a checkpoint that was made,
 * the same on both ranks, and not older than the last one known to be complete. A job that could not even begin
 * leaves nothing.
 *
 * A job writes all pages, in two versions with a checkpoint after each, and reads them. A checkpoint that fails
 * because of a single failed call is repeated, and must then succeed. A job begins with new files, or with those of a
 * job that has left version 2. Jobs run in their own processes and record their progress in shared memory. asan: full
 *
 * ThreadSanitizer does not see the order that one process gives to two threads of another: tsan: no */
#include "test.h"

#include "fail_store.h"
#include "net_boot.h"
#include "pages/pages_internal.h"
#include "store_help.h"

enum { RANKS = 2, PAGES = 14 /* of a rank */, MOST_PAGE = 65536, FRAMES = 24, SECONDS = 30, ALL = 45 };
#define PAGE test_page() /* the smallest that can be mapped */
enum outcome { WELL, REFUSED, NO_CHECKPOINT, ENDED, NOT_CLOSED, HUNG, WRONG };

/* The parameters of the job, and its results. */
static struct job {
    const struct help_way *way;
    uint64_t first; /* version expected at the beginning */
    int versions;   /* how many it makes */
    unsigned n, times;
    int error;

    _Atomic uint64_t found, made, tried;
    _Atomic unsigned failed; /* number of calls that were made to fail */
} * job;

static struct pages *pages;

/* ---- a rank ---- */

static _Noreturn void leave(enum outcome how) {
    fflush(stdout);
    _exit(how);
}

static void on_failure(void *arg, const char *why) {
    (void)arg, (void)why;
    atomic_store(&job->failed, fail_store_at(0, 0, 0));
    leave(ENDED);
}

static char *address(int rank, uint64_t page) {
    return pages_base(pages, rank) + page * PAGE;
}

/* One rank writes each page; some by stores. */
static void write_version(const struct net_boot *boot, uint64_t version) {
    static _Alignas(4096) char buffer[MOST_PAGE];
    for (int rank = 0; rank < RANKS; rank++)
        for (uint64_t page = 0; page < PAGES; page++) {
            if ((page + (uint64_t)rank + version) % RANKS != (uint64_t)boot->rank)
                continue;
            help_fill(buffer, PAGE, page * RANKS + (uint64_t)rank, version);
            if (rank == boot->rank && page % 3 == 0)
                memcpy(address(rank, page), buffer, PAGE);
            else
                pages_put(pages, rank, address(rank, page), buffer, PAGE);
        }
    net_boot_barrier(boot);
}

static void check_version(const struct net_boot *boot, uint64_t version) {
    static _Alignas(4096) char buffer[MOST_PAGE];
    for (int rank = 0; rank < RANKS; rank++)
        for (uint64_t page = 0; page < PAGES; page++) {
            pages_get(pages, buffer, rank, address(rank, page), PAGE);
            if (!help_holds(buffer, PAGE, page * RANKS + (uint64_t)rank, version))
                leave(WRONG);
        }
    net_boot_barrier(boot);
}

/* The version of all pages; the rank ends with WRONG if they differ. */
static uint64_t find_version(const struct net_boot *boot) {
    uint64_t word = 0, version = 0;
    pages_get(pages, &word, 0, address(0, 0), sizeof word);
    while (word != help_word(0, version, 0))
        if (++version > 100)
            leave(WRONG);
    net_boot_barrier(boot);
    check_version(boot, version);
    return version;
}

static void make_version(const struct net_boot *boot, uint64_t version) {
    uint64_t epoch;
    write_version(boot, version);
    check_version(boot, version);
    atomic_store(&job->tried, version);
    int status = pages_checkpoint(pages, boot, &epoch);
    if (status != 0 && job->times == 1) { /* no further call fails: data kept in memory is written now */
        check_version(boot, version);
        status = pages_checkpoint(pages, boot, &epoch);
    }
    if (status != 0)
        leave(NO_CHECKPOINT);
    atomic_store(&job->made, version);
}

static void take_part(const struct net_boot *boot) {
    struct pages_events events = {.failed = on_failure};
    struct net_world *world;
    if (net_world_open(boot, 0, 0, &world) != 0)
        leave(WRONG);
    if (boot->rank == 0)
        fail_store_at(job->n, job->times, job->error);
    if (pages_open(boot, world, NULL, PAGES * PAGE, &events, &pages) != 0) {
        net_boot_barrier(boot); /* the others have closed their files, too */
        leave(REFUSED);
    }
    atomic_store(&job->found, find_version(boot));
    for (int i = 1; i <= job->versions; i++)
        make_version(boot, job->first + (uint64_t)i);
    int closed = pages_close(pages, boot, true);
    if (boot->rank == 0)
        atomic_store(&job->failed, fail_store_at(0, 0, 0));
    if (closed != 0)
        leave(NOT_CLOSED);
    net_world_close(world);
}

/* ---- a job ---- */

static void choose_settings(void) {
    char pool[32], page[32];
    snprintf(pool, sizeof pool, "%zu", FRAMES * PAGE);
    snprintf(page, sizeof page, "%zu", PAGE);
    setenv("HEARTH_NVM_DIR", help_folder(job->way->folder), 1);
    setenv("HEARTH_NVM_NAME", "job", 1);
    setenv("HEARTH_NVM_ENGINE", job->way->engine == STORE_URING ? "uring" : "threads", 1);
    setenv("HEARTH_NVM_BUFFERED", job->way->buffered ? "on" : "off", 1);
    setenv("HEARTH_PAGE_SIZE", page, 1);
    setenv("HEARTH_POOL_SIZE", pool, 1);
}

static enum outcome run_job(void) {
    int status = boot_run_job(RANKS, SECONDS, choose_settings, take_part);
    return status >= 0 ? (enum outcome)status : status == -SIGALRM ? HUNG : WRONG;
}

static enum outcome run_without_faults(uint64_t first, int versions) {
    job->n = 0;
    job->first = first;
    job->versions = versions;
    return run_job();
}

/* ---- the files left ---- */

static void check_left(enum outcome how, bool again) {
    const char *folder = help_folder(job->way->folder);
    char text[4096];
    uint64_t made = job->made, tried = job->tried;
    if (how == REFUSED && !again) {
        expect_eq(count_entries(folder), 0);
        return;
    }
    lines_begin();
    enum outcome then = run_without_faults(0, 0);
    lines_end(text, sizeof text);
    if (then == REFUSED) {
        expect_eq(made, 0);
        if (made)
            printf("the job after it: %s", text);
        return;
    }
    expect_eq(then, WELL);
    expect(job->found >= made && job->found <= tried);
    if (how == WELL)
        expect_eq(job->found, tried);
}

static const char *outcomes[] = {"well", "refused", "no checkpoint", "ended", "not closed", "HUNG", "WRONG"};

static unsigned seen[WRONG + 1]; /* outcomes */

/* Returns false if fewer calls were made. */
static bool one_fault(bool again, unsigned n, unsigned times, int error) {
    char text[4096];
    remove_files(help_folder(job->way->folder));
    if (again)
        expect_eq(run_without_faults(0, 2), WELL);
    job->found = 0;
    job->made = job->tried = job->first = again ? 2 : 0;
    job->versions = 2;
    job->n = n;
    job->times = times;
    job->error = error;
    atomic_store(&job->failed, 0);
    lines_begin();
    enum outcome how = run_job();
    unsigned lines = lines_end(text, sizeof text), failed = job->failed;
    expect(how < HUNG);
    seen[how]++;
    if (how == WELL)
        expect_eq(job->found, again ? 2 : 0);
    else
        expect(lines > 0);
    check_left(how, again);
    if (test_failures)
        printf("%s, %s files: request %u, %u times, %s: %s\n%s", job->way->name, again ? "old" : "new", n,
               times, error == FAIL_SHORT ? "short" : strerror(error), outcomes[how], text);
    return failed > 0 || how != WELL;
}

/* Makes each of the first calls fail, then every `step`-th: most later calls transfer pages and are equivalent. In the quick tier every
 * second of the first calls fails, on old files and in short transfers every third, which ones depends on the kind of failure; and half as many
 * later calls. */
static unsigned each(bool again, unsigned step, unsigned times, int error) {
    unsigned few = test_is_quick() ? 2 : 1, early = test_is_quick() ? 2 + (again || error == FAIL_SHORT) : 1;
    unsigned n = 1 + ((unsigned)error + times) % early;
    while (one_fault(again, n, times, error) && !test_failures)
        n += n < ALL ? early : few * step;
    return n;
}

static void each_request(const struct help_way *way, unsigned step, unsigned times, int error) {
    job->way = way;
    if (!help_can(way))
        return;
    memset(seen, 0, sizeof seen);
    unsigned fresh = each(false, step, times, error), again = each(true, step, times, error);
    remove_files(help_folder(way->folder));
    expect(fresh > ALL && again > ALL);
    printf("%s: up to %u requests, %u with old files;", way->name, fresh, again);
    for (int i = 0; i < HUNG; i++)
        printf(" %u %s%s", seen[i], outcomes[i], i + 1 < HUNG ? "," : "\n");
}

static void open_table(void) {
    if (!job)
        job = mmap(NULL, sizeof *job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Only data that cannot be read ends the job, or keeps it from beginning. */
TEST(an_error_once)
{
    open_table();
    each_request(&help_ways[5], 12, 1, EIO);
    expect_eq(seen[NO_CHECKPOINT], 0);
    expect(seen[WELL] > seen[ENDED]);
}

TEST(an_error_once_of_a_ring)
{
    open_table();
    each_request(&help_ways[4], 12, 1, EIO);
}

TEST(errors_from_there_on)
{
    open_table();
    each_request(&help_ways[5], 12, 0, EIO);
}

TEST(no_room_from_there_on)
{
    open_table();
    each_request(&help_ways[4], 12, 0, ENOSPC);
}

TEST(short_transfers)
{
    open_table();
    each_request(&help_ways[5], 12, 1, FAIL_SHORT);
}
