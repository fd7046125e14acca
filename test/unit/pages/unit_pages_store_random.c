/* unit_pages_store_random.c: runs random requests and checkpoints against a model that is an array of versions.
 *
 * An episode is one store of random shape, engine and filesystem, sometimes closed and opened again. The model knows
 * the version of each page, the contents of each checkpoint, and the pending requests, and so what each call must
 * return. In some episodes system calls fail at random: then a call may fail, but data that it returns must still be
 * correct.
 *
 * Options: --seconds N, --operations N, --seed N. */
#include "base/log.h"
#include "base/random.h"
#include "episodes.h"
#include "fail_store.h"
#include "store_help.h"

enum { MOST_PAGES = 64, MOST_DEPTH = 32, LARGEST_PAGE = 64 << 10 };

struct version {
    uint64_t number; /* 0: never written */
    bool lost;
};

struct on_way {
    bool used;
    enum store_way way;
    uint64_t page, number;
};

struct checkpoint {
    uint64_t epoch; /* 0: none */
    uint64_t numbers[MOST_PAGES];
};

static struct {
    uint64_t seed;
    struct store_options options;
    struct store *store;
    unsigned pages, count; /* pending requests */
    struct version now[MOST_PAGES];
    struct on_way on_way[MOST_DEPTH];
    struct checkpoint committed, prepared; /* `prepared` is the newer one, until it is committed */
    struct checkpoint older;               /* than the committed one */
    struct checkpoint tried;               /* may exist although the call has failed */
    uint64_t last_number, last_epoch;
    bool faulty, stuck; /* stuck: a failure after which nothing can follow */
    uint64_t operations;
} e;

static struct random dice;
static char *buffers;

static void fail(const char *what, int line) {
    printf("FAIL pages_store_random line %d: not so: %s (replay with --seed %llu --operations 1)\n", line,
           what, (unsigned long long)e.seed);
    fflush(stdout);
    exit(1);
}

