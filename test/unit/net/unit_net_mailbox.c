/* unit_net_mailbox.c: tests that every request is answered, whenever the helper sleeps. */
#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/random.h"
#include "net/shm/mailbox.h"
#include "net_boot.h"

static void *memory;
static size_t memory_bytes;

static void open_memory(int processes) {
    memory_bytes = net_mailbox_bytes(processes);
    memory = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void close_memory(void) {
    munmap(memory, memory_bytes);
}

enum { STOP = 99 };

static int64_t reply_to(const struct mailbox_request *r) {
    uint64_t sum = r->what;
    for (int i = 0; i < MAILBOX_WORDS; i++)
        sum = sum * 31 + r->words[i];
    return (int64_t)sum;
}

static struct mailbox_request request_of(uint64_t n) {
    struct mailbox_request r = {.what = (uint32_t)(n % 50)};
    for (int i = 0; i < MAILBOX_WORDS; i++)
        r.words[i] = n * 1000003 + (uint64_t)i;
    return r;
}

static int64_t ask_and_wait(struct mailbox *box, const struct mailbox_request *r) {
    int64_t answer;
    int cell = net_mailbox_ask(box, r);
    expect(cell >= 0);
    while (!net_mailbox_answered(box, cell, &answer))
        net_mailbox_wait(box, cell, UINT64_MAX);
    return answer;
}

/* ---- one process, step by step ---- */

TEST(asked_taken_answered)
{
    struct mailbox *helper = NULL, *box = NULL;
    struct mailbox_request r, got;
    int cell, cells[MAILBOX_CELLS];
    int64_t answer = 0;
    unsigned files = count_files();
    open_memory(3);
    expect_eq(net_mailbox_make(memory, 3, &helper), 0);
    expect_eq(net_mailbox_join(memory, 2, &box), 0);
    expect(!net_mailbox_take(helper, &got, &cell));
    for (int i = 0; i < MAILBOX_CELLS; i++) {
        r = request_of((uint64_t)i);
        cells[i] = net_mailbox_ask(box, &r);
        expect(cells[i] >= 0);
        expect_eq(net_mailbox_process(helper, cells[i]), 2);
    }
    expect_eq(net_mailbox_ask(box, &r), -EBUSY);
    for (int i = 0; i < MAILBOX_CELLS; i++) {
        expect(net_mailbox_take(helper, &got, &cell));
        r = request_of((uint64_t)i);
        expect(cell == cells[i] && !memcmp(&got, &r, sizeof r));
        expect(!net_mailbox_answered(box, cell, &answer));
    }
    expect(!net_mailbox_take(helper, &got, &cell));
    net_mailbox_answer(helper, cells[1], -5); /* in any order */
    expect(!net_mailbox_answered(box, cells[0], &answer) && net_mailbox_answered(box, cells[1], &answer));
    expect_eq(answer, -5);
    expect_eq(net_mailbox_ask(box, &r), cells[1]);
    net_mailbox_close(box);
    net_mailbox_close(helper);
    net_mailbox_close(NULL);
    expect_eq(count_files(), files);
    close_memory();
}

/* No requester waits for more than one turn of the others: 40 processes, more than one doorbell word. */
TEST(all_have_their_turn)
{
    enum { PROCESSES = 40 };
    struct mailbox *helper = NULL, *box[PROCESSES];
    struct mailbox_request r = request_of(1), got;
    int cell, last = -1, served[PROCESSES] = {0};
    int64_t answer;
    open_memory(PROCESSES);
    expect_eq(net_mailbox_make(memory, PROCESSES, &helper), 0);
    for (int i = 0; i < PROCESSES; i++) {
        expect_eq(net_mailbox_join(memory, i, &box[i]), 0);
        expect(net_mailbox_ask(box[i], &r) >= 0);
    }
    for (int i = 0; i < 10 * PROCESSES; i++) { /* each asks again at once */
        expect(net_mailbox_take(helper, &got, &cell));
        int process = net_mailbox_process(helper, cell);
        expect_eq(process, (last + 1) % PROCESSES);
        last = process;
        served[process]++;
        net_mailbox_answer(helper, cell, 0);
        expect(net_mailbox_answered(box[process], cell, &answer));
        expect(net_mailbox_ask(box[process], &r) >= 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        expect_eq(served[i], 10);
        net_mailbox_close(box[i]);
    }
    net_mailbox_close(helper);
    close_memory();
}

static int readable(struct mailbox *helper, int milliseconds) {
    struct pollfd p = {.fd = net_mailbox_descriptor(helper), .events = POLLIN};
    return poll(&p, 1, milliseconds);
}

TEST(the_pipe_is_written_only_for_a_sleeper)
{
    struct mailbox *helper = NULL, *box = NULL;
    struct mailbox_request r = request_of(1), got;
    int cell;
    open_memory(1);
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 0, &box), 0);
    expect(net_mailbox_ask(box, &r) >= 0);
    net_mailbox_doorbell(box);
    expect_eq(readable(helper, 0), 0);
    net_mailbox_sleeps(helper);
    expect(net_mailbox_take(helper, &got, &cell)); /* posted before: found by the last check */
    net_mailbox_wakes(helper);
    net_mailbox_sleeps(helper);
    expect_eq(readable(helper, 0), 0);
    expect(net_mailbox_ask(box, &r) >= 0);
    expect_eq(readable(helper, 0), 1);
    net_mailbox_wakes(helper);
    expect_eq(readable(helper, 0), 0); /* emptied */
    net_mailbox_sleeps(helper);
    net_mailbox_doorbell(box);
    net_mailbox_doorbell(box);
    expect_eq(readable(helper, 0), 1);
    net_mailbox_wakes(helper);
    expect_eq(readable(helper, 0), 0);
    net_mailbox_close(box);
    net_mailbox_close(helper);
    close_memory();
}

