/* unit_pages_store_faults.c: makes every system call fail once, or from there on, with several errors: data that is
 * read is correct or refused, each failure is reported, and the file then holds a checkpoint that was made.   waits: yes */
#include "test.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "base/log.h"
#include "fail_store.h"
#include "store_help.h"

enum { PAGES = 8, EPOCHS = 3 };

/* In epoch 1 all pages are written, in each later one half of them; their version is the epoch. */
static bool is_written(uint64_t page, uint64_t epoch) {
    return epoch == 1 || (page + epoch) % 2;
}

static uint64_t version_at(uint64_t page, uint64_t epoch) {
    while (epoch && !is_written(page, epoch))
        epoch--;
    return epoch;
}

/* The results of a run with faults. */
struct told {
    bool opened;
    uint64_t prepared, committed; /* last epochs for which the calls returned 0 */
    uint64_t tried;               /* last epoch to be prepared */
    unsigned failed;              /* failed calls and requests */
};

/* ---- one run ---- */

/* A page whose write failed must not be readable; it is written again. */
static bool write_page(struct store *s, uint64_t page, uint64_t version, struct told *told) {
    for (int i = 0; i < 3; i++) {
        if (!help_put(s, 4096, page, version))
            return true;
        told->failed++;
        expect(help_see(s, 4096, page, version) < 0);
        expect(pages_store_facts(s).lost || pages_store_facts(s).failures == 0);
    }
    return false;
}

static void read_pages(struct store *s, uint64_t epoch, struct told *told) {
    for (uint64_t page = 0; page < PAGES; page++) {
        int err = help_see(s, 4096, page, version_at(page, epoch));
        expect(err != -EILSEQ && err != -ETIME);
        told->failed += err != 0;
    }
}

static bool one_epoch(struct store *s, uint64_t epoch, struct told *told) {
    for (uint64_t page = 0; page < PAGES; page++)
        if (is_written(page, epoch) && !write_page(s, page, epoch, told)) {
            expect(pages_store_prepare(s, epoch) < 0); /* not without that page */
            told->failed++;
            return false;
        }
    read_pages(s, epoch, told);
    told->tried = epoch;
    int err = pages_store_prepare(s, epoch);
    if (!err) {
        told->prepared = epoch;
        err = pages_store_commit(s, epoch);
        told->committed = err ? told->committed : epoch;
    }
    told->failed += err != 0;
    return !err;
}

static void run_new(const struct store_options *o, struct told *told) {
    struct store *s;
    if (pages_store_open(o, &s, NULL)) {
        told->failed++;
        return;
    }
    told->opened = true;
    for (uint64_t epoch = 1; epoch <= EPOCHS && one_epoch(s, epoch, told); epoch++)
        ;
    expect(pages_store_check(s));
    told->failed += pages_store_close(s) != 0;
}

static void run_again(const struct store_options *o, struct told *told) {
    struct store_options again = *o;
    struct store *s;
    struct store_found found;
    again.kind = STORE_AGAIN;
    int err = pages_store_open(&again, &s, &found);
    if (!err) {
        expect_eq(found.prepared, EPOCHS);
        err = pages_store_select(s, EPOCHS);
        if (!err)
            read_pages(s, EPOCHS, told);
        for (uint64_t epoch = EPOCHS + 1; !err && epoch <= 2 * EPOCHS && one_epoch(s, epoch, told); epoch++)
            ;
        told->failed += pages_store_close(s) != 0;
    }
    told->failed += err != 0;
}

/* ---- afterwards ---- */

static void check_file(const struct store_options *o, const struct told *told, bool older) {
    struct store_options again = *o;
    struct store *s;
    struct store_found found = {0};
    struct told none = {0};
    again.kind = STORE_AGAIN;
    int err = pages_store_open(&again, &s, &found);
    if (err) {
        expect_eq(err, told->opened ? -ENODATA : -ENOENT);
        expect_eq(told->prepared, 0);
        return;
    }
    expect(found.prepared >= told->prepared && found.prepared <= told->tried);
    expect(found.committed <= found.prepared);
    uint64_t epoch = older && found.older ? found.older : found.prepared;
    expect_eq(pages_store_select(s, epoch), 0);
    read_pages(s, epoch, &none);
    expect_eq(none.failed, 0);
    expect(pages_store_check(s));
    expect_eq(pages_store_close(s), 0);
}

