/* storage.c: allocates regions of the storage, best fit in whole cache lines, and merges free neighbours.
 *
 * Invariants: the ring covers the storage without gaps. Two free regions are never adjacent, so there is at most one
 * more free region than entries. Each entry stores how many free bytes are next to it (`adjacent`); any change updates
 * this for the two neighbours in constant time. A freed region keeps its descriptor, so only allocation can need a new
 * one, and freeing cannot fail. */
#include "cache/storage.h"

#include <errno.h>

#include "base/log.h"
#include "base/memory.h"
#include "cache/tree.h"
#include "cache/cache_write.h"

static void set_pool(struct cache *c) {
    c->pool = c->pool_memory.base;
    size_t fit = c->pool_memory.bytes / sizeof(struct cache_entry);
    c->capacity = fit < NO_SLOT ? (uint32_t)fit : NO_SLOT;
}

/* Ensures that the next take_id succeeds. */
static int reserve_id(struct cache *c) {
    if (c->unused_ids || c->used < c->capacity)
        return 0;
    int err = c->capacity == NO_SLOT ? -ENOMEM : memory_resize(&c->pool_memory, 2 * c->pool_memory.bytes);
    if (err)
        return err;
    set_pool(c);
    write_resize(c);
    return 0;
}

static uint32_t take_id(struct cache *c) {
    uint32_t id = c->unused_ids;
    if (id)
        c->unused_ids = c->pool[id].next;
    else
        id = c->used++;
    ASSERT(id != NOTHING && id < c->used && c->used <= c->capacity);
    return id;
}

static void give_id(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    ASSERT(id != NOTHING && e->kind != KIND_UNUSED && e->kind != KIND_SENTINEL);
    e->kind = KIND_UNUSED;
    e->stamp = 0;
    e->slot = NO_SLOT;
    e->next = c->unused_ids;
    c->unused_ids = id;
}

static void link_before(struct cache *c, uint32_t id, uint32_t next) {
    uint32_t prev = c->pool[next].prev;
    c->pool[id].prev = prev;
    c->pool[id].next = next;
    c->pool[prev].next = id;
    c->pool[next].prev = id;
}

static void unlink_from(struct cache *c, uint32_t id) {
    c->pool[c->pool[id].prev].next = c->pool[id].next;
    c->pool[c->pool[id].next].prev = c->pool[id].prev;
}

static uint64_t free_bytes(const struct cache *c, uint32_t id) {
    return c->pool[id].kind == KIND_REGION ? c->pool[id].room : 0;
}

static void count_adjacent(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    if (e->kind != KIND_REGION)
        e->adjacent = free_bytes(c, e->prev) + free_bytes(c, e->next);
}

static void count_around(struct cache *c, uint32_t id) {
    count_adjacent(c, c->pool[id].prev);
    count_adjacent(c, c->pool[id].next);
}

static void make_region(struct cache *c, uint32_t id, uint64_t start, uint64_t room) {
    struct cache_entry *e = &c->pool[id];
    e->kind = KIND_REGION;
    e->stamp = 0;
    e->slot = NO_SLOT;
    e->start = start;
    e->room = room;
}

void storage_reset(struct cache *c) {
    c->pool[0] = (struct cache_entry){.kind = KIND_SENTINEL, .slot = NO_SLOT};
    c->used = 1;
    c->unused_ids = NOTHING;
    c->root = NOTHING;
    c->regions = 0;
    c->used_bytes = 0;
    c->cursor = 0;
    uint32_t whole = take_id(c);
    make_region(c, whole, 0, c->storage_bytes);
    link_before(c, whole, 0);
    tree_insert(c, whole);
}

int storage_open(struct cache *c, uint64_t bytes, uint32_t entries) {
    /* Free regions are mostly few: a quarter more descriptors than entries; the pool grows if that is not enough. */
    int err = memory_open(&c->pool_memory, ((uint64_t)entries + entries / 4 + 2) * sizeof(struct cache_entry),
                          c->config.budget);
    if (err)
        return err;
    err = memory_open(&c->storage_memory, bytes, c->config.budget);
    if (err) {
        memory_close(&c->pool_memory);
        return err;
    }
    set_pool(c);
    c->storage = c->storage_memory.base;
    c->storage_bytes = bytes;
    storage_reset(c);
    return 0;
}

void storage_close(struct cache *c) {
    memory_close(&c->pool_memory);
    memory_close(&c->storage_memory);
}

/* The first part of a region becomes an allocation of its own. Its neighbours are never regions. */
static uint32_t carve(struct cache *c, uint32_t region, uint64_t room) {
    uint32_t id = take_id(c);
    struct cache_entry *e = &c->pool[id], *rest = &c->pool[region];
    ASSERT(rest->kind == KIND_REGION && rest->room > room);
    ASSERT(c->pool[rest->prev].kind != KIND_REGION && c->pool[rest->next].kind != KIND_REGION);
    e->start = rest->start;
    e->room = room;
    c->pool[rest->prev].adjacent -= rest->room;
    c->pool[rest->next].adjacent -= room;
    rest->start += room;
    rest->room -= room;
    e->adjacent = rest->room;
    link_before(c, id, region);
    return id;
}

/* All regions that are smaller than the best fit are smaller than `room`. So if at least that is left of it, it keeps its place in the
 * order, and the tree needs no change. */
