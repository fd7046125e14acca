/* unit_match_random.c: runs random operations on random engines against a simple model.
 *
 * The model is two arrays that are searched from the front. An engine must find what the model finds, and count what
 * the model counts. An episode is one engine of a random structure, with keys of a random distribution, that goes
 * through random phases: it is filled, emptied from the front, the back or anywhere, or both at once.
 *
 * Options: --seconds N, --operations N, --seed N. The seed is printed first. Each episode has its own, and a failure
 * prints the command that replays it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/settings.h"
#include "fail_memory.h"
#include "match/fast/fast.h"
#include "episodes.h"

/* An episode ends after this many operations, or earlier when the model has compared this many entries. */
enum { EPISODE = 20000, DEEP_EPISODE = 120000, STEPS = 100000000, MOST = 60000 };

struct item { /* a receive or a message */
    int32_t source, tag;
    uint32_t context;
    uintptr_t name; /* the value it was queued with; 0: removed */
    match_entry entry;
};

struct queue {
    struct item items[2 * MOST];
    uint32_t first, end, live; /* entries in [first, end) that are not removed */
    uint64_t most;
    uint64_t lengths[MATCH_BUCKETS];
};

enum end { FRONT, BACK, ANYWHERE };

static struct random dice;
static struct queue posted, unexpected;
static struct match *engine;
static struct match_options options;
static struct match_counters expected;
static uint64_t episode_seed, operation, steps, next_name;
static uint32_t sources, tags, contexts, stretch; /* numbers of values; stretch: distance between values */
static unsigned any_source, any_tag;              /* percent of receives */
static uint32_t depth;                            /* of the queues, about */
static bool failing;                              /* allocations fail at times */