/* A full pipe blocks no process, and is emptied at once. */
TEST(many_rings_are_as_good_as_one)
{
    struct mailbox *helper = NULL, *box = NULL;
    open_memory(1);
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 0, &box), 0);
    net_mailbox_sleeps(helper);
    for (int i = 0; i < 70000; i++)
        net_mailbox_doorbell(box);
    expect_eq(readable(helper, 0), 1);
    net_mailbox_wakes(helper);
    for (int i = 0; i < 3; i++) {
        expect_eq(readable(helper, 0), 0);
        net_mailbox_sleeps(helper);
        net_mailbox_doorbell(box);
        expect_eq(readable(helper, 0), 1);
        net_mailbox_wakes(helper);
    }
    net_mailbox_close(box);
    net_mailbox_close(helper);
    close_memory();
}

/* ---- a helper that sleeps whenever it can ---- */

/* Serves all requests that are there; returns how many processes were done. */
static int serve(struct mailbox *helper, uint64_t *served) {
    struct mailbox_request r;
    int cell;
    int stops = 0;
    while (net_mailbox_take(helper, &r, &cell)) {
        net_mailbox_answer(helper, cell, reply_to(&r));
        stops += r.what == STOP;
        (*served)++;
    }
    return stops;
}

/* Each pass either serves or sleeps, for any time: a lost wakeup would last forever (or ten seconds). */
static uint64_t help(struct mailbox *helper, int stops, uint64_t *sleeps) {
    uint64_t served = 0;
    *sleeps = 0;
    while (stops) {
        net_mailbox_sleeps(helper);
        uint64_t before = served;
        stops -= serve(helper, &served);
        if (served == before) {
            ++*sleeps;
            expect_eq(readable(helper, 10000), 1);
        }
        net_mailbox_wakes(helper);
    }
    return served;
}

struct asker {
    struct mailbox *box;
    uint64_t count, seed;
};

/* Waits asleep, waits by polling, and has several requests pending, in turn. */
static void *ask_many(void *arg) {
    struct asker *a = arg;
    for (uint64_t i = 0; i < a->count;) {
        struct mailbox_request r[2];
        int64_t answer;
        int cells[2], n = 1 + (int)(i % 2);
        for (int k = 0; k < n; k++, i++) {
            r[k] = request_of(a->seed + i);
            cells[k] = net_mailbox_ask(a->box, &r[k]);
            expect(cells[k] >= 0);
        }
        for (int k = 0; k < n; k++) {
            while (!net_mailbox_answered(a->box, cells[k], &answer))
                i % 16 ? net_mailbox_wait(a->box, cells[k], i % 5 ? UINT64_MAX : 3) : (void)sched_yield();
            expect_eq(answer, reply_to(&r[k]));
        }
    }
    return NULL;
}

static void *help_thread(void *arg) {
    uint64_t sleeps;
    help(arg, 1, &sleeps);
    return NULL;
}

