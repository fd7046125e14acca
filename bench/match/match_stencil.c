/* match_stencil.c: measures the length of the queue of posted receives and its search depth when a process is
 * decomposed into threads that exchange halos (Sec. 2.3 and Table 1 of the paper).
 *
 * A process is a block of threads, surrounded by blocks of the same shape. A thread receives from each
 * neighbour of its stencil that is outside the block, and each thread outside that is such a neighbour sends to
 * all its neighbours inside. Their numbers and that of the messages follow from the shape. The depth depends on
 * timing: all receiving threads post at once, each its own receives one after the other, through one lock; then
 * all sending threads send at once. Every arrival is searched for in the engine. The depth counts the found
 * receive and those posted before it that are still there.
 *
 * There are fewer cores than threads, which would run in the order in which they were started; so that order is
 * random. A running thread does all its posts or sends in a row, unless it must wait for the lock.
 *
 *  Prints: block,stencil,receiving threads,sending threads,messages,trials,mean depth,least and most of the
 *  trials, and the paper's: receiving,sending,length,depth. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "hearth/match.h"
#include "rig.h"

static const char help[] = "match_stencil [OPTION]...   queue lengths and search depths of halo exchanges; "
                           "see the head of match_stencil.c\n"
                           "  --trials N             trials of each decomposition\n"
                           "  --structure fast       structure of the engine's queues: fast, list, lla-K\n"
                           "  --most N               omit blocks with more messages\n"
                           "  --seed N               seed of the order in which threads are started\n";

static const struct block {
    int size[3], points;
    int receivers, senders, length; /* in the paper */
    double depth;
} blocks[] = {{{32, 32, 1}, 5, 124, 128, 128, 32.51},     {{64, 32, 1}, 5, 188, 192, 192, 48.22},
              {{32, 32, 1}, 9, 124, 132, 380, 85.18},     {{64, 32, 1}, 9, 188, 196, 572, 127.24},
              {{8, 8, 4}, 7, 184, 256, 256, 65.85},       {{1, 1, 128}, 7, 128, 514, 514, 132.27},
              {{1, 1, 256}, 7, 256, 1026, 1026, 259.08},  {{8, 8, 4}, 27, 184, 344, 2072, 410.02},
              {{1, 1, 128}, 27, 128, 1042, 3074, 596.85}, {{1, 1, 256}, 27, 256, 2066, 6146, 1294.49}};

struct message {
    int receiver, sender; /* positions in the block with a rim of one around it */
};

/* ---- the shape ---- */

static struct message *messages;
static int message_count, receiver_count, sender_count;

static bool is_flat(const struct block *b) {
    return b->points == 5 || b->points == 9;
}

/* Whether the stencil has a neighbour at this offset. */
static bool reaches(const struct block *b, const int *d) {
    int steps = (d[0] != 0) + (d[1] != 0) + (d[2] != 0);
    if (!steps || (is_flat(b) && d[2]))
        return false;
    return b->points == 9 || b->points == 27 || steps == 1;
}

static bool is_inside(const struct block *b, const int *p) {
    for (int i = 0; i < 3; i++)
        if (p[i] < 0 || p[i] >= b->size[i])
            return false;
    return true;
}

static int place(const struct block *b, const int *p) {
    return ((p[2] + 1) * (b->size[1] + 2) + p[1] + 1) * (b->size[0] + 2) + p[0] + 1;
}

static void add_messages(const struct block *b, const int *p) {
    for (int n = 0; n < 27; n++) {
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}, q[3] = {p[0] + d[0], p[1] + d[1], p[2] + d[2]};
        if (reaches(b, d) && !is_inside(b, q))
            messages[message_count++] = (struct message){place(b, p), place(b, q)};
    }
}

static int by_receiver(const void *x, const void *y) {
    return ((const struct message *)x)->receiver - ((const struct message *)y)->receiver;
}

static int by_sender(const void *x, const void *y) {
    return ((const struct message *)x)->sender - ((const struct message *)y)->sender;
}

static void lay_out(const struct block *b) {
    int p[3];
    message_count = 0;
    messages =
        need(calloc((size_t)b->size[0] * (size_t)b->size[1] * (size_t)b->size[2] * 26, sizeof *messages));
    for (p[2] = 0; p[2] < b->size[2]; p[2]++)
        for (p[1] = 0; p[1] < b->size[1]; p[1]++)
            for (p[0] = 0; p[0] < b->size[0]; p[0]++)
                add_messages(b, p);
}

/* ---- the race ---- */

