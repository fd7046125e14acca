/* match_engine.c: measures how long the engine takes to find an entry behind `depth` others, and the effect on
 * the time per message (Figs. 4 to 7 of the paper, without MPI).
 *
 * A message is: search the queue for the one entry that matches, which is the last; copy the message; queue
 * another such entry. Warm, many of these follow each other, and the result is the mean. Cold, the caches are
 * emptied by address, a gap passes, and the search and the copy of one message are timed alone. The state "read" is
 * a limit of any heater: the caches are emptied, another core reads all memory of the process once, then the same is timed.
 *
 *      list            nodes as malloc returns them after the queue was filled and emptied in order, three times
 *      list-random     the queue held many times as many entries; some of them, in random order, were cancelled and
 *                      posted again, which gave them the same memory but another position in the queue; then all
 *                      others were cancelled
 *      lla-K, fast     after the same preparation as list
 *
 * With --heated 1 the engine's memory is registered with the heater, which is paused ("off") or works ("on"). Cold
 * samples alternate between the two; warm ones are taken first without and then with it. The heater works while the
 * caches are emptied, as it would while a program computes. Heated lists have their nodes in a pool.
 *
 * Every structure, depth and size is measured in turn, then all of them again in the next round.
 *
 *  Prints: queue,structure,heated,bytes,depth,state,gap in us,heater,samples,median ns,low,high. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "heater/heater.h"
#include "hearth/match.h"
#include "rig.h"

static const char help[] =
    "match_engine [OPTION]...   times searches in the engine's queues; see the head of match_engine.c\n"
    "  --queues posted,unexpected       which queue is searched\n"
    "  --structures list,list-random,lla-2,lla-4,lla-8,lla-16,lla-32,lla-64,fast\n"
    "  --depths 0,1,16,1024             entries in front of the one searched for\n"
    "  --sizes 1,4k                     bytes of the message that is copied\n"
    "  --gaps 0,10,100,1000             us between emptying the caches and the search\n"
    "  --heated 0|1                     whether the memory is registered with the heater; HEARTH_HEATER=on "
    "ensures that it runs\n"
    "  --states warm,cold,read\n"
    "  --rounds N  --samples N          rounds over everything; cold samples of each in a round\n"
    "  --seconds S                      no further round after this time\n"
    "  --seed N                         seed of the random order\n";

enum { SOURCE = 3, CONTEXT = 1, WANTED = 7, FIRST_FILLER = 1000, CHURNS = 3, SPREAD = 16, CROWD = 65536 };

static const struct subject {
    const char *name, *structure;
    bool random;
} subjects[] = {{"list", "list", false},     {"list-random", "list", true}, {"lla-2", "lla-2", false},
                {"lla-4", "lla-4", false},   {"lla-8", "lla-8", false},     {"lla-16", "lla-16", false},
                {"lla-32", "lla-32", false}, {"lla-64", "lla-64", false},   {"fast", "fast", false}};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

struct options {
    const char *queues, *structures, *states;
    long depths[RIG_LIST], sizes[RIG_LIST], gaps[RIG_LIST];
    unsigned depth_count, size_count, gap_count;
    bool heated;
    long rounds, samples, seconds;
};

/* One queue of one engine. */
struct queue {
    struct match *engine;
    bool posted;
    long depth;
    match_entry *entries; /* of the fillers, in the order of their tags; for posted receives only */
};

static char *message, *buffer; /* source and destination of the largest message */
static struct random rng;

/* ---- the queue ---- */

static void fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void expect_result(int got, int wanted, const char *what) {
    if (got != wanted)
        fail(what);
}

static match_entry add(struct queue *q, int32_t tag) {
    match_entry entry = 0;
    void *other;
    int got = q->posted ? match_post(q->engine, SOURCE, tag, CONTEXT, q, &entry, &other)
                        : match_arrive(q->engine, SOURCE, tag, CONTEXT, q, &other);
    expect_result(got, 0, "an entry matched that should have been queued");
    return entry;
}

/* The measured search. */
static inline int find(struct queue *q, int32_t tag, void **found) {
    match_entry entry;
    return q->posted ? match_arrive(q->engine, SOURCE, tag, CONTEXT, q, found)
                     : match_post(q->engine, SOURCE, tag, CONTEXT, q, &entry, found);
}

static void take(struct queue *q, int32_t tag) {
    void *found = NULL;
    expect_result(find(q, tag, &found), 1, "an entry was not found");
}

static int32_t filler(long i) {
    return (int32_t)(FIRST_FILLER + i);
}

static void fill(struct queue *q) {
    for (long i = 0; i < q->depth; i++)
        q->entries[i] = add(q, filler(i));
}