static uint32_t roll(uint32_t n) {
    return random_below(&dice, n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

static char *buffer_of(unsigned i) {
    return buffers + (size_t)i * LARGEST_PAGE;
}

/* ---- requests ---- */

static bool is_busy(enum store_way way, uint64_t page) {
    for (unsigned i = 0; i < e.options.depth; i++)
        if (e.on_way[i].used && e.on_way[i].page == page &&
            (way == STORE_WRITE || e.on_way[i].way == STORE_WRITE))
            return true;
    return false;
}

static unsigned free_place(void) {
    unsigned i = 0;
    while (i < e.options.depth && e.on_way[i].used)
        i++;
    return i;
}

static int expected_of(enum store_way way, uint64_t page) {
    if (page >= e.pages)
        return -EINVAL;
    if (e.count == e.options.depth)
        return -EAGAIN;
    return is_busy(way, page) ? -EBUSY : 0;
}

static void submit(void) {
    enum store_way way = chance(50) ? STORE_WRITE : STORE_READ;
    uint64_t page = chance(2) ? e.pages + roll(3) : roll(e.pages);
    unsigned i = free_place();
    struct on_way request = {true, way, page, way == STORE_WRITE ? e.last_number + 1 : 0};
    void *buffer = buffer_of(i < e.options.depth ? i : 0);
    int expected = expected_of(way, page);
    if (!expected && way == STORE_WRITE)
        help_fill(buffer, e.options.page_bytes, page, request.number);
    else if (!expected)
        memset(buffer, 0x5a, e.options.page_bytes);
    require(pages_store_submit(e.store, way, page, buffer, i) == expected);
    if (expected)
        return;
    e.last_number += way == STORE_WRITE;
    e.on_way[i] = request;
    e.count++;
}

static void see_write(const struct on_way *r, int error) {
    require(!error || e.faulty);
    e.now[r->page].lost = error != 0;
    if (!error)
        e.now[r->page].number = r->number;
}

static void see_read(const struct on_way *r, int error, const void *buffer) {
    const struct version *v = &e.now[r->page];
    if (v->lost)
        require(error == -EIO);
    else if (error)
        require(e.faulty);
    else
        require(help_holds(buffer, e.options.page_bytes, r->page, v->number));
}

static void see_done(const struct store_done *done) {
    require(done->token < e.options.depth);
    struct on_way *r = &e.on_way[done->token];
    require(r->used);
    r->used = false;
    e.count--;
    if (r->way == STORE_WRITE)
        see_write(r, done->error);
    else
        see_read(r, done->error, buffer_of((unsigned)done->token));
}

static void poll_some(void) {
    struct store_done done[MOST_DEPTH];
    unsigned most = 1 + roll(MOST_DEPTH);
    unsigned n =
        chance(50) && e.count ? help_wait(e.store, done, most) : pages_store_poll(e.store, done, most);
    for (unsigned i = 0; i < n; i++)
        see_done(&done[i]);
}

static void finish_all(void) {
    struct store_done done;
    while (e.count) {
        require(help_wait(e.store, &done, 1) == 1);
        see_done(&done);
    }
    require(pages_store_poll(e.store, &done, 1) == 0);
}

/* ---- checkpoints ---- */

static bool has_lost(void) {
    for (unsigned i = 0; i < e.pages; i++)
        if (e.now[i].lost)
            return true;
    return false;
}

static struct checkpoint picture(uint64_t epoch) {
    struct checkpoint c = {.epoch = epoch};
    for (unsigned i = 0; i < e.pages; i++)
        c.numbers[i] = e.now[i].number;
    return c;
}

static void prepare(void) {
    if (e.prepared.epoch)
        return;
    finish_all();
    e.tried = picture(e.last_epoch + 1 + roll(3));
    e.older = (struct checkpoint){0};
    int err = pages_store_prepare(e.store, e.tried.epoch);
    require(!has_lost() || err == -EIO);
    require(!err || e.faulty);
    if (err) {
        e.stuck = true; /* perhaps it is not, but then less is checked */
        return;
    }
    e.prepared = e.tried;
    e.last_epoch = e.tried.epoch;
}

/* As if another rank could not prepare it. */
static void give_up(void) {
    if (!e.prepared.epoch)
        return;
    int err = pages_store_abandon(e.store, e.prepared.epoch);
    require(!err || e.faulty);
    e.stuck |= err != 0; /* it may still exist, like one whose prepare has failed */
    e.prepared = (struct checkpoint){0};
    if (!err)
        e.tried = (struct checkpoint){0};
}

static void commit(void) {
    if (!e.prepared.epoch)
        return;
    int err = pages_store_commit(e.store, e.prepared.epoch);
    require(!err || e.faulty);
    e.stuck |= err != 0;
    if (err)
        return;
    e.older = e.committed;
    e.committed = e.prepared;
    e.prepared = (struct checkpoint){0};
}

/* ---- opening again ---- */

static void go_back_to(const struct checkpoint *c) {
    struct checkpoint copy = *c;
    require(pages_store_select(e.store, copy.epoch) == 0);
    for (unsigned i = 0; i < e.pages; i++)
        e.now[i] = (struct version){copy.numbers[i], false};
    e.committed = copy;
    e.prepared = e.tried = e.older = (struct checkpoint){0};
    e.stuck = false;
}

/* The checkpoint that must be found as the newest. A checkpoint whose prepare has failed may exist. */
static const struct checkpoint *newest(uint64_t epoch) {
    if (e.tried.epoch == epoch)
        return &e.tried;
    require(!e.prepared.epoch || e.prepared.epoch == epoch);
    require(e.prepared.epoch || e.committed.epoch == epoch);
    return e.prepared.epoch ? &e.prepared : &e.committed;
}

static void check_found(const struct store_found *found) {
    const struct checkpoint *c = newest(found->prepared);
    const struct checkpoint *older = found->older == e.committed.epoch ? &e.committed : &e.older;
    require(found->identity == e.options.identity);
    require(found->committed <= found->prepared && found->prepared <= found->tried);
    require(found->older < found->prepared);
    bool has_older = found->older && older->epoch == found->older;
    go_back_to(has_older && chance(50) ? older : c);
    e.last_epoch = found->tried;
}

static void choose_engine(void) {
    unsigned first = e.options.kind != STORE_TEMPORARY && e.options.folder == help_folder(0) ? 0 : 4;
    const struct help_way *way = &help_ways[first ? 4 + roll(2) : roll(4)];
    if (!help_can(way))
        way = &help_ways[first + (first ? 1 : 2)];
    e.options.engine = way->engine;
    e.options.buffered = way->buffered;
    e.options.depth = 1 + roll(MOST_DEPTH);
    e.options.threads = 1 + roll(4);
    e.options.throttle = chance(20) ? 1u << (24 + roll(8)) : 0;
}

static void open_again(void) {
    struct store_found found;
    finish_all();
    fail_store_at(0, 0, 0);
    require(pages_store_check(e.store));
    require(pages_store_close(e.store) == 0);
    e.options.kind = STORE_AGAIN;
    choose_engine();
    int err = pages_store_open(&e.options, &e.store, &found);
    if (err == -ENODATA && !e.committed.epoch && !e.prepared.epoch) {
        e.store = NULL;
        return;
    }
    require(err == 0);
    check_found(&found);
}

static void plan_fault(void) {
    static const int errors[] = {EIO, ENOSPC, EINTR, FAIL_SHORT};
    fail_store_at(1 + roll(200), 1 + roll(2), errors[roll(4)]);
}

/* ---- episodes ---- */

static void one_operation(void) {
    unsigned r = roll(1000);
    if (r < 550)
        submit();
    else if (r < 970)
        poll_some();
    else if (e.options.kind == STORE_TEMPORARY)
        finish_all();
    else if (r < 982)
        prepare();
    else if (r < 985)
        give_up();
    else if (r < 995)
        commit();
    else if (e.committed.epoch || e.prepared.epoch || chance(5))
        open_again();
    if (e.store && e.faulty && !roll(100))
        plan_fault();
}

static void choose_episode(uint64_t seed) {
    static const size_t sizes[] = {4096, 4096, 8192, LARGEST_PAGE};
    random_seed(&dice, seed);
    memset(&e, 0, sizeof e);
    e.seed = seed;
    e.pages = 1 + roll(MOST_PAGES);
    e.faulty = chance(30);
    e.options = help_options(&help_ways[chance(20) ? 0 : 4], chance(25) ? STORE_TEMPORARY : STORE_NEW);
    e.options.page_bytes = sizes[roll(4)];
    e.options.bytes = e.pages * e.options.page_bytes - roll(4096);
    e.options.identity = seed;
    choose_engine();
}

static uint64_t run_episode(uint64_t seed) {
    choose_episode(seed);
    remove_files(e.options.folder);
    require(pages_store_open(&e.options, &e.store, NULL) == 0);
    uint64_t left = 500 + roll(3000);
    for (e.operations = 0; e.operations < left && e.store; e.operations++) {
        one_operation();
        if (e.stuck && e.store)
            open_again();
    }
    if (e.store) {
        finish_all();
        fail_store_at(0, 0, 0);
        require(pages_store_close(e.store) == 0);
    }
    remove_files(e.options.folder);
    return e.operations;
}

int main(int argc, char **argv) {
    buffers = help_buffer((size_t)MOST_DEPTH * LARGEST_PAGE);
    help_has_uring();
    log_set_level(LOG_ERROR - 1); /* a store without a checkpoint is refused, with a line */
    struct episodes all = {
        .name = "pages_store_random", .operations = "operations on", .things = "stores", .run = run_episode};
    return episodes_run(all, argc, argv);
}
