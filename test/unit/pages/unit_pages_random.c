/* unit_pages_random.c: many nodes, many pages, few frames, and a network without any order, with data in it.
 *
 * Every word of every page holds its writer and a number, and the test knows what was written last to each. As no
 * node can read while another may write, *every* read under a pin, on any node, must find exactly that, and so must
 * every small operation where it is applied.
 *
 * Pages are sent as controller.h allows: data is copied only when the message arrives, at which time the frame or the
 * buffer that it came from must still hold it. Threads that got PAGES_LATER try again only after PAGES_RETRY. In the end
 * everything that has begun completes, without new requests; then the directories know which node has which page, and
 * at least one copy of every page is the last that was written.
 *
 * Other episodes send invalid messages to both state machines, which must refuse them without a change, or stay
 * consistent.
 *
 * Options: see episodes.h. */
#include <errno.h>

#include "base/random.h"
#include "pages/protocol/controller.h"
#include "pages/protocol/directory.h"
#include "episodes.h"

enum {
    NODES = 42,
    HOMES = 3,
    PAGES = 24,
    FRAMES = 6,
    THREADS = 3,
    WORDS = 4,
    MESSAGES = 8192,
    EPISODE = 20000
};

struct words {
    uint64_t at[WORDS];
};

struct frame {
    struct pages_control control;
    struct words words;
    bool used;
    uint32_t leaving; /* pending messages that carry it */
    uint8_t asked;    /* to lower its mapping to this + 1, or 0 */
    bool reservation; /* one of its requests is counted in the window */
};

enum doing { RESTING, WANTING /* a frame */, WAITING, SENT_AWAY, PINNED, ASKING };

struct thread {
    enum doing doing;
    bool write, whole; /* whole: it writes all of the page */
    uint16_t home;
    uint32_t page;
    struct frame *frame;
    /* A small operation. */
    uint32_t word;
    uint64_t value;
};

struct node {
    struct frame frames[FRAMES];
    struct thread threads[THREADS];
    uint32_t window[HOMES]; /* requests pending there */
};

struct home {
    struct pages_directory *directory;
    struct words nvm[PAGES], buffer[PAGES], latest[PAGES];
    bool buffer_used[PAGES];
    uint8_t io[PAGES];
    uint64_t cookie[PAGES];
};

/* The bytes of a small operation travel with the message. */
struct flight {
    struct pages_message m;
    const struct words *words;
    struct frame *from_frame;
    bool *from_buffer;
    uint32_t word;
    uint64_t value;
};

static struct random dice;
static struct node nodes[NODES];
static struct home homes[HOMES];
static struct flight network[MESSAGES];
static uint32_t in_flight, node_count, home_count, page_count, frame_count, window;
static uint32_t rests, prefetches, smalls, writes, maps, evictions;
static bool coop, draining;
static uint64_t episode_seed, operation, version;
static struct pages_message said[NODES + 1];
/* Counters: messages received, by kind; deferred ones; threads that had to try again; FWDs that a frozen copy served;
 * pages that were overwritten without being read. */
static uint64_t came[PAGES_KINDS], put_off, sent_away, frozen, overwritten, protocol_episodes;

