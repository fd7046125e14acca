/* unit_track.c: tests that the pages which a process stores to are listed, each store by a scan that begins after it; and what is not
 * listed, so that nobody relies on it. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/random.h"
#include "track/track.h"

enum { PAGES = 512, ROOM = 64 };

static size_t page_bytes;
static int tracker, watch; /* of this process */

static void skip(const char *why, int err) {
    printf("SKIP: the kernel does not track stores: %s: %s\n", why, strerror(-err));
    exit(77);
}

__attribute__((constructor)) static void open_tracker(void) {
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    tracker = track_open();
    if (tracker < 0)
        skip("userfaultfd", tracker);
    watch = track_watch(getpid());
    if (watch < 0)
        skip("/proc/self/pagemap", watch);
}

struct memory {
    char *base;
    size_t bytes;
    int file; /* -1: private */
};

static struct memory memory_make(bool shared, size_t pages) {
    struct memory m = {.bytes = pages * page_bytes,
                       .file = shared ? memfd_create("unit_track", MFD_CLOEXEC) : -1};
    if (shared && ftruncate(m.file, (off_t)m.bytes))
        abort();
    m.base = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS,
                  m.file, 0);
    return m;
}

static void memory_end(struct memory *m) {
    track_remove(tracker, m->base, m->bytes);
    munmap(m->base, m->bytes);
    if (m->file >= 0)
        close(m->file);
}

/* Sets is_open[page] for what a scan by `by` lists; the number of pages, or a negative code. */
static int listed(int by, const struct memory *m, size_t most, bool is_open[]) {
    struct track_range ranges[ROOM];
    uint64_t begin = (uintptr_t)m->base, end = begin + m->bytes;
    int pages = 0;
    memset(is_open, 0, m->bytes / page_bytes);
    for (uint64_t at = begin, reached; at < end; at = reached) {
        int n = track_scan(by, at, end, ranges, most, &reached);
        if (n < 0)
            return n;
        for (int i = 0; i < n; i++)
            for (uint64_t p = ranges[i].begin; p < ranges[i].end; p += page_bytes, pages++)
                is_open[(p - begin) / page_bytes] = true;
    }
    return pages;
}

static bool is_open[PAGES];

static int count(const struct memory *m) {
    return listed(watch, m, ROOM, is_open);
}

static void store(const struct memory *m, size_t page, char value) {
    *(volatile char *)(m->base + page * page_bytes + page % page_bytes) = value;
}

static void each_store_once(bool shared, bool touched) {
    struct memory m = memory_make(shared, PAGES);
    if (touched)
        memset(m.base, 1, m.bytes);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    expect_eq(count(&m), 0);
    store(&m, 7, 1);
    store(&m, 7, 2);
    store(&m, 100, 1);
    expect_eq(count(&m), 2);
    expect(is_open[7] && is_open[100]);
    expect_eq(count(&m), 0);
    store(&m, 7, 3);
    expect_eq(count(&m), 1);
    expect(is_open[7]);
    char sum = 0;
    for (size_t page = 0; page < PAGES; page++)
        sum = (char)(sum + *(volatile char *)(m.base + page * page_bytes));
    expect_eq(count(&m), 0); /* loads are no stores */
    expect_eq(sum, (char)(touched ? PAGES : 0));
    memory_end(&m);
}

TEST(each_store_is_listed_once)
{
    each_store_once(false, true);
    each_store_once(true, true);
    each_store_once(false, false);
    each_store_once(true, false);
}

TEST(more_ranges_than_room)
{
    struct memory m = memory_make(true, PAGES);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    for (size_t page = 0; page < PAGES; page += 2)
        store(&m, page, 1);
    expect_eq(listed(watch, &m, 3, is_open), PAGES / 2);
    for (size_t page = 0; page < PAGES; page++)
        expect_eq(is_open[page], page % 2 == 0);
    expect_eq(count(&m), 0);
    memory_end(&m);
}

TEST(the_kernel_stores_for_the_process)
{
    struct memory m = memory_make(true, PAGES);
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    memset(m.base, 1, m.bytes);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    expect_eq(read(zero, m.base + 5 * page_bytes, 10), 10);
    expect_eq(count(&m), 1);
    expect(is_open[5]);
    close(zero);
    memory_end(&m);
}

/* What it does not see: doc says so to users, and whoever uses track.h handles it. */
TEST(stores_by_other_ways_are_not_listed)
{
    struct memory m = memory_make(true, PAGES);
    memset(m.base, 1, m.bytes);
    char *other = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.file, 0);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    other[3 * page_bytes] = 2;
    expect_eq(pwrite(m.file, "x", 1, (off_t)(4 * page_bytes)), 1);
    expect_eq(m.base[3 * page_bytes] + m.base[4 * page_bytes], 2 + 'x');
    expect_eq(count(&m), 0);
    munmap(other, m.bytes);
    memory_end(&m);
}

