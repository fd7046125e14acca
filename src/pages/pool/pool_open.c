/* pool_open.c: the layout of the pool in the memory that a node's processes share: the struct, then the arrays, each
 * aligned. The leader makes it; every process attaches to it. */
#include "base/compiler.h"
#include "pages/pool/pool.h"

enum { ARRAY = 128 /* alignment */ };

uint32_t pages_pool_least_frames(int locals) {
    return 8 * (uint32_t)locals + 8;
}

static uint32_t pool_buckets_for(uint32_t frames) {
    uint32_t n = 16;
    while (n < frames + frames / 2)
        n *= 2;
    return n;
}

struct pool_layout {
    size_t buckets, frames, links, smalls, data, mappers, all;
};

static size_t pool_reserve(size_t *at, size_t bytes) {
    size_t here = round_up(*at, ARRAY);
    *at = here + bytes;
    return here;
}

static struct pool_layout layout_of(uint32_t frames, uint32_t locals, uint32_t small_bytes) {
    struct pool_layout l;
    size_t at = sizeof(struct pool_shared);
    l.buckets = pool_reserve(&at, pool_buckets_for(frames) * sizeof(struct pool_bucket));
    l.frames = pool_reserve(&at, frames * sizeof(struct pool_frame));
    l.links = pool_reserve(&at, frames * sizeof(struct replace_link));
    l.smalls = pool_reserve(&at, POOL_SMALLS * sizeof(struct pool_small));
    l.data = pool_reserve(&at, (size_t)POOL_SMALLS * small_bytes);
    l.mappers = pool_reserve(&at, locals * sizeof(struct pool_mapper));
    l.all = round_up(at, ARRAY);
    return l;
}

size_t pages_pool_shared_bytes(uint32_t frames, int locals, uint32_t small_bytes) {
    return layout_of(frames, (uint32_t)locals, small_bytes).all;
}

void pages_pool_make(struct pool_shared *s, uint32_t frames, size_t page_bytes, int locals,
                     uint32_t small_bytes, uint16_t self, uint16_t nodes, enum replace_policy policy) {
    struct pool_layout l = layout_of(frames, (uint32_t)locals, small_bytes);
    struct pool_frame *all = (struct pool_frame *)((char *)s + l.frames);
    struct pool_small *smalls = (struct pool_small *)((char *)s + l.smalls);
    s->frames = frames;
    s->buckets = pool_buckets_for(frames);
    s->locals = (uint32_t)locals;
    s->small_bytes = small_bytes;
    s->page_bytes = page_bytes;
    s->self = self;
    s->nodes = nodes;
    pages_replace_open(&s->replace, policy, frames);
    for (uint32_t i = 0; i < frames; i++)
        all[i].next = i + 2 <= frames ? i + 2 : 0;
    s->first_free = 1;
    atomic_store(&s->free_count, frames);
    for (uint32_t i = 0; i < POOL_SMALLS; i++)
        smalls[i].next = i + 2 <= POOL_SMALLS ? i + 2 : 0;
    s->small_free = 1;
    atomic_store(&s->window, PAGES_WINDOW);
}

void pages_pool_attach(struct pages_pool *p, struct pool_shared *s, char *memory, int file,
                       struct mailbox *doorbell) {
    struct pool_layout l = layout_of(s->frames, s->locals, s->small_bytes);
    *p = (struct pages_pool){.shared = s,
                             .buckets = (struct pool_bucket *)((char *)s + l.buckets),
                             .frames = (struct pool_frame *)((char *)s + l.frames),
                             .links = (struct replace_link *)((char *)s + l.links),
                             .smalls = (struct pool_small *)((char *)s + l.smalls),
                             .small_data = (char *)s + l.data,
                             .mappers = (struct pool_mapper *)((char *)s + l.mappers),
                             .memory = memory,
                             .file = file,
                             .page_bytes = s->page_bytes,
                             .doorbell = doorbell};
}