static void fail(const char *what, int line) {
    printf("FAIL pages_random %s:%d: not so: %s (%u nodes, %u homes, %u pages, %u frames, window %u, "
           "operation %llu; "
           "replay with --seed %llu --operations 1)\n",
           __FILE__, line, what, node_count, home_count, page_count, frame_count, window,
           (unsigned long long)operation, (unsigned long long)episode_seed);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- the network ---- */

static struct flight *post(const struct pages_message *m) {
    require(in_flight < MESSAGES);
    network[in_flight] = (struct flight){.m = *m};
    return &network[in_flight++];
}

static void post_all(struct home *h, const struct pages_output *out) {
    for (uint32_t i = 0; i < out->count; i++) {
        const struct pages_message *m = &out->messages[i];
        struct flight *f = post(m);
        if (m->kind == PAGES_DATA && !(m->flags & PAGES_OVERWRITE)) {
            require(h->buffer_used[m->page]);
            f->words = &h->buffer[m->page];
            f->from_buffer = &h->buffer_used[m->page];
        } else if (m->kind == PAGES_FWD_SMALL || m->kind == PAGES_ANSWER) {
            const struct thread *t = (const struct thread *)(uintptr_t)m->cookie;
            f->word = t->word;
            f->value = t->value;
        }
    }
    if (out->io) {
        require(!h->io[out->page]);
        h->io[out->page] = (uint8_t)out->io;
        h->cookie[out->page] = out->cookie;
        require(out->io != PAGES_READ || !h->buffer_used[out->page]);
        h->buffer_used[out->page] |= out->io != PAGES_APPLY;
    }
}

static void start_all(struct home *h) {
    struct pages_output out = {.messages = said};
    for (int got; (got = pages_directory_start(h->directory, &out));) {
        require(got > 0 && out.count <= node_count + 1);
        post_all(h, &out);
    }
}

/* ---- threads ---- */

static struct frame *find(uint32_t node, uint16_t home, uint32_t page) {
    for (uint32_t i = 0; i < frame_count; i++) {
        struct frame *f = &nodes[node].frames[i];
        if (f->used && f->control.home == home && f->control.page == page)
            return f;
    }
    return NULL;
}

static void wake(uint32_t node, const struct frame *f) {
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &nodes[node].threads[i];
        if (t->doing == SENT_AWAY && t->frame == f)
            t->doing = WANTING;
    }
}

static void hand_pins(uint32_t node, const struct frame *f) {
    for (uint32_t i = 0; i < THREADS; i++) {
        struct thread *t = &nodes[node].threads[i];
        if (t->doing == WAITING && t->frame == f)
            t->doing = PINNED;
    }
}

static void do_effects(uint32_t node, struct frame *f, const struct pages_effects *e) {
    pages_control_check(&f->control);
    if (e->actions & (PAGES_UNMAP | PAGES_PROTECT)) {
        require(!f->asked);
        f->asked = 1 + (e->actions & PAGES_UNMAP ? PAGES_UNMAPPED : PAGES_TO_READ);
    }
    if (e->actions & PAGES_READY)
        hand_pins(node, f);
    if (f->reservation && !pages_control_is_asking(&f->control)) {
        f->reservation = false;
        nodes[node].window[f->control.home]--;
    }
    if (!f->reservation && pages_control_is_asking(&f->control)) {
        f->reservation = true;
        nodes[node].window[f->control.home]++;
        require(nodes[node].window[f->control.home] <= window);
    }
    if (e->actions & PAGES_RETRY)
        wake(node, f);
    if (e->actions & PAGES_FREED)
        f->used = false;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct pages_message *m = &e->messages[i];
        struct flight *sent = post(m);
        if (m->kind == PAGES_DATA || (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY)) {
            sent->words = &f->words;
            sent->from_frame = f;
            f->leaving++;
        }
    }
}

static bool has_window(uint32_t node, uint16_t home) {
    return nodes[node].window[home] < window;
}

/* Returns a victim, if no frame is free. */
static struct frame *reserve(uint32_t node, uint16_t home, uint32_t page) {
    struct frame *f = NULL;
    for (uint32_t i = 0; i < frame_count && !f; i++)
        if (!nodes[node].frames[i].used && !nodes[node].frames[i].leaving)
            f = &nodes[node].frames[i];
    if (f) {
        *f = (struct frame){.used = true};
        pages_control_open(&f->control, (uint16_t)node, home, page);
        return f;
    }
    struct frame *victim = &nodes[node].frames[roll(frame_count)];
    struct pages_effects e;
    if (victim->used && has_window(node, victim->control.home) && pages_control_evict(&victim->control, &e)) {
        evictions++;
        do_effects(node, victim, &e);
    }
    return NULL;
}

static void acquire(uint32_t node, struct thread *t) {
    struct frame *f = find(node, t->home, t->page);
    struct pages_effects e;
    if (!has_window(node, t->home)) /* a request may be needed: not now */
        return;
    if (!f && !(f = reserve(node, t->home, t->page)))
        return;
    enum pages_got got = t->whole ? pages_control_overwrite(&f->control, &e)
                                  : pages_control_acquire(&f->control, t->write, &e);
    t->frame = f;
    sent_away += got == PAGES_LATER;
    t->doing = got == PAGES_HIT ? PINNED : got == PAGES_WAIT ? WAITING : SENT_AWAY;
    do_effects(node, f, &e);
}

