/* fuzz_pages_service.c: feeds messages of other nodes to the service of a node's pages, while the node itself uses
 * pages. The input is a sequence of steps; a message is raw bytes, or fields in a few bytes. The network and the NVM
 * are functions of this file: a sent message completes at once or when the input says so, and pages are read from and
 * written to memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "fuzz.h"
#include "pages/local/local.h"
#include "pages/service/service.h"

enum {
    NODES = 3,
    PAGES = 4,
    FRAMES = 24,
    PAGE_BYTES = 4096,
    SMALL_BYTES = 64,
    MOST_STEPS = 100,
    SENDS = 64,
    IOS = 64,
    PINS = 8
};
enum step { MESSAGE, RAW, ROUND, PIN, UNPIN, SMALL, LEFT, RESERVE, STEPS };

static struct {
    struct pages_pool pool;
    struct service service;
    struct net_world world;
    struct service_homes home;
    struct mailbox *box, *asking; /* as the service and as a process see it */
    void *box_memory;
    struct fuzz_input in;
    int steps;
    bool has_failed, is_waiting; /* waiting: for a page */
    jmp_buf end;                 /* end of the input, if it is reached while waiting */

    bool keeps;           /* the next message, until the input completes it */
    bool batched, placed; /* how the next message arrives */
    struct link_send *sends[SENDS];
    unsigned send_count;
    unsigned char sum; /* of all bytes that were sent */

    struct store_done done[IOS];
    unsigned done_count;
    bool is_written[PAGES];
    char nvm[PAGES][PAGE_BYTES];

    struct {
        int64_t frame;
        bool write;
    } pins[PINS];
} x;

/* ---- network ---- */

int net_channel_send(struct net_channel *c, int node, const void *header, size_t header_bytes,
                     const void *payload, size_t bytes, struct link_send *s) {
    (void)c;
    fuzz_must(node > 0 && node < NODES);
    fuzz_must(header_bytes == sizeof(struct wire) || (header_bytes == 0 && bytes % sizeof(struct wire) == 0));
    for (size_t i = 0; i < bytes; i++)
        x.sum ^= ((const unsigned char *)payload)[i];
    if (!x.keeps || x.send_count == SENDS)
        return 0;
    x.sends[x.send_count++] = s;
    return 1;
}

bool net_channel_in_place(const struct net_channel *c) {
    (void)c;
    return true;
}

int net_channel_progress(struct net_channel *c) {
    (void)c;
    return 0;
}

int net_channel_arm(struct net_channel *c) {
    (void)c;
    return 0;
}

int net_channel_descriptor(const struct net_channel *c) {
    (void)c;
    return -1;
}

uint64_t net_channel_nap(const struct net_channel *c) {
    (void)c;
    return 0;
}

static void complete_sends(void) {
    unsigned count = x.send_count;
    struct link_send *sends[SENDS];
    memcpy(sends, x.sends, count * sizeof *sends);
    x.send_count = 0;
    for (unsigned i = 0; i < count; i++)
        sends[i]->sent(sends[i], 0);
}

/* ---- NVM ---- */

int pages_store_submit(struct store *store, enum store_way way, uint64_t page, void *buffer, uint64_t token) {
    (void)store;
    fuzz_must(page < PAGES);
    if (x.done_count == IOS)
        return -EAGAIN;
    memcpy(way == STORE_READ ? buffer : x.nvm[page], way == STORE_READ ? x.nvm[page] : buffer, PAGE_BYTES);
    x.is_written[page] |= way == STORE_WRITE;
    x.done[x.done_count++] = (struct store_done){.token = token};
    return 0;
}

unsigned pages_store_poll(struct store *store, struct store_done *done, unsigned most) {
    unsigned count = x.done_count < most ? x.done_count : most;
    (void)store;
    memcpy(done, x.done, count * sizeof *done);
    memmove(x.done, x.done + count, (x.done_count - count) * sizeof *done);
    x.done_count -= count;
    return count;
}

bool pages_store_is_hole(const struct store *store, uint64_t page) {
    (void)store;
    fuzz_must(page < PAGES);
    return !x.is_written[page];
}

int pages_store_reserve(struct store *store, uint64_t page) {
    (void)store;
    fuzz_must(page < PAGES);
    return 0;
}

int pages_store_arm(struct store *store) {
    (void)store;
    return 0;
}

int pages_store_descriptor(const struct store *store) {
    (void)store;
    return -1;
}

int pages_store_prepare(struct store *store, uint64_t epoch) {
    (void)store, (void)epoch;
    return 0;
}

int pages_store_commit(struct store *store, uint64_t epoch) {
    (void)store, (void)epoch;
    return 0;
}

int pages_store_abandon(struct store *store, uint64_t epoch) {
    (void)store, (void)epoch;
    return 0;
}

