/* unit_net_random.c: tests processes that send each other messages of random sizes at full speed.
 *
 * An episode is a node of 2 to 8 processes with a random limit and header size. Each sends its share, most of it to
 * one process, in random bursts, polls at random, sometimes answers from within a handler, and sometimes pauses. The
 * contents of a message depend on the episode's seed, its sender, its receiver and its number, so the receiver knows
 * every byte; numbers must come in order. In the end all that was sent must have been received.
 *
 * Options: --seconds N, --operations N (messages), --seed N. The seed is printed first. Each episode has its own, and
 * a failure prints the command that replays it. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "net/net.h"
#include "episodes.h"

enum { MOST = 8, EPISODE = 20000, LARGEST = 16 << 10, TIME_LIMIT = 300 };

/* Shared by the processes of an episode, besides their segments. */
struct table {
    _Atomic int arrived, round, finished;
    struct net_address addresses[MOST];
    _Atomic uint64_t sent[MOST][MOST]; /* from, to */
};

struct episode {
    uint64_t seed;
    struct net_options options;
    int victim;
    unsigned share;                          /* messages of each process */
    unsigned victim_percent, answer_percent; /* of messages to the victim; of messages that are answered */
    unsigned burst, largest;
};

static struct episode e;
static struct table *table;
static struct net_node *node;
static struct random dice;
static uint64_t sent[MOST], received[MOST];