static void look_at(const struct frame *f) {
    const struct words *latest = &homes[f->control.home].latest[f->control.page];
    for (uint32_t i = 0; i < WORDS; i++)
        require(f->words.at[i] == latest->at[i]);
}

static uint64_t new_value(uint32_t node) {
    return (uint64_t)node << 48 | ++version;
}

/* Uses the page under the pin, and perhaps releases it. */
static void use(uint32_t node, struct thread *t) {
    struct frame *f = t->frame;
    struct pages_effects e;
    require(f->used && f->control.home == t->home && f->control.page == t->page);
    for (uint32_t word = 0; t->whole && word < WORDS; word++)
        f->words.at[word] = homes[t->home].latest[t->page].at[word] = new_value(node);
    look_at(f);
    if (t->write) {
        uint32_t word = roll(WORDS);
        f->words.at[word] = homes[t->home].latest[t->page].at[word] = new_value(node);
    }
    if (chance(30))
        return;
    bool fills = t->whole && pages_control_is_asking(&f->control); /* only its own pin is given */
    overwritten += fills;
    if (!draining && !fills && chance(maps))
        pages_control_map(&f->control, t->write ? PAGES_TO_WRITE : PAGES_TO_READ);
    t->doing = RESTING;
    pages_control_release(&f->control, t->write, &e);
    do_effects(node, f, &e);
}

static void ask_small(uint32_t node, struct thread *t) {
    if (!has_window(node, t->home))
        return;
    t->doing = ASKING;
    t->word = roll(WORDS);
    t->value = t->write ? new_value(node) : 0;
    nodes[node].window[t->home]++;
    struct pages_message m = {.kind = PAGES_SMALL,
                              .from = (uint16_t)node,
                              .to = t->home,
                              .home = t->home,
                              .page = t->page,
                              .tag = (uint32_t)(t - nodes[node].threads),
                              .flags = t->write ? PAGES_WRITES : 0};
    post(&m);
}

static void prefetch(uint32_t node, uint16_t home, uint32_t page) {
    struct pages_effects e;
    struct frame *f;
    if (!has_window(node, home) || find(node, home, page) || !(f = reserve(node, home, page)))
        return;
    require(pages_control_prefetch(&f->control, &e));
    do_effects(node, f, &e);
}

static void act(uint32_t node) {
    struct thread *t = &nodes[node].threads[roll(THREADS)];
    if (t->doing == PINNED) {
        use(node, t);
    } else if (t->doing == WANTING) {
        acquire(node, t);
    } else if (t->doing == RESTING && !draining && !chance(rests)) {
        t->home = (uint16_t)roll(home_count);
        t->page = chance(50) ? 0 : roll(page_count);
        t->write = chance(writes);
        t->whole = t->write && chance(30);
        if (chance(prefetches))
            prefetch(node, t->home, t->page);
        else if (chance(smalls))
            ask_small(node, t);
        else
            t->doing = WANTING;
    }
}

/* A mapped page is used without a request. */
static void use_mapping(uint32_t node) {
    struct frame *f = &nodes[node].frames[roll(frame_count)];
    if (!f->used || !f->control.mapped)
        return;
    look_at(f);
    if (f->control.mapped != PAGES_TO_WRITE)
        return;
    uint32_t word = roll(WORDS);
    f->words.at[word] = homes[f->control.home].latest[f->control.page].at[word] = new_value(node);
}

static bool lower_mapping(uint32_t node) {
    bool any = false;
    for (uint32_t i = 0; i < frame_count; i++) {
        struct frame *f = &nodes[node].frames[i];
        struct pages_effects e;
        if (!f->asked || (!draining && chance(50)))
            continue;
        enum pages_level level = (enum pages_level)(f->asked - 1);
        f->asked = 0;
        pages_control_unmapped(&f->control, level, &e);
        do_effects(node, f, &e);
        any = true;
    }
    return any;
}

/* ---- arrival of messages ---- */

static uint64_t apply(struct words *words, struct home *h, uint32_t page, uint32_t word, uint64_t value) {
    require(words->at[word] == h->latest[page].at[word]);
    if (value)
        words->at[word] = h->latest[page].at[word] = value;
    return words->at[word];
}