static struct match *engine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards engine, posted, and depths */
static pthread_barrier_t start;
static int *posted, posted_count; /* messages in the order of their receives; -1: taken */
static double depths;
static struct random rng;

struct racer {
    pthread_t thread;
    const struct message *first;
    int count;
    bool receives;
};

static int tag_of(const struct message *m) {
    return m->receiver << 15 | m->sender; /* a block with its rim has fewer than 2^15 positions */
}

/* The address with which the receive is posted: any that distinguishes it from others. */
static void *receive_of(int tag) {
    return (void *)(intptr_t)(tag + 1);
}

static void post(const struct message *m) {
    match_entry entry;
    void *none;
    int tag = tag_of(m);
    if (match_post(engine, 0, tag, 1, receive_of(tag), &entry, &none))
        exit(1);
    posted[posted_count++] = tag;
}

static void arrive(const struct message *m) {
    void *receive = NULL;
    int tag = tag_of(m), i = 0, depth = 1;
    if (match_arrive(engine, 0, tag, 1, NULL, &receive) != 1 || receive != receive_of(tag)) {
        fprintf(stderr, "bench: a message found the wrong receive\n");
        exit(1);
    }
    for (; posted[i] != tag; i++)
        depth += posted[i] >= 0;
    posted[i] = -1;
    depths += depth;
}

static void *race(void *arg) {
    struct racer *r = arg;
    pthread_barrier_wait(&start);
    for (int i = 0; i < r->count; i++) {
        pthread_mutex_lock(&lock);
        (r->receives ? post : arrive)(&r->first[i]);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Makes a racer for each run of messages of the same thread; returns how many. */
static int deal(struct racer *racers, bool receives) {
    int count = 0;
    qsort(messages, (size_t)message_count, sizeof *messages, receives ? by_receiver : by_sender);
    for (int i = 0; i < message_count; i++) {
        const struct message *m = &messages[i];
        bool next = !i || (receives ? m[-1].receiver != m->receiver : m[-1].sender != m->sender);
        if (next)
            racers[count++] = (struct racer){.first = m, .receives = receives};
        racers[count - 1].count++;
    }
    return count;
}

/* Few cores start threads in the order of their creation; with a core for each there is no such order. */
static void shuffle(struct racer *racers, int count) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)random_below(&rng, (uint32_t)i + 1);
        struct racer r = racers[i];
        racers[i] = racers[other];
        racers[other] = r;
    }
}

static int run_race(bool receives) {
    struct racer *racers = need(calloc((size_t)message_count, sizeof *racers));
    int count = deal(racers, receives);
    shuffle(racers, count);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (int i = 0; i < count; i++)
        if (pthread_create(&racers[i].thread, &small, race, &racers[i])) {
            fprintf(stderr, "bench: the system allows no more than %d threads\n", i);
            exit(1);
        }
    for (int i = 0; i < count; i++)
        pthread_join(racers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    pthread_attr_destroy(&small);
    free(racers);
    return count;
}

static double trial(const struct match_options *options) {
    if (match_open(options, &engine))
        exit(1);
    posted = need(calloc((size_t)message_count, sizeof *posted));
    posted_count = 0;
    depths = 0;
    receiver_count = run_race(true);
    sender_count = run_race(false);
    free(posted);
    match_close(engine);
    return depths / message_count;
}

static void measure(const struct block *b, const struct match_options *options, long trials) {
    double sum = 0, least = 1e9, most = 0;
    for (long i = 0; i < trials; i++) {
        double depth = trial(options);
        sum += depth;
        least = depth < least ? depth : least;
        most = depth > most ? depth : most;
    }
    printf(is_flat(b) ? "%dx%d" : "%dx%dx%d", b->size[0], b->size[1], b->size[2]);
    printf(",%dpt,%d,%d,%d,%ld,%.2f,%.2f,%.2f,%d,%d,%d,%.2f\n", b->points, receiver_count, sender_count,
           message_count, trials, sum / (double)trials, least, most, b->receivers, b->senders, b->length,
           b->depth);
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct match_options options = {0};
    rig_help(argc, argv, help);
    if (match_parse(rig_word(argc, argv, "--structure", "fast"), &options)) {
        fprintf(stderr, "bench: --structure is fast, list or lla-K\n");
        return 2;
    }
    random_seed(&rng, (uint64_t)option(argc, argv, "--seed", 1));
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        lay_out(&blocks[i]);
        if (message_count <= option(argc, argv, "--most", 1000000))
            measure(&blocks[i], &options, option(argc, argv, "--trials", 10));
        free(messages);
    }
    return 0;
}