/* Returns the number of faults. */
static unsigned run_with(const struct help_way *way, bool again, unsigned n, unsigned times, int error) {
    static char text[1 << 16];
    struct store_options o = help_options(way, STORE_NEW);
    struct told told = {0};
    o.threads = 2;
    o.bytes = PAGES * 4096;
    remove_files(o.folder);
    if (again)
        run_new(&o, &told);
    lines_begin();
    fail_store_at(n, times, error);
    (again ? run_again : run_new)(&o, &told);
    unsigned faults = fail_store_at(0, 0, 0);
    unsigned lines = lines_end(text, sizeof text);
    expect(!told.failed == !lines);
    expect(lines <= told.failed + 1);
    lines_begin();
    check_file(&o, &told, n % 2);
    lines_end(text, sizeof text);
    if (test_failures)
        printf("with %s, %s: request %u, %u times, %s\n%s", way->name, again ? "again" : "new", n, times,
               error < 0 ? "short" : strerror(error), text);
    remove_files(o.folder);
    return faults;
}

/* On a disk each run takes tens of milliseconds, so some are skipped. In the quick tier every third request fails in one way, the others in
 * others. */
static void run_all(const struct help_way *way, unsigned times, int error) {
    unsigned step = !way->folder ? 23 : test_is_quick() ? 3 : 1;
    for (int again = 0; again < 2 && help_can(way); again++)
        for (unsigned n = 1 + ((unsigned)error + times) % step;
             run_with(way, again, n, times, error) && !test_failures;)
            n += step;
}

static void run_ways(unsigned times, int error) {
    for (int i = 0; i < HELP_WAYS && !test_failures; i++)
        run_all(&help_ways[i], times, error);
}

TEST(io_errors_once)
{ run_ways(1, EIO); }

TEST(io_errors_from_there_on)
{ run_ways(0, EIO); }

TEST(a_full_disk_for_a_while)
{ run_ways(4, ENOSPC); }

TEST(a_full_disk_from_there_on)
{ run_ways(0, ENOSPC); }

TEST(short_transfers_once)
{ run_ways(1, FAIL_SHORT); }

TEST(signals_in_between)
{ run_ways(1, EINTR); }

TEST(no_direct_transfers)
{ run_ways(1, EINVAL); }

/* ---- temporary files ---- */

static unsigned run_temporary(const struct help_way *way, unsigned n, int error) {
    struct store_options o = help_options(way, STORE_TEMPORARY);
    struct told told = {0};
    struct store *s;
    o.throttle = n % 2 ? 1 << 30 : 0;
    log_set_level(LOG_ERROR - 1);
    fail_store_at(n, 2, error);
    if (!pages_store_open(&o, &s, NULL)) {
        for (uint64_t page = 0; page < PAGES; page++)
            write_page(s, page, 1, &told);
        read_pages(s, 1, &told);
        expect(pages_store_check(s));
        expect_eq(pages_store_close(s), 0);
    }
    unsigned faults = fail_store_at(0, 0, 0);
    log_set_level(LOG_WARN);
    expect_eq(count_entries(o.folder), 0);
    return faults;
}

TEST(temporary_ones_leave_nothing_behind)
{
    for (int i = 0; i < HELP_WAYS; i++)
        for (unsigned n = 1;
             help_can(&help_ways[i]) && run_temporary(&help_ways[i], n, EIO) && !test_failures;)
            n++;
}

/* The first call opens the folder, the second makes a file without a name. */
TEST(a_filesystem_on_which_files_have_names)
{
    struct store_options o = help_options(&help_ways[5], STORE_TEMPORARY);
    struct store *s = NULL;
    fail_store_at(2, 1, EOPNOTSUPP);
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect_eq(fail_store_at(0, 0, 0), 1);
    expect_eq(count_entries(o.folder), 0);
    expect_eq(help_put(s, 4096, 1, 1), 0);
    expect_eq(help_see(s, 4096, 1, 1), 0);
    pages_store_close(s);
}

/* ---- missing features ---- */

TEST(without_io_uring_there_are_threads)
{
    struct store_options o = help_options(&help_ways[5], STORE_TEMPORARY);
    struct store *s;
    o.engine = STORE_AUTO;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect(!help_has_uring() || !strcmp(pages_store_facts(s).engine, "io_uring"));
    pages_store_close(s);
    bool met = false; /* the call that sets up a ring */
    for (unsigned n = 1; n < 12 && help_has_uring(); n++) {
        fail_store_at(n, 1, ENOSYS);
        log_set_level(LOG_ERROR - 1);
        int err = pages_store_open(&o, &s, NULL);
        log_set_level(LOG_WARN);
        fail_store_at(0, 0, 0);
        if (err)
            continue;
        met |= !strcmp(pages_store_facts(s).engine, "threads");
        expect_eq(help_put(s, 4096, 1, 1), 0);
        expect_eq(help_see(s, 4096, 1, 1), 0);
        pages_store_close(s);
    }
    expect(met || !help_has_uring());
}