static void arrive_at_home(struct flight *f) {
    struct home *h = &homes[f->m.to];
    struct pages_output out = {.messages = said};
    if (f->m.kind == PAGES_WRITEBACK_DATA && f->words) {
        require(!h->buffer_used[f->m.page]);
        h->buffer[f->m.page] = *f->words;
    }
    if (f->m.kind == PAGES_SMALL) /* its bytes stay in the message */
        f->m.cookie = (uint64_t)(uintptr_t)&nodes[f->m.from].threads[f->m.tag];
    require(pages_directory_receive(h->directory, &f->m, &out) == 0);
    post_all(h, &out);
    start_all(h);
}

static void arrive_at_cache(struct flight *f) {
    struct frame *frame = find(f->m.to, f->m.home, f->m.page);
    struct pages_effects e;
    require(frame);
    frozen += frame->control.open == PAGES_PUT && pages_class_of((enum pages_kind)f->m.kind) == PAGES_FWD;
    require(pages_control_receive(&frame->control, &f->m, &e) == 0);
    put_off += frame->control.put_off != 0;
    if (f->m.kind == PAGES_DATA && f->m.flags & PAGES_OVERWRITE)
        memset(&frame->words, 0xee, sizeof frame->words);
    else if (f->m.kind == PAGES_DATA)
        frame->words = *f->words;
    if (e.actions & PAGES_FRAME_APPLY)
        f->value = apply(&frame->words, &homes[f->m.home], f->m.page, f->word, f->value);
    do_effects(f->m.to, frame, &e);
    if (e.actions & PAGES_FRAME_APPLY)
        for (uint32_t i = in_flight - e.count; i < in_flight; i++)
            network[i].value = f->value;
}

static void answered(const struct flight *f) {
    struct thread *t = &nodes[f->m.to].threads[f->m.tag];
    require(t->doing == ASKING && t->home == f->m.home && t->page == f->m.page);
    require(t->write ? f->value == t->value : f->value != 0);
    t->doing = RESTING;
    nodes[f->m.to].window[t->home]--;
}

static bool deliver_some(void) {
    if (!in_flight)
        return false;
    uint32_t i = roll(in_flight);
    struct flight f = network[i];
    network[i] = network[--in_flight];
    came[f.m.kind]++;
    if (f.m.kind == PAGES_ANSWER)
        answered(&f);
    else if (pages_is_for_home((enum pages_kind)f.m.kind))
        arrive_at_home(&f);
    else
        arrive_at_cache(&f);
    if (f.from_frame)
        f.from_frame->leaving--;
    if (f.from_buffer)
        *f.from_buffer = false;
    return true;
}

static void finish_io(struct home *h, uint32_t page) {
    struct pages_output out = {.messages = said};
    enum pages_io io = (enum pages_io)h->io[page];
    uint64_t value = 0;
    h->io[page] = PAGES_NO_IO;
    if (io == PAGES_READ)
        h->buffer[page] = h->nvm[page];
    if (io == PAGES_WRITE)
        h->nvm[page] = h->buffer[page];
    if (io == PAGES_APPLY) {
        const struct thread *t = (const struct thread *)(uintptr_t)h->cookie[page];
        value = apply(&h->nvm[page], h, page, t->word, t->value);
    }
    require(pages_directory_finished(h->directory, page, &out) == 0);
    bool with_data = out.count && out.messages[0].kind == PAGES_DATA;
    if (io == PAGES_WRITE && !with_data)
        h->buffer_used[page] = false;
    post_all(h, &out);
    if (io == PAGES_APPLY) {
        require(out.count == 1 && out.messages[0].kind == PAGES_ANSWER);
        network[in_flight - 1].value = value;
    }
    start_all(h);
}

static bool finish_some(void) {
    struct home *h = &homes[roll(home_count)];
    uint32_t first = roll(page_count);
    for (uint32_t i = 0; i < page_count; i++) {
        uint32_t page = (first + i) % page_count;
        if (h->io[page]) {
            finish_io(h, page);
            return true;
        }
    }
    return false;
}

/* ---- episodes ---- */

static void check_directories(void) {
    for (uint32_t i = 0; i < home_count; i++)
        pages_directory_check(homes[i].directory);
}