static void fail(const char *what, int line) {
    printf("FAIL net_random %s:%d: not so: %s (rank %d of %d; replay with --seed %llu --operations 1)\n",
           __FILE__, line, what, e.options.rank, e.options.count, (unsigned long long)e.seed);
    fflush(stdout);
    _exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- messages ---- */

/* The n-th word of header and payload. */
static uint64_t word_of(int from, int to, uint64_t number, size_t n) {
    return random_mix(e.seed ^ ((uint64_t)from << 60 | (uint64_t)to << 56 | number << 16 | n));
}

static size_t size_of(int from, int to, uint64_t number) {
    uint64_t r = word_of(from, to, number, 0xffff);
    size_t most = r % 16 == 0 ? e.largest : r % 16 < 4 ? 1024 : 100;
    return (r >> 8) % ((most < e.largest ? most : e.largest) + 1);
}

static void fill(int from, int to, uint64_t number, size_t skip, void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = word_of(from, to, number, skip + i / 8);
        memcpy((char *)data + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static bool is_filled(int from, int to, uint64_t number, size_t skip, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = word_of(from, to, number, skip + i / 8);
        if (memcmp((const char *)data + i, &word, bytes - i < 8 ? bytes - i : 8))
            return false;
    }
    return true;
}

/* Header and payload start their words at different indices. */
enum { PAYLOAD = 16 };

/* Returns false if there is no space. */
static bool try_send(int to) {
    int me = e.options.rank;
    static uint64_t header[8], data[LARGEST / 8];
    size_t bytes = size_of(me, to, sent[to]);
    void *place = data;
    bool in_place = chance(50);
    fill(me, to, sent[to], 0, header, e.options.header_bytes);
    if (!in_place)
        fill(me, to, sent[to], PAYLOAD, data, bytes);
    int err = in_place ? net_node_reserve(node, to, header, bytes, &place)
                       : net_node_send(node, to, header, data, bytes);
    require(err == 0 || err == -EAGAIN);
    if (err)
        return false;
    if (in_place) {
        fill(me, to, sent[to], PAYLOAD, place, bytes);
        net_node_commit(node);
    }
    sent[to]++;
    return true;
}

static void handle(void *arg, int from, const void *header, const void *payload, size_t bytes) {
    int me = e.options.rank;
    unsigned *answers = arg;
    require(from >= 0 && from < e.options.count);
    require(bytes == size_of(from, me, received[from]));
    require(is_filled(from, me, received[from], 0, header, e.options.header_bytes));
    require(is_filled(from, me, received[from], PAYLOAD, payload, bytes));
    received[from]++;
    if (*answers && chance(e.answer_percent) && try_send(from)) {
        --*answers;
        require(is_filled(from, me, received[from] - 1, PAYLOAD, payload, bytes)); /* unchanged */
    }
}

/* ---- a process ---- */

static int choose_peer(void) {
    return chance(e.victim_percent) ? e.victim : (int)roll((uint32_t)e.options.count);
}

static void work(void) {
    unsigned left = e.share, answers = e.share / 4;
    while (left) {
        int to = choose_peer();
        unsigned n = 1 + roll(e.burst);
        for (; n && left && try_send(to); n--)
            left--;
        if (n || chance(30))
            if (!net_node_poll(node, handle, &answers))
                sched_yield();
        if (!roll(2000))
            usleep(100);
    }
}

static void meet(void) {
    int round = atomic_load(&table->round);
    if (atomic_fetch_add(&table->arrived, 1) + 1 == e.options.count) {
        atomic_store(&table->arrived, 0);
        atomic_store(&table->round, round + 1);
    }
    while (atomic_load(&table->round) == round)
        sched_yield();
}

static bool have_all(void) {
    for (int i = 0; i < e.options.count; i++)
        if (received[i] < atomic_load(&table->sent[i][e.options.rank]))
            return false;
    return true;
}

/* No process sends after all have reported how much they sent: answers are sent only before. */
static void finish(void) {
    unsigned none = 0;
    for (int i = 0; i < e.options.count; i++)
        atomic_store(&table->sent[e.options.rank][i], sent[i]);
    atomic_fetch_add(&table->finished, 1);
    while (atomic_load(&table->finished) < e.options.count || !have_all())
        if (!net_node_poll(node, handle, &none))
            sched_yield();
    meet();
    require(net_node_poll(node, handle, &none) == 0);
    for (int i = 0; i < e.options.count; i++)
        require(received[i] == atomic_load(&table->sent[i][e.options.rank]));
}

static void take_part(int rank) {
    e.options.rank = rank;
    random_seed(&dice, e.seed + (unsigned)rank * 1000003u);
    memset(sent, 0, sizeof sent);
    memset(received, 0, sizeof received);
    require(net_node_open(&e.options, &node, &table->addresses[rank]) == 0);
    meet();
    require(net_node_connect(node, table->addresses) == 0);
    if (e.largest > net_node_eager(node))
        e.largest = (unsigned)net_node_eager(node);
    meet();
    work();
    finish();
    meet();
    net_node_close(node);
}

/* ---- episodes ---- */

static void choose_episode(uint64_t seed) {
    static const size_t limits[] = {16 << 10, 20 << 10, 64 << 10, 100 << 10, 200 << 10, 1 << 20};
    random_seed(&dice, seed);
    e = (struct episode){.seed = seed};
    e.options.count = 2 + (int)roll(MOST - 1);
    e.options.limit = limits[roll(6)];
    if (e.options.limit < (size_t)sysconf(_SC_PAGESIZE))
        e.options.limit = (size_t)sysconf(_SC_PAGESIZE);
    e.options.header_bytes = chance(70) ? 8 * roll(9) : roll(65);
    e.victim = (int)roll((uint32_t)e.options.count);
    e.victim_percent = chance(50) ? 90 : 100 / (unsigned)e.options.count;
    e.answer_percent = chance(50) ? 20 : 0;
    e.share = EPISODE / (unsigned)e.options.count;
    e.burst = chance(50) ? 4 : 200;
    e.largest = chance(30) ? 100 : LARGEST;
}

/* Without the failed process the others would wait. */
static void end_all(const pid_t *children, int count) {
    for (int i = 1; i < count; i++)
        kill(children[i], SIGKILL);
    exit(1);
}

static void join(const pid_t *children, int count) {
    for (int left = count - 1; left; left--) {
        int status;
        pid_t child = wait(&status);
        if (child > 0 && !status)
            continue;
        if (child > 0 && WIFSIGNALED(status))
            printf("FAIL net_random: a process ended by signal %d, %s (replay with --seed %llu --operations "
                   "1)\n",
                   WTERMSIG(status),
                   WTERMSIG(status) == SIGALRM ? "as it did not end" : "which it should not",
                   (unsigned long long)e.seed);
        end_all(children, count);
    }
}

/* All work is in children: this process only waits. */
static uint64_t run_episode(uint64_t seed) {
    pid_t children[MOST + 1] = {0};
    uint64_t all = 0;
    choose_episode(seed);
    memset(table, 0, sizeof *table);
    for (int i = 0; i < e.options.count; i++) {
        children[i + 1] = fork();
        if (children[i + 1])
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(TIME_LIMIT);
        take_part(i);
        _exit(0);
    }
    join(children, e.options.count + 1);
    for (int i = 0; i < MOST * MOST; i++)
        all += atomic_load(&table->sent[i / MOST][i % MOST]);
    return all;
}

int main(int argc, char **argv) {
    table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct episodes all = {
        .name = "net_random", .operations = "messages in", .things = "episodes", .run = run_episode};
    return episodes_run(all, argc, argv);
}
