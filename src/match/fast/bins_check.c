/* bins_check.c: checks the invariants of bins. */
#include "match/fast/bins_internal.h"

/* Returns the number of entries in the chain. */
static uint64_t check_chain(const struct fast_queue *q, uint32_t hash, uint32_t first) {
    enum fast_kind kind = kind_in(hash);
    bool extra = is_extra(q, kind);
    uint32_t before = link_at(q, first, kind, extra)->prev, number = first;
    struct key key = fast_key(fast_entry_at(q, first));
    uint64_t count = 0, order = 0;
    MATCH_CHECK(hash == hash_under(key, kind));
    for (;; count++) {
        const struct fast_entry *entry = fast_entry_at(q, number);
        const struct fast_link *link = link_at(q, number, kind, extra);
        MATCH_CHECK(pool_has(&q->pool, number) && count < *q->count);
        MATCH_CHECK(same_under(fast_key(entry), key, kind) &&
                    (extra || fast_kind_of(fast_key(entry)) == kind));
        MATCH_CHECK(entry->order < q->bins.sequence && (!count || entry->order > order));
        MATCH_CHECK(link->prev == before);
        order = entry->order;
        before = number;
        if (link->next == POOL_NONE)
            break;
        number = link->next;
    }
    MATCH_CHECK(link_at(q, first, kind, extra)->prev == number);
    return count + 1;
}

/* Counts the entries by kind, and returns the number of keys. */
static uint32_t check_bins(const struct fast_queue *q, uint64_t *counts) {
    const struct fast_bins *b = &q->bins;
    uint32_t keys = 0;
    for (uint32_t i = 0; i <= b->mask; i++) {
        const struct fast_bin *bin = &b->bins[i];
        MATCH_CHECK(bin->count <= BIN_KEYS && (!bin->passed || bin->passed <= b->keys));
        for (uint32_t k = bin->count; k < BIN_KEYS; k++)
            MATCH_CHECK(!bin->hashes[k]);
        for (uint32_t k = 0; k < bin->count; k++, keys++) {
            enum fast_kind kind = kind_in(bin->hashes[k]);
            struct place place = {0};
            MATCH_CHECK(kind <= KIND_ANY_BOTH || is_extra(q, kind));
            struct fast_entry *first = fast_entry_at(q, bin->firsts[k]);
            MATCH_CHECK(find_key(q, fast_key(first), kind, bin->hashes[k], &place) == first);
            MATCH_CHECK(place.first == bin->firsts[k] && place.bin == i && place.index == k);
            counts[kind] += check_chain(q, bin->hashes[k], bin->firsts[k]);
        }
    }
    return keys;
}

/* The bins that keys passed, summed over the keys and over the bins, must be equal. */
static void check_passed(const struct fast_bins *b) {
    uint64_t ways = 0, passed = 0;
    for (uint32_t i = 0; i <= b->mask; i++) {
        passed += b->bins[i].passed;
        for (uint32_t k = 0; k < b->bins[i].count; k++)
            ways += (i - (b->bins[i].hashes[k] >> b->shift)) & b->mask;
    }
    MATCH_CHECK(ways == passed);
}

void bins_check(const struct fast_queue *q) {
    const struct fast_bins *b = &q->bins;
    uint64_t counts[KIND_BITS + 1] = {0}, own = 0;
    MATCH_CHECK(check_bins(q, counts) == b->keys);
    check_passed(b);
    for (unsigned kind = 0; kind <= KIND_BITS; kind++) {
        bool extra = is_extra(q, (enum fast_kind)kind);
        MATCH_CHECK(!extra || counts[kind] == *q->count);
        MATCH_CHECK(extra || kind > KIND_ANY_BOTH || counts[kind] == b->own[kind]);
        own += extra ? 0 : counts[kind];
    }
    MATCH_CHECK(own == *q->count);
    MATCH_CHECK(!(b->extra & (q->posted ? ~(1u << KIND_CONTEXT) : ~14u)));
}
