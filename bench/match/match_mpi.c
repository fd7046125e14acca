/* match_mpi.c: measures the time per message through MPI when `depth` others are in the queue (Figs. 4 to 7 of
 * the paper). A plain MPI program on two ranks, to be run with and without the library under test.
 *
 * Rank 0 receives, rank 1 sends. The queue of rank 0 holds `depth` receives without messages, or messages
 * without receives; the measured ones are behind them.
 *
 *      posted, warm        a window of receives is posted, then the sender is notified and sends; it times this up
 *                          to the answer, as osu_bw does with a barrier before each window
 *      unexpected, warm    a window of messages has arrived; the receiver times receiving them
 *      cold                one message was sent a tenth of a millisecond ago; the receiver, which has made no call
 *                          yet, empties its caches by address, waits for a gap, and times receiving it. The sender
 *                          sleeps meanwhile, so that its core is idle and free for a heater
 *
 * With --order random the queue is in random order in memory: see scatter. With --heater 1 every row is measured
 * twice, with the receiver's heater paused ("off") and working ("on"); the sender's is paused.
 *
 *  Prints: queue,order,bytes,depth,state,gap in us,heater,samples,median ns per message,low,high. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "rig.h"

static const char help[] =
    "match_mpi [OPTION]...   time per message against the depth of the queue, on two "
    "ranks; see the head of match_mpi.c\n"
    "  --queues posted,unexpected\n"
    "  --states warm,cold\n"
    "  --depths 0,1024        entries in front\n"
    "  --sizes 1,4k           bytes of a message\n"
    "  --gaps 0,100           us between emptying the caches and receiving\n"
    "  --order fifo|random    order of the queue in memory\n"
    "  --heater 0|1           with and without the heater of the library under test\n"
    "  --library 0|1          whether that library must be loaded, so that the host is "
    "not measured twice by mistake\n"
    "  --samples N            maximal windows, or cold messages, per row\n"
    "  --milliseconds N       approximate time limit per row\n";

enum { RECEIVER, SENDER };
enum { MESSAGE = 1, READY, ANSWER, MARK, FILLER = 1000 }; /* tags */
enum { MOST_WINDOW = 64, WARM_UP = 3, SPREAD = 16, CROWD = 65536, SETTLE_US = 100 };

static struct options {
    const char *queues, *states, *order;
    long depths[RIG_LIST], sizes[RIG_LIST], gaps[RIG_LIST];
    unsigned depth_count, size_count, gap_count;
    bool heater;
    long samples, milliseconds;
} options;

/* The current measurement. */
static struct point {
    bool posted, cold;
    long depth, bytes, gap;
    bool heated; /* the heater works */
    int window;
} now;

static int rank;
static char *buffers;
static void (*pause_heater)(void), (*resume_heater)(void);

/* ---- control messages between the two ---- */

struct word {
    int more;     /* 0: the end */
    int sleep_us; /* for the sender, after sending */
};

static void tell(int more, double sleep_us) {
    struct word word = {more, (int)sleep_us};
    MPI_Send(&word, sizeof word, MPI_BYTE, SENDER, READY, MPI_COMM_WORLD);
}

