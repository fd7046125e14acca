/* bins.c: deep queues, searched in constant time.
 *
 * The entries of one key form a chain in queue order. The keys are in a hash table whose bins are cache lines.
 * However many entries one key has, a search for another key reads at most one of them. A search reads an entry only
 * to compare its key, if 28 bits of hash in the bin are equal.
 *
 *      bin         count, passed | hash x 7 | first x 7     a full one counts the keys that pass it
 *                                           |
 *      entries                            entry <-> entry <-> entry     prev of the first is the last
 *
 * A search continues with the next bin only if keys have passed this one. These are counted down when they are
 * removed, so that no tombstones are needed. All keys of a bin are compared at once: the position of a key in it
 * cannot be predicted, and a misprediction costs more.
 *
 * Receives are stored under the key that they name, including its wildcards. A message is sought under up to four
 * keys: its own, and with source, tag or both replaced by the wildcard, each only if there is such a receive at all.
 * The chains yield up to four receives, and the lowest sequence number wins.
 *
 * Messages are stored under their own key. For receives with wildcards they are also stored under the key with
 * source, tag or both omitted, in separate chains. Such an `extra` kind is created when it is first needed, by
 * sorting all messages by their sequence numbers, and is then maintained. If it was used, it is maintained from the
 * start the next time that the queue is deep. Receives have an extra kind too, all of a context, to empty a context.
 * If there is no memory for an extra kind, all bins are scanned instead.
 *
 * Sequence numbers have 32 bits. Before they run out, all entries are sorted and renumbered. */
#include "match/bins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "match/engine.h"
#include "match/fingerprint.h"

/* Bits of a hash. USED keeps it from being 0, which marks an empty slot. */
enum { KIND_BITS = 7, USED = 8, LOW_BITS = 15 };

/* Average keys per bin: above the first the table should grow; above the second it must. */
enum { GROW_AT = 5, FULL_AT = 6 };

_Static_assert(sizeof(struct fast_bin) == CACHE_LINE, "a search mostly takes one");

/* ---- keys ---- */

HOT uint64_t mask_of(enum fast_kind kind) {
    return (kind & KIND_ANY_SOURCE ? 0 : (uint64_t)UINT32_MAX << 32) | (kind & KIND_ANY_TAG ? 0 : UINT32_MAX);
}

HOT bool same_under(struct key a, struct key b, enum fast_kind kind) {
    return a.context == b.context && !((a.who ^ b.who) & mask_of(kind));
}

HOT uint32_t hash_under(struct key key, enum fast_kind kind) {
    const uint64_t factor = 0xff51afd7ed558ccdu;
    uint64_t x = ((key.who | ~mask_of(kind)) + key.context * factor) * factor;
    x = (x ^ x >> 32) * factor;
    return ((uint32_t)(x >> 32) & ~(uint32_t)LOW_BITS) | USED | kind;
}

static enum fast_kind kind_in(uint32_t hash) {
    return (enum fast_kind)(hash & KIND_BITS);
}

/* Whether the queue maintains this kind as an extra one; otherwise entries are under it by their own keys. */
static bool is_extra(const struct fast_queue *q, enum fast_kind kind) {
    return q->bins.extra >> kind & 1;
}

/* ---- bins ---- */

/* The position of a key in the bins. */
struct place {
    uint32_t bin, index;
    uint32_t first; /* of its chain */
};

/* Returns the first entry of the key's chain, or NULL. */
HOT struct fast_entry *find_key(const struct fast_queue *q, struct key key, enum fast_kind kind,
                                uint32_t hash, struct place *place) {
    const struct fast_bins *b = &q->bins;
    for (uint32_t i = hash >> b->shift;; i = (i + 1) & b->mask) {
        const struct fast_bin *bin = &b->bins[i];
        for (uint64_t some = fingerprint_words(bin->hashes, hash); some; some &= some - 1) {
            uint32_t index = (uint32_t)__builtin_ctzll(some) / 8, first = bin->firsts[index];
            struct fast_entry *entry = fast_entry_at(q, first);
            if (LIKELY(same_under(fast_key(entry), key, kind))) {
                *place = (struct place){i, index, first};
                return entry;
            }
        }
        if (LIKELY(!bin->passed))
            return NULL;
    }
}