static void step(void) {
    unsigned n = roll(100);
    uint32_t node = roll(node_count);
    if (n < 40)
        act(node);
    else if (n < 80)
        deliver_some();
    else if (n < 90)
        finish_some();
    else if (n < 94)
        lower_mapping(node);
    else if (n < 98)
        use_mapping(node);
    else if (roll(20) == 0)
        check_directories();
}

static bool is_anything_under_way(void) {
    if (in_flight)
        return true;
    for (uint32_t i = 0; i < home_count; i++)
        if (!pages_directory_is_idle(homes[i].directory))
            return true;
    for (uint32_t i = 0; i < node_count; i++) {
        for (uint32_t j = 0; j < THREADS; j++)
            if (nodes[i].threads[j].doing != RESTING)
                return true;
        for (uint32_t j = 0; j < frame_count; j++)
            if (nodes[i].frames[j].used && !pages_control_is_idle(&nodes[i].frames[j].control))
                return true;
    }
    return false;
}

static void check_end(uint32_t home, uint32_t page) {
    struct home *h = &homes[home];
    struct pages_look look = pages_directory_look(h->directory, page);
    uint32_t copies = 0;
    bool dirty = false;
    for (uint32_t i = 0; i < node_count; i++) {
        const struct frame *f = find(i, (uint16_t)home, page);
        bool here = f && f->control.state != PAGES_I;
        require(pages_directory_holds(h->directory, page, i) == here);
        if (!here)
            continue;
        copies++;
        look_at(f);
        dirty |= f->control.state == PAGES_M || f->control.state == PAGES_O;
    }
    require(copies == look.holders && !h->buffer_used[page] && !h->io[page]);
    require(dirty || !memcmp(&h->nvm[page], &h->latest[page], sizeof h->nvm[page]));
}

/* Everything that has begun proceeds, without anything new but what threads already requested. */
static void drain(void) {
    draining = true;
    uint64_t patience = 4000000;
    while (is_anything_under_way()) {
        require(patience--);
        for (int i = 0; i < 64; i++) {
            uint32_t node = roll(node_count);
            deliver_some();
            finish_some();
            act(node);
            lower_mapping(node);
        }
    }
    for (uint32_t i = 0; i < home_count; i++)
        for (uint32_t page = 0; page < page_count; page++)
            check_end(i, page);
    check_directories();
}

static void choose(void) {
    node_count = chance(20) ? NODES : 4 + roll(NODES - 3);
    home_count = 1 + roll(HOMES);
    page_count = chance(30) ? 1 : 1 + roll(PAGES);
    frame_count = 1 + roll(FRAMES);
    window = 1 + roll(chance(50) ? 3 : PAGES_WINDOW);
    coop = chance(75);
    rests = roll(90);
    prefetches = chance(50) ? 0 : roll(50);
    smalls = chance(30) ? 0 : roll(100);
    writes = chance(20) ? 0 : roll(100);
    maps = chance(50) ? 0 : roll(60);
}

static void open_homes(void) {
    struct pages_limits limits = {
        .nodes = node_count, .window = window, .pages = page_count, .coop = coop, .hand_over = chance(60)};
    for (uint32_t i = 0; i < home_count; i++) {
        limits.home = (uint16_t)i;
        size_t bytes = pages_directory_bytes(&limits);
        void *memory = calloc(1, bytes);
        require(bytes && memory);
        homes[i].directory = pages_directory_open(memory, &limits);
        for (uint32_t page = 0; page < page_count; page++)
            for (uint32_t word = 0; word < WORDS; word++)
                homes[i].nvm[page].at[word] = homes[i].latest[page].at[word] = ++version;
    }
}

static void run_protocol(void) {
    protocol_episodes++;
    choose();
    memset(nodes, 0, sizeof nodes);
    memset(homes, 0, sizeof homes);
    in_flight = 0;
    version = 0;
    draining = false;
    open_homes();
    for (operation = 0; operation < EPISODE; operation++)
        step();
    drain();
    for (uint32_t i = 0; i < home_count; i++)
        free(homes[i].directory);
}

/* ---- invalid messages ---- */

