/* fast.c: short queues in arrays that are compared 64 entries at a time, deep ones in hash bins.
 *
 * An entry does not move in the pool while it is queued; its number is the handle of a receive. The order of the
 * queue is stored separately and may be rearranged or replaced:
 *
 *      arrays      slots in the order of the queue (fast_arrays.h)
 *      bins        chains of entries of one key, in a hash table (bins.c)
 *
 * A search in the arrays first examines the first two entries, which contain the match in most cases, and then all others
 * (fast_arrays.h). At the end of the arrays the live entries are compacted. If that would leave little space, the queue
 * switches to bins, whose cost does not depend on its length. It switches back when few entries are left. The distance
 * between the two thresholds bounds the moves per operation. A search in the arrays visits at most 4 nodes, whatever was
 * posted, matched and cancelled before.
 *
 * A receive that is posted while both queues are empty, as a program's does that waits for one message after the other, is kept beside
 * them (fast_alone). It moves into the queue when another receive is posted.
 *
 * Of the others most find an empty queue, or a receive at its front. These take a fast path without a function call
 * (append_quickly, take_quickly); all other cases take the slow path.
 *
 * Rejected: entries inside the nodes. They could not move, because handles refer to them, so a few long-lived entries
 * would keep whole nodes, and a queue whose matches come in random order would spread over five times its length. */
#include "match/fast/fast.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "match/fast/bins.h"
#include "match/fast/fast_arrays.h"

enum {
    TO_BINS = 192, /* longer queues are not compacted, but switch to bins */
    TO_ARRAYS = 96 /* shorter queues switch back */
};

_Static_assert(sizeof(struct fast_entry) == 32, "two in a cache line");

/* ---- switching ---- */

static int go_to_bins(struct fast_queue *q) {
    struct fast_arrays *a = &q->arrays;
    int err = bins_start(q);
    if (err)
        return err;
    for (uint32_t slot = 0; slot < a->tail; slot++)
        if (a->live[slot / FAST_LANES] & bit_of(slot))
            /* the table has space for these */
            (void)bins_append(q, a->entries[slot], a->entries[slot]->number);
    memset(a, 0, offsetof(struct fast_arrays, tags));
    a->tail = FAST_SLOTS;
    q->binned = true;
    log_debug(LOG_MATCH, "the queue of %s has %u entries: they move to a hash table",
              q->posted ? "receives" : "unexpected messages", *q->count);
    return 0;
}

static COLD void go_to_arrays(struct fast_queue *q) {
    uint32_t next;
    q->arrays.tail = 0;
    for (uint32_t number = bins_end(q); number != POOL_NONE; number = next) {
        struct fast_entry *entry = fast_entry_at(q, number);
        next = entry->link.next;
        entry->number = number;
        array_append(&q->arrays, fast_key(entry), entry);
    }
    q->binned = false;
    log_debug(LOG_MATCH, "the queue of %s has %u entries: they move back to arrays",
              q->posted ? "receives" : "unexpected messages", *q->count);
}

/* The arrays are at their end. Without memory for bins they remain usable as long as they contain a hole. */
static COLD int fast_make_room(struct fast_queue *q) {
    int err = *q->count > TO_BINS ? go_to_bins(q) : 0;
    if (!q->binned && *q->count < FAST_SLOTS) {
        array_compact(&q->arrays);
        return 0;
    }
    return err;
}

/* ---- queues ---- */

HOT void fill(struct fast_entry *entry, struct key key, void *item, uint32_t number) {
    entry->item = item;
    entry->who = key.who;
    entry->context = key.context;
    entry->number = number;
}

/* Returns the entry's number, or POOL_NONE if memory ran out. */
static uint32_t fast_append(struct fast_queue *q, struct key key, void *item) {
    uint32_t number;
    struct fast_entry *entry = pool_take(&q->pool, &number);
    if (UNLIKELY(!entry))
        return POOL_NONE;
    fill(entry, key, item, number);
    int err = !q->binned && q->arrays.tail == FAST_SLOTS ? fast_make_room(q) : 0;
    if (q->binned)
        err = bins_append(q, entry, number);
    else if (!err)
        array_append(&q->arrays, key, entry);
    if (!err)
        return number;
    pool_give(&q->pool, entry, number);
    return POOL_NONE;
}