HOT void insert_key(struct fast_bins *b, uint32_t hash, uint32_t first) {
    uint32_t i = hash >> b->shift;
    for (; UNLIKELY(b->bins[i].count == BIN_KEYS); i = (i + 1) & b->mask)
        b->bins[i].passed++;
    struct fast_bin *bin = &b->bins[i];
    uint32_t index = bin->count++;
    bin->hashes[index] = hash;
    bin->firsts[index] = first;
    b->keys++;
}

/* The last key of the bin takes its place. */
HOT void erase_key(struct fast_bins *b, struct place place) {
    struct fast_bin *bin = &b->bins[place.bin];
    uint32_t home = bin->hashes[place.index] >> b->shift, last = --bin->count;
    bin->hashes[place.index] = bin->hashes[last];
    bin->firsts[place.index] = bin->firsts[last];
    bin->hashes[last] = 0;
    for (; UNLIKELY(home != place.bin); home = (home + 1) & b->mask)
        b->bins[home].passed--;
    b->keys--;
}

static void use_no_bins(struct fast_bins *b) {
    memset(b->bins, 0, (b->mask + (size_t)1) * sizeof *b->bins);
    b->keys = 0;
}

static int use_table(struct fast_queue *q, unsigned level) {
    struct fast_bins *b = &q->bins;
    size_t bins = (size_t)BINS_AT_FIRST << level, bytes = bins * sizeof(struct fast_bin);
    if (level == BIN_LEVELS)
        return -ENOMEM;
    if (!b->tables[level].base) {
        int err = supply_take(q->supply, &b->tables[level], bytes, bytes);
        if (err)
            return err;
    }
    b->bins = b->tables[level].base;
    b->mask = (uint32_t)bins - 1;
    b->shift = (unsigned)__builtin_clz(b->mask);
    b->level = level;
    use_no_bins(b);
    return 0;
}

/* Each size of table has its own memory, which is kept: the next time that the queue gets long, it uses the smaller
 * tables again. */
static COLD int bins_grow(struct fast_queue *q) {
    struct fast_bins *b = &q->bins;
    const struct fast_bin *old = b->bins, *end = old + b->mask + 1;
    int err = use_table(q, b->level + 1);
    if (err)
        return err;
    for (; old < end; old++)
        for (uint32_t i = 0; i < old->count; i++)
            insert_key(b, old->hashes[i], old->firsts[i]);
    return 0;
}

/* Provides space for one more key. With too few bins searches take longer, but the queue still works. */
HOT int make_room(struct fast_queue *q) {
    const struct fast_bins *b = &q->bins;
    if (LIKELY(b->keys <= b->mask * (uint64_t)GROW_AT))
        return 0;
    int err = bins_grow(q);
    return b->keys < b->mask * (uint64_t)FULL_AT ? 0 : err;
}

/* ---- chains ---- */

/* The link of an entry in its own chain, or in that of an extra kind. */
HOT struct fast_link *link_at(const struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    if (!extra)
        return &fast_entry_at(q, number)->link;
    struct fast_link *links = pool_side(&q->pool, number, FAST_EXTRA_LINKS * sizeof(struct fast_link));
    return &links[(kind & KIND_ANY_BOTH) - 1];
}

static COLD void join_chain(struct fast_queue *q, uint32_t first, uint32_t number, enum fast_kind kind,
                            bool extra) {
    struct fast_link *own = link_at(q, number, kind, extra), *head = link_at(q, first, kind, extra);
    *own = (struct fast_link){.next = POOL_NONE, .prev = head->prev};
    link_at(q, own->prev, kind, extra)->next = number;
    head->prev = number;
}

HOT int append_under(struct fast_queue *q, const struct fast_entry *entry, uint32_t number,
                     enum fast_kind kind, struct fast_link *own, bool extra) {
    struct key key = fast_key(entry);
    struct place place;
    uint32_t hash = hash_under(key, kind);
    if (UNLIKELY(find_key(q, key, kind, hash, &place) != NULL)) {
        join_chain(q, place.first, number, kind, extra);
        return 0;
    }
    int err = make_room(q);
    if (UNLIKELY(err))
        return err;
    *own = (struct fast_link){.next = POOL_NONE, .prev = number};
    insert_key(&q->bins, hash, number);
    return 0;
}

