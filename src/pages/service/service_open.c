/* service_open.c: the memory of the page service. All of it is reserved here, by upper bounds, so that the service never
 * waits for memory once it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/settings.h"
#include "pages/service/service.h"

static int service_reserve(struct memory_area *area, size_t bytes) {
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -errno;
    *area = (struct memory_area){.base = base, .bytes = bytes};
    return 0;
}

static void service_give_up(struct memory_area *area) {
    if (area->base)
        munmap(area->base, area->bytes);
    *area = (struct memory_area){0};
}

static int open_directory(struct service *s, uint32_t pages) {
    struct pages_limits limits = {.nodes = (uint32_t)s->world->nodes,
                                  .window = PAGES_WINDOW,
                                  .pages = pages,
                                  .home = s->self,
                                  .coop = s->coop,
                                  .hand_over = true};
    if (pages == 0)
        return 0;
    size_t bytes = pages_directory_bytes(&limits);
    int status = bytes ? service_reserve(&s->areas.directory, bytes) : -EINVAL;
    if (status == 0)
        s->home.directory = pages_directory_open(s->areas.directory.base, &limits);
    return status;
}

static int open_buffers(struct service *s) {
    size_t page = s->pool->page_bytes;
    size_t works = SERVICE_BUFFERS / page;
    works = works > SERVICE_WORKS ? SERVICE_WORKS : works;
    s->home.works_most = works < SERVICE_LEAST ? SERVICE_LEAST : (uint32_t)works;
    s->behind.most = SERVICE_WORKS + s->pool->shared->frames;
    int status = service_reserve(&s->areas.buffers, 2 * SERVICE_WORKS * page);
    if (status == 0)
        status = service_reserve(&s->areas.works, SERVICE_WORKS * sizeof *s->home.works);
    if (status == 0)
        status = service_reserve(&s->areas.behind, s->behind.most * sizeof *s->behind.entries);
    s->home.works = (struct work *)(void *)s->areas.works.base;
    s->behind.entries = (struct behind *)(void *)s->areas.behind.base;
    for (int i = 0; status == 0 && i < SERVICE_WORKS; i++) {
        s->home.works[i].buffer = s->areas.buffers.base + (size_t)i * page;
        s->behind.entries[i].buffer = s->areas.buffers.base + (size_t)(SERVICE_WORKS + i) * page;
    }
    return status;
}

/* Upper bounds: for each node, the requests that it may have open; for each frame, an answer and a request; for each
 * transaction, a message to every node; for each node, a ping and its answer. */
static int open_messages(struct service *s) {
    uint32_t nodes = (uint32_t)s->world->nodes, frames = s->pool->shared->frames;
    s->sends.piece = s->channel && net_channel_in_place(s->channel) ? UINT32_MAX : SERVICE_PIECE;
    s->sends.most = 4 * frames + 4 * nodes * PAGES_WINDOW + SERVICE_WORKS * (nodes + 1) + 2 * nodes;
    s->bounces.most = 2 * nodes * PAGES_WINDOW + 2 * SERVICE_WORKS;
    s->bounces.bytes = round_up(sizeof(struct bounce) + s->pool->shared->small_bytes, 64);
    s->held.messages = malloc(PAGES_WINDOW * sizeof *s->held.messages);
    s->home.messages = malloc((nodes + 1) * sizeof *s->home.messages);
    s->thread.polls = malloc((2 + (size_t)s->stores.locals) * sizeof *s->thread.polls);
    s->alive.peers = calloc(nodes, sizeof *s->alive.peers);
    int status = s->held.messages && s->home.messages && s->thread.polls && s->alive.peers ? 0 : -ENOMEM;
    if (status == 0)
        status = service_reserve(&s->areas.sends, s->sends.most * sizeof *s->sends.all);
    if (status == 0)
        status = service_reserve(&s->areas.batches, BATCHES * sizeof *s->batches.all);
    if (status == 0)
        status = service_reserve(&s->areas.bounces, s->bounces.most * s->bounces.bytes);
    s->batches.all = (struct batch *)(void *)s->areas.batches.base;
    if (status == 0)
        pages_batch_open(&s->batches);
    s->sends.all = (struct sending *)(void *)s->areas.sends.base;
    s->bounces.base = s->areas.bounces.base;
    return status;
}

int pages_service_open(struct service *s, const struct service_options *o) {
    const struct settings *set = settings_get();
    *s = (struct service){
        .pool = o->pool,
        .world = o->world,
        .channel = o->channel,
        .box = o->box,
        .self = (uint16_t)o->world->node,
        .coop = set->coop,
        .stores = {.homes = o->homes,
                   .locals = o->world->local_count,
                   .write_behind = set->write_back == WRITE_BACK_DRAM},
        .progress = {.spin = {.score = SPIN_BEST}, .pays = true},
        .thread = {.spin = {.score = SPIN_BEST}, .network = -1},
        .events = o->events,
    };
    pthread_mutex_init(&s->progress.lock, NULL);
    int status = open_directory(s, o->pages);
    if (status == 0)
        status = open_buffers(s);
    if (status == 0)
        status = open_messages(s);
    if (status != 0) {
        log_error("pages: no memory for the service of %u pages of %zu bytes: %s", o->pages,
                  o->pool->page_bytes, strerror(-status));
        pages_service_close(s);
    }
    return status;
}

void pages_service_close(struct service *s) {
    struct memory_area *areas[] = {&s->areas.directory, &s->areas.works,   &s->areas.buffers, &s->areas.sends,
                                   &s->areas.batches,   &s->areas.bounces, &s->areas.behind};
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++)
        service_give_up(areas[i]);
    pthread_mutex_destroy(&s->progress.lock);
    free(s->held.messages);
    free(s->home.messages);
    free(s->thread.polls);
    free(s->alive.peers);
    s->held.messages = s->home.messages = NULL;
    s->thread.polls = NULL;
    s->alive.peers = NULL;
}
