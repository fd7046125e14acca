/* node.c: a node in one process: a main port, and a helper thread with its port. */
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"

TEST_THREADS(MPI_THREAD_MULTIPLE)

bool over_ucx(void) {
    const char *net = getenv("HEARTH_NET");
    return !net || strcmp(net, "mpi") != 0;
}

/* ---- contents ---- */

uint64_t seed_of(int rank, uint64_t serial) {
    return random_mix(test_seed + (uint64_t)rank * 1000003 + serial);
}

void fill_random(void *to, size_t bytes, uint64_t seed) {
    struct random r;
    random_seed(&r, seed);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = random_next(&r);
        memcpy((char *)to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

bool is_random(const void *data, size_t bytes, uint64_t seed) {
    struct random r;
    random_seed(&r, seed);
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = random_next(&r);
        if (memcmp((const char *)data + i, &word, bytes - i < 8 ? bytes - i : 8) != 0)
            return false;
    }
    return true;
}

/* ---- the helper ---- */

struct answer {
    struct link_send send;
    struct request header;
    _Alignas(16) char payload[];
};

static void answer_left(struct link_send *s, int status) {
    free(s);
}

static void note_order(struct node *n, const struct request *r) {
    if (r->serial < n->last[r->client])
        n->overtaken++;
    n->last[r->client] = r->serial;
}

/* ---- payloads that are received in place ---- */

static void *place(void *arg, struct link_peer *from, const void *header, size_t header_bytes, size_t bytes) {
    struct node *n = arg;
    expect_eq(header_bytes, sizeof(struct request));
    expect(bytes >= n->in_place);
    n->announced++;
    return malloc(bytes);
}

/* The memory from `place` is free again. */
static void forget_place(struct node *n, const void *payload, size_t bytes) {
    if (!n->in_place || bytes < n->in_place)
        return;
    n->placed++;
    free((void *)(uintptr_t)payload);
}

static void serve(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                  const void *payload, size_t bytes) {
    struct node *n = arg;
    struct request r;
    memcpy(&r, header, sizeof r);
    note_order(n, &r);
    size_t back = r.what == ECHO ? bytes : 0;
    struct answer *a = malloc(sizeof *a + back);
    *a = (struct answer){.send = {.sent = answer_left}, .header = r};
    memcpy(a->payload, payload, back);
    forget_place(n, payload, bytes);
    n->served++;
    if (net_link_send(n->helper, from, &a->header, sizeof r, a->payload, back, &a->send) != 1)
        free(a);
}

static void client_failed(void *arg, struct link_peer *peer, const char *why) {
    ((struct node *)arg)->helper_failed++;
}

static void sleep_us(long us) {
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Returns whether anything arrived within a short time. */
static bool work(struct node *n) {
    bool any = false;
    for (int idle = 0; idle < 20; idle++)
        while (!n->paused && net_link_progress(n->helper) > 0)
            any = true, idle = 0;
    return any;
}

/* Many wakeups without a message mean that a connection is being set up. The thread sleeps then, as the thread that has to
 * answer may need this core. */
static void *help(void *arg) {
    struct node *n = arg;
    int empty = 0;
    while (!n->stop) {
        empty = work(n) ? 0 : empty + 1;
        if (empty > 16)
            sleep_us(50);
        if (n->paused || net_link_arm(n->helper) != 0)
            continue;
        uint64_t us = net_link_nap(n->helper) < 100000 ? net_link_nap(n->helper) : 100000;
        struct pollfd fds[] = {{.fd = n->bell, .events = POLLIN},
                               {.fd = net_link_descriptor(n->helper), .events = POLLIN}};
        ppoll(fds, 2, &(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
        n->wakes++;
    }
    net_link_port_quiesce(n->helper);
    return NULL;
}

static void stop_helper(struct node *n) {
    uint64_t one = 1;
    n->stop = true;
    expect_eq(write(n->bell, &one, sizeof one), sizeof one);
    pthread_join(n->thread, NULL);
    close(n->bell);
}

/* ---- the client ---- */

static void take_reply(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                       const void *payload, size_t bytes) {
    struct node *n = arg;
    expect_eq((uintptr_t)header % 8, 0);
    n->reply(n->arg, header, header_bytes, payload, bytes);
    forget_place(n, payload, bytes);
}

static void helper_failed(void *arg, struct link_peer *peer, const char *why) {
    struct node *n = arg;
    n->failed++;
    n->last_failed = peer;
}

struct sent {
    struct link_send send;
    bool done;
};

static void was_sent(struct link_send *s, int status) {
    ((struct sent *)s)->done = true;
    expect_eq(status, 0);
}

void node_ask(struct node *n, int rank, uint32_t what, uint64_t serial, const void *payload, size_t bytes) {
    struct request r = {.what = what, .client = (uint32_t)test_rank, .serial = serial};
    struct sent s = {.send = {.sent = was_sent}};
    int status = net_link_send(n->main, n->helpers[rank], &r, sizeof r, payload, bytes, &s.send);
    expect(status == 0 || status == 1);
    while (status == 1 && !s.done)
        if (net_link_progress(n->main) == 0)
            sched_yield();
}

bool node_wait(struct node *n, const uint64_t *counter, uint64_t wanted, double seconds) {
    uint64_t end = clock_ns() + (uint64_t)(seconds * 1e9);
    for (int idle = 0; *counter < wanted; idle++) {
        if (net_link_progress(n->main) > 0)
            idle = 0;
        if (idle < 200)
            continue;
        sched_yield();
        if (clock_ns() > end)
            return false;
    }
    return true;
}

void node_rest(struct node *n, double seconds) {
    uint64_t end = clock_ns() + (uint64_t)(seconds * 1e9);
    while (clock_ns() < end)
        if (net_link_progress(n->main) == 0)
            sleep_us(100);
}

void close_only_port(struct link *link, struct link_port *port) {
    net_link_port_quiesce(port);
    barrier();
    net_link_port_shut(port);
    barrier();
    net_link_port_close(port);
    net_link_close(link);
}

void lazy_barrier(void) {
    MPI_Request request;
    int there = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &there, MPI_STATUS_IGNORE); !there; MPI_Test(&request, &there, MPI_STATUS_IGNORE))
        sleep_us(2000);
}

/* ---- opening and closing ---- */

/* Skips the test if the network was not built. */
static void need_network(void) {
    if (HEARTH_UCX || !over_ucx())
        return;
    if (test_rank == 0)
        printf("skip: built without UCX\n");
    MPI_Finalize();
    exit(0);
}

struct address {
    int bytes;
    char data[LINK_ADDRESS];
};

static bool exchange_addresses(struct node *n) {
    struct address mine, *all = calloc((size_t)test_size, sizeof *all);
    bool good = true;
    mine.bytes = net_link_port_address(n->helper, mine.data);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    n->helpers = calloc((size_t)test_size, sizeof *n->helpers);
    n->last = calloc((size_t)test_size, sizeof *n->last);
    for (int i = 0; i < test_size; i++)
        good &=
            expect(all[i].bytes > 0) &&
            expect_eq(net_link_connect(n->main, all[i].data, (size_t)all[i].bytes, i, 1, &n->helpers[i]), 0);
    free(all);
    return good;
}

static bool open_with(struct node *n, const struct link_options *options) {
    struct link_events main = {.arg = n, .arrived = take_reply, .place = place, .failed = helper_failed};
    struct link_events helper = {.arg = n, .arrived = serve, .place = place, .failed = client_failed};
    need_network();
    memset(n, 0, sizeof *n);
    net_mpi_offer(NULL);
    if (!expect_eq(net_link_open(options, &n->link), 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    n->in_place = net_link_in_place(n->link) ? options->in_place : 0;
    if (!expect_eq(net_link_port_open(n->link, 0, &main, &n->main), 0) ||
        !expect_eq(net_link_port_open(n->link, 1, &helper, &n->helper), 0) || !exchange_addresses(n))
        MPI_Abort(MPI_COMM_WORLD, 1); /* the others would wait */
    n->bell = eventfd(0, EFD_CLOEXEC);
    pthread_create(&n->thread, NULL, help, n);
    barrier();
    return true;
}

bool node_open(struct node *n, size_t most, bool direct) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {
        .kind = over_ucx() ? LINK_UCX : LINK_MPI, .most = most, .ports = 2, .comm = &world, .direct = direct};
    return open_with(n, &options);
}

bool node_open_in_place(struct node *n, size_t most, size_t in_place) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {.kind = over_ucx() ? LINK_UCX : LINK_MPI,
                                   .most = most,
                                   .ports = 2,
                                   .comm = &world,
                                   .in_place = in_place};
    return open_with(n, &options);
}

static void finish(struct node *n, void (*meet)(void)) {
    net_link_port_quiesce(n->main);
    meet();
    stop_helper(n);
    meet();
    net_link_port_shut(n->main);
    net_link_port_shut(n->helper);
    meet();
    net_link_port_close(n->main);
    net_link_port_close(n->helper);
    free(n->helpers);
    free(n->last);
}

static void meet_nobody(void) {
}

void node_close(struct node *n) {
    finish(n, barrier);
    net_link_close(n->link);
    barrier();
}

void node_leave(struct node *n) {
    finish(n, meet_nobody);
    for (int i = 0; i < 3; i++)
        barrier();
    net_link_close(n->link);
    barrier();
}

/* ---- the process ---- */

int open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count - 3; /* itself, . and .. */
}

size_t resident_bytes(void) {
    size_t total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu %zu", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (size_t)sysconf(_SC_PAGESIZE);
}

double thread_seconds(pthread_t thread) {
    clockid_t clock;
    struct timespec t = {0};
    if (pthread_getcpuclockid(thread, &clock) == 0)
        clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