bool pages_store_is_changed(const struct store *store) {
    (void)store;
    return true;
}

const char *pages_store_label(const struct store *store) {
    (void)store;
    return "fuzz";
}

const char *pages_store_advice(int error) {
    (void)error;
    return "";
}

/* ---- the node ---- */

/* Nothing is mapped. */
void pages_mapper_ask(struct pages_pool *pool, uint32_t frame, enum pages_level level) {
    (void)pool, (void)frame, (void)level;
    fuzz_must(false);
}

/* Reads the whole word, and writes it. */
static uint64_t on_update(void *word, const struct pages_update *u) {
    uint64_t old = 0;
    fuzz_must((u->bytes == 4 || u->bytes == 8) && (uintptr_t)word % u->bytes == 0);
    memcpy(&old, word, u->bytes);
    memcpy(word, u->operands, u->bytes);
    return old;
}

static void on_failure(void *arg, const char *why) {
    (void)arg, (void)why;
    x.has_failed = true;
}

static void make_node(unsigned shape) {
    size_t bytes = pages_pool_shared_bytes(FRAMES, 1, SMALL_BYTES);
    struct pool_shared *shared = aligned_alloc(128, round_up(bytes, 128));
    char *memory = aligned_alloc(4096, (size_t)FRAMES * PAGE_BYTES);
    void *box = aligned_alloc(128, round_up(net_mailbox_bytes(1), 128));
    fuzz_must(shared && memory && box);
    memset(&x, 0, sizeof x);
    memset(shared, 0, bytes);
    memset(memory, 0, (size_t)FRAMES * PAGE_BYTES);
    memset(box, 0, net_mailbox_bytes(1));
    x.box_memory = box;
    fuzz_must(net_mailbox_make(box, 1, &x.box) == 0 && net_mailbox_join(box, 0, &x.asking) == 0);
    bool coop = shape & 1;
    pages_pool_make(shared, FRAMES, PAGE_BYTES, 1, SMALL_BYTES, 0, coop ? NODES : 1, REPLACE_LRU_FIFO);
    pages_pool_attach(&x.pool, shared, memory, -1, NULL);
    x.world = (struct net_world){.size = NODES, .nodes = NODES, .local_count = 1};
    x.home = (struct service_homes){.store = (struct store *)&x, .pages = PAGES};
    struct service_options options = {.pool = &x.pool,
                                      .world = &x.world,
                                      .channel = (struct net_channel *)&x,
                                      .events = {.failed = on_failure, .update = on_update},
                                      .homes = &x.home,
                                      .pages = PAGES,
                                      .box = x.box};
    fuzz_must(pages_service_open(&x.service, &options) == 0);
    x.service.coop = coop;
    x.service.stores.write_behind = shape & 2;
    for (int i = 0; i < PINS; i++)
        x.pins[i].frame = POOL_NO_FRAME;
}

static void end_node(void) {
    pages_service_close(&x.service);
    net_mailbox_close(x.asking);
    net_mailbox_close(x.box);
    free(x.box_memory);
    free(x.pool.shared);
    free(x.pool.memory);
}

/* ---- steps ---- */

static void arrive_in_place(const void *header, size_t header_bytes, size_t bytes) {
    char *place = pages_service_place(&x.service, header, header_bytes, bytes);
    fuzz_must(place || x.has_failed);
    if (!place)
        return;
    memset(place, 7, bytes);
    pages_service_arrived(&x.service, header, header_bytes, place, bytes);
}

/* In its own allocation, so that a sanitizer detects accesses beyond its end. */
static void arrive(const struct wire *w, size_t header_bytes, size_t bytes) {
    void *header = malloc(sizeof *w + 1), *payload = calloc(1, bytes ? bytes : 1);
    fuzz_must(header && payload);
    memcpy(header, w, sizeof *w);
    if (x.batched)
        pages_service_arrived(&x.service, NULL, 0, header, header_bytes);
    else if (x.placed && bytes > 0)
        arrive_in_place(header, header_bytes, bytes);
    else
        pages_service_arrived(&x.service, header, header_bytes, payload, bytes);
    free(header);
    free(payload);
}

static size_t take_size(struct fuzz_input *in) {
    static const size_t sizes[] = {
        0, 1, 8, SMALL_BYTES, SMALL_BYTES + 1, PAGE_BYTES / 2, PAGE_BYTES, PAGE_BYTES + 1};
    return sizes[fuzz_take_byte(in) % 8];
}