TEST(two_threads_ask_a_third)
{
    struct mailbox *helper = NULL, *box = NULL;
    pthread_t threads[2], helping;
    struct mailbox_request stop = {.what = STOP};
    open_memory(1);
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 0, &box), 0);
    expect_eq(pthread_create(&helping, NULL, help_thread, helper), 0);
    struct asker askers[2] = {{box, 5000, 0}, {box, 5000, 1000000}};
    for (int i = 0; i < 2; i++)
        expect_eq(pthread_create(&threads[i], NULL, ask_many, &askers[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    ask_and_wait(box, &stop);
    pthread_join(helping, NULL);
    net_mailbox_close(box);
    net_mailbox_close(helper);
    close_memory();
}

static uint64_t asks; /* of each process */

/* Rank 0 is the helper, the others ask. */
static void ask_or_help(const struct net_boot *boot) {
    struct mailbox *box = NULL;
    unsigned files = count_files();
    if (boot->rank == 0)
        expect_eq(net_mailbox_make(memory, boot->size, &box), 0);
    net_boot_barrier(boot);
    if (boot->rank == 0) {
        uint64_t sleeps, served = help(box, boot->size - 1, &sleeps);
        expect_eq(served, (asks + 1) * (uint64_t)(boot->size - 1));
        printf("%llu asked, %llu sleeps\n", (unsigned long long)served, (unsigned long long)sleeps);
    } else {
        expect_eq(net_mailbox_join(memory, boot->rank, &box), 0);
        struct asker a = {box, asks, (uint64_t)boot->rank << 32};
        struct mailbox_request stop = {.what = STOP};
        ask_many(&a);
        ask_and_wait(box, &stop);
    }
    net_boot_barrier(boot);
    net_mailbox_close(box);
    expect_eq(count_files(), files);
}

/* ASKS=1000000 for the long form. */
TEST(processes_ask_a_helper_that_sleeps_all_the_time)
{
    const char *given = getenv("ASKS");
    for (int size = 2; size <= 5; size += 3) {
        asks = given ? strtoull(given, NULL, 0) : 20000;
        asks |= 1; /* an odd number: one request, then two at a time */
        open_memory(size);
        boot_run(size, ask_or_help);
        close_memory();
    }
}

/* Sends the next request soon after the answer, with a random delay, so that it arrives within nanoseconds of the moment
 * between the helper's last check and its sleep. */
static void ask_at_once(const struct net_boot *boot) {
    struct mailbox *box = NULL;
    struct random r;
    uint64_t sleeps;
    if (boot->rank == 0)
        expect_eq(net_mailbox_make(memory, 2, &box), 0);
    net_boot_barrier(boot);
    if (boot->rank == 0) {
        help(box, 1, &sleeps);
        net_boot_barrier(boot);
        net_mailbox_close(box);
        return;
    }
    expect_eq(net_mailbox_join(memory, 1, &box), 0);
    struct mailbox_request request = request_of(1), stop = {.what = STOP};
    random_seed(&r, 7);
    for (uint64_t i = 0; i < asks; i++) {
        int64_t answer;
        int cell = net_mailbox_ask(box, &request);
        for (int looks = 0; !net_mailbox_answered(box, cell, &answer); looks++)
            if (looks >= 2000)
                net_mailbox_wait(box, cell, UINT64_MAX);
        for (uint32_t wait = random_below(&r, 1000); wait; wait--)
            atomic_signal_fence(memory_order_seq_cst);
    }
    ask_and_wait(box, &stop);
    net_boot_barrier(boot);
    net_mailbox_close(box);
}

TEST(no_ring_is_lost_while_the_helper_falls_asleep)
{
    const char *given = getenv("ASKS");
    asks = given ? strtoull(given, NULL, 0) : 100000;
    open_memory(2);
    boot_run(2, ask_at_once);
    close_memory();
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void time_or_help(const struct net_boot *boot) {
    enum { TIMES = 2000 };
    static uint64_t took[TIMES];
    struct mailbox *box = NULL;
    uint64_t sleeps;
    if (boot->rank == 0)
        expect_eq(net_mailbox_make(memory, 2, &box), 0);
    net_boot_barrier(boot);
    if (boot->rank == 0) {
        help(box, 1, &sleeps);
    } else {
        struct mailbox_request r = request_of(1), stop = {.what = STOP};
        expect_eq(net_mailbox_join(memory, 1, &box), 0);
        for (int i = 0; i < TIMES; i++) {
            uint64_t start = clock_ns();
            ask_and_wait(box, &r);
            took[i] = clock_ns() - start;
            usleep(20); /* so that the helper does sleep */
        }
        ask_and_wait(box, &stop);
        qsort(took, TIMES, sizeof *took, compare);
        printf("asked to answered, helper asleep: p50 %.1f us, p99 %.1f us\n", (double)took[TIMES / 2] / 1000,
               (double)took[TIMES * 99 / 100] / 1000);
    }
    net_boot_barrier(boot);
    net_mailbox_close(box);
}

TEST(what_an_answer_costs)
{
    open_memory(2);
    boot_run(2, time_or_help);
    close_memory();
}

/* ---- failures ---- */

static void *ring_later(void *arg) {
    usleep(20000);
    net_mailbox_doorbell(arg);
    return NULL;
}

/* A wakeup that is not a request: a word that the helper checks before it sleeps. */
TEST(a_ring_wakes_for_other_reasons)
{
    struct mailbox *helper = NULL, *box = NULL;
    pthread_t thread;
    open_memory(1);
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 0, &box), 0);
    net_mailbox_sleeps(helper);
    expect_eq(pthread_create(&thread, NULL, ring_later, box), 0);
    expect_eq(readable(helper, 60000), 1);
    net_mailbox_wakes(helper);
    pthread_join(thread, NULL);
    net_mailbox_close(box);
    net_mailbox_close(helper);
    close_memory();
}

TEST(a_wait_ends_when_the_time_is_over)
{
    struct mailbox *helper = NULL, *box = NULL;
    struct mailbox_request r = request_of(1);
    open_memory(1);
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 0, &box), 0);
    int cell = net_mailbox_ask(box, &r);
    uint64_t start = clock_ns();
    net_mailbox_wait(box, cell, 10000);
    expect(clock_ns() - start >= 10000000);
    net_mailbox_close(box);
    net_mailbox_close(helper);
    close_memory();
}

