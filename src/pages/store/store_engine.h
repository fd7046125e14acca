/* store_engine.h: interface of the I/O engines: io_uring, or threads that call pread and pwrite.
 *
 * An engine accepts a request and returns it with a result. Failures are reported in the result: `give` itself never
 * fails. The caller has at most as many requests under way as the engine was opened for. */
#ifndef HEARTH_PAGES_STORE_ENGINE_H
#define HEARTH_PAGES_STORE_ENGINE_H

#include "pages/store/store.h"

struct store_request {
    struct store_request *next; /* in the list of its current owner */
    char *buffer;
    uint64_t offset; /* in the file */
    uint32_t bytes;
    uint32_t moved; /* bytes transferred so far */
    int result;
    uint8_t way, copy; /* enum store_way; the copy of the page */
    uint64_t page, token;
    uint64_t due; /* completion time on the emulated slower disk */
};

/* FIFO queue. */
struct request_queue {
    struct store_request *first, *last;
};

static inline void pages_store_queue_add(struct request_queue *q, struct store_request *r) {
    r->next = NULL;
    if (q->first)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
}

static inline struct store_request *pages_store_queue_take(struct request_queue *q) {
    struct store_request *r = q->first;
    if (r)
        q->first = r->next;
    return r;
}

struct store_engine {
    const char *name;
    int descriptor; /* after arm: readable when a completion is available */
    void (*give)(struct store_engine *engine, struct store_request *request);
    unsigned (*take)(struct store_engine *engine, struct store_request **done, unsigned most);
    bool (*arm)(struct store_engine *engine); /* false: a completion is available now */
    void (*close)(struct store_engine *engine);
};

/* -ENOTSUP: built without liburing; -ENOSYS: not permitted here. Neither logs. */
int pages_store_uring_open(int file, unsigned depth, struct store_engine **engine);
int pages_store_threads_open(int file, unsigned threads, struct store_engine **engine);

#endif
