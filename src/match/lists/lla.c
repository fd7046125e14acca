/* lla.c: a linked list of arrays.
 *
 * A search in a list with one entry per node waits for memory at every step. With several entries per node it takes
 * fewer steps, and the hardware prefetches within the node.
 *
 *      node        next 8, prev 4, start 1, end 1, wide 1 | entries          whole cache lines
 *      receive     tag 4, source 2, context 2 | mask 8 | item 8              24 bytes, 2 to a line
 *      message     tag 4, source 2, context 2 | item 8                       16 bytes, 3 to a line
 *
 * Source and context have 16 bits. After the first value that does not fit, all new nodes are wide; existing ones
 * stay as they are:
 *
 *      wide receive     tag 4, source 4 | context 4, live 4 | mask 8 | item 8     32 bytes
 *      wide message     tag 4, source 4 | context 4, live 4 | item 8              24 bytes
 *
 * A receive matches a message if their keys differ in no bit of its mask. An entry removed from the middle leaves a
 * hole: in a narrow node an entry with a context that no other has, and all bits of the mask set; in a wide one an
 * entry that is not live. Holes at the start or end of the part in use are cut off, so the part is empty exactly if no
 * entry is left. The node then goes back to the pool, unless it is the only one.
 *
 * A handle is the address of the node plus the index of the entry: nodes are aligned to 64. */
#include "match/lists/lla.h"

#include <errno.h>

#include "base/compiler.h"

enum { HEAD = sizeof(struct lla_node), HANDLE_INDEX = 63 };
enum { FITS = 0xfffd, HOLE = 0xfffe, TOO_WIDE = 0xffff }; /* sources and contexts in 16 bits */

struct narrow { /* common initial sequence of both kinds; the item is last in all four */
    uint64_t key;
};

struct narrow_receive {
    uint64_t key, mask;
    void *item;
};

struct narrow_message {
    uint64_t key;
    void *item;
};

struct wide { /* common initial sequence of both kinds */
    uint64_t key;
    uint32_t context, live;
};

struct wide_receive {
    uint64_t key;
    uint32_t context, live;
    uint64_t mask;
    void *item;
};

struct wide_message {
    uint64_t key;
    uint32_t context, live;
    void *item;
};

_Static_assert(sizeof(struct lla_node) == 16, "with two receives or three messages it fills a cache line");
_Static_assert(sizeof(struct narrow_receive) == 24 && sizeof(struct narrow_message) == 16, "as published");

static const uint64_t hole_key = (uint64_t)HOLE << 48 | (uint64_t)UINT16_MAX << 32 | UINT32_MAX;

/* ---- keys ---- */

static bool lla_fits(struct key key) {
    return key.context <= FITS && (key_any_source(key) || (uint32_t)key_source(key) <= FITS);
}

static uint64_t narrow_part(uint32_t value) {
    return value <= FITS ? value : TOO_WIDE; /* matches no value in a narrow node */
}

static uint64_t narrow_key(struct key key) {
    return narrow_part(key.context) << 48 | narrow_part((uint32_t)key_source(key)) << 32 |
           (uint32_t)key_tag(key);
}

static uint64_t narrow_mask(struct key key) {
    return (uint64_t)UINT16_MAX << 48 | (key_any_source(key) ? 0 : (uint64_t)UINT16_MAX << 32) |
           (key_any_tag(key) ? 0 : UINT32_MAX);
}

/* ---- entries ---- */

static size_t lla_entry_bytes(bool posted, bool wide) {
    if (posted)
        return wide ? sizeof(struct wide_receive) : sizeof(struct narrow_receive);
    return wide ? sizeof(struct wide_message) : sizeof(struct narrow_message);
}

static void *entry_at(const struct lla_queue *q, const struct lla_node *node, unsigned index) {
    return (char *)node + HEAD + index * lla_entry_bytes(q->posted, node->wide);
}

static void **item_at(const struct lla_queue *q, const struct lla_node *node, unsigned index) {
    return (void **)((char *)entry_at(q, node, index) + lla_entry_bytes(q->posted, node->wide) -
                     sizeof(void *));
}