/* The same for any kind, and not inlined. */
static COLD int chain_append(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    return append_under(q, fast_entry_at(q, number), number, kind, link_at(q, number, kind, extra), extra);
}

/* Removes an entry that is not alone in its chain. `first` is needed if it is the first or the last. */
static COLD void leave_chain(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra,
                             uint32_t *first) {
    struct fast_link *own = link_at(q, number, kind, extra);
    if (first && *first == number)
        *first = own->next;
    else
        link_at(q, own->prev, kind, extra)->next = own->next;
    link_at(q, own->next == POOL_NONE ? *first : own->next, kind, extra)->prev = own->prev;
}

/* Removes the first entry of the chain at this place; `own` is its link. */
HOT void remove_first(struct fast_queue *q, struct place place, const struct fast_link *own,
                      enum fast_kind kind, bool extra) {
    if (LIKELY(own->next == POOL_NONE))
        erase_key(&q->bins, place);
    else
        leave_chain(q, place.first, kind, extra, &q->bins.bins[place.bin].firsts[place.index]);
}

/* Removes any entry of a chain; looks the chain up only if necessary. */
static COLD void chain_remove(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    const struct fast_link *own = link_at(q, number, kind, extra);
    /* the prev of the first is the last */
    bool is_first = link_at(q, own->prev, kind, extra)->next != number;
    if (!is_first && own->next != POOL_NONE) {
        leave_chain(q, number, kind, extra, NULL);
        return;
    }
    struct key key = fast_key(fast_entry_at(q, number));
    struct place place = {0};
    (void)find_key(q, key, kind, hash_under(key, kind), &place);
    if (is_first)
        remove_first(q, place, own, kind, extra);
    else
        leave_chain(q, number, kind, extra, &q->bins.bins[place.bin].firsts[place.index]);
}

/* ---- sorting ---- */

static uint32_t *bins_next_of(const struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    return &link_at(q, number, kind, extra)->next;
}

static uint32_t bins_merge(const struct fast_queue *q, uint32_t a, uint32_t b, enum fast_kind kind,
                           bool extra) {
    uint32_t first = POOL_NONE, *end = &first;
    while (a != POOL_NONE && b != POOL_NONE) {
        uint32_t *lower = fast_entry_at(q, a)->order < fast_entry_at(q, b)->order ? &a : &b;
        *end = *lower;
        end = bins_next_of(q, *lower, kind, extra);
        *lower = *end;
    }
    *end = a != POOL_NONE ? a : b;
    return first;
}

/* Lists of 1, 2, 4 ... entries, each in order. Two of the same length are merged immediately. */
struct lists {
    uint32_t lists[32];
    unsigned most;
};

static void add_to_lists(const struct fast_queue *q, struct lists *l, uint32_t number, enum fast_kind kind,
                         bool extra) {
    uint32_t list = number;
    unsigned level = 0;
    *bins_next_of(q, number, kind, extra) = POOL_NONE;
    for (; level < l->most && l->lists[level] != POOL_NONE; level++) {
        list = bins_merge(q, l->lists[level], list, kind, extra);
        l->lists[level] = POOL_NONE;
    }
    l->most += level == l->most;
    l->lists[level] = list;
}

/* Sorts all entries by sequence number, linked by the links of this kind, which must be unused. */
static uint32_t bins_sort(const struct fast_queue *q, enum fast_kind kind, bool extra) {
    struct lists lists = {.most = 0};
    uint32_t next, all = POOL_NONE;
    for (const struct fast_bin *bin = q->bins.bins; bin <= q->bins.bins + q->bins.mask; bin++)
        for (uint32_t i = 0; i < bin->count; i++)
            if (!is_extra(q, kind_in(bin->hashes[i])))
                for (uint32_t number = bin->firsts[i]; number != POOL_NONE; number = next) {
                    next = fast_entry_at(q, number)->link.next;
                    add_to_lists(q, &lists, number, kind, extra);
                }
    for (unsigned level = 0; level < lists.most; level++)
        all = bins_merge(q, lists.lists[level], all, kind, extra);
    return all;
}