/* The helper is killed while it sleeps: a process that rings the doorbell is neither killed by a signal nor blocked. The
 * helper and rank 1 synchronise at a separate board, which is not used afterwards, as the helper may die while it holds the
 * board's lock. */
static void outlive_helper(const struct net_boot *boot) {
    struct mailbox *box = NULL;
    struct mailbox_request r = request_of(1);
    struct boot_seat seat;
    struct net_boot pair = boot_at(&seat, 1, boot->rank, 2);
    pid_t helper = boot->rank == 0 ? team_fork() : 1;
    if (!helper) {
        net_mailbox_make(memory, 2, &box);
        net_mailbox_sleeps(box);
        net_boot_barrier(&pair);
        pause();
    }
    if (boot->rank == 1) {
        net_boot_barrier(&pair);
        expect_eq(net_mailbox_join(memory, 1, &box), 0);
    }
    net_boot_barrier(boot);
    if (boot->rank == 0) {
        kill(helper, SIGKILL);
        expect(!team_join(helper));
    }
    net_boot_barrier(boot);
    if (boot->rank == 1) {
        int cell = net_mailbox_ask(box, &r);
        expect(cell >= 0);
        net_mailbox_doorbell(box);
        net_mailbox_wait(box, cell, 1000);
        net_mailbox_close(box);
        expect(net_mailbox_join(memory, 1, &box) < 0);
    }
}

TEST(a_dead_helper_harms_nobody)
{
    open_memory(2);
    boot_run(2, outlive_helper);
    close_memory();
}

/* The number of the helper's descriptor now refers to something else. */
TEST(another_pipe_is_refused)
{
    struct mailbox *helper = NULL, *box = NULL;
    int ends[2];
    unsigned files = count_files();
    open_memory(1);
    expect_eq(net_mailbox_join(memory, 0, &box), -EINVAL); /* not created yet */
    expect_eq(net_mailbox_make(memory, 1, &helper), 0);
    expect_eq(net_mailbox_join(memory, 1, &box), -EINVAL);
    expect_eq(net_mailbox_join(memory, -1, &box), -EINVAL);
    int file = net_mailbox_descriptor(helper);
    net_mailbox_close(helper);
    expect_eq(net_mailbox_join(memory, 0, &box), -ENOENT);
    expect(!pipe(ends) && ends[0] == file);
    expect_eq(net_mailbox_join(memory, 0, &box), -ESTALE);
    close(ends[0]);
    expect_eq(open("/dev/null", O_RDONLY), file);
    expect_eq(net_mailbox_join(memory, 0, &box), -ESTALE);
    close(file);
    close(ends[1]);
    expect(!box);
    expect_eq(count_files(), files);
    close_memory();
}

TEST(no_descriptors_are_an_error)
{
    struct mailbox *helper = NULL, *box = NULL;
    struct rlimit before, limit;
    unsigned files = count_files();
    open_memory(1);
    expect_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (rlim_t most = 3; most < 8; most++) {
        limit = (struct rlimit){most, before.rlim_max};
        expect_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        int made = net_mailbox_make(memory, 1, &helper),
            joined = made ? 0 : net_mailbox_join(memory, 0, &box);
        expect_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        expect_eq(made, most < 5 ? -EMFILE : 0);
        expect_eq(joined, most >= 5 && most < 7 ? -EMFILE : 0);
        net_mailbox_close(helper);
        net_mailbox_close(box);
        helper = box = NULL;
        expect_eq(count_files(), files);
    }
    close_memory();
}