static struct word hear(void) {
    struct word word;
    MPI_Recv(&word, sizeof word, MPI_BYTE, RECEIVER, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return word;
}

static void mark(void) {
    MPI_Send(NULL, 0, MPI_BYTE, RECEIVER, MARK, MPI_COMM_WORLD);
}

/* Returns when all that the sender sent before its mark is in the queue. */
static void await_mark(void) {
    MPI_Recv(NULL, 0, MPI_BYTE, SENDER, MARK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stop(const char *why) {
    fprintf(stderr, "bench: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The number of windows that the sender has sent, in shared memory, so that the receiver sees it without an MPI
 * call. */
static _Atomic long *sent;

static void share_count(void) {
    char name[64];
    snprintf(name, sizeof name, "/hearth-bench-%ld", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, RECEIVER, MPI_COMM_WORLD);
    int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096))
        stop("no shared memory");
    sent = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    shm_unlink(name);
    if (sent == MAP_FAILED)
        stop("no shared memory");
}

/* ---- fillers, the entries in front ---- */

static MPI_Request *fillers;
static char *filler_bytes;
static long *order; /* the same on both ranks */

static void post_filler(long i) {
    MPI_Irecv(&filler_bytes[i], 1, MPI_BYTE, SENDER, (int)(FILLER + i), MPI_COMM_WORLD, &fillers[i]);
}

static void send_filler(long i) {
    char byte = (char)i;
    MPI_Send(&byte, 1, MPI_BYTE, RECEIVER, (int)(FILLER + i), MPI_COMM_WORLD);
}

static void receive_filler(long i) {
    char byte;
    MPI_Recv(&byte, 1, MPI_BYTE, SENDER, (int)(FILLER + i), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (byte != (char)i)
        stop("a message brought wrong data");
}

static void cancel_filler(long i) {
    MPI_Cancel(&fillers[i]);
    MPI_Wait(&fillers[i], MPI_STATUS_IGNORE);
}

static void fill(long count) {
    for (long i = 0; i < count; i++)
        if (now.posted && rank == RECEIVER)
            post_filler(i);
        else if (!now.posted && rank == SENDER)
            send_filler(i);
    if (!now.posted && rank == SENDER)
        mark();
    if (!now.posted && rank == RECEIVER)
        await_mark();
}

/* Removes an entry and adds it again at the end, in the same memory. */
static void move_to_end(long i) {
    if (now.posted && rank == RECEIVER) {
        cancel_filler(i);
        post_filler(i);
    } else if (!now.posted && rank == RECEIVER) {
        receive_filler(i);
        tell(1, 0);
        await_mark();
    } else if (!now.posted) {
        hear();
        send_filler(i);
        mark();
    }
}

static void drop(long i) {
    if (now.posted && rank == RECEIVER)
        cancel_filler(i);
    else if (!now.posted && rank == RECEIVER)
        receive_filler(i);
}

static void shuffle(long count) {
    struct random random;
    random_seed(&random, (uint64_t)count);
    for (long i = 0; i < count; i++) {
        long other = (long)random_below(&random, (uint32_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

static bool is_random(void) {
    return !strcmp(options.order, "random");
}

static long crowd(void) {
    long all = now.depth * SPREAD, most = now.depth * 4 > CROWD ? now.depth * 4 : CROWD;
    return !is_random() ? now.depth : all < most ? all : most;
}

/* Makes many times as many entries, moves some of them, in random order, to the end, and removes all others, in
 * queue order. */
static void scatter(void) {
    long all = crowd();
    char *stays = need(calloc((size_t)all + 1, 1));
    shuffle(all);
    fill(all);
    for (long i = 0; i < now.depth; i++) {
        stays[order[i]] = 1;
        move_to_end(order[i]);
    }
    for (long i = 0; i < all; i++)
        if (!stays[i])
            drop(i);
    free(stays);
}

static void open_queue(void) {
    size_t room = (size_t)crowd() + 1;
    fillers = need(calloc(room, sizeof *fillers));
    filler_bytes = need(calloc(room, 1));
    order = need(calloc(room, sizeof *order));
    for (long i = 0; i < crowd(); i++)
        order[i] = i;
    if (is_random())
        scatter();
    else
        fill(now.depth);
}

/* Removes the fillers in queue order. */
static void close_queue(void) {
    for (long i = 0; i < now.depth; i++) {
        if (now.posted && rank == SENDER)
            send_filler(order[i]);
        if (!now.posted && rank == RECEIVER)
            receive_filler(order[i]);
        if (now.posted && rank == RECEIVER)
            MPI_Wait(&fillers[order[i]], MPI_STATUS_IGNORE);
    }
    free(order);
    free(filler_bytes);
    free(fillers);
}

/* ---- messages ---- */

static char pattern(long i) {
    return (char)(now.bytes * 7 + i * 13 + 1);
}

static char *slot(int i) {
    return buffers + (size_t)i * (size_t)now.bytes;
}

static void prepare_buffers(void) {
    for (int i = 0; i < now.window; i++)
        memset(slot(i), rank == SENDER ? pattern(i) : 0, (size_t)now.bytes);
}

static void verify(void) {
    for (int i = 0; i < now.window && now.bytes; i++)
        if (slot(i)[0] != pattern(i) || slot(i)[now.bytes - 1] != pattern(i))
            stop("a message brought wrong data");
}

static void post_window(MPI_Request *requests) {
    for (int i = 0; i < now.window; i++)
        MPI_Irecv(slot(i), (int)now.bytes, MPI_BYTE, SENDER, MESSAGE, MPI_COMM_WORLD, &requests[i]);
}

static void send_window(MPI_Request *requests) {
    for (int i = 0; i < now.window; i++)
        MPI_Isend(slot(i), (int)now.bytes, MPI_BYTE, RECEIVER, MESSAGE, MPI_COMM_WORLD, &requests[i]);
}

static void wait_all(int count, MPI_Request *requests) {
    MPI_Status statuses[MOST_WINDOW + 1];
    MPI_Waitall(count, requests, statuses);
}

static void receive_window(void) {
    for (int i = 0; i < now.window; i++)
        MPI_Recv(slot(i), (int)now.bytes, MPI_BYTE, SENDER, MESSAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- one sample: the part of each rank. The timing rank returns ns per message, the other 0 ---- */

static double posted_warm_receiver(void) {
    MPI_Request requests[MOST_WINDOW];
    post_window(requests);
    tell(1, 0);
    wait_all(now.window, requests);
    MPI_Send(NULL, 0, MPI_BYTE, SENDER, ANSWER, MPI_COMM_WORLD);
    return 0;
}

static double posted_warm_sender(void) {
    MPI_Request requests[MOST_WINDOW];
    uint64_t start = rig_ticks();
    send_window(requests);
    wait_all(now.window, requests);
    MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return rig_ns(start, rig_ticks()) / now.window;
}

static double unexpected_warm_receiver(void) {
    tell(1, 0);
    await_mark();
    uint64_t start = rig_ticks();
    receive_window();
    return rig_ns(start, rig_ticks()) / now.window;
}

/* The heater gets time to end a round, or to wake up and make one. */
static void set_heater(void) {
    static bool paused;
    if (!options.heater || paused == !now.heated)
        return;
    paused = !now.heated;
    (now.heated ? resume_heater : pause_heater)();
    rig_spin_us(100);
}

static double cold_receiver(void) {
    MPI_Request request;
    long before = atomic_load(sent);
    if (now.posted)
        post_window(&request);
    tell(1, 3000 + SETTLE_US + 1.5 * rig_flush_us() + (double)now.gap);
    if (!now.posted)
        await_mark();
    while (atomic_load(sent) == before)
        ;
    rig_spin_us(SETTLE_US);
    set_heater();
    rig_flush();
    rig_spin_us((double)now.gap);
    uint64_t start = rig_ticks();
    if (now.posted)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        receive_window();
    return rig_ns(start, rig_ticks());
}

/* Sends the window, with a mark if no receiver waits for it, then sleeps if requested. */
static double plain_sender(struct word word) {
    MPI_Request requests[MOST_WINDOW + 1];
    int count = now.window;
    send_window(requests);
    if (!now.posted)
        MPI_Isend(NULL, 0, MPI_BYTE, RECEIVER, MARK, MPI_COMM_WORLD, &requests[count++]);
    atomic_fetch_add(sent, 1);
    wait_all(count, requests);
    if (word.sleep_us)
        usleep((useconds_t)word.sleep_us);
    return 0;
}

static double receiver_part(void) {
    if (now.cold)
        return cold_receiver();
    return now.posted ? posted_warm_receiver() : unexpected_warm_receiver();
}

static double sender_part(struct word word) {
    return now.posted && !now.cold ? posted_warm_sender() : plain_sender(word);
}

/* ---- rows ---- */

struct result {
    unsigned long samples;
    struct median ns;
};

static struct result result_of(struct samples *s) {
    struct result result = {s->count, samples_median(s)};
    samples_free(s);
    return result;
}

/* Only one rank prints, because a launcher may mix the lines of two. */
static void print_row(struct result r) {
    printf("%s,%s,%ld,%ld,%s,%ld,%s,%lu,%.6g,%.6g,%.6g\n", now.posted ? "posted" : "unexpected",
           options.order, now.bytes, now.depth, now.cold ? "cold" : "warm", now.gap,
           !options.heater ? "none"
           : now.heated    ? "on"
                           : "off",
           r.samples, r.ns.value, r.ns.low, r.ns.high);
}

/* The receiver decides how often; both keep the values that they timed. */
static void run_receiver(void) {
    struct samples seen = {0};
    struct result theirs;
    uint64_t start = clock_ns(), limit = (uint64_t)options.milliseconds * 1000000u;
    for (long i = 0; i < options.samples + WARM_UP && (clock_ns() - start < limit || i < WARM_UP + 3); i++) {
        double ns = receiver_part();
        verify();
        if (i >= WARM_UP && ns > 0)
            samples_add(&seen, ns);
    }
    tell(0, 0);
    MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, SENDER, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    print_row(theirs.samples ? theirs : result_of(&seen));
}

static void run_sender(void) {
    struct samples seen = {0};
    struct word word;
    for (long i = 0; (word = hear()).more; i++) {
        double ns = sender_part(word);
        if (i >= WARM_UP && ns > 0)
            samples_add(&seen, ns);
    }
    struct result mine = result_of(&seen);
    MPI_Send(&mine, sizeof mine, MPI_BYTE, RECEIVER, ANSWER, MPI_COMM_WORLD);
}

static void run_row(bool cold, long gap, bool heated) {
    now.cold = cold;
    now.gap = gap;
    now.heated = heated;
    now.window = cold ? 1 : now.bytes <= 1 << 16 ? MOST_WINDOW : 8;
    if (rank == RECEIVER && !cold)
        set_heater();
    prepare_buffers();
    (rank == RECEIVER ? run_receiver : run_sender)();
}

static void run_size(long bytes) {
    now.bytes = bytes;
    for (int heated = 0; heated <= (int)options.heater; heated++) {
        if (rig_named(options.states, "warm"))
            run_row(false, 0, heated);
    }
    if (!rig_named(options.states, "cold"))
        return;
    rig_note_memory();
    rig_flush(); /* to learn its duration */
    for (unsigned g = 0; g < options.gap_count; g++)
        for (int heated = 0; heated <= (int)options.heater; heated++)
            run_row(true, options.gaps[g], heated);
}

static void run_queue(bool posted, long depth) {
    now = (struct point){.posted = posted, .depth = depth};
    open_queue();
    for (unsigned s = 0; s < options.size_count; s++)
        run_size(options.sizes[s]);
    close_queue();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_options(int argc, char **argv) {
    options = (struct options){.queues = rig_word(argc, argv, "--queues", "all"),
                               .states = rig_word(argc, argv, "--states", "all"),
                               .order = rig_word(argc, argv, "--order", "fifo"),
                               .heater = option(argc, argv, "--heater", 0) != 0,
                               .samples = option(argc, argv, "--samples", 200),
                               .milliseconds = option(argc, argv, "--milliseconds", 200)};
    options.depth_count =
        rig_list(rig_word(argc, argv, "--depths", "0,1,16,64,256,1024,4096,16384"), options.depths);
    options.size_count = rig_list(rig_word(argc, argv, "--sizes", "1,4k"), options.sizes);
    options.gap_count = rig_list(rig_word(argc, argv, "--gaps", "0"), options.gaps);
}

/* The library's own calls are looked up at run time, so that the same program runs without it. */
static void find_heater(void) {
    *(void **)&pause_heater = dlsym(RTLD_DEFAULT, "hearth_heater_pause");
    *(void **)&resume_heater = dlsym(RTLD_DEFAULT, "hearth_heater_resume");
    options.heater &= pause_heater && resume_heater;
    if (rank == SENDER && pause_heater)
        pause_heater();
}

static void start(int argc, char **argv) {
    int size;
    long largest = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        stop("this program runs on two ranks");
    rig_take_core(rank);
    setvbuf(stdout, NULL, _IOLBF, 0);
    find_heater();
    if (option(argc, argv, "--library", 0) != (pause_heater != NULL))
        stop(pause_heater ? "the library under test is loaded: add --library 1, or do not preload it"
                          : "the library under test is not loaded: preload it, or omit --library 1");
    share_count();
    for (unsigned s = 0; s < options.size_count; s++)
        largest = options.sizes[s] > largest ? options.sizes[s] : largest;
    buffers = need(
        calloc(largest <= 1 << 16 ? MOST_WINDOW : 16, (size_t)largest < 65536 ? 65536 : (size_t)largest));
}

int main(int argc, char **argv) {
    rig_help(argc, argv, help);
    read_options(argc, argv);
    start(argc, argv);
    for (unsigned d = 0; d < options.depth_count; d++)
        for (int posted = 1; posted >= 0; posted--)
            if (rig_named(options.queues, posted ? "posted" : "unexpected"))
                run_queue(posted, options.depths[d]);
    MPI_Finalize();
    return 0;
}