/* ---- extra kinds ---- */

static void drop_extra(struct fast_queue *q, enum fast_kind kind) {
    struct fast_bins *b = &q->bins;
    for (uint32_t i = 0; i <= b->mask; i++)
        for (uint32_t k = b->bins[i].count; k-- > 0;) /* the key that takes its place was visited before */
            if (kind_in(b->bins[i].hashes[k]) == kind)
                erase_key(b, (struct place){.bin = i, .index = k});
    b->extra &= (uint8_t) ~(1u << kind);
}

static void drop_extras(struct fast_queue *q) {
    while (q->bins.extra)
        drop_extra(q, (enum fast_kind)__builtin_ctz(q->bins.extra));
}

static int add_extra(struct fast_queue *q, enum fast_kind kind) {
    uint32_t next, list = bins_sort(q, kind, true);
    for (uint32_t number = list; number != POOL_NONE; number = next) {
        next = *bins_next_of(q, number, kind, true);
        int err = chain_append(q, number, kind, true);
        if (err) {
            drop_extra(q, kind);
            return err;
        }
    }
    q->bins.extra |= (uint8_t)(1u << kind);
    return 0;
}

/* Finds the entry that an extra kind would find, without one: the earliest among the first entries of all matching
 * chains. */
static struct fast_entry *bins_look_through(struct fast_queue *q, struct key key, enum fast_kind kind,
                                            uint32_t *number) {
    struct fast_entry *found = NULL;
    for (const struct fast_bin *bin = q->bins.bins; bin <= q->bins.bins + q->bins.mask; bin++)
        for (uint32_t i = 0; i < bin->count; i++) {
            struct fast_entry *entry = fast_entry_at(q, bin->firsts[i]);
            ++*q->looked;
            if (!is_extra(q, kind_in(bin->hashes[i])) && same_under(fast_key(entry), key, kind) &&
                (!found || entry->order < found->order)) {
                found = entry;
                *number = bin->firsts[i];
            }
        }
    return found;
}

HOT struct fast_entry *find_first(struct fast_queue *q, struct key key, enum fast_kind kind,
                                  struct place *place) {
    struct fast_entry *entry = find_key(q, key, kind, hash_under(key, kind), place);
    *q->looked += entry != NULL;
    return entry;
}

static COLD struct fast_entry *find_extra(struct fast_queue *q, struct key key, enum fast_kind kind,
                                          uint32_t *number) {
    struct place place = {0};
    q->bins.asked |= (uint8_t)(1u << kind);
    if (UNLIKELY(!is_extra(q, kind)) && add_extra(q, kind))
        return bins_look_through(q, key, kind, number);
    struct fast_entry *entry = find_first(q, key, kind, &place);
    *number = place.first;
    return entry;
}

/* ---- operations of the queue ---- */

int bins_start(struct fast_queue *q) {
    struct fast_bins *b = &q->bins;
    int err = use_table(q, 0);
    if (err)
        return err;
    b->sequence = 0;
    memset(b->own, 0, sizeof b->own);
    b->extra = b->asked;
    b->asked = 0;
    return 0;
}

/* Called before sequence numbers run out. The same keys fit into the same table again. */
static void number_anew(struct fast_queue *q) {
    struct fast_bins *b = &q->bins;
    uint32_t next, list = bins_sort(q, KIND_EXACT, false);
    use_no_bins(b);
    b->sequence = 0;
    memset(b->own, 0, sizeof b->own);
    for (uint32_t number = list; number != POOL_NONE; number = next) {
        struct fast_entry *entry = fast_entry_at(q, number);
        next = entry->link.next;
        (void)bins_append(q, entry, number);
    }
}

static COLD void append_extra(struct fast_queue *q, uint32_t number) {
    for (unsigned left = q->bins.extra; left; left &= left - 1) {
        enum fast_kind kind = (enum fast_kind)__builtin_ctz(left);
        if (chain_append(q, number, kind, true))
            drop_extra(q, kind);
    }
}