uint32_t storage_take(struct cache *c, uint64_t room) {
    uint32_t region = tree_fit(c, room), id = region;
    if (!region || (c->pool[region].room > room && reserve_id(c)))
        return NOTHING;
    ASSERT(c->pool[region].kind == KIND_REGION && c->pool[region].room >= room);
    ASSERT(room % CACHE_LINE == 0);
    uint64_t left = c->pool[region].room - room;
    if (left < room)
        tree_remove(c, region);
    if (left)
        id = carve(c, region, room);
    if (left && left < room)
        tree_insert(c, region);
    c->pool[id].kind = KIND_PENDING;
    c->used_bytes += room;
    if (!left) {
        count_adjacent(c, id);
        count_around(c, id);
    }
    return id;
}

/* Merges the adjacent free region `from` into `id`. */
static void absorb(struct cache *c, uint32_t id, uint32_t from) {
    struct cache_entry *e = &c->pool[id], *f = &c->pool[from];
    ASSERT(f->kind == KIND_REGION && (f->start + f->room == e->start || e->start + e->room == f->start));
    tree_remove(c, from);
    unlink_from(c, from);
    e->start = f->start < e->start ? f->start : e->start;
    e->room += f->room;
    give_id(c, from);
}

void storage_give(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    ASSERT(is_entry(e) && c->used_bytes >= e->room);
    c->used_bytes -= e->room;
    make_region(c, id, e->start, e->room);
    if (c->pool[e->next].kind == KIND_REGION)
        absorb(c, id, e->next);
    if (c->pool[e->prev].kind == KIND_REGION)
        absorb(c, id, e->prev);
    tree_insert(c, id);
    count_around(c, id);
    ASSERT(c->pool[e->prev].kind != KIND_REGION && c->pool[e->next].kind != KIND_REGION);
}

int storage_stretch(struct cache *c, uint32_t id, uint64_t room) {
    struct cache_entry *e = &c->pool[id], *next = &c->pool[e->next];
    uint64_t more = room - e->room;
    if (room <= e->room)
        return 0;
    if (next->kind != KIND_REGION || next->room < more)
        return -ENOSPC;
    uint32_t region = e->next;
    tree_remove(c, region);
    next->start += more;
    next->room -= more;
    ASSERT(e->start + room == next->start);
    e->room = room;
    c->used_bytes += more;
    if (next->room) {
        tree_insert(c, region);
        count_adjacent(c, next->next);
    } else {
        unlink_from(c, region);
        give_id(c, region);
        count_adjacent(c, e->next);
    }
    count_adjacent(c, id);
    return 0;
}

void storage_exchange(struct cache *c, uint32_t a, uint32_t b) {
    struct cache_entry *pool = c->pool;
    if (pool[a].next == b) { /* in this order, the general case would move a behind itself */
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    uint32_t after_a = pool[a].next;
    unlink_from(c, a);
    link_before(c, a, b);
    unlink_from(c, b);
    link_before(c, b, after_a);
    uint64_t start = pool[a].start, room = pool[a].room;
    pool[a].start = pool[b].start;
    pool[a].room = pool[b].room;
    pool[b].start = start;
    pool[b].room = room;
    count_adjacent(c, a);
    count_adjacent(c, b);
}

uint32_t storage_beyond(const struct cache *c, uint64_t bytes) {
    uint32_t last = c->pool[0].prev;
    if (c->pool[last].kind == KIND_REGION)
        last = c->pool[last].prev;
    return last && c->pool[last].start + c->pool[last].room > bytes ? last : NOTHING;
}

/* The last descriptor, if it is a free region; it leaves the tree because its size changes. */
static uint32_t pull_end(struct cache *c) {
    uint32_t last = c->pool[0].prev;
    if (c->pool[last].kind != KIND_REGION)
        return NOTHING;
    tree_remove(c, last);
    return last;
}

static void push_end(struct cache *c, uint32_t last) {
    uint32_t before = c->pool[last].prev;
    if (c->pool[last].room) {
        tree_insert(c, last);
    } else {
        unlink_from(c, last);
        give_id(c, last);
    }
    count_adjacent(c, before);
}

static int storage_grow(struct cache *c, uint64_t bytes) {
    int err = reserve_id(c);
    if (!err)
        err = memory_resize(&c->storage_memory, bytes);
    if (err)
        return err;
    c->storage = c->storage_memory.base;
    uint32_t last = pull_end(c);
    if (!last) {
        last = take_id(c);
        make_region(c, last, c->storage_bytes, 0);
        link_before(c, last, 0);
    }
    ASSERT(c->pool[last].kind == KIND_REGION && c->pool[last].start + c->pool[last].room == c->storage_bytes);
    c->pool[last].room += bytes - c->storage_bytes;
    c->storage_bytes = bytes;
    push_end(c, last);
    return 0;
}

static int shrink(struct cache *c, uint64_t bytes) {
    if (storage_beyond(c, bytes))
        return -EBUSY;
    int err = memory_resize(&c->storage_memory, bytes);
    if (err)
        return err;
    c->storage = c->storage_memory.base;
    uint32_t last = pull_end(c);
    ASSERT(last && c->pool[last].room >= c->storage_bytes - bytes);
    c->pool[last].room -= c->storage_bytes - bytes;
    c->storage_bytes = bytes;
    push_end(c, last);
    return 0;
}

int storage_resize(struct cache *c, uint64_t bytes) {
    return bytes > c->storage_bytes   ? storage_grow(c, bytes)
           : bytes < c->storage_bytes ? shrink(c, bytes)
                                      : 0;
}
