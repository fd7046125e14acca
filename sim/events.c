/* events.c: a binary heap in an array. The order of insertion breaks ties, which a heap alone would not preserve. */
#include "events.h"

#include <stdio.h>
#include <stdlib.h>

#include "need.h"

void events_open(struct events *q) {
    *q = (struct events){0};
}

void events_close(struct events *q) {
    free(q->heap);
    q->heap = NULL;
}

static bool is_before(const struct event *a, const struct event *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void grow(struct events *q) {
    q->room = q->room ? 2 * q->room : 1024;
    q->heap = need(realloc(q->heap, q->room * sizeof *q->heap));
}

void events_add(struct events *q, uint64_t at, uint32_t kind, uint32_t who, uint64_t what) {
    struct event e = {.at = at, .order = q->added++, .kind = kind, .who = who, .what = what};
    must(at >= q->now, "an event in the past");
    if (q->count == q->room)
        grow(q);
    size_t i = q->count++;
    for (; i && is_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = e;
}

/* Places e, from the top down, so that no element above it comes after it. */
static void sift(struct events *q, struct event e) {
    size_t i = 0, child;
    while ((child = 2 * i + 1) < q->count) {
        if (child + 1 < q->count && is_before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!is_before(&q->heap[child], &e))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = e;
}

bool events_next(struct events *q, struct event *e) {
    if (!q->count)
        return false;
    *e = q->heap[0];
    q->now = e->at;
    q->taken++;
    q->count--;
    if (q->count)
        sift(q, q->heap[q->count]);
    return true;
}