static COLD void remove_extra(struct fast_queue *q, uint32_t number) {
    for (unsigned left = q->bins.extra; left; left &= left - 1)
        chain_remove(q, number, (enum fast_kind)__builtin_ctz(left), true);
}

int bins_append(struct fast_queue *q, struct fast_entry *entry, uint32_t number) {
    struct fast_bins *b = &q->bins;
    if (UNLIKELY(b->sequence == UINT32_MAX))
        number_anew(q);
    enum fast_kind kind = fast_kind_of(fast_key(entry));
    int err = LIKELY(kind == KIND_EXACT) ? append_under(q, entry, number, KIND_EXACT, &entry->link, false)
                                         : chain_append(q, number, kind, false);
    if (UNLIKELY(err && b->extra)) { /* extra kinds only save time */
        drop_extras(q);
        err = chain_append(q, number, kind, false);
    }
    if (UNLIKELY(err))
        return err;
    entry->order = b->sequence++;
    b->own[kind]++;
    if (UNLIKELY(b->extra))
        append_extra(q, number);
    return 0;
}

void bins_remove(struct fast_queue *q, uint32_t number) {
    enum fast_kind kind = fast_kind_of(fast_key(fast_entry_at(q, number)));
    chain_remove(q, number, kind, false);
    q->bins.own[kind]--;
    if (UNLIKELY(q->bins.extra))
        remove_extra(q, number);
}

/* Takes out the first entry of exactly this key, which has no wildcard. */
HOT struct fast_entry *take_exact(struct fast_queue *q, struct key key, uint32_t *number) {
    struct place place;
    struct fast_entry *entry = find_first(q, key, KIND_EXACT, &place);
    if (!entry)
        return NULL;
    *number = place.first;
    remove_first(q, place, &entry->link, KIND_EXACT, false);
    q->bins.own[KIND_EXACT]--;
    if (UNLIKELY(q->bins.extra))
        remove_extra(q, place.first);
    return entry;
}

/* Takes out the earliest of up to four receives, one of each kind. */
static COLD struct fast_entry *take_of_any_kind(struct fast_queue *q, struct key message, uint32_t *number) {
    struct fast_entry *found = NULL;
    struct place place = {0};
    for (unsigned kind = KIND_EXACT; kind <= KIND_ANY_BOTH; kind++) {
        struct key key = {message.who | ~mask_of((enum fast_kind)kind), message.context};
        struct fast_entry *entry =
            q->bins.own[kind] ? find_first(q, key, (enum fast_kind)kind, &place) : NULL;
        if (entry && (!found || entry->order < found->order)) {
            found = entry;
            *number = place.first;
        }
    }
    if (found)
        bins_remove(q, *number);
    return found;
}

struct fast_entry *bins_take_receive(struct fast_queue *q, struct key message, uint32_t *number) {
    const uint32_t *own = q->bins.own;
    if (UNLIKELY(own[KIND_ANY_SOURCE] | own[KIND_ANY_TAG] | own[KIND_ANY_BOTH]))
        return take_of_any_kind(q, message, number);
    return take_exact(q, message, number);
}

struct fast_entry *bins_find_message(struct fast_queue *q, struct key receive, bool take, uint32_t *number) {
    enum fast_kind kind = fast_kind_of(receive);
    struct place place;
    if (LIKELY(kind == KIND_EXACT))
        return take ? take_exact(q, receive, number) : find_first(q, receive, KIND_EXACT, &place);
    struct fast_entry *entry = find_extra(q, receive, kind, number);
    if (take && entry)
        bins_remove(q, *number);
    return entry;
}

struct fast_entry *bins_take_context(struct fast_queue *q, uint32_t context, uint32_t *number) {
    struct key key = key_of(MATCH_ANY_SOURCE, MATCH_ANY_TAG, context);
    struct fast_entry *entry = find_extra(q, key, KIND_CONTEXT, number);
    if (entry)
        bins_remove(q, *number);
    return entry;
}

uint32_t bins_end(struct fast_queue *q) {
    return bins_sort(q, KIND_EXACT, false);
}

void bins_close(struct fast_queue *q) {
    for (unsigned level = 0; level < BIN_LEVELS; level++)
        supply_return(q->supply, &q->bins.tables[level]);
}

/* ---- checks ---- */

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
