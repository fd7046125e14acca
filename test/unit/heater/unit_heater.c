/* unit_heater.c: tests that the heater touches all of its regions, and none after it was retired. Each test runs in
 * its own process, as settings are read once.   waits: yes; asan: full, since a child of fork
 * may wait for a lock of ASan (below) */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/settings.h"
#include "cache/index.h"
#include "fail_memory.h"
#include "hearth/hearth.h"
#include "heater/cores.h"
#include "heater/heater.h"

enum { PATIENCE = 20 }; /* seconds: the machine may be busy */

/* ---- help ---- */

/* Runs a test in its own process, with these settings, "A=1 B=2". It must exit by itself without failures. */
static void alone(const char *name, const char *settings, void (*run)(void)) {
    if (getenv("HEARTH_TEST_ALONE")) {
        alarm(4 * PATIENCE);
        run();
        return;
    }
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char copy[256], *rest = copy;
        snprintf(copy, sizeof copy, "HEARTH_TEST_ALONE=1 %s", settings);
        for (char *word; (word = strsep(&rest, " "));)
            putenv(word);
        /* The heater runs for seconds in each process and frees nothing. */
        setenv("ASAN_OPTIONS", "detect_leaks=0", 0);
        execl("/proc/self/exe", "unit_heater", name, NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect_eq(status, 0);
}

#define ALONE(name, settings)                                                                                \
    static void name##_run(void);                                                                            \
    TEST(name)                                                                                               \
    { alone(#name, settings, name##_run); }                                                                  \
    static void name##_run(void)

/* A heater that reads, on all machines: a prefetch hint would not fault on unreadable memory. */
#define READS "HEARTH_HEATER=on HEARTH_HEATER_LEVEL=l2"

static struct heater_counters now(void) {
    struct heater_counters c;
    heater_counters(&c);
    return c;
}

static bool rounds_reach(uint64_t rounds) {
    for (uint64_t start = clock_ns(); now().rounds < rounds; usleep(500))
        if (clock_ns() - start > PATIENCE * 1000000000ull)
            return false;
    return true;
}

static bool goes_on(void) {
    return rounds_reach(now().rounds + 3);
}

/* Waits until the counters have not changed for longer than a busy machine suspends a thread. False if they keep
 * changing. */
static bool rests(void) {
    enum { TRIES = 300, STILL = 8 };
    struct heater_counters last = now();
    for (unsigned tries = 0, still = 0; tries < TRIES; tries++) {
        usleep(10000);
        struct heater_counters next = now();
        still = next.rounds == last.rounds && next.lines == last.lines ? still + 1 : 0;
        if (still == STILL)
            return true;
        last = next;
    }
    return false;
}

/* Returns the cache lines that one round of the running heater touches. The two counters are not read atomically, so it
 * repeats until they are consistent. */
static uint64_t lines_per_round(void) {
    for (unsigned tries = 0; tries < 100 && goes_on(); tries++) {
        struct heater_counters a = now();
        if (!rounds_reach(a.rounds + 5))
            break;
        struct heater_counters b = now();
        if ((b.lines - a.lines) % (b.rounds - a.rounds) == 0)
            return (b.lines - a.lines) / (b.rounds - a.rounds);
    }
    return 0;
}

static char *map(size_t bytes) {
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static _Alignas(64) char area[1 << 20];

/* ---- regions ---- */

ALONE(touches_every_line_once_a_round, "HEARTH_HEATER=on") {
    heater_add(area, 1000 * 64);
    expect_eq(now().bytes, 64000);
    expect_eq(lines_per_round(), 1000);
    heater_add(area + 500000, 64 + 1);
    expect_eq(lines_per_round(), 1002);
    heater_retire(area);
    expect_eq(lines_per_round(), 2);
    expect_eq(now().bytes, 65);
}

ALONE(a_region_need_not_begin_on_a_line, "HEARTH_HEATER=on") {
    heater_add(area + 63, 2);
    expect_eq(lines_per_round(), 2);
    heater_retire(area + 63);
    heater_add(area + 4096 + 1, 4096);
    expect_eq(lines_per_round(), 65);
}

ALONE(thousands_of_regions, "HEARTH_HEATER=on") {
    for (int i = 0; i < 5000; i++)
        heater_add(area + 192 * i, 24);
    expect_eq(lines_per_round(), 5000);
    for (int i = 0; i < 5000; i += 2)
        heater_retire(area + 192 * i);
    expect_eq(lines_per_round(), 2500);
    for (int i = 0; i < 5000; i += 2)
        heater_add(area + 192 * i, 65);
    expect_eq(lines_per_round(), 7500);
}

ALONE(touches_no_more_than_it_may, "HEARTH_HEATER=on HEARTH_HEATER_MAX=4096") {
    heater_add(area, 3200);
    heater_add(area + 8192, 100000);
    expect_eq(lines_per_round(), 64);
}

ALONE(what_cannot_be_added_is_passed_over, "HEARTH_HEATER=on") {
    heater_add(NULL, 64);
    heater_add(area, 0);
    heater_retire(area);
    heater_add(area, 640);
    heater_add(area, 64); /* a second time: refused, with a line */
    expect_eq(now().bytes, 640);
    expect_eq(lines_per_round(), 10);
    heater_retire(area);
    heater_retire(area);
    expect_eq(now().bytes, 0);
}

/* The index of a cache moves when it is resized. The heater's counted bytes follow, and the old place is not read. */
ALONE(an_index_is_kept_warm_wherever_it_is, READS " HEARTH_HEATER_US=0 HEARTH_HEATER_INDEX=on") {
    struct cache_config config;
    struct cache *cache;
    cache_config_from(&config, settings_get());
    config.index_slots = 8192;
    config.seed = 1;
    expect_eq(cache_open(&config, &cache), 0);
    expect_eq(now().bytes, 8192 * sizeof(struct cache_slot));
    expect_eq(lines_per_round(), 1024);
    for (unsigned i = 0; i < 200; i++) {
        uint32_t slots = 4096 << (i % 7);
        expect_eq(index_resize(cache, slots), 0);
        expect_eq(now().bytes, slots * sizeof(struct cache_slot));
    }
    fail_memory_at(1);
    expect(index_resize(cache, 1 << 20) != 0);
    fail_memory_at(0);
    expect(now().bytes > 0);
    expect(goes_on());
    cache_close(cache);
    expect_eq(now().bytes, 0);
}

/* ---- after heater_retire ---- */

struct churn {
    pthread_t thread;
    uint64_t seed;
};

static uint64_t new_seed(void) {
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns();
    printf("HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Retired regions become unreadable: one touch too many ends the program. */
static void *churn(void *arg) {
    struct random random;
    random_seed(&random, ((struct churn *)arg)->seed);
    char *memory[16] = {0};
    size_t bytes[16];
    for (int i = 0; i < 2000; i++) {
        unsigned n = random_below(&random, 16);
        if (memory[n]) {
            heater_retire(memory[n]);
            if (random_below(&random, 2))
                munmap(memory[n], bytes[n]);
            else
                mprotect(memory[n], bytes[n], PROT_NONE);
            memory[n] = NULL;
        } else {
            bytes[n] = 4096 * (1 + random_below(&random, 64));
            memory[n] = map(bytes[n]);
            heater_add(memory[n], bytes[n]);
        }
        if (i % 64 == 0)
            usleep(random_below(&random, 300));
    }
    for (int n = 0; n < 16; n++)
        if (memory[n]) {
            heater_retire(memory[n]);
            munmap(memory[n], bytes[n]);
        }
    return NULL;
}

ALONE(nothing_is_touched_once_retired, READS " HEARTH_HEATER_US=0") {
    struct churn c[2];
    uint64_t seed = new_seed();
    heater_add(area, 64);
    expect(goes_on()); /* it runs from the first region on */
    for (unsigned i = 0; i < 2; i++) {
        c[i].seed = seed + i;
        expect_eq(pthread_create(&c[i].thread, NULL, churn, &c[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(c[i].thread, NULL);
    expect_eq(now().bytes, 64);
    expect(now().lines > 2000);
}

ALONE(nor_with_naps_pauses_and_stops, READS " HEARTH_HEATER_US=1") {
    pthread_t thread;
    struct churn c = {.seed = new_seed()};
    heater_add(area, 64);
    expect(goes_on());
    expect_eq(pthread_create(&thread, NULL, churn, &c), 0);
    for (unsigned i = 0; i < 100; i++) {
        heater_pause();
        usleep(i % 10 ? 100 : 2000); /* the heater falls asleep in the long pauses */
        heater_resume();
        if (i % 5 == 0) {
            heater_stop();
            heater_start();
        }
    }
    pthread_join(thread, NULL);
    expect_eq(now().bytes, 64);
}

ALONE(a_large_region_is_left_at_once, READS " HEARTH_HEATER_MAX=1g HEARTH_HEATER_US=0") {
    size_t bytes = 256 << 20; /* all mapped to the zero page: a round takes milliseconds */
    for (unsigned i = 0; i < 20; i++) {
        char *memory = map(bytes);
        heater_add(memory, bytes);
        usleep(3000);
        heater_retire(memory);
        munmap(memory, bytes);
    }
    expect_eq(now().bytes, 0);
}

ALONE(memory_may_be_written_meanwhile, READS " HEARTH_HEATER_US=1") {
    heater_add(area, 65536);
    uint64_t start = now().rounds;
    for (unsigned i = 0; i < 2000000 || (now().rounds < start + 10 && goes_on()); i++)
        area[i * 8 % 65536]++;
    expect(now().rounds >= start + 10);
}

/* ---- pauses ---- */

ALONE(pauses_nest, "HEARTH_HEATER=on") {
    heater_add(area, 4096);
    expect(goes_on());
    heater_pause();
    heater_pause();
    expect(rests());
    heater_resume();
    expect(rests());
    heater_resume();
    expect(goes_on());
}

ALONE(a_pause_before_the_first_region_counts, "HEARTH_HEATER=on") {
    heater_pause();
    heater_add(area, 4096);
    expect(rests());
    expect_eq(now().rounds, 0);
    heater_resume();
    expect(goes_on());
}

ALONE(resuming_what_was_not_paused_is_ignored, "HEARTH_HEATER=on HEARTH_LOG=error") {
    heater_add(area, 4096);
    heater_resume(); /* prints a line */
    expect(goes_on());
    heater_pause();
    expect(rests());
    heater_resume();
    expect(goes_on());
}

ALONE(a_pause_ends_a_long_round, READS " HEARTH_HEATER_MAX=4g HEARTH_HEATER_US=0") {
    size_t bytes = (size_t)3 << 30; /* never written, so all mapped to the zero page */
    char *memory = map(bytes);
    heater_add(memory, bytes);
    usleep(50000);
    heater_pause();
    expect(rests());
    uint64_t lines = now().lines;
    expect(rests());
    expect_eq(now().lines, lines);
    expect(lines % (bytes / 64) != 0 || !lines); /* the round was interrupted */
    expect_eq(now().rounds, lines / (bytes / 64));
    heater_resume();
    heater_retire(memory);
}

ALONE(many_short_pauses_lose_no_wake_up, "HEARTH_HEATER=on HEARTH_HEATER_US=1") {
    heater_add(area, 640);
    for (unsigned i = 0; i < 300; i++) {
        heater_pause();
        usleep(i % 30 ? 20 : 1200 + i); /* about the time after which the heater falls asleep */
        heater_resume();
        if (i % 30 == 0)
            expect(goes_on());
    }
    expect(goes_on());
}

ALONE(without_regions_it_rests, "HEARTH_HEATER=on") {
    heater_add(area, 4096);
    expect(goes_on());
    heater_retire(area);
    expect(rests());
    heater_pause();
    heater_add(area, 4096);
    expect(rests());
    heater_retire(area);
    heater_resume();
    expect(rests());
    heater_add(area, 64);
    expect(goes_on());
}

ALONE(stops_and_goes_on, "HEARTH_HEATER=on") {
    heater_add(area, 4096);
    expect(goes_on());
    expect(now().core >= 0);
    heater_stop();
    expect_eq(now().core, -1);
    expect(rests());
    expect_eq(now().bytes, 4096);
    heater_add(area + 8192, 64);
    expect(rests());
    heater_stop();
    heater_start();
    heater_start();
    expect_eq(lines_per_round(), 65);
}

/* ---- settings and placement ---- */

ALONE(off_is_off, "HEARTH_HEATER=off") {
    heater_add(area, 4096);
    expect(rests());
    expect_eq(now().rounds, 0);
    expect_eq(now().core, -1);
    heater_retire(area);
}

ALONE(no_core_to_spare_no_heater, "HEARTH_HEATER=auto HEARTH_HEATER_LEVEL=any") {
    heater_neighbours((unsigned)sysconf(_SC_NPROCESSORS_CONF));
    heater_add(area, 4096);
    usleep(500000);
    expect_eq(now().rounds, 0);
    expect_eq(now().core, -1);
}

ALONE(others_come_and_it_leaves, "HEARTH_HEATER=auto HEARTH_HEATER_LEVEL=any") {
    heater_add(area, 4096); /* the heater starts if there is an idle core; in any case it must pause later */
    usleep(500000);
    heater_neighbours((unsigned)sysconf(_SC_NPROCESSORS_CONF));
    for (uint64_t start = clock_ns(); now().core >= 0 && clock_ns() - start < PATIENCE * 1000000000ull;)
        usleep(10000);
    expect_eq(now().core, -1);
    expect(rests());
}

ALONE(keeps_off_the_core_of_the_program, "HEARTH_HEATER=on HEARTH_HEATER_LEVEL=any") {
    cpu_set_t one;
    int core = sched_getcpu();
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    expect_eq(sched_setaffinity(0, sizeof one, &one), 0);
    heater_add(area, 4096);
    expect(goes_on());
    expect(now().core >= 0 && now().core != core);
}

static volatile sig_atomic_t handled;

static void handle(int number) {
    handled++;
}

ALONE(signals_are_left_to_the_program, "HEARTH_HEATER=on") {
    sigset_t one, pending;
    heater_add(area, 4096);
    expect(goes_on());
    signal(SIGUSR1, handle);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigprocmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), SIGUSR1); /* goes to any thread that does not block it; the heater blocks it */
    usleep(50000);
    expect_eq(handled, 0);
    sigpending(&pending);
    expect(sigismember(&pending, SIGUSR1));
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    expect_eq(handled, 1);
}

/* ---- fork and exit ---- */

#ifndef __SANITIZE_ADDRESS__ /* gcc's ASan does not hold its allocator while a process forks: a child may wait for a lock for ever */

static void use_in_child(void) {
    expect_eq(now().core, -1);
    expect(rests());
    heater_retire(area);
#ifndef __SANITIZE_THREAD__ /* TSan does not support a child that starts threads */
    heater_add(area + 4096, 128);
    expect_eq(lines_per_round(), 2);
#endif
}

ALONE(a_child_has_a_heater_of_its_own, "HEARTH_HEATER=on") {
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            heater_pause();
        heater_add(area, 4096);
        usleep((useconds_t)i * 300);
        pid_t child = fork();
        if (!child) {
            if (i % 2)
                heater_resume();
            use_in_child();
            exit(test_failures > 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
        if (i % 2)
            heater_resume();
        expect_eq(lines_per_round(), 64);
        heater_retire(area);
    }
}

ALONE(a_child_that_does_nothing_ends, "HEARTH_HEATER=on") {
    heater_add(area, 65536);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (!child)
            exit(0);
        int status = -1;
        waitpid(child, &status, 0);
        expect_eq(status, 0);
    }
    expect(goes_on());
}

#endif

ALONE(ends_with_the_program, "HEARTH_HEATER=on HEARTH_HEATER_US=1000000") {
    heater_add(area, 65536); /* exits while the heater runs, or in a long sleep */
    usleep(20000);
}

ALONE(ends_with_the_program_while_it_rests, "HEARTH_HEATER=on") {
    heater_add(area, 65536);
    expect(goes_on());
    heater_pause();
    usleep(5000);
}

/* ---- which core ---- */

/* Cores 0 to 7: 0,1 are threads of one core, 2,3 of another; 0 to 3 share a cache, 4 to 7 another; 7 is not allowed. */
static struct cores *eight(void) {
    static struct cores c;
    memset(&c, 0, sizeof c);
    memset(c.cache, -1, sizeof c.cache);
    memset(c.whole, -1, sizeof c.whole);
    for (int i = 0; i < 8; i++) {
        c.cache[i] = i / 4;
        c.whole[i] = i / 2;
        if (i < 7)
            CPU_SET(i, &c.allowed);
    }
    return &c;
}

TEST(chooses_a_core_that_shares_the_cache)
{
    struct cores *c = eight();
    struct cores_wish wish = {.neighbour = 0, .most_load = 0.25, .own = -1};
    expect_eq(cores_choose(c, &wish), 2); /* an idle core rather than the sibling of the program's */
    c->load[2] = 0.2f;
    expect_eq(cores_choose(c, &wish), 3);
    c->load[2] = c->load[3] = 0.9f;
    expect_eq(cores_choose(c, &wish), 1);
    c->load[1] = 1;
    expect_eq(cores_choose(c, &wish), -1);
    wish.most_load = 1;
    expect_eq(cores_choose(c, &wish), 2);
}

TEST(another_cache_only_if_any_will_do)
{
    struct cores *c = eight();
    struct cores_wish wish = {.neighbour = 0, .most_load = 0.25, .own = -1};
    c->load[1] = c->load[2] = c->load[3] = 1;
    expect_eq(cores_choose(c, &wish), -1);
    wish.any_cache = true;
    expect_eq(cores_choose(c, &wish), 4);
    wish.neighbour = 4;
    c->load[5] = c->load[6] = 1; /* 7 is idle, but not allowed */
    expect_eq(cores_choose(c, &wish), 0);
    wish.any_cache = false;
    expect_eq(cores_choose(c, &wish), -1);
    wish.neighbour = 100; /* an unknown core */
    expect_eq(cores_choose(c, &wish), -1);
    wish.neighbour = -1;
    expect_eq(cores_choose(c, &wish), -1);
}

TEST(stays_where_it_is_while_that_will_do)
{
    struct cores *c = eight();
    struct cores_wish wish = {.neighbour = 0, .most_load = 0.25, .own = 3, .own_load = 0.6};
    c->load[3] = 0.8f; /* mostly the heater's own load */
    expect_eq(cores_choose(c, &wish), 3);
    c->load[3] = 1;
    expect_eq(cores_choose(c, &wish), 2);
    wish.own_load = 1;
    wish.neighbour = 3; /* the program moved here */
    expect_eq(cores_choose(c, &wish), 0);
}

ALONE(sees_the_load, "") {
    static struct cores c;
    expect_eq(cores_open(&c, 0), 0);
    expect(c.count > 0 && c.count <= (double)sysconf(_SC_NPROCESSORS_CONF));
    expect(!cores_look(&c));
    expect(!cores_look(&c)); /* too early */
    int core = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (uint64_t start = clock_ns(); clock_ns() - start < 300000000;)
        area[0]++;
    expect(cores_look(&c));
    expect(c.load[core] > 0.5); /* caused by this test, or by other programs on the same core */
}

ALONE(a_preview_tells_of_no_core_if_there_is_no_heater, "HEARTH_HEATER=off") {
    expect_eq(heater_preview(1), -1);
}

ALONE(a_preview_tells_of_no_core_if_the_processes_need_all, "HEARTH_HEATER=auto HEARTH_HEATER_LEVEL=any") {
    expect_eq(heater_preview(MOST_CORES), -1);
}

ALONE(a_preview_tells_of_a_core_that_may_be_used, "HEARTH_HEATER=on HEARTH_HEATER_LEVEL=any") {
    cpu_set_t allowed;
    int core = heater_preview(1);
    sched_getaffinity(0, sizeof allowed, &allowed); /* the call above may have widened it */
    expect_eq(core >= 0, CPU_COUNT(&allowed) > 1);
    expect(core < 0 || CPU_ISSET((size_t)core, &allowed));
}