static void fail(const char *what, int line) {
    printf("FAIL match_random %s:%d: not so: %s (structure %d-%u, operation %llu; replay with --seed %llu "
           "--operations 1)\n",
           __FILE__, line, what, (int)options.structure, options.k, (unsigned long long)operation,
           (unsigned long long)episode_seed);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- the model ---- */

static bool matches(const struct item *receive, const struct item *message) {
    return receive->context == message->context &&
           (receive->source == -1 || receive->source == message->source) &&
           (receive->tag == -1 || receive->tag == message->tag);
}

/* Skips removed entries at the ends and, if there are too many, compacts the array. */
static void tidy(struct queue *q) {
    while (q->first < q->end && !q->items[q->first].name)
        q->first++;
    while (q->first < q->end && !q->items[q->end - 1].name)
        q->end--;
    if (q->end < 2 * MOST)
        return;
    uint32_t to = 0;
    for (uint32_t i = q->first; i < q->end; i++)
        if (q->items[i].name)
            q->items[to++] = q->items[i];
    q->first = 0;
    q->end = to;
}

static void append(struct queue *q, const struct item *item) {
    tidy(q);
    q->items[q->end++] = *item;
    q->live++;
    if (q->live > q->most)
        q->most = q->live;
}

static void take(struct queue *q, struct item *item) {
    item->name = 0;
    q->live--;
    tidy(q);
}

static struct item *first_receive(const struct item *message) {
    for (uint32_t i = posted.first; i < posted.end; i++, steps++)
        if (posted.items[i].name && matches(&posted.items[i], message))
            return &posted.items[i];
    return NULL;
}

static struct item *first_message(const struct item *receive) {
    for (uint32_t i = unexpected.first; i < unexpected.end; i++, steps++)
        if (unexpected.items[i].name && matches(receive, &unexpected.items[i]))
            return &unexpected.items[i];
    return NULL;
}

static struct item *first_of_context(struct queue *q, uint32_t context) {
    for (uint32_t i = q->first; i < q->end; i++, steps++)
        if (q->items[i].name && q->items[i].context == context)
            return &q->items[i];
    return NULL;
}

/* A queued entry; the queue is not empty. */
static struct item *some(struct queue *q, enum end end) {
    uint32_t i = end == FRONT ? q->first : end == BACK ? q->end - 1 : q->first + roll(q->end - q->first);
    while (!q->items[i].name)
        i = i + 1 < q->end ? i + 1 : q->first;
    return &q->items[i];
}

static void count_length(struct queue *q) {
    unsigned bits = 0;
    while (bits < MATCH_BUCKETS - 1 && q->live >> bits)
        bits++;
    q->lengths[bits]++;
}

static void check_counters(void) {
    struct match_counters c;
    uint64_t depths = 0;
    match_counters(engine, &c);
    require(c.posts == expected.posts && c.arrivals == expected.arrivals && c.probes == expected.probes);
    require(c.cancels == expected.cancels && c.matched == expected.matched &&
            c.wildcards == expected.wildcards);
    require(c.unexpected == c.arrivals - c.matched);
    require(c.posted_now == posted.live && c.unexpected_now == unexpected.live);
    require(c.posted_most == posted.most && c.unexpected_most == unexpected.most);
    for (unsigned b = 0; b < MATCH_BUCKETS; b++) {
        require(c.posted_length[b] == posted.lengths[b]);
        require(c.unexpected_length[b] == unexpected.lengths[b]);
        depths += c.depth[b];
    }
    require(depths == c.posts + c.arrivals + c.probes);
    require(c.bytes > 0);
}

/* ---- keys ---- */

static struct item random_key(void) {
    return (struct item){.source = (int32_t)(roll(sources) * stretch),
                         .tag = (int32_t)(roll(tags) * stretch),
                         .context = roll(contexts) * stretch};
}

static void add_wildcards(struct item *receive) {
    if (chance(any_source))
        receive->source = MATCH_ANY_SOURCE;
    if (chance(any_tag))
        receive->tag = MATCH_ANY_TAG;
}

static struct item random_receive(void) {
    struct item receive = random_key();
    add_wildcards(&receive);
    return receive;
}

/* A receive that matches some waiting message, or any receive. */
static struct item wanted_receive(enum end end) {
    if (!unexpected.live)
        return random_receive();
    struct item receive = *some(&unexpected, end);
    add_wildcards(&receive);
    return receive;
}

static struct item wanted_message(enum end end) {
    struct item message = random_key();
    if (!posted.live)
        return message;
    const struct item *receive = some(&posted, end);
    message.context = receive->context;
    message.source = receive->source == MATCH_ANY_SOURCE ? message.source : receive->source;
    message.tag = receive->tag == MATCH_ANY_TAG ? message.tag : receive->tag;
    return message;
}

/* ---- operations ---- */

static void post(struct item receive) {
    struct item *message = first_message(&receive);
    void *out = &dice;
    match_entry entry = 0;
    receive.name = ++next_name;
    if (!message && posted.live == MOST)
        return;
    int result =
        match_post(engine, receive.source, receive.tag, receive.context, (void *)receive.name, &entry, &out);
    require(result == (message ? 1 : 0) || (failing && !message && result == -ENOMEM));
    require(out == (message ? (void *)message->name : &dice));
    if (result < 0)
        return;
    expected.posts++;
    expected.wildcards += receive.source == -1 || receive.tag == -1;
    count_length(&unexpected);
    receive.entry = entry;
    if (message)
        take(&unexpected, message);
    else
        append(&posted, &receive);
}

static void arrive(struct item message) {
    struct item *receive = first_receive(&message);
    void *out = &dice;
    message.name = ++next_name;
    if (!receive && unexpected.live == MOST)
        return;
    int result =
        match_arrive(engine, message.source, message.tag, message.context, (void *)message.name, &out);
    require(result == (receive ? 1 : 0) || (failing && !receive && result == -ENOMEM));
    require(out == (receive ? (void *)receive->name : &dice));
    if (result < 0)
        return;
    expected.arrivals++;
    expected.matched += result;
    count_length(&posted);
    if (receive)
        take(&posted, receive);
    else
        append(&unexpected, &message);
}

static void probe(struct item receive) {
    struct item *message = first_message(&receive);
    void *out = &dice;
    bool taken = chance(50);
    int result = taken ? match_take(engine, receive.source, receive.tag, receive.context, &out)
                       : match_probe(engine, receive.source, receive.tag, receive.context, &out);
    require(result == (message != NULL));
    require(out == (message ? (void *)message->name : &dice));
    expected.probes++;
    count_length(&unexpected);
    if (taken && message)
        take(&unexpected, message);
}

static void cancel(enum end end) {
    if (!posted.live)
        return;
    struct item *receive = some(&posted, end);
    require(match_cancel(engine, receive->entry) == (void *)receive->name);
    expected.cancels++;
    take(&posted, receive);
}

static void drain(void) {
    bool receives = chance(50);
    struct queue *q = receives ? &posted : &unexpected;
    uint32_t context = q->live && chance(80) ? some(q, ANYWHERE)->context : random_key().context;
    for (uint32_t most = chance(2) ? UINT32_MAX : 1 + roll(5); most; most--) {
        struct item *item = first_of_context(q, context);
        void *out = receives ? match_drain_receives(engine, context) : match_drain_messages(engine, context);
        require(out == (item ? (void *)item->name : NULL));
        if (!item)
            return;
        take(q, item);
    }
}

/* Continues as if billions had been queued before. */
static void jump(void) {
    struct fast_queue *q = chance(50) ? &fast_of(engine)->posted : &fast_of(engine)->unexpected;
    if (options.structure == MATCH_FAST && q->binned && q->bins.sequence < UINT32_MAX - 100)
        q->bins.sequence = UINT32_MAX - roll(100);
}

/* The behaviour of the queues for a while. */
struct phase {
    /* In percent; wanted: of posts and arrivals, those that find a match. */
    unsigned posts, arrivals, cancels, probes, wanted;
    enum end end;
};

static struct phase random_phase(void) {
    static const struct phase phases[] = {
        {98, 0, 1, 1, 1, ANYWHERE},   {0, 98, 0, 1, 1, ANYWHERE},  {45, 45, 5, 5, 50, ANYWHERE},
        {50, 50, 0, 0, 90, FRONT},    {50, 50, 0, 0, 90, BACK},    {50, 50, 0, 0, 95, ANYWHERE},
        {5, 90, 5, 0, 100, FRONT},    {5, 90, 5, 0, 100, BACK},    {5, 90, 5, 0, 100, ANYWHERE},
        {90, 5, 0, 5, 100, FRONT},    {90, 5, 0, 5, 100, BACK},    {90, 5, 0, 5, 100, ANYWHERE},
        {50, 0, 50, 0, 0, BACK},      {20, 0, 80, 0, 0, ANYWHERE}, {20, 0, 80, 0, 0, FRONT},
        {10, 10, 0, 80, 60, ANYWHERE}};
    return phases[roll(sizeof phases / sizeof *phases)];
}

static void operate(const struct phase *p) {
    unsigned n = roll(100);
    bool wanted = chance(p->wanted);
    if (n < p->posts)
        post(wanted ? wanted_receive(p->end) : random_receive());
    else if ((n -= p->posts) < p->arrivals)
        arrive(wanted ? wanted_message(p->end) : random_key());
    else if ((n -= p->arrivals) < p->cancels)
        cancel(p->end);
    else
        probe(wanted ? wanted_receive(p->end) : random_receive());
}

/* A filling phase ends at the maximum depth, an emptying phase when the queue is empty. */
static bool is_over(const struct phase *p) {
    if (p->posts > 90 || p->arrivals > 90)
        return posted.live > depth || unexpected.live > depth;
    return !posted.live && !unexpected.live;
}

static void rarely(void) {
    if (roll(200) == 0)
        drain();
    if (roll(500) == 0)
        jump();
    if (failing && roll(300) == 0)
        fail_memory_at(chance(50) ? 0 : 1 + roll(3));
    if (roll(200 + (posted.live + unexpected.live) / 8) == 0) {
        match_check(engine);
        check_counters();
    }
}

/* ---- episodes ---- */

static void choose_keys(bool deep) {
    static const uint32_t counts[] = {1, 2, 3, 10, 100, 1000, 60000, 70000};
    static const unsigned percents[] = {0, 0, 0, 1, 10, 50, 100};
    sources = counts[roll(8)];
    tags = counts[roll(8)];
    contexts = counts[chance(80) ? roll(3) : roll(8)];
    stretch = chance(70) ? 1 : chance(50) ? 256 : 9973; /* the largest key fits in 31 bits */
    any_source = percents[roll(7)];
    any_tag = percents[roll(7)];
    depth = deep ? 1000 + roll(MOST - 10000) : chance(30) ? roll(2000) : chance(50) ? roll(400) : roll(20);
}

static void choose_structure(void) {
    options = (struct match_options){.heated = chance(20)};
    unsigned n = roll(10);
    options.structure = n < 6 ? MATCH_FAST : n < 9 ? MATCH_LLA : MATCH_LIST;
    options.k = options.structure == MATCH_LLA && chance(90) ? 2u << roll(6) : 0;
}

static void run_episode(uint64_t operations, bool deep) {
    struct phase phase = {0};
    memset(&expected, 0, sizeof expected);
    memset(posted.lengths, 0, sizeof posted.lengths);
    memset(unexpected.lengths, 0, sizeof unexpected.lengths);
    posted.first = posted.end = posted.live = unexpected.first = unexpected.end = unexpected.live = 0;
    posted.most = unexpected.most = 0;
    failing = chance(10);
    choose_keys(deep);
    choose_structure();
    require(match_open(&options, &engine) == 0);
    for (operation = steps = 0; operation < operations && steps < STEPS; operation++) {
        if (operation == 0 || is_over(&phase) || roll(deep ? 20000 : 2000) == 0)
            phase = random_phase();
        operate(&phase);
        rarely();
    }
    fail_memory_at(0);
    match_check(engine);
    check_counters();
    match_close(engine);
}

/* Returns how many operations it was. */
static uint64_t episode(uint64_t seed) {
    episode_seed = seed;
    random_seed(&dice, seed);
    bool deep = chance(2);
    run_episode(deep ? DEEP_EPISODE : EPISODE, deep);
    return operation;
}

int main(int argc, char **argv) {
    setenv("HEARTH_HEATER", "off", 0); /* unit_match_heated tests it */
    (void)settings_get();              /* sets the level, too */
    log_set_level(LOG_ERROR);          /* allocation failures are intended */
    struct episodes all = {
        .name = "match_random", .operations = "operations on", .things = "engines", .run = episode};
    return episodes_run(all, argc, argv);
}
