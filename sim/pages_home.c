/* pages_home.c: the home of all pages, as in src/pages/service/service_home.c and service_disk.c: the directory, a
 * buffer for each of at most WORKS transactions, and the NVM. */
#include <stdlib.h>

#include "need.h"
#include "pages_sim.h"

void home_open(struct pages_world *w) {
    struct pages_limits limits = {.nodes = w->plan.nodes,
                                  .window = PAGES_WINDOW,
                                  .pages = w->plan.pages,
                                  .home = HOME,
                                  .coop = w->plan.coop,
                                  .hand_over = true};
    size_t bytes = pages_directory_bytes(&limits);
    must(bytes != 0, "the directory refuses these limits");
    w->directory = pages_directory_open(need(calloc(1, bytes)), &limits);
    w->messages = need(calloc(w->plan.nodes + 1, sizeof *w->messages));
    w->latest = need(calloc(w->plan.pages, sizeof *w->latest));
    w->nvm = need(calloc(w->plan.pages, sizeof *w->nvm));
}

void home_close(struct pages_world *w) {
    free(w->directory);
    free(w->messages);
    free(w->latest);
    free(w->nvm);
}

/* ---- works ---- */

static struct work *work_of(struct pages_world *w, uint32_t page) {
    for (int i = 0; i < WORKS; i++)
        if (w->works[i].taken && !w->works[i].over && w->works[i].page == page)
            return &w->works[i];
    return NULL;
}

static void take_work(struct pages_world *w, uint32_t page) {
    struct work *k = w->works;
    while (k->taken)
        k++;
    *k = (struct work){.taken = true, .page = page};
    w->works_taken++;
}

static void give_if_free(struct pages_world *w, struct work *k) {
    if (!k->over || k->sends)
        return;
    k->taken = false;
    w->works_taken--;
}

static bool is_busy(const struct pages_world *w, uint32_t page) {
    return pages_directory_look(w->directory, page).busy != PAGES_NOTHING;
}

static void end_if_over(struct pages_world *w, uint32_t page) {
    struct work *k = is_busy(w, page) ? NULL : work_of(w, page);
    if (!k)
        return;
    k->over = true;
    give_if_free(w, k);
}

/* ---- the NVM ---- */

static uint64_t disk_time(struct pages_world *w, unsigned times) {
    const struct machine *m = &w->plan.machine;
    uint64_t now = w->events.now, busy = (uint64_t)((double)m->page_bytes / m->nvm_bandwidth * 1e9) * times;
    w->disk_work += busy;
    w->disk_busy = (w->disk_busy > now ? w->disk_busy : now) + busy;
    return w->disk_busy + (uint64_t)(1e3 * m->nvm_us) * times;
}

/* Time of the service thread, which does nothing else meanwhile. */
static uint64_t copy_time(struct pages_world *w) {
    struct node *n = &w->nodes[HOME];
    uint64_t now = w->events.now;
    n->service_busy = (n->service_busy > now ? n->service_busy : now) + world_copy_ns(w);
    return n->service_busy;
}

/* Where nodes do not serve each other's misses, the home's own copy is read instead of the NVM. */
static bool is_in_memory(const struct pages_world *w, uint32_t page) {
    return !w->plan.coop && cache_is_hit(w, HOME, page, false);
}

static void begin_io(struct pages_world *w, struct work *k, enum pages_io io) {
    bool writes = io == PAGES_WRITE || (io == PAGES_APPLY && pages_directory_writes(w->directory, k->page));
    bool reads = io != PAGES_WRITE;
    k->io = io;
    k->from_memory = reads && !writes && is_in_memory(w, k->page);
    w->memory_reads += k->from_memory;
    w->nvm_reads += reads && !k->from_memory;
    w->nvm_writes += writes;
    uint64_t at = k->from_memory ? copy_time(w) : disk_time(w, (unsigned)reads + writes);
    world_at(w, at, EVENT_IO, 0, (uint64_t)(k - w->works));
}

