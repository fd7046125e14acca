/* unit_pages_local.c: tests loads and stores in a segment whose pages are fetched and taken away, by signals and by
 * userfaultfd.
 *
 * A thread plays the other nodes (pages_outside.h). The expected value of every word is known, when it is loaded and when its
 * page is given away. SEED=N repeats the random numbers, but not the order of the threads; SECONDS=N is the duration of each
 * random part, default 1, and 0.4 in the quick tier. The test measures residency, so: alone: yes
 *
 * ThreadSanitizer takes the mapping of a page for a write to it: tsan: no */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/random.h"
#include "pages/local/local_internal.h"
#include "pages_outside.h"

enum { PAGES = 400, FRAMES = 200, FIRST = 7, THREADS = 3, MOST_PAGE = 65536 };
#define PAGE_BYTES (test_page() < 8192 ? (size_t)8192 : test_page())
#define WORDS      (PAGE_BYTES / sizeof(uint64_t))

/* Read by the address sanitizer, if there is one: it must not handle faults. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "handle_segv=0:handle_sigbus=0";
}

static struct pages_pool pool;
static struct pool_shared *shared;
static size_t shared_bytes;
static char *memory;
static int memory_file;
static struct outside outside;
static struct local *local;
static char *base;
static _Atomic uint64_t faults, write_faults;
static uint64_t seed;

static uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void make_pool(uint32_t frames) {
    shared_bytes = pages_pool_shared_bytes(frames, 2, 256);
    shared = mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memory_file = memfd_create("unit_pages_local", MFD_CLOEXEC);
    if (ftruncate(memory_file, (off_t)frames * PAGE_BYTES))
        abort();
    memory = mmap(NULL, (size_t)frames * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
    pages_pool_make(shared, frames, PAGE_BYTES, 2, 256, 0, 1, REPLACE_LRU_FIFO);
    pages_pool_attach(&pool, shared, memory, memory_file, NULL);
}

/* Returns false if there is no userfaultfd. */
static bool begin(uint32_t frames, bool userfault, uint64_t stay_us) {
    seed = from_environment("SEED", (uint64_t)time(NULL));
    printf("SEED=%llu\n", (unsigned long long)seed);
    make_pool(frames);
    outside_start(&outside, &pool, FIRST + PAGES, seed);
    atomic_store(&faults, 0);
    atomic_store(&write_faults, 0);
    struct local_options options = {.bytes = (uint64_t)PAGES * PAGE_BYTES,
                                    .first_page = FIRST,
                                    .rank = 1,
                                    .userfault = userfault,
                                    .stay_ns = stay_us * 1000,
                                    .faults = &faults,
                                    .write_faults = &write_faults};
    expect_eq(pages_local_open(&pool, &options, &local, &base), 0);
    expect_eq((uintptr_t)base % PAGE_BYTES, 0);
    if (userfault && !local->options.userfault)
        printf("skipped: no userfaultfd\n");
    return local->options.userfault == userfault;
}

static void finish(void) {
    atomic_store(&outside.every, 0);
    pages_mapping_check(local);
    pages_local_close(local);
    outside_stop(&outside);
    while (outside_round(&outside))
        continue;
    pages_pool_check(&pool);
    for (uint32_t f = 0; f < shared->frames; f++)
        if (pool.links[f].list)
            expect_eq(pool.frames[f].control.mapped, PAGES_UNMAPPED);
    expect_eq(outside.errors, 0);
    munmap(memory, (size_t)shared->frames * PAGE_BYTES);
    close(memory_file);
    munmap(shared, shared_bytes);
    outside_free(&outside);
}

static volatile uint64_t *word(uint32_t page, size_t w) {
    return (volatile uint64_t *)(base + (size_t)page * PAGE_BYTES) + w;
}

static uint64_t initial(uint32_t page, size_t w) {
    return random_mix((uint64_t)(page + FIRST) << 32 | w) >> 2;
}