TEST(memory_that_is_not_tracked_is_refused)
{
    struct memory m = memory_make(false, PAGES);
    expect_eq(count(&m), -EPERM);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    expect_eq(count(&m), 0);
    expect(mmap(m.base + 9 * page_bytes, page_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
    expect_eq(count(&m), -EPERM); /* a part of it was mapped anew */
    memory_end(&m);
    expect_eq(track_add(tracker, m.base, page_bytes), -EINVAL); /* nothing is there */
    expect(track_watch(1 << 22) < 0);
}

TEST(no_descriptor_is_left)
{
    struct rlimit before, none = {0, 0};
    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    expect_eq(track_open(), -EMFILE);
    expect_eq(track_watch(getpid()), -EMFILE);
    setrlimit(RLIMIT_NOFILE, &before);
}

TEST(two_trackers_do_not_share_memory)
{
    struct memory m = memory_make(false, 1);
    int second = track_open();
    expect(second >= 0);
    expect_eq(track_add(tracker, m.base, m.bytes), 0);
    expect_eq(track_add(second, m.base, m.bytes), -EBUSY);
    store(&m, 0, 1);
    expect_eq(count(&m), 1);
    close(second);
    memory_end(&m);
}

/* ---- another process ---- */

static _Atomic unsigned *turn;

static void wait_for(unsigned n) {
    while (*turn < n)
        usleep(100);
}

TEST(another_process_of_the_user_scans)
{
    struct memory m = memory_make(true, PAGES);
    memset(m.base, 1, m.bytes);
    turn = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t owner = fork();
    if (!owner) {
        int own = track_open();
        int err = own < 0 ? own : track_add(own, m.base, m.bytes);
        *turn = err ? 100 : 1;
        wait_for(2);
        store(&m, 11, 2);
        *turn = 3;
        wait_for(4);
        _exit(err ? 1 : 0);
    }
    wait_for(1);
    int theirs = track_watch(owner);
    expect_eq(*turn, 1);
    expect(theirs >= 0);
    expect_eq(listed(theirs, &m, ROOM, is_open), 0);
    *turn = 2;
    wait_for(3);
    store(&m, 12, 2); /* by this process's mapping: not the owner's */
    expect_eq(listed(theirs, &m, ROOM, is_open), 1);
    expect(is_open[11]);
    *turn = 4;
    int status;
    waitpid(owner, &status, 0);
    expect_eq(status, 0);
    uint64_t reached;
    struct track_range range;
    expect(track_scan(theirs, (uintptr_t)m.base, (uintptr_t)m.base + m.bytes, &range, 1, &reached) <=
           0); /* it is gone */
    close(theirs);
    munmap((void *)turn, page_bytes);
    memory_end(&m);
}

/* ---- stores beside scans ---- */

enum { WRITERS = 2, OWN = PAGES / WRITERS };

/* Each writer raises the counters in its own pages, one after another, and then says in `told` how far it is. A reader that fetches only
 * what scans list must never be behind what was told before the scan began. */
static struct {
    struct memory memory;
    _Atomic uint64_t told[PAGES];
    _Atomic bool is_over;
    size_t listed;
} race;

static _Atomic uint64_t *counter(size_t page) {
    return (_Atomic uint64_t *)(void *)(race.memory.base + page * page_bytes);
}

static void *write_on(void *arg) {
    size_t first = (size_t)(uintptr_t)arg * OWN;
    struct random dice;
    random_seed(&dice, (uintptr_t)arg + 1);
    for (uint64_t n = 1; !race.is_over; n++) {
        size_t page = first + random_below(&dice, OWN);
        atomic_store_explicit(counter(page), n, memory_order_relaxed);
        atomic_store_explicit(&race.told[page], n, memory_order_release);
    }
    return NULL;
}

static size_t fetch_and_compare(uint64_t copies[]) {
    static uint64_t before[PAGES];
    size_t behind = 0;
    int pages;
    for (size_t page = 0; page < PAGES; page++)
        before[page] = atomic_load_explicit(&race.told[page], memory_order_acquire);
    expect((pages = count(&race.memory)) >= 0);
    race.listed += (size_t)pages;
    for (size_t page = 0; page < PAGES; page++) {
        if (is_open[page])
            copies[page] = atomic_load_explicit(counter(page), memory_order_relaxed);
        behind += copies[page] < before[page];
    }
    return behind;
}

TEST(no_store_is_missed)
{
    static uint64_t copies[PAGES];
    pthread_t writers[WRITERS];
    size_t behind = 0, scans = 0, wanted = test_is_quick() ? 10000 : 500000; /* pages */
    race.memory = memory_make(true, PAGES);
    memset(race.memory.base, 0, race.memory.bytes);
    expect_eq(track_add(tracker, race.memory.base, race.memory.bytes), 0);
    for (uintptr_t i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, write_on, (void *)i);
    for (; race.listed < wanted; scans++)
        behind += fetch_and_compare(copies);
    race.is_over = true;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    behind += fetch_and_compare(copies);
    expect_eq(behind, 0);
    printf("%zu scans listed %zu pages\n", scans, race.listed);
    memory_end(&race.memory);
}