/* ---- actions of the directory ---- */

static void send_one(struct pages_world *w, const struct pages_message *m) {
    struct flight f = {.m = *m};
    if (m->kind == PAGES_DATA) {
        struct work *k = work_of(w, m->page);
        must(k != NULL, "data without a buffer");
        f.version = k->version;
        f.work = (uint32_t)(k - w->works) + 1;
        k->sends++;
    }
    if (m->kind == PAGES_FWD_SMALL || m->kind == PAGES_ANSWER)
        f.bytes = 8;
    world_send(w, &f);
}

static void perform(struct pages_world *w, const struct pages_output *out, uint32_t page) {
    if (out->io != PAGES_NO_IO)
        begin_io(w, work_of(w, page), out->io);
    for (uint32_t i = 0; i < out->count; i++)
        send_one(w, &out->messages[i]);
    end_if_over(w, page);
}

static void begin_all(struct pages_world *w) {
    while (w->works_taken < WORKS) {
        struct pages_output out = {.messages = w->messages};
        int status = pages_directory_start(w->directory, &out);
        must(status >= 0, "a request that the directory drops");
        if (!status)
            return;
        uint32_t page = out.count ? out.messages[0].page : out.page;
        if (is_busy(w, page))
            take_work(w, page);
        perform(w, &out, page);
    }
}

void home_finished_io(struct pages_world *w, uint32_t index) {
    struct work *k = &w->works[index];
    struct pages_message one[1];
    struct pages_output out = {.messages = one};
    uint32_t page = k->page;
    if (k->io == PAGES_READ)
        k->version = w->nvm[page];
    else if (k->io == PAGES_WRITE)
        w->nvm[page] = k->version;
    else {
        must(w->nvm[page] == w->latest[page], "a small operation on an old page");
        if (pages_directory_writes(w->directory, page))
            world_written(w, page, UINT32_MAX, &w->nvm[page]);
    }
    must(pages_directory_finished(w->directory, page, &out) == 0, "I/O that the directory does not expect");
    perform(w, &out, page);
    begin_all(w);
}

void home_left(struct pages_world *w, uint32_t index) {
    w->works[index].sends--;
    give_if_free(w, &w->works[index]);
    begin_all(w);
}

/* ---- messages ---- */

/* As in service_home.c: the home's own pool first gets a page for which other nodes would otherwise wait for
 * the NVM repeatedly. */
static bool is_for_pool(const struct pages_world *w, const struct pages_message *m) {
    struct pages_look look = pages_directory_look(w->directory, m->page);
    if (look.busy != PAGES_NOTHING || pages_directory_holds(w->directory, m->page, HOME))
        return false;
    if (m->kind == PAGES_SMALL)
        return look.known == PAGES_UNCACHED;
    return m->kind == PAGES_GETS && !w->plan.coop && m->from != HOME &&
           (look.known == PAGES_UNCACHED || look.known == PAGES_SHARED);
}

static void receive(struct pages_world *w, const struct pages_message *m) {
    struct pages_message one[1];
    struct pages_output out = {.messages = one};
    must(pages_directory_receive(w->directory, m, &out) == 0, "a message that the directory does not expect");
    perform(w, &out, m->page);
}

void home_queue(struct pages_world *w, const struct pages_message *m) {
    receive(w, m);
}

void home_receive(struct pages_world *w, const struct flight *f) {
    const struct pages_message *m = &f->m;
    if (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY) {
        struct work *k = work_of(w, m->page);
        must(k != NULL, "a page that is written back without a buffer");
        k->version = f->version;
    }
    if (pages_class_of((enum pages_kind)m->kind) == PAGES_REQ && is_for_pool(w, m)) {
        w->at_once = true; /* its request precedes the other's */
        cache_prefetch(w, HOME, m->page);
        w->at_once = false;
    }
    receive(w, m);
    begin_all(w);
}