static void empty(struct queue *q) {
    for (long i = 0; i < q->depth; i++)
        take(q, filler(i));
}

static void drop(struct queue *q, long i) {
    if (q->posted)
        match_cancel(q->engine, q->entries[i]);
    else
        take(q, filler(i));
}

static long *permutation(long count) {
    long *order = need(calloc((size_t)count + 1, sizeof *order));
    for (long i = 0; i < count; i++) {
        long other = (long)random_below(&rng, (uint32_t)i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    return order;
}

/* The number of entries while a queue is randomised: many times its length, but building it must not take
 * longer than measuring it. */
static long crowd(long depth) {
    long all = depth * SPREAD, most = depth * 4 > CROWD ? depth * 4 : CROWD;
    return all < most ? all : most;
}

/* Replaces some entries of a crowd, in random order, by new ones, which reuse their memory; then removes the
 * others, in queue order. */
static void scatter(struct queue *q) {
    long depth = q->depth, all = crowd(depth), *order = permutation(all);
    bool *stays = need(calloc((size_t)all + 1, sizeof *stays));
    q->depth = all;
    fill(q);
    q->depth = depth;
    for (long i = 0; i < depth; i++) {
        stays[order[i]] = true;
        drop(q, order[i]);
        add(q, filler(order[i]));
    }
    for (long i = 0; i < all; i++)
        if (!stays[i])
            drop(q, i);
    free(stays);
    free(order);
}

static void open_queue(struct queue *q, const struct subject *subject, bool posted, bool heated, long depth) {
    struct match_options options = {.heated = heated};
    if (match_parse(subject->structure, &options) || match_open(&options, &q->engine))
        fail("an engine could not be opened");
    options.heated = heated;
    q->posted = posted;
    q->depth = depth;
    q->entries = need(calloc((size_t)crowd(depth) + 1, sizeof *q->entries));
    for (int i = 0; i < CHURNS && !subject->random; i++) {
        fill(q);
        empty(q);
    }
    (subject->random ? scatter : fill)(q);
    add(q, WANTED);
}

static void close_queue(struct queue *q) {
    match_close(q->engine);
    free(q->entries);
}

/* ---- measuring ---- */

static inline void receive(struct queue *q, size_t bytes) {
    void *found = NULL;
    if (find(q, WANTED, &found) != 1 || found != q)
        fail("the wrong entry was found");
    memcpy(buffer, message, bytes);
    __asm__ volatile("" ::"r"(buffer), "r"(bytes) : "memory");
}

static double warm_ns(struct queue *q, size_t bytes) {
    long loops = 50000 / (q->depth + 20 + (long)bytes / 64) + 4; /* shorter than a time slice */
    for (long i = 0; i < loops / 8 + 2; i++) {
        receive(q, bytes);
        add(q, WANTED);
    }
    uint64_t start = rig_ticks();
    for (long i = 0; i < loops; i++) {
        receive(q, bytes);
        add(q, WANTED);
    }
    return rig_ns(start, rig_ticks()) / (double)loops;
}

static double receive_ns(struct queue *q, size_t bytes) {
    uint64_t start = rig_ticks();
    receive(q, bytes);
    uint64_t end = rig_ticks();
    add(q, WANTED);
    return rig_ns(start, end);
}

static double cold_ns(struct queue *q, size_t bytes, double gap_us) {
    rig_flush();
    rig_spin_us(gap_us);
    return receive_ns(q, bytes);
}

static double read_ns(struct queue *q, size_t bytes) {
    pthread_t reader = rig_read_elsewhere();
    double ns = receive_ns(q, bytes);
    pthread_join(reader, NULL);
    return ns;
}

/* Pauses or resumes the heater. */
static void set_heater(bool works) {
    static bool paused;
    if (paused == !works)
        return;
    paused = !works;
    (works ? heater_resume : heater_pause)();
    rig_spin_us(100); /* until it has ended its round, or has woken up and made one */
}

/* ---- the points, in measuring order ---- */

static struct samples *points;
static size_t point, point_count;

static void note(double ns) {
    if (point == point_count) {
        points = need(realloc(points, (point + 1) * sizeof *points));
        points[point_count++] = (struct samples){0};
    }
    samples_add(&points[point++], ns);
}

/* Measures once, or prints. */
struct task {
    const struct options *options;
    bool print;
};

static void print_point(const char *head, const char *state, long gap, const char *heater) {
    printf("%s,%s,%ld,%s,", head, state, gap, heater);
    rig_print(&points[point++]);
    printf("\n");
}

static void do_warm(const struct task *t, struct queue *q, size_t bytes, const char *head) {
    for (int works = 0; works <= (int)t->options->heated; works++) {
        if (t->print) {
            print_point(head, "warm", 0, works ? "on" : "off");
            continue;
        }
        set_heater(works);
        for (long sample = 0; sample < t->options->samples; sample++) {
            note(warm_ns(q, bytes));
            point -= sample + 1 < t->options->samples;
        }
    }
}

static void do_cold(const struct task *t, struct queue *q, size_t bytes, const char *head) {
    const struct options *o = t->options;
    size_t first = point;
    for (long sample = 0; sample < (t->print ? 1 : o->samples); sample++) {
        point = first;
        for (unsigned g = 0; g < o->gap_count; g++)
            for (int works = 0; works <= (int)o->heated; works++) {
                if (t->print) {
                    print_point(head, "cold", o->gaps[g], works ? "on" : "off");
                    continue;
                }
                set_heater(works);
                note(cold_ns(q, bytes, (double)o->gaps[g]));
            }
    }
}

static void do_read(const struct task *t, struct queue *q, size_t bytes, const char *head) {
    if (t->print) {
        print_point(head, "read", 0, "off");
        return;
    }
    set_heater(false);
    size_t first = point;
    for (long sample = 0; sample < t->options->samples; sample++) {
        point = first;
        note(read_ns(q, bytes));
    }
}

static void do_queue(const struct task *t, const struct subject *subject, bool posted, long depth) {
    const struct options *o = t->options;
    struct queue q;
    char head[128];
    if (!t->print) {
        open_queue(&q, subject, posted, o->heated, depth);
        if (o->heated)
            rig_await_heater();
        rig_note_memory();
    }
    for (unsigned s = 0; s < o->size_count; s++) {
        snprintf(head, sizeof head, "%s,%s,%d,%ld,%ld", posted ? "posted" : "unexpected", subject->name,
                 o->heated, o->sizes[s], depth);
        if (rig_named(o->states, "warm"))
            do_warm(t, &q, (size_t)o->sizes[s], head);
        if (rig_named(o->states, "cold"))
            do_cold(t, &q, (size_t)o->sizes[s], head);
        if (o->heated && rig_named(o->states, "read"))
            do_read(t, &q, (size_t)o->sizes[s], head);
    }
    if (!t->print)
        close_queue(&q);
}

static void do_all(const struct task *t) {
    const struct options *o = t->options;
    point = 0;
    for (unsigned d = 0; d < o->depth_count; d++)
        for (int posted = 1; posted >= 0; posted--)
            for (unsigned i = 0; i < SUBJECTS; i++)
                if (rig_named(o->structures, subjects[i].name) &&
                    rig_named(o->queues, posted ? "posted" : "unexpected"))
                    do_queue(t, &subjects[i], posted, o->depths[d]);
}

static void read_options(int argc, char **argv, struct options *o) {
    *o = (struct options){.queues = rig_word(argc, argv, "--queues", "all"),
                          .structures = rig_word(argc, argv, "--structures", "all"),
                          .states = rig_word(argc, argv, "--states", "all"),
                          .heated = option(argc, argv, "--heated", 0) != 0,
                          .rounds = option(argc, argv, "--rounds", 3),
                          .samples = option(argc, argv, "--samples", 5),
                          .seconds = option(argc, argv, "--seconds", 600)};
    o->depth_count = rig_list(rig_word(argc, argv, "--depths", "0,1,16,64,256,1024,4096,16384"), o->depths);
    o->size_count = rig_list(rig_word(argc, argv, "--sizes", "1"), o->sizes);
    o->gap_count = rig_list(rig_word(argc, argv, "--gaps", "0"), o->gaps);
}

int main(int argc, char **argv) {
    struct options options;
    rig_help(argc, argv, help);
    read_options(argc, argv, &options);
    long largest = 1;
    for (unsigned s = 0; s < options.size_count; s++)
        largest = options.sizes[s] > largest ? options.sizes[s] : largest;
    message = need(calloc(1, (size_t)largest));
    buffer = need(calloc(1, (size_t)largest));
    memset(message, 1, (size_t)largest);
    memset(buffer, 2, (size_t)largest);
    random_seed(&rng, (uint64_t)option(argc, argv, "--seed", 1));
    rig_take_core(0);
    uint64_t start = clock_ns();
    struct task task = {.options = &options};
    for (long round = 0; round < options.rounds; round++) {
        do_all(&task);
        if (clock_ns() - start > (uint64_t)options.seconds * 1000000000u)
            break;
    }
    task.print = true;
    do_all(&task);
    set_heater(true);
    return 0;
}
