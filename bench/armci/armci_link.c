/* armci_link.c: measures the network below ARMCI alone (src/net/link), as the baseline for the layers on it.
 *
 * Two ranks, two nodes. Rank 1 has a thread that loops like ARMCI's helper: progress, a short spin, then sleep
 * in poll on the network's descriptor. It answers a message of `bytes` with one of the same size (a round
 * trip), or with a header alone (a stream, with at most `window` unanswered messages). Rank 0 waits as ARMCI's
 * ranks do: it spins for a while and then sleeps. Rank 1's own thread waits in MPI, sleeps or computes, as in
 * armci_rest.h.
 *
 *  Prints: what (trip, stream),bytes,window,samples,us per message (median),its 95 % interval,99th percentile,MB/s */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "armci_rest.h"
#include "base/clock.h"
#include "net/net.h"

static const char help[] =
    "armci_link [OPTION]...   the network alone; see the head of armci_link.c\n"
    "  --net ucx            transport: ucx or mpi\n"
    "  --trips 8            sizes of round trips, in bytes\n"
    "  --streams 64k        sizes of the messages of a stream, in bytes\n"
    "  --window 4           maximal messages of a stream in flight\n"
    "  --spread 1m          memory that the messages of a stream are sent from in turn\n"
    "  --rest wait          what the other rank does meanwhile: wait, sleep, compute\n"
    "  --nice 19            niceness of the other rank, if it computes\n"
    "  --bind               bind each rank to its own core\n"
    "  --spin 60            us for which a waiting rank spins\n"
    "  --helper-spin 20     us for which the idle helper spins\n"
    "  --milliseconds N     time for each size\n";

enum { MOST = 1 << 20, EMPTY_WAKES = 16, BATCH = 16 };

struct message {
    uint32_t echo; /* whether the payload is to be sent back */
    uint32_t bytes;
    uint64_t serial;
};

static int rank;
static struct link *the_link;
static struct link_port *port, *helper_port;
static struct link_peer *helper; /* rank 1's, as seen from rank 0 */
static char *payload;            /* `spread` bytes, at least MOST */
static size_t spread;
static uint64_t spin_ns, helper_spin_ns, answered, wrong;
static _Atomic bool stop_helper; /* set by rank 1's own thread */

