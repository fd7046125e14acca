/* index.c: the index, a cuckoo hash table with four ways.
 *
 * Every entry that can be found is in one of the four slots of its key. A slot is valid only if the entry that it
 * names refers back to it and is of the current generation. Slots are therefore never cleared, neither on
 * invalidation nor at the start, where fresh memory names descriptor 0, which is no entry.
 *
 * An insert makes a random walk from slot to slot: an entry in the way would move to one of its other slots, whose
 * entry would move on, until one of the four examined slots is empty. The walk only records the slots. If it ends
 * without an empty one, any entry on it can be evicted and those before it moved up, and all others remain findable.
 * Moving while walking, the usual form of cuckoo hashing, would leave the last entry without a slot instead of the
 * least valuable.
 *
 * The walk does not visit an entry twice, because a path that crosses itself could not be shifted. */
#include "cache/index.h"

#include "base/memory.h"
#include "base/random.h"
#include "cache/cache_write.h"
#include "heater/heater.h"

static void warm(struct cache *c) {
    if (c->config.heated)
        heater_add(c->slots, c->slot_count * sizeof(struct cache_slot));
}

/* Call before the slots move or are freed. */
static void cool(struct cache *c) {
    if (c->config.heated)
        heater_retire(c->slots);
}

int index_open(struct cache *c, uint32_t slots) {
    int err = memory_open(&c->slot_memory, slots * sizeof(struct cache_slot), c->config.budget);
    if (err)
        return err;
    c->slots = c->slot_memory.base;
    c->slot_count = slots;
    warm(c);
    return 0;
}

void index_close(struct cache *c) {
    cool(c);
    memory_close(&c->slot_memory);
}

/* The first empty one of a key's slots, or NO_SLOT. Returns all four in `slots`. */
static uint32_t index_view(const struct cache *c, struct hash h, uint32_t *slots) {
    uint32_t empty = NO_SLOT;
    for (unsigned way = 0; way < WAYS; way++) {
        slots[way] = hash_slot(h, way, c->slot_count);
        __builtin_prefetch(&c->slots[slots[way]]);
    }
    for (unsigned way = 0; way < WAYS; way++) /* all four are far apart: wait for them once */
        __builtin_prefetch(&c->pool[c->slots[slots[way]].id]);
    for (unsigned way = 0; way < WAYS; way++) {
        if (empty == NO_SLOT && !index_occupant(c, slots[way]))
            empty = slots[way];
    }
    return empty;
}

/* Slots are looked at one by one: until the index is nearly full, the first or second is empty. */
uint32_t index_vacancy(const struct cache *c, struct hash h) {
    for (unsigned way = 0; way < WAYS; way++) {
        uint32_t slot = hash_slot(h, way, c->slot_count);
        if (!index_occupant(c, slot))
            return slot;
    }
    return NO_SLOT;
}

/* One of the four whose entry the walk has not visited, or NO_SLOT: a random one, or the least recently accessed. */
static uint32_t index_choose(struct cache *c, const uint32_t *slots, bool oldest) {
    unsigned from = random_below(&c->random, WAYS);
    uint32_t chosen = NO_SLOT;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < WAYS && (oldest || chosen == NO_SLOT); i++) {
        uint32_t slot = slots[(from + i) % WAYS];
        const struct cache_entry *e = &c->pool[c->slots[slot].id];
        if (e->mark == c->walk || (oldest && e->last >= least))
            continue;
        chosen = slot;
        least = e->last;
    }
    if (chosen != NO_SLOT)
        c->pool[c->slots[chosen].id].mark = c->walk;
    return chosen;
}

/* Four ways fill a table to 97 %. Beyond that a walk seldom finds an empty slot and only serves to choose a victim,
 * for which a short one suffices: each step waits for memory. */
enum { FULL_PATH = 4 };

static bool is_full(const struct cache *c) {
    return (uint64_t)(c->cached + c->pending) * 100 >= (uint64_t)c->slot_count * 97;
}

void index_route(struct cache *c, struct hash h, struct route *route) {
    uint32_t slots[WAYS], most = c->config.path;
    bool full = is_full(c);
    if (full && most > FULL_PATH)
        most = FULL_PATH;
    route->length = 0;
    c->walk++;
    for (;;) {
        uint32_t next = index_view(c, h, slots);
        route->open = next != NO_SLOT;
        if (!route->open && route->length < most)
            next = index_choose(c, slots, full);
        if (next == NO_SLOT)
            return;
        route->slots[route->length++] = next;
        if (route->open)
            return;
        const struct cache_entry *e = &c->pool[c->slots[next].id];
        h = hash_key(c->factors, e->target, e->disp);
    }
}

void index_shift(struct cache *c, const struct route *route) {
    uint32_t at = 0;
    while (index_occupant(c, route->slots[at]))
        at++;
    for (; at; at--) {
        struct cache_slot moved = c->slots[route->slots[at - 1]];
        index_occupy(c, route->slots[at], moved.id, moved.tag);
    }
}

void index_erase(struct cache *c, uint32_t id) {
    struct cache_entry *e = &c->pool[id];
    if (e->slot != NO_SLOT && c->slots[e->slot].id == id)
        c->slots[e->slot] = (struct cache_slot){0};
    e->slot = NO_SLOT;
}

static void place_again(struct cache *c, enum kind kind) {
    uint32_t slots[c->config.path + 1], next;
    struct route route = {.slots = slots};
    for (uint32_t id = c->pool[0].next; id; id = next) {
        struct cache_entry *e = &c->pool[id];
        next = e->next;
        if (next && c->pool[next].kind == KIND_REGION) /* freeing this entry merges with it */
            next = c->pool[next].next;
        if (e->kind != kind || !is_current(c, e))
            continue;
        struct hash h = hash_key(c->factors, e->target, e->disp);
        index_route(c, h, &route);
        if (route.open) {
            index_shift(c, &route);
            index_occupy(c, slots[0], id, h.tag);
        } else {
            cache_invalidate_pending(c, id);
        }
    }
}

/* The descriptors hold the keys, so the old table is not needed while the new one is filled. */
int index_resize(struct cache *c, uint32_t slots) {
    cool(c);
    int err = memory_resize(&c->slot_memory, slots * sizeof(struct cache_slot));
    if (!err) {
        c->slots = c->slot_memory.base;
        c->slot_count = slots;
    }
    warm(c);
    if (err)
        return err;
    memset(c->slots, 0, slots * sizeof(struct cache_slot));
    for (uint32_t id = 1; id < c->used; id++)
        c->pool[id].slot = NO_SLOT;
    place_again(c, KIND_PENDING); /* first, while the table is emptiest: they cannot be evicted */
    place_again(c, KIND_CACHED);
    return 0;
}
