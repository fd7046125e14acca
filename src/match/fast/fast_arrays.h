/* fast_arrays.h: the arrays of a short queue, for fast.c, which is compiled for several instruction sets.
 *
 *      4 nodes of 64 slots in the order of the queue: bitmaps | fingerprints | addresses of entries
 *
 * A search compares fingerprints, node by node (fingerprint.h). A candidate is a live slot whose tag byte and source byte each
 * equal the sought one or belong to a wildcard; its entry is then compared. The first match is the first in the queue.
 *
 * Entries are appended at `tail` and leave holes. Invariant: slots before node `first` and from `tail` on are not live, and an
 * entry's `order` is its slot. */
#ifndef HEARTH_MATCH_FAST_ARRAYS_H
#define HEARTH_MATCH_FAST_ARRAYS_H

#include <string.h>

#include "base/compiler.h"
#include "match/fast/fast.h"
#include "match/fast/fingerprint.h"

HOT uint64_t bit_of(uint32_t slot) {
    return (uint64_t)1 << (slot % FAST_LANES);
}

static COLD void note_wildcards(struct fast_arrays *a, uint32_t slot, struct key key) {
    a->any_source[slot / FAST_LANES] |= key_any_source(key) ? bit_of(slot) : 0;
    a->any_tag[slot / FAST_LANES] |= key_any_tag(key) ? bit_of(slot) : 0;
    a->wild = true;
}

/* Stores the entry in this slot, the first one behind all others. */
HOT void array_place(struct fast_arrays *a, uint32_t slot, struct key key, struct fast_entry *entry) {
    struct fingerprint print = fingerprint_of(key);
    a->tail = (uint16_t)(slot + 1);
    a->tags[slot] = print.tag;
    a->sources[slot] = print.source;
    a->entries[slot] = entry;
    a->live[slot / FAST_LANES] |= bit_of(slot);
    entry->order = slot;
}

/* There must be a free slot. */
static void array_append(struct fast_arrays *a, struct key key, struct fast_entry *entry) {
    uint32_t slot = a->tail;
    array_place(a, slot, key, entry);
    if (UNLIKELY(key_is_wild(key)))
        note_wildcards(a, slot, key);
}

/* Clears the wildcard bits of slots of the node that are not live. */
static COLD void forget_wildcards(struct fast_arrays *a, uint32_t node) {
    uint64_t left = 0;
    a->any_source[node] &= a->live[node];
    a->any_tag[node] &= a->live[node];
    for (uint32_t n = 0; n < FAST_NODES; n++)
        left |= a->any_source[n] | a->any_tag[n];
    a->wild = left;
}

/* A node has become empty: the first, the last, or one between. */
static COLD void leave_node(struct fast_arrays *a) {
    uint32_t first = a->first, nodes = (a->tail + FAST_LANES - 1u) / FAST_LANES;
    while (nodes && !a->live[nodes - 1])
        nodes--;
    while (first < nodes && !a->live[first])
        first++;
    a->first = (uint16_t)(nodes ? first : 0);
    a->tail = (uint16_t)(nodes ? nodes * FAST_LANES - (unsigned)__builtin_clzll(a->live[nodes - 1]) : 0);
}

HOT void array_remove(struct fast_arrays *a, uint32_t slot) {
    uint32_t node = slot / FAST_LANES;
    uint64_t live = a->live[node] & ~bit_of(slot);
    a->live[node] = live;
    if (UNLIKELY(a->wild))
        forget_wildcards(a, node);
    if (slot + 1u == a->tail) /* holes at the end are reused */
        a->tail = (uint16_t)(node * FAST_LANES + 64u - (live ? (unsigned)__builtin_clzll(live) : 64u));
    if (!live && a->tail)
        leave_node(a);
}