static bool lla_is_hole(const struct lla_queue *q, const struct lla_node *node, unsigned index) {
    const void *entry = entry_at(q, node, index);
    return node->wide ? !((const struct wide *)entry)->live : ((const struct narrow *)entry)->key == hole_key;
}

static void make_hole(const struct lla_queue *q, const struct lla_node *node, unsigned index) {
    void *entry = entry_at(q, node, index);
    if (node->wide)
        ((struct wide *)entry)->live = 0;
    else if (q->posted)
        *(struct narrow_receive *)entry = (struct narrow_receive){.key = hole_key, .mask = UINT64_MAX};
    else
        *(struct narrow_message *)entry = (struct narrow_message){.key = hole_key};
}

static void write_entry(const struct lla_queue *q, const struct lla_node *node, unsigned index,
                        struct key key, void *item) {
    void *entry = entry_at(q, node, index);
    if (!node->wide && q->posted)
        *(struct narrow_receive *)entry = (struct narrow_receive){narrow_key(key), narrow_mask(key), item};
    else if (!node->wide)
        *(struct narrow_message *)entry = (struct narrow_message){narrow_key(key), item};
    else if (q->posted)
        *(struct wide_receive *)entry = (struct wide_receive){key.who, key.context, 1, key_mask(key), item};
    else
        *(struct wide_message *)entry = (struct wide_message){key.who, key.context, 1, item};
}

static bool has_context(const struct lla_queue *q, const struct lla_node *node, unsigned index,
                        uint32_t context) {
    const void *entry = entry_at(q, node, index);
    if (node->wide)
        return ((const struct wide *)entry)->live && ((const struct wide *)entry)->context == context;
    return ((const struct narrow *)entry)->key >> 48 == context && context <= FITS;
}

/* ---- nodes ---- */

static struct lla_node *lla_node_of(const struct lla_queue *q, uint32_t number) {
    return number == POOL_NONE ? NULL : pool_at(&q->pool, number, q->pool.size);
}

static void unlink_node(struct lla_queue *q, struct lla_node *node) {
    struct lla_node *before = lla_node_of(q, node->prev);
    uint32_t *back = node->next ? &node->next->prev : &q->last_number; /* both hold the node's number */
    uint32_t number = *back;
    *back = node->prev;
    *(before ? &before->next : &q->first) = node->next;
    if (!node->next)
        q->last = before;
    pool_give(&q->pool, node, number);
}

static int append_node(struct lla_queue *q) {
    uint32_t number;
    struct lla_node *node = pool_take(&q->pool, &number);
    if (!node)
        return -ENOMEM;
    if (q->last && q->last->start == q->last->end) /* empty but narrow, and the new one is wide */
        unlink_node(q, q->last);
    *node = (struct lla_node){.prev = q->last ? q->last_number : POOL_NONE, .wide = q->wide};
    *(q->last ? &q->last->next : &q->first) = node;
    q->last = node;
    q->last_number = number;
    return 0;
}

static int lla_append(struct lla_queue *q, struct key key, void *item, match_entry *entry) {
    if (UNLIKELY(!q->wide && !lla_fits(key)))
        q->wide = true;
    struct lla_node *node = q->last;
    if (!node || node->end == q->capacity[node->wide] || UNLIKELY(node->wide != q->wide)) {
        int err = append_node(q);
        if (err)
            return err;
        node = q->last;
    }
    unsigned index = node->end++;
    write_entry(q, node, index, key, item);
    *entry = (match_entry)(uintptr_t)node | index;
    return 0;
}

static void *lla_take(struct lla_queue *q, struct lla_node *node, unsigned index) {
    void *item = *item_at(q, node, index);
    unsigned start = node->start, end = node->end;
    if (index == start)
        while (++start < end && lla_is_hole(q, node, start))
            ;
    else if (index + 1 == end)
        while (lla_is_hole(q, node, --end - 1)) /* stops at start, which is no hole */
            ;
    else
        make_hole(q, node, index);
    node->start = (uint8_t)start;
    node->end = (uint8_t)end;
    if (start != end)
        return item;
    if (node->next || node->prev != POOL_NONE)
        unlink_node(q, node);
    else
        node->start = node->end = 0;
    return item;
}