static void take_message(struct fuzz_input *in) {
    struct wire w = {0};
    uint8_t kind = fuzz_take_byte(in), nodes = fuzz_take_byte(in), more = fuzz_take_byte(in);
    w.message.kind = kind % (SERVICE_KINDS + 1);
    w.message.page = kind / 32 % (PAGES + 1);
    w.message.from = nodes & 3;
    w.message.home = nodes >> 2 & 3;
    w.message.peer = nodes >> 4 & 3;
    w.message.flags = more & 7;
    w.message.state = more >> 3 & 7;
    w.zero = more >> 6 & 1;
    uint8_t tag = fuzz_take_byte(in);
    w.message.tag = tag % (POOL_SMALLS + 1);
    w.message.flags |= tag & 0x80 ? PAGES_OVERWRITE : 0;
    size_t bytes = take_size(in);
    w.offset = (uint32_t)take_size(in);
    w.whole = more & 0x80 ? (uint32_t)take_size(in) : (uint32_t)bytes;
    w.bytes = more & 0x80 ? (uint32_t)take_size(in) : (uint32_t)bytes;
    arrive(&w, sizeof w, bytes);
}

static void take_raw(struct fuzz_input *in) {
    struct wire w;
    size_t bytes = take_size(in), header_bytes = sizeof w - (fuzz_take_byte(in) == 0xff);
    fuzz_take(in, &w, sizeof w);
    arrive(&w, header_bytes, bytes);
}

/* Waits for the page, unless another step waits: messages arrive meanwhile. */
static void take_pin(struct fuzz_input *in) {
    uint8_t what = fuzz_take_byte(in), place = fuzz_take_byte(in) % PINS;
    uint16_t home = what & 3;
    uint32_t page = what >> 2 & 3;
    bool write = what & 0x80;
    if (home >= NODES || x.pins[place].frame >= 0)
        return;
    int64_t frame = pages_pool_try_pin(&x.pool, home, page, write);
    if (frame < 0 && (x.is_waiting || what & 0x40)) {
        pages_pool_prefetch(&x.pool, home, page);
        return;
    }
    if (frame < 0) {
        x.is_waiting = true;
        frame = what & 0x20 && write ? pages_pool_pin_to_overwrite(&x.pool, home, page)
                                     : pages_pool_pin(&x.pool, home, page, write);
        x.is_waiting = false;
    }
    x.pins[place].frame = frame;
    x.pins[place].write = write;
}

static void unpin(unsigned place) {
    if (x.pins[place].frame >= 0)
        pages_pool_unpin(&x.pool, (uint32_t)x.pins[place].frame, x.pins[place].write);
    x.pins[place].frame = POOL_NO_FRAME;
}

static void take_small(struct fuzz_input *in) {
    uint8_t what = fuzz_take_byte(in);
    int slot = what & 3 && (what & 3) < NODES ? pages_pool_small_take(&x.pool) : -1;
    if (slot < 0)
        return;
    struct pool_small *m = &x.pool.smalls[slot];
    m->home = what & 3;
    m->page = what >> 2 & 3;
    m->writes = what >> 7;
    m->offset = 8;
    m->bytes = 8;
    pages_pool_small_ask(&x.pool, slot);
}

static void take_step(struct fuzz_input *in) {
    struct mailbox_request reserve = {.what = ORDER_RESERVE};
    uint8_t byte = fuzz_take_byte(in);
    x.keeps = byte & 0x80;
    x.batched = byte & 0x40;
    x.placed = byte & 0x20;
    switch (byte % STEPS) {
    case MESSAGE:
        take_message(in);
        break;
    case RAW:
        take_raw(in);
        break;
    case PIN:
        take_pin(in);
        break;
    case UNPIN:
        unpin(fuzz_take_byte(in) % PINS);
        break;
    case SMALL:
        take_small(in);
        break;
    case LEFT:
        complete_sends();
        break;
    case RESERVE:
        net_mailbox_ask(x.asking, &reserve);
        break;
    default:
        pages_service_go_round(&x.service);
        pages_service_go_round(&x.service);
    }
}

static bool has_more(void) {
    return x.in.left && x.steps++ < MOST_STEPS && !x.has_failed;
}

/* Runs in place of the service's thread, for a step that waits. */
static bool work_until(void *service, const _Atomic uint32_t *word, uint32_t seen) {
    (void)service;
    while (atomic_load(word) == seen) {
        if (!has_more())
            longjmp(x.end, 1);
        take_step(&x.in);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fuzz_input in = {data, size};
    unsigned shape = fuzz_take_byte(&in), errors = fuzz_errors();
    make_node(shape);
    x.in = in;
    x.pool.work_until = work_until;
    if (!setjmp(x.end))
        while (has_more())
            take_step(&x.in);
    fuzz_must(x.has_failed || fuzz_errors() == errors);
    fuzz_must(!x.has_failed || fuzz_errors() == errors + 1);
    if (!x.has_failed)
        pages_directory_check(x.service.home.directory);
    end_node();
    return 0;
}