/* Compacts all live slots. Entries move only to lower slots, so each slot is read before it is overwritten. */
static COLD void array_compact(struct fast_arrays *a) {
    uint64_t live[FAST_NODES];
    memcpy(live, a->live, sizeof live);
    memset(a->live, 0, sizeof a->live);
    memset(a->any_source, 0, sizeof a->any_source);
    memset(a->any_tag, 0, sizeof a->any_tag);
    a->first = a->tail = 0;
    a->wild = false;
    for (uint32_t n = 0; n < FAST_NODES; n++)
        for (; live[n]; live[n] &= live[n] - 1) {
            struct fast_entry *entry = a->entries[n * FAST_LANES + (unsigned)__builtin_ctzll(live[n])];
            array_append(a, fast_key(entry), entry);
        }
}

/* The slots of a node that may match: a message among receives, or a receive among messages. */
HOT uint64_t candidates(const struct fast_arrays *a, uint32_t node, struct fingerprint print, struct key key,
                        bool posted) {
    const uint8_t *tags = a->tags + node * FAST_LANES, *sources = a->sources + node * FAST_LANES;
    uint64_t live = a->live[node];
    if (posted && UNLIKELY(a->wild))
        return (fingerprint_equal(tags, print.tag) | a->any_tag[node]) &
               (fingerprint_equal(sources, print.source) | a->any_source[node]) & live;
    if (posted || LIKELY(!key_is_wild(key)))
        return fingerprint_both(tags, print.tag, sources, print.source) & live;
    if (!key_any_tag(key))
        return fingerprint_equal(tags, print.tag) & live;
    return key_any_source(key) ? live : fingerprint_equal(sources, print.source) & live;
}

HOT bool matches(const struct fast_entry *entry, struct key key, bool posted) {
    return posted ? key_matches(fast_key(entry), key) : key_matches(key, fast_key(entry));
}

/* The first entry that matches, or NULL. */
HOT struct fast_entry *array_find(const struct fast_arrays *a, struct key key, bool posted,
                                  uint32_t *looked) {
    struct fingerprint print = fingerprint_of(key);
    uint32_t count = 0;
    for (uint32_t node = a->first; node * FAST_LANES < a->tail; node++)
        for (uint64_t some = candidates(a, node, print, key, posted); some; some &= some - 1) {
            struct fast_entry *entry = a->entries[node * FAST_LANES + (unsigned)__builtin_ctzll(some)];
            count++;
            if (LIKELY(matches(entry, key, posted))) {
                *looked = count;
                return entry;
            }
        }
    *looked = count;
    return NULL;
}

static void array_check_slot(const struct fast_queue *q, uint32_t slot) {
    const struct fast_arrays *a = &q->arrays;
    const struct fast_entry *entry = a->entries[slot];
    struct key key = fast_key(entry);
    struct fingerprint print = fingerprint_of(key);
    uint32_t node = slot / FAST_LANES;
    MATCH_CHECK(slot < a->tail && node >= a->first);
    MATCH_CHECK(pool_has(&q->pool, entry->number) && fast_entry_at(q, entry->number) == entry);
    MATCH_CHECK(entry->order == slot);
    MATCH_CHECK(print.tag == a->tags[slot] && print.source == a->sources[slot]);
    MATCH_CHECK(key_any_source(key) == !!(a->any_source[node] & bit_of(slot)));
    MATCH_CHECK(key_any_tag(key) == !!(a->any_tag[node] & bit_of(slot)));
}

static void array_check(const struct fast_queue *q) {
    const struct fast_arrays *a = &q->arrays;
    uint32_t live = 0;
    for (uint32_t n = 0; n < FAST_NODES; n++) {
        MATCH_CHECK(!((a->any_source[n] | a->any_tag[n]) & ~a->live[n]));
        MATCH_CHECK(a->wild || !(a->any_source[n] | a->any_tag[n]));
    }
    for (uint32_t slot = 0; slot < FAST_SLOTS; slot++)
        if (a->live[slot / FAST_LANES] & bit_of(slot)) {
            array_check_slot(q, slot);
            live++;
        }
    MATCH_CHECK(live == (q->binned ? 0 : *q->count));
    MATCH_CHECK(live || (!a->first && a->tail == (q->binned ? FAST_SLOTS : 0)));
    MATCH_CHECK(!live || (a->live[a->first] && a->live[(a->tail - 1) / FAST_LANES] & bit_of(a->tail - 1u)));
}

#endif