static struct pages_message random_message(void) {
    return (struct pages_message){.kind = (uint8_t)(chance(98) ? 1 + roll(PAGES_KINDS - 1) : roll(256)),
                                  .from = (uint16_t)(chance(98) ? roll(node_count) : roll(65536)),
                                  .to = (uint16_t)(chance(98) ? 0 : roll(node_count)),
                                  .home = (uint16_t)(chance(98) ? 0 : roll(node_count)),
                                  .page = chance(98) ? roll(page_count) : (uint32_t)random_next(&dice),
                                  .peer = (uint16_t)roll(node_count),
                                  .state = (uint8_t)(chance(98) ? roll(PAGES_O + 1) : roll(256)),
                                  .flags = (uint8_t)roll(8)};
}

static void confuse_directory(struct pages_directory *d, void *copy, size_t bytes) {
    struct pages_output out = {.messages = said};
    struct pages_message m = random_message();
    memcpy(copy, d, bytes);
    int err = pages_directory_receive(d, &m, &out);
    require(err == 0 || (err == -EPROTO && !memcmp(copy, d, bytes) && !out.count && !out.io));
    require(out.count <= node_count + 1);
    if (chance(30)) {
        err = pages_directory_start(d, &out);
        require((err == 0 || err == 1 || err == -EPROTO) && out.count <= node_count + 1);
    }
    if (chance(50)) {
        uint32_t page = chance(95) ? roll(page_count) : (uint32_t)random_next(&dice);
        memcpy(copy, d, bytes);
        err = pages_directory_finished(d, page, &out);
        require(err == 0 || (err == -EPROTO && !memcmp(copy, d, bytes)));
    }
    if (roll(16) == 0)
        pages_directory_check(d);
}

static void confuse_control(struct pages_control *c) {
    struct pages_message m = random_message();
    struct pages_control copy = *c;
    struct pages_effects e;
    m.page = chance(98) ? 0 : 1;
    int err = pages_control_receive(c, &m, &e);
    require(err == 0 || (err == -EPROTO && !memcmp(&copy, c, sizeof copy) && !e.count && !e.actions));
    if (chance(30))
        pages_control_acquire(c, chance(50), &e);
    if (chance(10))
        pages_control_overwrite(c, &e);
    if ((c->readers || c->writers) && chance(60))
        pages_control_release(c, c->writers, &e);
    if (chance(5))
        pages_control_prefetch(c, &e);
    if (chance(10))
        pages_control_evict(c, &e);
    pages_control_check(c);
}

static void run_nonsense(void) {
    choose();
    struct pages_limits limits = {
        .nodes = node_count, .window = window, .pages = page_count, .coop = coop, .hand_over = chance(60)};
    size_t bytes = pages_directory_bytes(&limits);
    struct pages_directory *d = pages_directory_open(calloc(1, bytes), &limits);
    void *copy = malloc(bytes);
    struct pages_control control;
    pages_control_open(&control, 0, 0, 0);
    for (operation = 0; operation < EPISODE / 4; operation++) {
        confuse_directory(d, copy, bytes);
        confuse_control(&control);
    }
    free(copy);
    free(d);
}

static uint64_t episode(uint64_t seed) {
    episode_seed = seed;
    random_seed(&dice, seed);
    if (chance(15))
        run_nonsense();
    else
        run_protocol();
    return operation;
}

int main(int argc, char **argv) {
    struct episodes e = {
        .name = "pages_random", .operations = "steps in", .things = "episodes", .run = episode};
    int status = episodes_run(e, argc, argv);
    for (unsigned kind = PAGES_GETS; kind < PAGES_KINDS && protocol_episodes > 200; kind++)
        require(came[kind] > 200);
    require(protocol_episodes <= 200 ||
            (put_off > 200 && sent_away > 200 && frozen > 200 && overwritten > 200));
    printf("GETS %llu, GETX %llu, PUT %llu, SMALL %llu, INV %llu, OWN %llu, WRITEBACK_REQ %llu; put off "
           "%llu, sent "
           "away %llu, frozen "
           "%llu\n",
           (unsigned long long)came[PAGES_GETS], (unsigned long long)came[PAGES_GETX],
           (unsigned long long)came[PAGES_PUT], (unsigned long long)came[PAGES_SMALL],
           (unsigned long long)came[PAGES_INV], (unsigned long long)came[PAGES_OWN],
           (unsigned long long)came[PAGES_WRITEBACK_REQ], (unsigned long long)put_off,
           (unsigned long long)sent_away, (unsigned long long)frozen);
    return status;
}