HOT void *take_from_array(struct fast_queue *q, struct fast_entry *entry) {
    void *item = entry->item;
    ASSERT(!q->binned && entry->order < q->arrays.tail);
    ASSERT(q->arrays.entries[entry->order] == entry);
    array_remove(&q->arrays, entry->order);
    pool_give(&q->pool, entry, entry->number);
    return item;
}

/* The entry has been removed from the bins. */
static inline void *give_back_deep(struct fast_queue *q, struct fast_entry *entry, uint32_t number) {
    void *item = entry->item;
    ASSERT(q->binned && *q->count > 0);
    ASSERT(fast_entry_at(q, number) == entry);
    pool_give(&q->pool, entry, number);
    if (UNLIKELY(*q->count - 1 < TO_ARRAYS))
        go_to_arrays(q);
    return item;
}

HOT bool take_deep_receive(struct match *e, struct key key, void **receive) {
    struct fast_queue *q = &fast_of(e)->posted;
    uint32_t number;
    e->looked = 0;
    struct fast_entry *entry = bins_take_receive(q, key, &number);
    if (entry)
        *receive = give_back_deep(q, entry, number);
    return entry;
}

HOT bool find_deep_message(struct match *e, struct key key, bool taken, void **message) {
    struct fast_queue *q = &fast_of(e)->unexpected;
    uint32_t number;
    e->looked = 0;
    struct fast_entry *entry = bins_find_message(q, key, taken, &number);
    if (entry)
        *message = taken ? give_back_deep(q, entry, number) : entry->item;
    return entry;
}

HOT bool take_array_receive(struct match *e, struct key key, void **receive) {
    struct fast_queue *q = &fast_of(e)->posted;
    struct fast_entry *entry = array_find(&q->arrays, key, true, &e->looked);
    if (entry)
        *receive = take_from_array(q, entry);
    return entry;
}

HOT bool find_array_message(struct match *e, struct key key, bool taken, void **message) {
    struct fast_queue *q = &fast_of(e)->unexpected;
    struct fast_entry *entry = array_find(&q->arrays, key, false, &e->looked);
    if (entry)
        *message = taken ? take_from_array(q, entry) : entry->item;
    return entry;
}

static int fast_append_receive(struct match *e, struct key key, void *receive, match_entry *entry) {
    uint32_t number = fast_append(&fast_of(e)->posted, key, receive);
    if (UNLIKELY(number == POOL_NONE))
        return -ENOMEM;
    *entry = number;
    return 0;
}

static int fast_append_message(struct match *e, struct key key, void *message) {
    return UNLIKELY(fast_append(&fast_of(e)->unexpected, key, message) == POOL_NONE) ? -ENOMEM : 0;
}

/* ---- a receive alone ---- */

HOT int post_alone(struct match *e, struct key key, void *receive, match_entry *entry) {
    fast_of(e)->alone.key = key;
    fast_of(e)->alone.receive = receive;
    fast_of(e)->alone.is_queued = true;
    *entry = FAST_ALONE;
    count_more(&e->posted);
    count_search(e, &e->unexpected, 0);
    e->wildcards += key_is_wild(key);
    return 0;
}

HOT void *take_alone(struct match *e) {
    fast_of(e)->alone.is_queued = false;
    return fast_of(e)->alone.receive;
}

HOT int arrive_alone(struct match *e, void **receive) {
    *receive = take_alone(e);
    e->looked = 1;
    e->posted.now = 0;
    e->matched++;
    count_search(e, &e->posted, 1);
    return 1;
}

/* Moves it into the queue, whose length counts it already. */
static COLD int join_alone(struct match *e) {
    struct fast_alone *alone = &fast_of(e)->alone;
    e->posted.now--;
    uint32_t number = fast_append(&fast_of(e)->posted, alone->key, alone->receive);
    e->posted.now++;
    if (UNLIKELY(number == POOL_NONE))
        return -ENOMEM;
    alone->number = number;
    alone->is_queued = false;
    return 0;
}

/* ---- the fast path ---- */

/* Not in bins, where the tail is FAST_SLOTS. Here and below: returns false, with nothing changed, if the case is not
 * the common one. */
HOT bool append_quickly(struct fast_queue *q, struct key key, void *item, uint32_t *number) {
    uint32_t slot = q->arrays.tail;
    if (UNLIKELY(!q->pool.spare_count || slot == FAST_SLOTS || key_is_wild(key)))
        return false;
    ASSERT(!q->binned && slot < FAST_SLOTS);
    struct fast_entry *entry = pool_take(&q->pool, number);
    fill(entry, key, item, *number);
    array_place(&q->arrays, slot, key, entry);
    return true;
}

