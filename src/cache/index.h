/* index.h: maps (target, displacement) to an entry. The search is inlined, because it is most of a hit. */
#ifndef HEARTH_CACHE_INDEX_H
#define HEARTH_CACHE_INDEX_H

#include "cache/entry.h"

enum { WAYS = 4 };

/* Four slots and a tag, derived from 128 bits. */
struct hash {
    uint64_t a, b;
    uint32_t tag;
};

/* Two rounds of multiply and fold by random odd factors. The table fills as far as with a general-purpose 128-bit
 * hash (the tests require 97 %) in two thirds of the time. Without the shift, or with the bare halves of the second
 * product for a and b, the four slots depend on each other, and inserts begin to fail at 92 %. */
static inline struct hash hash_key(const uint64_t *factors, uint32_t target, uint64_t disp) {
    uint64_t key = (disp + target * factors[0]) ^ factors[1];
    unsigned __int128 wide = (unsigned __int128)key * factors[2];
    uint64_t mixed = (uint64_t)wide ^ (uint64_t)(wide >> 64);
    mixed ^= mixed >> 32;
    wide = (unsigned __int128)mixed * factors[3];
    uint64_t a = (uint64_t)wide;
    return (struct hash){.a = a, .b = a ^ (uint64_t)(wide >> 64), .tag = (uint32_t)mixed};
}

/* The hash of this key: known, if it is the one that was missed last. */
static inline struct hash hash_again(const struct cache *c, uint32_t target, uint64_t disp) {
    const struct cache_missed *m = &c->missed_last;
    if (m->disp == disp && m->target == target && m->tag)
        return (struct hash){m->a, m->b, m->tag};
    return hash_key(c->factors, target, disp);
}

/* Whether it is known that there is no entry under this key. */
static inline bool index_lacks(const struct cache *c, uint32_t target, uint64_t disp) {
    const struct cache_missed *m = &c->missed_last;
    return m->absent && m->disp == disp && m->target == target && m->placed == c->placed;
}

/* The way-th slot of a key: 32 bits of the hash, scaled to the table, so that the table may have any size. */
static inline uint32_t hash_slot(struct hash h, unsigned way, uint32_t slots) {
    uint64_t word = way & 2 ? h.b : h.a;
    uint32_t part = way & 1 ? (uint32_t)word : (uint32_t)(word >> 32);
    return (uint32_t)((uint64_t)part * slots >> 32);
}

/* The entry of this key, or NOTHING. A slot need not be up to date: if the entry that it names has the key and is
 * current, it is the right one, whatever the slot was written for. */
static inline uint32_t index_find(const struct cache *c, struct hash h, uint32_t target, uint64_t disp) {
#pragma GCC unroll 4
    for (unsigned way = 0; way < WAYS; way++) {
        const struct cache_slot *s = &c->slots[hash_slot(h, way, c->slot_count)];
        const struct cache_entry *e = &c->pool[s->id];
        if (s->tag == h.tag && e->disp == disp && e->target == target && is_current(c, e))
            return s->id;
    }
    return NOTHING;
}

/* The entry that is really in this slot, or NOTHING. */
static inline uint32_t index_occupant(const struct cache *c, uint32_t slot) {
    uint32_t id = c->slots[slot].id;
    if (!id || id >= c->used)
        return NOTHING;
    const struct cache_entry *e = &c->pool[id];
    return e->slot == slot && is_current(c, e) ? id : NOTHING;
}

/* An insertion path: if each entry in these slots except the last moves to the next one, the first is empty. */
struct route {
    uint32_t *slots; /* config.path + 1 elements */
    uint32_t length;
    bool open; /* the last slot is empty */
};

int index_open(struct cache *c, uint32_t slots);
void index_close(struct cache *c);

/* The first empty one of a key's slots, or NO_SLOT. */
uint32_t index_vacancy(const struct cache *c, struct hash h);

/* Searches a path that frees a slot for this key; changes nothing. */
void index_route(struct cache *c, struct hash h, struct route *route);

/* Moves the entries on the path up to its first empty slot (there is one). Its first slot is then empty. */
void index_shift(struct cache *c, const struct route *route);

/* Stores the entry in an empty slot. */
static inline void index_occupy(struct cache *c, uint32_t slot, uint32_t id, uint32_t tag) {
    c->slots[slot] = (struct cache_slot){.id = id, .tag = tag};
    c->pool[id].slot = slot;
}

void index_erase(struct cache *c, uint32_t id);

/* Rebuilds the table in another size, with all current entries. An entry that finds no slot is freed, or invalidated
 * if it is PENDING. An error of memory_open changes nothing. */
int index_resize(struct cache *c, uint32_t slots);

#endif
