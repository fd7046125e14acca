/* bins_extra.c: messages under keys with wildcards, and the order of all entries of the bins.
 *
 * Messages are stored under their own key. For receives with wildcards they are also stored under the key with source,
 * tag or both omitted, in separate chains. Such an `extra` kind is created when it is first needed, by sorting all
 * messages by their sequence numbers, and is then maintained. If it was used, it is maintained from the start the next
 * time that the queue is deep. Receives have an extra kind too, all of a context, to empty a context. If there is no
 * memory for an extra kind, all bins are scanned instead. */
#include "base/compiler.h"
#include "match/fast/bins_internal.h"

/* ---- sorting ---- */

static uint32_t *next_of(const struct fast_queue *q, uint32_t number, enum fast_kind kind, bool extra) {
    return &link_at(q, number, kind, extra)->next;
}

static uint32_t lists_merge(const struct fast_queue *q, uint32_t a, uint32_t b, enum fast_kind kind,
                            bool extra) {
    uint32_t first = POOL_NONE, *end = &first;
    while (a != POOL_NONE && b != POOL_NONE) {
        uint32_t *lower = fast_entry_at(q, a)->order < fast_entry_at(q, b)->order ? &a : &b;
        *end = *lower;
        end = next_of(q, *lower, kind, extra);
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

static void lists_add(const struct fast_queue *q, struct lists *l, uint32_t number, enum fast_kind kind,
                      bool extra) {
    uint32_t list = number;
    unsigned level = 0;
    *next_of(q, number, kind, extra) = POOL_NONE;
    for (; level < l->most && l->lists[level] != POOL_NONE; level++) {
        list = lists_merge(q, l->lists[level], list, kind, extra);
        l->lists[level] = POOL_NONE;
    }
    l->most += level == l->most;
    l->lists[level] = list;
}

uint32_t bins_sort(const struct fast_queue *q, enum fast_kind kind, bool extra) {
    struct lists lists = {.most = 0};
    uint32_t next, all = POOL_NONE;
    for (const struct fast_bin *bin = q->bins.bins; bin <= q->bins.bins + q->bins.mask; bin++)
        for (uint32_t i = 0; i < bin->count; i++)
            if (!is_extra(q, kind_in(bin->hashes[i])))
                for (uint32_t number = bin->firsts[i]; number != POOL_NONE; number = next) {
                    next = fast_entry_at(q, number)->link.next;
                    lists_add(q, &lists, number, kind, extra);
                }
    for (unsigned level = 0; level < lists.most; level++)
        all = lists_merge(q, lists.lists[level], all, kind, extra);
    return all;
}

/* ---- extra kinds ---- */

static void extra_drop(struct fast_queue *q, enum fast_kind kind) {
    struct fast_bins *b = &q->bins;
    for (uint32_t i = 0; i <= b->mask; i++)
        for (uint32_t k = b->bins[i].count; k-- > 0;) /* the key that takes its place was visited before */
            if (kind_in(b->bins[i].hashes[k]) == kind)
                erase_key(b, (struct place){.bin = i, .index = k});
    b->extra &= (uint8_t) ~(1u << kind);
}

void bins_extra_drop_all(struct fast_queue *q) {
    while (q->bins.extra)
        extra_drop(q, (enum fast_kind)__builtin_ctz(q->bins.extra));
}

static int extra_add(struct fast_queue *q, enum fast_kind kind) {
    uint32_t next, list = bins_sort(q, kind, true);
    for (uint32_t number = list; number != POOL_NONE; number = next) {
        next = *next_of(q, number, kind, true);
        int err = bins_chain_append(q, number, kind, true);
        if (err) {
            extra_drop(q, kind);
            return err;
        }
    }
    q->bins.extra |= (uint8_t)(1u << kind);
    return 0;
}

/* Finds the entry that an extra kind would find, without one: the earliest among the first entries of all matching
 * chains. */
static struct fast_entry *extra_look_through(struct fast_queue *q, struct key key, enum fast_kind kind,
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

struct fast_entry *bins_extra_find(struct fast_queue *q, struct key key, enum fast_kind kind,
                                   uint32_t *number) {
    struct place place = {0};
    q->bins.asked |= (uint8_t)(1u << kind);
    if (UNLIKELY(!is_extra(q, kind)) && extra_add(q, kind))
        return extra_look_through(q, key, kind, number);
    struct fast_entry *entry = find_first(q, key, kind, &place);
    *number = place.first;
    return entry;
}

void bins_extra_append(struct fast_queue *q, uint32_t number) {
    for (unsigned left = q->bins.extra; left; left &= left - 1) {
        enum fast_kind kind = (enum fast_kind)__builtin_ctz(left);
        if (bins_chain_append(q, number, kind, true))
            extra_drop(q, kind);
    }
}

void bins_extra_remove(struct fast_queue *q, uint32_t number) {
    for (unsigned left = q->bins.extra; left; left &= left - 1)
        bins_chain_remove(q, number, (enum fast_kind)__builtin_ctz(left), true);
}