/* Conditions: one of the first two entries matches, no receive has a wildcard, the pool has space for a spare, and no
 * node becomes empty unless it is the only one. If the queue is in bins, no slot is live, so this returns false. */
HOT bool take_quickly(struct match *e, struct fast_queue *q, struct key key, void **item) {
    struct fast_arrays *a = &q->arrays;
    uint32_t node = a->first, looked = 1, slot;
    uint64_t live = a->live[node], some = live;
    struct fast_entry *entry;
    for (;; looked++, some &= some - 1) {
        if (!some || looked > 2 || a->wild)
            return false;
        slot = node * FAST_LANES + (unsigned)__builtin_ctzll(some);
        entry = a->entries[slot];
        if (entry->who == key.who && entry->context == key.context)
            break;
    }
    live &= ~(some & -some);
    if (UNLIKELY((!live && a->tail > FAST_LANES) || q->pool.spare_count == POOL_SPARES))
        return false;
    ASSERT(slot<a->tail && * q->count> 0);
    *item = entry->item;
    e->looked = looked;
    a->live[node] = live;
    if (slot + 1 == a->tail)
        a->tail = (uint16_t)(node * FAST_LANES + 64u - (live ? (unsigned)__builtin_clzll(live) : 64u));
    pool_give(&q->pool, entry, entry->number);
    return true;
}

/* One function for each other case, so that each contains only what it needs: the other queue is empty, in bins, or
 * in arrays. */

HOT bool find_no_message(struct match *e, struct key key, bool taken, void **message) {
    return false;
}

HOT bool take_no_receive(struct match *e, struct key key, void **receive) {
    return false;
}

static COLD int post_more(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                          match_entry *entry, void **message) {
    return engine_post(e, key_of(source, tag, context), receive, entry, message, find_no_message,
                       fast_append_receive);
}

static COLD int post_deep(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                          match_entry *entry, void **message) {
    return engine_post(e, key_of(source, tag, context), receive, entry, message, find_deep_message,
                       fast_append_receive);
}

static COLD int post_any(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                         match_entry *entry, void **message) {
    return engine_post(e, key_of(source, tag, context), receive, entry, message, find_array_message,
                       fast_append_receive);
}

static int fast_post(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                     match_entry *entry, void **message) {
    struct key key = key_of(source, tag, context);
    uint32_t length = e->unexpected.now, number;
    if (LIKELY(!length && !e->posted.now))
        return post_alone(e, key, receive, entry);
    if (UNLIKELY(fast_of(e)->alone.is_queued) && join_alone(e))
        return -ENOMEM;
    if (!length) {
        if (!append_quickly(&fast_of(e)->posted, key, receive, &number))
            return post_more(e, source, tag, context, receive, entry, message);
        *entry = number;
        count_more(&e->posted);
        count_search(e, &e->unexpected, 0);
        return 0;
    }
    if (take_quickly(e, &fast_of(e)->unexpected, key, message)) {
        e->unexpected.now--;
        count_search(e, &e->unexpected, length);
        return 1;
    }
    return fast_of(e)->unexpected.binned ? post_deep(e, source, tag, context, receive, entry, message)
                                         : post_any(e, source, tag, context, receive, entry, message);
}

static COLD int arrive_more(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                            void **receive) {
    return engine_arrive(e, key_of(source, tag, context), message, receive, take_no_receive,
                         fast_append_message);
}

static COLD int arrive_deep(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                            void **receive) {
    return engine_arrive(e, key_of(source, tag, context), message, receive, take_deep_receive,
                         fast_append_message);
}

static COLD int arrive_any(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                           void **receive) {
    return engine_arrive(e, key_of(source, tag, context), message, receive, take_array_receive,
                         fast_append_message);
}

static int fast_arrive(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                       void **receive) {
    struct key key = key_of(source, tag, context);
    uint32_t length = e->posted.now, number;
    if (fast_of(e)->alone.is_queued && LIKELY(key_matches(fast_of(e)->alone.key, key)))
        return arrive_alone(e, receive);
    if (!length) {
        if (!append_quickly(&fast_of(e)->unexpected, key, message, &number))
            return arrive_more(e, source, tag, context, message, receive);
        count_more(&e->unexpected);
        count_search(e, &e->posted, 0);
        return 0;
    }
    if (take_quickly(e, &fast_of(e)->posted, key, receive)) {
        e->posted.now--;
        e->matched++;
        count_search(e, &e->posted, length);
        return 1;
    }
    return fast_of(e)->posted.binned ? arrive_deep(e, source, tag, context, message, receive)
                                     : arrive_any(e, source, tag, context, message, receive);
}