/* Waits until the other node has taken that page away. */
static uint64_t taken_after_ns(uint32_t page) {
    uint64_t takes = atomic_load(&outside.takes), begun = clock_ns();
    atomic_store(&outside.wanted, page + FIRST);
    while (atomic_load(&outside.takes) == takes && clock_ns() - begun < 5000000000u)
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return clock_ns() - begun;
}

/* ---- one thread ---- */

TEST(a_page_is_read_and_then_written)
{
    if (begin(FRAMES, false, 0)) {
        errno = 77;
        expect_eq(*word(3, 5), initial(3, 5));
        __asm__ volatile("" ::: "memory"); /* the compiler does not know of the handlers */
        expect_eq(errno, 77);
        expect_eq(atomic_load(&faults), 1);
        expect_eq(atomic_load(&write_faults), 0);
        expect_eq(*word(3, 6), initial(3, 6));
        expect_eq(atomic_load(&faults), 1);
        *word(3, 5) = initial(3, 5) + 1;
        expect_eq(atomic_load(&faults), 2);
        expect_eq(atomic_load(&write_faults), 1);
        *word(3, 6) = initial(3, 6) + 1;
        *word(3, WORDS - 1) += 1;
        expect_eq(atomic_load(&faults), 2);
        *word(4, 1) = initial(4, 1) + 1; /* writes without a read before */
        expect_eq(atomic_load(&faults), 3);
        expect_eq(*word(3, 5), initial(3, 5) + 1);
    }
    finish();
}

TEST(a_page_that_was_taken_away_comes_back)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(FRAMES, userfault, 0)) {
            uint64_t first = *word(9, 0);
            *word(9, 1) = initial(9, 1) + 1;
            taken_after_ns(9);
            expect_eq(*word(9, 0), first + 1); /* what the other node has written */
            expect_eq(*word(9, 1), initial(9, 1) + 1);
            *word(9, 1) += 1;
            taken_after_ns(9);
            expect_eq(outside.pages[9 + FIRST].truth[1], initial(9, 1) + 2);
        }
        finish();
    }
}

/* More pages than frames: they are evicted while they are mapped. */
TEST(all_pages_in_few_frames)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(24, userfault, 0)) {
            for (int round = 0; round < 3; round++)
                for (uint32_t page = 0; page < PAGES; page++) {
                    expect_eq(*word(page, 17), initial(page, 17) + (uint64_t)round);
                    *word(page, 17) += 1;
                }
        }
        finish();
    }
}

TEST(the_segment_begins_and_ends_where_it_should)
{
    if (begin(FRAMES, false, 0)) {
        expect_eq(*word(0, 0), initial(0, 0));
        expect_eq(*word(PAGES - 1, WORDS - 1), initial(PAGES - 1, WORDS - 1));
        expect(pages_local_has(local, base) && pages_local_has(local, base + (size_t)PAGES * PAGE_BYTES - 1));
        expect(!pages_local_has(local, base - 1) &&
               !pages_local_has(local, base + (size_t)PAGES * PAGE_BYTES));
    }
    finish();
}

TEST(a_segment_of_nothing)
{
    make_pool(FRAMES);
    struct local_options options = {.bytes = 0};
    char *at;
    expect_eq(pages_local_open(&pool, &options, &local, &at), 0);
    pages_local_close(local);
    options.bytes = PAGE_BYTES / 2;
    expect_eq(pages_local_open(&pool, &options, &local, &at), -EINVAL);
    munmap(memory, (size_t)FRAMES * PAGE_BYTES);
    close(memory_file);
    munmap(shared, shared_bytes);
}

/* ---- the number of mappings ---- */

/* Mappings of this process in the segment. */
static unsigned areas(void) {
    FILE *file = fopen("/proc/self/maps", "re");
    unsigned count = 0;
    unsigned long from, to;
    char line[512];
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && from < (uintptr_t)base + (size_t)PAGES * PAGE_BYTES &&
            to > (uintptr_t)base)
            count++;
    fclose(file);
    return count;
}