/* ---- searches ---- */

enum { NOT_FOUND = 255 };

static inline unsigned receive_in(const struct lla_node *node, uint64_t key) {
    const struct narrow_receive *r = (const void *)((const char *)node + HEAD);
    for (unsigned i = node->start, end = node->end; i < end; i++)
        if (!((r[i].key ^ key) & r[i].mask))
            return i;
    return NOT_FOUND;
}

static unsigned receive_in_wide(const struct lla_node *node, struct key key) {
    const struct wide_receive *r = (const void *)((const char *)node + HEAD);
    for (unsigned i = node->start; i < node->end; i++)
        if (!((r[i].key ^ key.who) & r[i].mask) && r[i].context == key.context && r[i].live)
            return i;
    return NOT_FOUND;
}

static inline unsigned message_in(const struct lla_node *node, uint64_t key, uint64_t mask) {
    const struct narrow_message *m = (const void *)((const char *)node + HEAD);
    for (unsigned i = node->start, end = node->end; i < end; i++)
        if (!((m[i].key ^ key) & mask))
            return i;
    return NOT_FOUND;
}

static unsigned message_in_wide(const struct lla_node *node, struct key key) {
    const struct wide_message *m = (const void *)((const char *)node + HEAD);
    for (unsigned i = node->start; i < node->end; i++)
        if (!((m[i].key ^ key.who) & key_mask(key)) && m[i].context == key.context && m[i].live)
            return i;
    return NOT_FOUND;
}

/* The hardware prefetches within a node, and beyond its end if the next node is adjacent. This prefetches the next in
 * any case, but not address 0: its page-table lookup takes longer than the search of a short queue. */
static inline void prefetch_next(const struct lla_node *node) {
    __builtin_prefetch(node->next ? node->next : node);
}

static uint32_t looked_at(const struct lla_node *node, unsigned index) {
    return (index == NOT_FOUND ? node->end : index + 1u) - node->start;
}

static bool lla_take_first_receive(struct match *e, struct key key, void **receive) {
    struct lla_queue *q = &lla_of(e)->posted;
    uint64_t narrow = narrow_key(key);
    uint32_t looked = 0;
    unsigned index = NOT_FOUND;
    struct lla_node *node = q->first;
    for (; node; node = node->next) {
        prefetch_next(node);
        index = LIKELY(!node->wide) ? receive_in(node, narrow) : receive_in_wide(node, key);
        looked += looked_at(node, index);
        if (index != NOT_FOUND)
            break;
    }
    e->looked = looked;
    if (node)
        *receive = lla_take(q, node, index);
    return node;
}

static bool lla_find_message(struct match *e, struct key key, bool taken, void **message) {
    struct lla_queue *q = &lla_of(e)->unexpected;
    uint64_t narrow = narrow_key(key), mask = narrow_mask(key);
    uint32_t looked = 0;
    unsigned index = NOT_FOUND;
    struct lla_node *node = q->first;
    for (; node; node = node->next) {
        prefetch_next(node);
        index = LIKELY(!node->wide) ? message_in(node, narrow, mask) : message_in_wide(node, key);
        looked += looked_at(node, index);
        if (index != NOT_FOUND)
            break;
    }
    e->looked = looked;
    if (node)
        *message = taken ? lla_take(q, node, index) : *item_at(q, node, index);
    return node;
}

static bool lla_drain(struct lla_queue *q, uint32_t context, void **item) {
    for (struct lla_node *node = q->first; node; node = node->next)
        for (unsigned i = node->start; i < node->end; i++)
            if (has_context(q, node, i, context)) {
                *item = lla_take(q, node, i);
                return true;
            }
    return false;
}

/* ---- the structure ---- */

static int lla_open_queue(struct match *e, struct lla_queue *q, bool posted, unsigned k) {
    uint32_t bytes = (uint32_t)round_up(HEAD + k * sizeof(struct narrow_receive), CACHE_LINE);
    *q = (struct lla_queue){.posted = posted};
    q->capacity[false] = (uint8_t)(posted ? k : k / 2 * 3);
    q->capacity[true] = (uint8_t)((bytes - HEAD) / lla_entry_bytes(posted, true));
    return pool_open(&q->pool, &e->supply, bytes, 0);
}