static bool fast_find_message(struct match *e, struct key key, bool taken, void **message) {
    return fast_of(e)->unexpected.binned ? find_deep_message(e, key, taken, message)
                                         : find_array_message(e, key, taken, message);
}

static void *fast_cancel(struct match *e, match_entry entry) {
    struct fast_queue *q = &fast_of(e)->posted;
    if (entry == FAST_ALONE && fast_of(e)->alone.is_queued)
        return take_alone(e);
    uint32_t number = entry == FAST_ALONE ? fast_of(e)->alone.number : (uint32_t)entry;
    if (!q->binned)
        return take_from_array(q, fast_entry_at(q, number));
    bins_remove(q, number);
    return give_back_deep(q, fast_entry_at(q, number), number);
}

static bool drain_array(struct fast_queue *q, uint32_t context, void **item) {
    struct fast_arrays *a = &q->arrays;
    for (uint32_t slot = 0; slot < a->tail; slot++)
        if (a->live[slot / FAST_LANES] & bit_of(slot) && a->entries[slot]->context == context) {
            *item = take_from_array(q, a->entries[slot]);
            return true;
        }
    return false;
}

static bool fast_drain_receive(struct match *e, uint32_t context, void **receive) {
    struct fast_queue *q = &fast_of(e)->posted;
    if (fast_of(e)->alone.is_queued) {
        bool found = fast_of(e)->alone.key.context == context;
        if (found)
            *receive = take_alone(e);
        return found;
    }
    if (!q->binned)
        return drain_array(q, context, receive);
    uint32_t number;
    struct fast_entry *entry = bins_take_context(q, context, &number);
    if (entry)
        *receive = give_back_deep(q, entry, number);
    return entry;
}

static bool fast_drain_message(struct match *e, uint32_t context, void **message) {
    return fast_find_message(e, key_of(MATCH_ANY_SOURCE, MATCH_ANY_TAG, context), true, message);
}

static int fast_open_queue(struct match *e, struct fast_queue *q, const struct tally *tally, bool posted) {
    *q = (struct fast_queue){
        .supply = &e->supply, .looked = &e->looked, .count = &tally->now, .posted = posted};
    return pool_open(&q->pool, &e->supply, sizeof(struct fast_entry),
                     FAST_EXTRA_LINKS * sizeof(struct fast_link));
}

static int fast_open(struct match *e, const struct match_options *options) {
    fast_of(e)->alone = (struct fast_alone){.is_queued = false};
    int err = fast_open_queue(e, &fast_of(e)->posted, &e->posted, true);
    return err ? err : fast_open_queue(e, &fast_of(e)->unexpected, &e->unexpected, false);
}

static void close_queue(struct fast_queue *q) {
    bins_close(q);
    pool_close(&q->pool);
}

static void fast_close(struct match *e) {
    close_queue(&fast_of(e)->posted);
    close_queue(&fast_of(e)->unexpected);
}

/* ---- checks ---- */

static void fast_check_queue(const struct fast_queue *q) {
    MATCH_CHECK(pool_check(&q->pool) == *q->count);
    MATCH_CHECK(!q->binned || *q->count >= TO_ARRAYS);
    array_check(q);
    if (q->binned)
        bins_check(q);
}

static void fast_check(const struct match *e) {
    if (fast_of(e)->alone.is_queued)
        MATCH_CHECK(e->posted.now == 1 && pool_check(&fast_of(e)->posted.pool) == 0);
    else
        fast_check_queue(&fast_of(e)->posted);
    fast_check_queue(&fast_of(e)->unexpected);
}

const struct structure fast_structure = {
    .bytes = sizeof(struct fast),
    .open = fast_open,
    .close = fast_close,
    .post = fast_post,
    .arrive = fast_arrive,
    .find_message = fast_find_message,
    .cancel = fast_cancel,
    .drain_receive = fast_drain_receive,
    .drain_message = fast_drain_message,
    .check = fast_check,
};
