/* list.c: a linked list with one node per entry, as in most MPI libraries. The baseline for the other structures.
 *
 * The nodes come from malloc. Such nodes are not heated: each would have to be registered with the heater and retired
 * before it is freed, which costs more than it gains. In a heated engine the nodes come from a pool that stays mapped. */
#include "match/lists/list.h"

#include <errno.h>
#include <stdlib.h>

static struct list_node *new_node(struct match *e) {
    if (!e->supply.heated) {
        struct list_node *node = malloc(sizeof *node);
        e->supply.bytes += node ? sizeof *node : 0;
        return node;
    }
    uint32_t number;
    struct list_node *node = pool_take(&list_of(e)->pool, &number);
    if (node)
        node->number = number;
    return node;
}

static void free_node(struct match *e, struct list_node *node) {
    if (e->supply.heated) {
        pool_give(&list_of(e)->pool, node, node->number);
        return;
    }
    e->supply.bytes -= sizeof *node;
    free(node);
}

static int list_append_entry(struct match *e, struct list_queue *q, struct key key, void *item,
                             match_entry *entry) {
    struct list_node *node = new_node(e);
    if (!node)
        return -ENOMEM;
    node->key = key;
    node->item = item;
    node->next = NULL;
    node->prev = q->last;
    *(q->last ? &q->last->next : &q->first) = node;
    q->last = node;
    *entry = (match_entry)(uintptr_t)node;
    return 0;
}

static void *list_take(struct match *e, struct list_queue *q, struct list_node *node) {
    void *item = node->item;
    *(node->prev ? &node->prev->next : &q->first) = node->next;
    *(node->next ? &node->next->prev : &q->last) = node->prev;
    free_node(e, node);
    return item;
}

static int list_open(struct match *e, const struct match_options *options) {
    return options->heated ? pool_open(&list_of(e)->pool, &e->supply, sizeof(struct list_node), 0) : 0;
}

static void empty(struct match *e, struct list_queue *q) {
    while (q->first)
        list_take(e, q, q->first);
}

static void list_close(struct match *e) {
    empty(e, &list_of(e)->posted);
    empty(e, &list_of(e)->unexpected);
    pool_close(&list_of(e)->pool);
}

static int list_append_receive(struct match *e, struct key key, void *receive, match_entry *entry) {
    return list_append_entry(e, &list_of(e)->posted, key, receive, entry);
}

static int list_append_message(struct match *e, struct key key, void *message) {
    match_entry unused;
    return list_append_entry(e, &list_of(e)->unexpected, key, message, &unused);
}

static bool list_take_first_receive(struct match *e, struct key key, void **receive) {
    struct list_node *node = list_of(e)->posted.first;
    uint32_t looked = 1;
    while (node && !key_matches(node->key, key)) {
        node = node->next;
        looked += node != NULL;
    }
    e->looked = looked;
    if (node)
        *receive = list_take(e, &list_of(e)->posted, node);
    return node;
}

static bool list_find_message(struct match *e, struct key key, bool taken, void **message) {
    struct list_node *node = list_of(e)->unexpected.first;
    uint32_t looked = 1;
    while (node && !key_matches(key, node->key)) {
        node = node->next;
        looked += node != NULL;
    }
    e->looked = looked;
    if (node)
        *message = taken ? list_take(e, &list_of(e)->unexpected, node) : node->item;
    return node;
}

static int list_post(struct match *e, int32_t source, int32_t tag, uint32_t context, void *receive,
                     match_entry *entry, void **message) {
    return engine_post(e, key_of(source, tag, context), receive, entry, message, list_find_message,
                       list_append_receive);
}

static int list_arrive(struct match *e, int32_t source, int32_t tag, uint32_t context, void *message,
                       void **receive) {
    return engine_arrive(e, key_of(source, tag, context), message, receive, list_take_first_receive,
                         list_append_message);
}

static void *list_cancel(struct match *e, match_entry entry) {
    return list_take(e, &list_of(e)->posted, (struct list_node *)(uintptr_t)entry);
}

static bool list_drain(struct match *e, struct list_queue *q, uint32_t context, void **item) {
    struct list_node *node = q->first;
    while (node && node->key.context != context)
        node = node->next;
    if (node)
        *item = list_take(e, q, node);
    return node;
}

static bool list_drain_receive(struct match *e, uint32_t context, void **receive) {
    return list_drain(e, &list_of(e)->posted, context, receive);
}

static bool list_drain_message(struct match *e, uint32_t context, void **message) {
    return list_drain(e, &list_of(e)->unexpected, context, message);
}

static void list_check_queue(const struct match *e, const struct list_queue *q, const struct tally *tally) {
    const struct list_node *before = NULL;
    uint64_t count = 0;
    for (const struct list_node *node = q->first; node; before = node, node = node->next, count++) {
        MATCH_CHECK(node->prev == before);
        MATCH_CHECK(count < tally->now);
        if (e->supply.heated) {
            MATCH_CHECK(pool_has(&list_of(e)->pool, node->number));
            MATCH_CHECK(pool_at(&list_of(e)->pool, node->number, sizeof *node) == node);
        }
    }
    MATCH_CHECK(q->last == before);
    MATCH_CHECK(count == tally->now);
}

static void list_check(const struct match *e) {
    list_check_queue(e, &list_of(e)->posted, &e->posted);
    list_check_queue(e, &list_of(e)->unexpected, &e->unexpected);
    MATCH_CHECK(!e->supply.heated || pool_check(&list_of(e)->pool) == e->posted.now + e->unexpected.now);
}

const struct structure list_structure = {
    .bytes = sizeof(struct list),
    .open = list_open,
    .close = list_close,
    .post = list_post,
    .arrive = list_arrive,
    .find_message = list_find_message,
    .cancel = list_cancel,
    .drain_receive = list_drain_receive,
    .drain_message = list_drain_message,
    .check = list_check,
};