TEST(no_more_areas_than_allowed)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(FRAMES, userfault, 0)) {
            struct random r;
            random_seed(&r, seed);
            pages_mapping_limit(local, 64);
            unsigned most = 0;
            uint64_t *mine = calloc(PAGES, sizeof(*mine));
            for (int i = 0; i < 3000; i++) {
                uint32_t page = random_below(&r, PAGES);
                expect_eq(*word(page, 3), initial(page, 3) + mine[page]);
                if (random_below(&r, 2)) {
                    *word(page, 3) += 1;
                    mine[page]++;
                }
                if (i % 100 == 0) {
                    unsigned now = areas();
                    most = now > most ? now : most;
                    pages_mapping_check(local);
                }
                if (i == 1500)
                    atomic_store(&outside.every, 3);
            }
            free(mine);
            printf("%u areas\n", most);
            expect(most <= 66); /* a mapping may be merged with its neighbours on both sides */
            expect(most > 32);
        }
        finish();
    }
}

/* ---- residency ---- */

/* On a busy machine the other side may request the page too late for an early loss: the next stay is then short again. */
TEST(a_page_stays_longer_each_time_it_is_fought_for)
{
    enum { STAY_US = 4000, LOSSES = 4, MOST = 400 };
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(FRAMES, userfault, STAY_US)) {
            int rounds = 0;
            for (unsigned losses = 0; losses < LOSSES && rounds < MOST; rounds++) {
                uint64_t start = clock_ns(), stay = (uint64_t)STAY_US * 1000 << losses;
                *word(5, 1) += 1;
                taken_after_ns(5);
                uint64_t ns = clock_ns() - start;
                expect(ns >= stay);
                expect(ns < 4000000000u);
                unsigned now = __atomic_load_n(&local->mappings[5].losses, __ATOMIC_RELAXED);
                expect(now == losses + 1 || now == 0);
                losses = now;
            }
            expect(rounds < MOST);
            *word(5, 1) += 1; /* no other node requests the page for a long time, so it stays */
            nanosleep(&(struct timespec){.tv_nsec = 32 * STAY_US * 1000l}, NULL);
            taken_after_ns(5);
            *word(5, 1) += 1;
            expect_eq(local->mappings[5].losses, 0);
        }
        finish();
    }
}

/* Two words of one page, ours and one of the other node, which requests the page all the time: both make progress. */
TEST(two_who_fight_for_a_page_get_on)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(FRAMES, userfault, 100)) {
            uint64_t takes = atomic_load(&outside.takes), end = clock_ns() + 5000000000u, stores = 0;
            while (atomic_load(&outside.takes) < takes + 20 && clock_ns() < end) {
                atomic_store(&outside.wanted, 5 + FIRST);
                *word(5, 1) += 1;
                stores++;
            }
            expect(atomic_load(&outside.takes) >= takes + 20);
            expect(stores > 20);
            expect_eq(*word(5, 1), initial(5, 1) + stores);
        }
        finish();
    }
}

/* ---- several threads ---- */

struct worker {
    pthread_t thread;
    unsigned number, wrong;
    uint64_t operations;
    uint64_t mine[PAGES]; /* the number of increments of this thread's word in each page */
    uint64_t others[PAGES];
};

static _Atomic bool workers_stop;

static void touch(struct worker *w, struct random *r) {
    /* mostly few pages, so that threads and the other node collide */
    uint32_t page = random_below(r, random_below(r, 4) ? 12 : PAGES);
    /* In both halves of pages, as a page may consist of several kernel pages. */
    size_t own = 1 + w->number * 8 + (page % 2) * (WORDS / 2);
    uint64_t expected = initial(page, own) + w->mine[page];
    if (random_below(r, 3)) {
        w->wrong += *word(page, own) != expected;
        *word(page, own) = expected + 1;
        w->mine[page]++;
    } else {
        w->wrong += *word(page, own) != expected;
    }
    uint64_t other = *word(page, 0); /* never decreases */
    w->wrong += other < w->others[page];
    w->others[page] = other;
    w->wrong += *word(page, 100) != initial(page, 100);
    w->operations++;
}

static void *work(void *arg) {
    struct worker *w = arg;
    struct random r;
    random_seed(&r, seed + 17 * w->number);
    while (!atomic_load_explicit(&workers_stop, memory_order_relaxed))
        touch(w, &r);
    return NULL;
}