static void stop(const char *why) {
    fprintf(stderr, "bench: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void failed(void *arg, struct link_peer *peer, const char *why) {
    stop(why);
}

/* ---- the helper ---- */

struct answer {
    struct link_send send;
    struct message header;
    struct answer *next; /* free list */
    char data[];
};

static struct answer *free_answers; /* used by the helper's thread only */

static void answer_left(struct link_send *s, int status) {
    struct answer *a = (struct answer *)s;
    a->next = free_answers;
    free_answers = a;
}

static struct answer *take_answer(void) {
    struct answer *a = free_answers;
    if (!a)
        return need(malloc(sizeof *a + MOST));
    free_answers = a->next;
    return a;
}

static void serve(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                  const void *data, size_t bytes) {
    struct answer *a = take_answer();
    a->send = (struct link_send){.sent = answer_left};
    memcpy(&a->header, header, sizeof a->header);
    size_t back = a->header.echo ? bytes : 0;
    memcpy(a->data, data, back);
    if (net_link_send(helper_port, from, &a->header, sizeof a->header, a->data, back, &a->send) != 1)
        answer_left(&a->send, 0);
}

static void sleep_on(struct link_port *p, uint64_t most_us) {
    if (net_link_arm(p) != 0)
        return;
    uint64_t us = net_link_nap(p) < most_us ? net_link_nap(p) : most_us;
    struct pollfd fd = {.fd = net_link_descriptor(p), .events = POLLIN};
    ppoll(&fd, 1, &(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
}

/* As in src/net/rpc/helper.c: consecutive wakeups without work mean that a connection is being established by a
 * process that needs this core. */
static void *help_others(void *arg) {
    uint64_t idle_since = 0;
    unsigned empty = 0;
    while (!atomic_load(&stop_helper)) {
        if (net_link_progress(helper_port) > 0) {
            idle_since = 0;
            empty = 0;
            continue;
        }
        uint64_t now = clock_ns();
        idle_since = idle_since ? idle_since : now;
        if (now - idle_since < helper_spin_ns)
            continue;
        if (++empty > EMPTY_WAKES)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL), empty = 0;
        else
            sleep_on(helper_port, 10000);
        idle_since = 0;
    }
    net_link_port_quiesce(helper_port);
    return NULL;
}

/* ---- the requesting side ---- */

static void take(void *arg, struct link_peer *from, const void *header, size_t header_bytes, const void *data,
                 size_t bytes) {
    struct message m;
    memcpy(&m, header, sizeof m);
    answered++;
    wrong += m.echo ? bytes != m.bytes || memcmp(data, payload, bytes) != 0 : bytes != 0;
}

struct outgoing {
    struct link_send send;
    struct message header;
    bool left;
};

static void has_left(struct link_send *s, int status) {
    ((struct outgoing *)s)->left = true;
    if (status != 0)
        stop("a message could not be sent");
}

static void wait_some(uint64_t *idle_since) {
    if (net_link_progress(port) > 0) {
        *idle_since = 0;
        return;
    }
    uint64_t now = clock_ns();
    *idle_since = *idle_since ? *idle_since : now;
    if (now - *idle_since > spin_ns)
        sleep_on(port, 10000);
}

static void wait_for(uint64_t wanted) {
    uint64_t idle_since = 0;
    while (answered < wanted)
        wait_some(&idle_since);
}

static void ask(struct outgoing *o, bool echo, size_t bytes, uint64_t serial) {
    uint64_t idle_since = 0;
    while (!o->left) /* its last message is still in flight */
        wait_some(&idle_since);
    o->send = (struct link_send){.sent = has_left};
    o->header = (struct message){.echo = echo, .bytes = (uint32_t)bytes, .serial = serial};
    o->left = false;
    const char *from = echo ? payload : payload + bytes * (serial % (spread / bytes));
    int status = net_link_send(port, helper, &o->header, sizeof o->header, from, bytes, &o->send);
    if (status < 0)
        stop("a message could not be sent");
    o->left |= status == 0;
}

static void drain(struct outgoing *outs, long count) {
    uint64_t idle_since = 0;
    for (long i = 0; i < count; i++)
        while (!outs[i].left)
            wait_some(&idle_since);
}

/* us per message: of one round trip, or of a batch. */
static double trip(struct outgoing *outs, size_t bytes) {
    uint64_t start = clock_ns(), before = answered;
    ask(&outs[0], true, bytes, before);
    wait_for(before + 1);
    return (double)(clock_ns() - start) / 1000;
}

static double stream(struct outgoing *outs, size_t bytes, long window) {
    static uint64_t serial;
    uint64_t start = clock_ns(), before = answered;
    for (uint64_t i = 0; i < BATCH; i++) {
        wait_for(before + (i < (uint64_t)window ? 0 : i - (uint64_t)window + 1));
        ask(&outs[i % (uint64_t)window], false, bytes, serial++);
    }
    wait_for(before + BATCH);
    return (double)(clock_ns() - start) / 1000 / BATCH;
}

static void measure(bool echo, size_t bytes, long window, long milliseconds) {
    struct outgoing *outs = need(calloc((size_t)window, sizeof *outs));
    struct samples s = {0};
    if (bytes > MOST)
        stop("messages are of 1m at most");
    for (long i = 0; i < window; i++)
        outs[i].left = true;
    for (int i = 0; i < 10; i++)
        trip(outs, bytes);
    for (uint64_t end = clock_ns() + (uint64_t)milliseconds * 1000000; clock_ns() < end;)
        samples_add(&s, echo ? trip(outs, bytes) : stream(outs, bytes, window));
    drain(outs, window);
    if (wrong)
        stop("what came back is not what was sent");
    struct median m = samples_median(&s);
    printf("%s,%zu,%ld,%zu,%.6g,%.6g,%.6g,%.6g,%.6g\n", echo ? "trip" : "stream", bytes, echo ? 1 : window,
           s.count, m.value, m.low, m.high, s.values[(size_t)(0.99 * (double)(s.count - 1))],
           (double)bytes / m.value);
    samples_free(&s);
    free(outs);
}

static void measure_all(int argc, char **argv) {
    long sizes[RIG_LIST], milliseconds = option(argc, argv, "--milliseconds", 200);
    unsigned count = rig_list(rig_word(argc, argv, "--trips", "8"), sizes);
    for (unsigned i = 0; i < count; i++)
        measure(true, (size_t)sizes[i], 1, milliseconds);
    count = rig_list(rig_word(argc, argv, "--streams", "64k"), sizes);
    for (unsigned i = 0; i < count; i++)
        measure(false, (size_t)sizes[i], option(argc, argv, "--window", 4), milliseconds);
}

/* ---- opening and closing ---- */

struct address {
    int bytes;
    char data[LINK_ADDRESS];
};

static void open_link(bool over_mpi) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct link_options options = {
        .kind = over_mpi ? LINK_MPI : LINK_UCX, .most = MOST, .ports = rank == 1 ? 2 : 1, .comm = &world};
    struct link_events main = {.arrived = take, .failed = failed},
                       helps = {.arrived = serve, .failed = failed};
    struct address mine = {0};
    net_mpi_offer(NULL);
    if (net_link_open(&options, &the_link) != 0 || net_link_port_open(the_link, 0, &main, &port) != 0 ||
        (rank == 1 && net_link_port_open(the_link, 1, &helps, &helper_port) != 0))
        stop("no network");
    if (rank == 1)
        mine.bytes = net_link_port_address(helper_port, mine.data);
    MPI_Bcast(&mine, sizeof mine, MPI_BYTE, 1, MPI_COMM_WORLD);
    if (rank == 0 && net_link_connect(port, mine.data, (size_t)mine.bytes, 1, 1, &helper) != 0)
        stop("no connection");
}

static void close_link(pthread_t thread) {
    net_link_port_quiesce(port);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        atomic_store(&stop_helper, true);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    net_link_port_shut(port);
    if (rank == 1)
        net_link_port_shut(helper_port);
    MPI_Barrier(MPI_COMM_WORLD);
    net_link_port_close(port);
    if (rank == 1)
        net_link_port_close(helper_port);
    net_link_close(the_link);
}

static void start(int *argc, char ***argv) {
    int provided, size;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || !rest_is_way(rig_word(*argc, *argv, "--rest", "wait")))
        stop("this program runs on two ranks, one of which waits, sleeps or computes; see --help");
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (rig_flag(*argc, *argv, "--bind"))
        rest_bind(rank == 1);
    long spreads[RIG_LIST];
    rig_list(rig_word(*argc, *argv, "--spread", "1m"), spreads);
    spread = spreads[0] < MOST ? MOST : (size_t)spreads[0];
    payload = need(malloc(spread));
    for (size_t i = 0; i < spread; i++)
        payload[i] = (char)(i * 31 + (i >> 8));
    spin_ns = (uint64_t)option(*argc, *argv, "--spin", 60) * 1000;
    helper_spin_ns = (uint64_t)option(*argc, *argv, "--helper-spin", 20) * 1000;
}

int main(int argc, char **argv) {
    pthread_t thread = 0;
    rig_help(argc, argv, help);
    start(&argc, &argv);
    open_link(!strcmp(rig_word(argc, argv, "--net", "ucx"), "mpi"));
    if (rank == 1 && pthread_create(&thread, NULL, help_others, NULL) != 0)
        stop("no thread");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        measure_all(argc, argv);
    rest_until_all(rank == 0, rig_word(argc, argv, "--rest", "wait"), (int)option(argc, argv, "--nice", 19));
    close_link(thread);
    while (free_answers) {
        struct answer *a = free_answers;
        free_answers = a->next;
        free(a);
    }
    free(payload);
    MPI_Finalize();
    return 0;
}