/* The kernel has no memory for requests for a while, or refuses them for good. */
TEST(a_ring_that_is_refused)
{
    struct store_options o = help_options(&help_ways[4], STORE_TEMPORARY);
    struct store *s;
    if (!help_has_uring())
        return;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    fail_store_at(1, 100, EAGAIN);
    expect_eq(help_put(s, 4096, 1, 1), 0);
    expect(fail_store_at(0, 0, 0) >= 100);
    expect_eq(help_put(s, 4096, 2, 1), 0);
    log_set_level(LOG_ERROR - 1);
    fail_store_at(1, 0, EAGAIN); /* for longer than the store retries, and without the ring as well */
    expect_eq(help_put(s, 4096, 3, 1), -EAGAIN);
    fail_store_at(0, 0, 0);
    expect_eq(help_put(s, 4096, 3, 1), 0); /* the ring is still used */
    fail_store_at(1, 1, EBADF);
    expect_eq(help_put(s, 4096, 4, 1), 0); /* the ring is abandoned */
    expect_eq(fail_store_at(0, 0, 0), 1);
    expect_eq(help_put(s, 4096, 5, 1), 0);
    for (uint64_t page = 1; page <= 5; page++)
        expect_eq(help_see(s, 4096, page, 1), 0);
    expect(pages_store_check(s));
    pages_store_close(s);
    log_set_level(LOG_WARN);
}

/* Requests that the kernel has accepted complete, the others are executed without it, and none completes twice. */
TEST(a_ring_that_is_refused_with_requests_on_their_way)
{
    struct store_options o = help_options(&help_ways[0], STORE_TEMPORARY);
    struct store_done done[16];
    struct store *s;
    unsigned good = 0, bad = 0;
    char *buffer = help_buffer(16 * 4096);
    memset(buffer, 1, 16 * 4096);
    if (!help_has_uring())
        return;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    log_set_level(LOG_ERROR - 1);
    for (uint64_t page = 0; page < 16; page++) {
        expect_eq(pages_store_submit(s, STORE_WRITE, page, buffer + page * 4096, page), 0);
        if (page == 7)
            expect(pages_store_arm(s) == 0 || pages_store_arm(s) == -EAGAIN); /* submits the first eight */
    }
    fail_store_at(1, 1, ENXIO);
    for (unsigned n = 1, all = 0; all < 16 && n; all += n) {
        n = help_wait(s, done, 16);
        for (unsigned i = 0; i < n; i++)
            *(done[i].error ? &bad : &good) += 1;
    }
    expect_eq(good, 16);
    expect_eq(bad, 0);
    expect(pages_store_check(s));
    pages_store_close(s);
    fail_store_at(0, 0, 0);
    log_set_level(LOG_WARN);
    free(buffer);
}

/* ---- a real full disk ---- */

static int fill_disk(const struct help_way *way) {
    struct store_options o = help_options(way, STORE_NEW);
    struct store *s;
    unsigned full = 0;
    o.bytes = 400 * 4096;
    expect_eq(pages_store_open(&o, &s, NULL), 0);
    expect_eq(help_put(s, 4096, 0, 1), 0);
    expect_eq(pages_store_prepare(s, 1), 0);
    expect_eq(pages_store_commit(s, 1), 0);
    for (uint64_t page = 0; page < 400; page++)
        full += help_put(s, 4096, page, 2) == -ENOSPC;
    expect(full > 0 && full < 400);
    expect_eq(pages_store_facts(s).lost, full);
    expect_eq(help_see(s, 4096, 399, 2), -EIO);
    expect_eq(help_see(s, 4096, 0, 2), 0);
    expect_eq(pages_store_prepare(s, 2), -EIO);
    pages_store_close(s);
    o.kind = STORE_AGAIN;
    struct store_found found;
    expect_eq(pages_store_open(&o, &s, &found), 0);
    expect_eq(found.prepared, 1);
    expect_eq(pages_store_select(s, 1), 0);
    expect_eq(help_see(s, 4096, 0, 1), 0);
    expect_eq(help_see(s, 4096, 399, 0), 0);
    pages_store_close(s);
    remove_files(o.folder);
    return test_failures ? 1 : 0;
}

/* In its own namespace, with a filesystem of 1 MB. */
static int use_small_disk(const struct help_way *way) {
    const char *folder = help_folder(way->folder);
    if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", folder, "tmpfs", 0, "size=1m"))
        return 77;
    log_set_level(LOG_ERROR - 1);
    return fill_disk(way);
}

TEST(a_disk_that_is_really_full)
{
    for (int i = 4; i < 6; i++) {
        int status = 0;
        if (!help_can(&help_ways[i]))
            continue;
        help_folder(help_ways[i].folder);
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            alarm(60);
            int code = use_small_disk(&help_ways[i]);
            fflush(stdout);
            _exit(code);
        }
        expect(waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) == 77)
            printf("skip: no filesystem may be mounted here\n");
        else
            expect_eq(WEXITSTATUS(status), 0);
    }
}