static void check_all(const struct worker *workers) {
    for (uint32_t page = 0; page < PAGES; page++)
        for (unsigned i = 0; i < THREADS; i++) {
            size_t own = 1 + i * 8 + (page % 2) * (WORDS / 2);
            expect_eq(*word(page, own), initial(page, own) + workers[i].mine[page]);
        }
}

static void run_workers(uint32_t every) {
    static struct worker workers[THREADS];
    memset(workers, 0, sizeof(workers));
    atomic_store(&workers_stop, false);
    atomic_store(&outside.every, every);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    uint64_t seconds = from_environment("SECONDS", 0);
    usleep(seconds ? (useconds_t)(seconds * 1000000) : test_is_quick() ? 400000 : 1000000);
    atomic_store(&workers_stop, true);
    uint64_t operations = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        expect_eq(workers[i].wrong, 0);
        operations += workers[i].operations;
    }
    atomic_store(&outside.every, 0);
    printf("%llu operations, %llu faults (%llu to write), %llu taken away\n", (unsigned long long)operations,
           (unsigned long long)atomic_load(&faults), (unsigned long long)atomic_load(&write_faults),
           (unsigned long long)atomic_load(&outside.takes));
    expect(operations > 100);
    expect(atomic_load(&outside.takes) > 10);
    check_all(workers);
}

TEST(threads_and_the_other_node_by_signals)
{
    if (begin(64, false, 50))
        run_workers(2);
    finish();
}

TEST(threads_and_the_other_node_by_userfaultfd)
{
    if (begin(64, true, 50))
        run_workers(2);
    finish();
}

TEST(threads_and_few_areas)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(FRAMES, userfault, 20)) {
            pages_mapping_limit(local, 64);
            run_workers(4);
        }
        finish();
    }
}

/* The smallest pool. */
TEST(threads_and_few_frames)
{
    for (int userfault = 0; userfault < 2; userfault++) {
        if (begin(pages_pool_least_frames(2), userfault, 20))
            run_workers(4);
        finish();
    }
}

/* ---- system calls ---- */

TEST(system_calls_on_the_segment)
{
    if (begin(FRAMES, true, 50)) {
        int ends[2];
        expect_eq(pipe(ends), 0);
        static uint64_t buffer[MOST_PAGE / sizeof(uint64_t)];
        atomic_store(&outside.every, 2);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t page = i * 7 % (PAGES - 1), next = page + 1;
            for (size_t w = 0; w < WORDS; w++)
                buffer[w] = *word(page, w) + (w > 0);
            /* from the middle of a page to the middle of the next, only words of this side */
            size_t half = PAGE_BYTES / 2;
            expect_eq(write(ends[1], (const char *)buffer + half, half), half);
            expect_eq(read(ends[0], base + (size_t)page * PAGE_BYTES + half, half), half);
            expect(!memcmp((char *)word(page, WORDS / 2), (char *)buffer + half, half));
            expect_eq(write(ends[1], (const void *)(word(page, WORDS - 10)), 20 * 8), 20 * 8);
            expect_eq(read(ends[0], buffer, 20 * 8), 20 * 8);
            expect_eq(buffer[0], *word(page, WORDS - 10));
            expect_eq(buffer[11], *word(next, 1));
        }
        close(ends[0]);
        close(ends[1]);
    }
    finish();
}

/* ---- faults of the program itself ---- */

static sigjmp_buf jump;
static volatile int seen_number, seen_blocked;
static void *volatile seen_address;

static void own_handler(int number, siginfo_t *info, void *context) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    seen_blocked =
        sigismember(&mask, SIGSEGV) | sigismember(&mask, SIGUSR1) << 1 | sigismember(&mask, SIGUSR2) << 2;
    seen_number = number;
    seen_address = info->si_addr;
    siglongjmp(jump, 1);
}

static void own_plain_handler(int number) {
    seen_number = number;
    siglongjmp(jump, 1);
}

static void provoke(volatile char *at) {
    seen_number = 0;
    seen_address = NULL;
    if (!sigsetjmp(jump, 1))
        *at = 1;
}