static int lla_open(struct match *e, const struct match_options *options) {
    unsigned k = options->k ? options->k : 8;
    if (k < 2 || k > HANDLE_INDEX + 1 || (k & (k - 1)))
        return -EINVAL;
    int err = lla_open_queue(e, &lla_of(e)->posted, true, k);
    return err ? err : lla_open_queue(e, &lla_of(e)->unexpected, false, k);
}

static void lla_close(struct match *e) {
    pool_close(&lla_of(e)->posted.pool);
    pool_close(&lla_of(e)->unexpected.pool);
}

static int lla_append_receive(struct match *e, struct key key, void *receive, match_entry *entry) {
    return lla_append(&lla_of(e)->posted, key, receive, entry);
}

static int lla_append_message(struct match *e, struct key key, void *message) {
    match_entry unused;
    return lla_append(&lla_of(e)->unexpected, key, message, &unused);
}

static int lla_post(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                    match_entry *entry, void **message) {
    return engine_post(e, key_of(source, tag, context), receive, entry, message, lla_find_message,
                       lla_append_receive);
}

static int lla_arrive(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                      void **receive) {
    return engine_arrive(e, key_of(source, tag, context), message, receive, lla_take_first_receive,
                         lla_append_message);
}

static void *lla_cancel(struct match *e, match_entry entry) {
    struct lla_node *node = (struct lla_node *)(uintptr_t)(entry & ~(match_entry)HANDLE_INDEX);
    return lla_take(&lla_of(e)->posted, node, entry & HANDLE_INDEX);
}

static bool lla_drain_receive(struct match *e, uint32_t context, void **receive) {
    return lla_drain(&lla_of(e)->posted, context, receive);
}

static bool lla_drain_message(struct match *e, uint32_t context, void **message) {
    return lla_drain(&lla_of(e)->unexpected, context, message);
}

/* ---- checks ---- */

static uint64_t check_node(const struct lla_queue *q, const struct lla_node *node) {
    uint64_t live = 0;
    MATCH_CHECK(node->start <= node->end && node->end <= q->capacity[node->wide]);
    MATCH_CHECK(node->wide <= q->wide);
    MATCH_CHECK(!node->next || node->wide <= node->next->wide);
    for (unsigned i = node->start; i < node->end; i++)
        live += !lla_is_hole(q, node, i);
    if (node->start == node->end) {
        MATCH_CHECK(node == q->first && node == q->last && node->end == 0);
    } else {
        MATCH_CHECK(!lla_is_hole(q, node, node->start) && !lla_is_hole(q, node, node->end - 1u));
    }
    return live;
}

static void lla_check_queue(const struct lla_queue *q, const struct tally *tally) {
    uint64_t live = 0;
    uint32_t before = POOL_NONE, nodes = 0, taken = pool_check(&q->pool);
    for (const struct lla_node *node = q->first; node; node = node->next, nodes++) {
        MATCH_CHECK(nodes < taken);
        MATCH_CHECK(node->prev == before);
        before = node->next ? node->next->prev : q->last_number;
        MATCH_CHECK(pool_has(&q->pool, before) && lla_node_of(q, before) == node);
        live += check_node(q, node);
    }
    MATCH_CHECK(nodes == taken);
    MATCH_CHECK(q->last == (nodes ? lla_node_of(q, before) : NULL));
    MATCH_CHECK(live == tally->now);
}

static void lla_check(const struct match *e) {
    lla_check_queue(&lla_of(e)->posted, &e->posted);
    lla_check_queue(&lla_of(e)->unexpected, &e->unexpected);
}

const struct structure lla_structure = {
    .bytes = sizeof(struct lla),
    .open = lla_open,
    .close = lla_close,
    .post = lla_post,
    .arrive = lla_arrive,
    .find_message = lla_find_message,
    .cancel = lla_cancel,
    .drain_receive = lla_drain_receive,
    .drain_message = lla_drain_message,
    .check = lla_check,
};
