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
 * Messages are stored under their own key, and for receives with wildcards also under others: see bins_extra.c.
 *
 * Sequence numbers have 32 bits. Before they run out, all entries are sorted and renumbered. */
#include "base/log.h"
#include "match/fast/bins_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

/* Average keys per bin: above the first the table should grow; above the second it must. */
enum { GROW_AT = 5, FULL_AT = 6 };

/* ---- the table ---- */

static void bins_clear(struct fast_bins *b) {
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
    ASSERT((b->mask & (b->mask + 1)) == 0);
    bins_clear(b);
    return 0;
}

/* Each size of table has its own memory, which is kept: the next time that the queue gets long, it uses the smaller
 * tables again. */
static COLD int bins_grow(struct fast_queue *q) {
    struct fast_bins *b = &q->bins;
    const struct fast_bin *old = b->bins, *end = old + b->mask + 1;
    int err = use_table(q, b->level + 1);
    log_debug(LOG_MATCH, "the hash table of %u keys %s", b->keys,
              err ? "cannot grow: searches take longer" : "grows");
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

static COLD void join_chain(struct fast_queue *q, uint32_t first, uint32_t number, enum fast_kind kind,
                            bool extra) {
    struct fast_link *own = link_at(q, number, kind, extra), *head = link_at(q, first, kind, extra);
    ASSERT(number != first && head->prev != POOL_NONE);
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

COLD int bins_chain_append(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
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

/* Looks the chain up only if necessary. */
COLD void bins_chain_remove(struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
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
    bins_clear(b);
    b->sequence = 0;
    memset(b->own, 0, sizeof b->own);
    for (uint32_t number = list; number != POOL_NONE; number = next) {
        struct fast_entry *entry = fast_entry_at(q, number);
        next = entry->link.next;
        (void)bins_append(q, entry, number);
    }
}

int bins_append(struct fast_queue *q, struct fast_entry *entry, uint32_t number) {
    struct fast_bins *b = &q->bins;
    if (UNLIKELY(b->sequence == UINT32_MAX))
        number_anew(q);
    enum fast_kind kind = fast_kind_of(fast_key(entry));
    int err = LIKELY(kind == KIND_EXACT) ? append_under(q, entry, number, KIND_EXACT, &entry->link, false)
                                         : bins_chain_append(q, number, kind, false);
    if (UNLIKELY(err && b->extra)) { /* extra kinds only save time */
        bins_extra_drop_all(q);
        err = bins_chain_append(q, number, kind, false);
    }
    if (UNLIKELY(err))
        return err;
    entry->order = b->sequence++;
    b->own[kind]++;
    if (UNLIKELY(b->extra))
        bins_extra_append(q, number);
    return 0;
}

void bins_remove(struct fast_queue *q, uint32_t number) {
    enum fast_kind kind = fast_kind_of(fast_key(fast_entry_at(q, number)));
    bins_chain_remove(q, number, kind, false);
    q->bins.own[kind]--;
    if (UNLIKELY(q->bins.extra))
        bins_extra_remove(q, number);
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
        bins_extra_remove(q, place.first);
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
    struct fast_entry *entry = bins_extra_find(q, receive, kind, number);
    if (take && entry)
        bins_remove(q, *number);
    return entry;
}

struct fast_entry *bins_take_context(struct fast_queue *q, uint32_t context, uint32_t *number) {
    struct key key = key_of(MATCH_ANY_SOURCE, MATCH_ANY_TAG, context);
    struct fast_entry *entry = bins_extra_find(q, key, KIND_CONTEXT, number);
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