TEST(faults_elsewhere_reach_the_programs_own_handler)
{
    struct sigaction before, own = {.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO};
    char *foreign = mmap(NULL, test_page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigemptyset(&own.sa_mask);
    sigaddset(&own.sa_mask, SIGUSR1);
    sigaction(SIGSEGV, &own, &before);
    for (int userfault = 0; userfault < 2; userfault++) {
        begin(FRAMES, userfault, 0);
        *word(1, 1) += 1;
        provoke(foreign);
        expect_eq(seen_number, SIGSEGV);
        expect(seen_address == foreign);
        expect_eq(seen_blocked, 3); /* as it requested, and no more */
        expect_eq(*word(2, 1), initial(2, 1));
        provoke(foreign);
        expect_eq(seen_number, SIGSEGV);
        finish();
    }
    provoke(foreign); /* the program's handler is restored at the end */
    expect_eq(seen_number, SIGSEGV);

    own = (struct sigaction){.sa_handler = own_plain_handler};
    sigaction(SIGSEGV, &own, NULL);
    begin(FRAMES, false, 0);
    expect_eq(*word(2, 1), initial(2, 1));
    provoke(foreign);
    expect_eq(seen_number, SIGSEGV);
    finish();
    sigaction(SIGSEGV, &before, NULL);
    munmap(foreign, test_page());
}

/* The signal that ends a child. */
static int fate(void (*act)(void *), void *arg) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        act(arg);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void store(void *at) {
    *(volatile char *)at = 1;
}

static void call(void *at) {
    ((void (*)(void))(uintptr_t)at)();
}

static void send_to_self(void *arg) {
    raise(*(int *)arg);
}

TEST(without_a_handler_the_program_dies_as_ever)
{
    struct sigaction before, by_default = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    char *foreign = mmap(NULL, test_page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int number = SIGSEGV;
    sigaction(SIGSEGV, &by_default, &before);
    begin(FRAMES, false, 0);
    *word(1, 1) += 1;
    expect_eq(fate(store, foreign), SIGSEGV);
    void *volatile low = (void *)64;
    expect_eq(fate(store, low), SIGSEGV);
    expect_eq(fate(send_to_self, &number), SIGSEGV);
    expect_eq(fate(call, (void *)word(1, 1)), SIGSEGV); /* segments are not executable */
    finish();
    sigaction(SIGSEGV, &ignore, NULL);
    begin(FRAMES, false, 0);
    expect_eq(fate(store, foreign), SIGSEGV);
    expect_eq(fate(send_to_self, &number), 0);
    finish();
    sigaction(SIGSEGV, &before, NULL);
    munmap(foreign, test_page());
}

TEST(one_segment_in_a_process)
{
    if (begin(FRAMES, false, 0)) {
        struct local_options options = {.bytes = PAGE_BYTES, .rank = 0};
        struct local *second;
        char *at;
        expect_eq(pages_local_open(&pool, &options, &second, &at), -EBUSY);
        expect_eq(*word(2, 1), initial(2, 1)); /* the first one still works */
    }
    finish();
}

/* Signals of the program arrive while a fault waits. */
static _Atomic int alarms;

static void on_alarm(int number) {
    atomic_fetch_add(&alarms, 1);
}

TEST(other_signals_come_through)
{
    struct sigaction before, own = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &own, &before);
    if (begin(FRAMES, false, 0)) {
        timer_t timer;
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
        struct itimerspec when = {.it_value = {.tv_nsec = 200000}, .it_interval = {.tv_nsec = 200000}};
        expect_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
        timer_settime(timer, 0, &when, NULL);
        atomic_store(&outside.every, 2);
        for (uint32_t i = 0; i < 2000; i++)
            *word(i * 7 % PAGES, 1) += 1;
        timer_delete(timer);
        for (uint32_t page = 0; page < PAGES; page++)
            expect_eq(*word(page, 1), initial(page, 1) + 5);
        expect(atomic_load(&alarms) > 0);
    }
    finish();
    sigaction(SIGALRM, &before, NULL);
}
